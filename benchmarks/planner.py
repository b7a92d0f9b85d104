"""How long the planner takes: one model against every device, and every model against one machine.

    python -m benchmarks.planner

Processor time in this process, of the first question about a model (or a machine) and of the next one with another
context, as when a slider moves. Nothing is answered from memory but what an earlier question settled.
"""

import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

from calculator.planner.fleet import fleet_of
from calculator.planner.hardware import fits_on
from calculator.planner.models import Shelf, runs_on
from calculator.planner.settling import Settling
from calculator.resolve import workload_of
from calculator.scenario import Scenario
from catalog.importers.files import snapshot_from_files

MODELS = ("llama-3.3-70b-instruct", "gpt-oss-120b", "qwen3-30b-a3b", "deepseek-r1", "kimi-k3")
MACHINES = ({"gpu": "rtx-4090"}, {"gpu": "h100-sxm", "n": 8}, {"gpu": "mac-m5-max-128"})
ROUNDS = 9
GOAL_HARDWARE_MS = 60
GOAL_MODELS_MS = 150


@dataclass(frozen=True)
class Row:
    """Times of one kind of question [ms]."""

    name: str
    first_ms: float
    next_ms: float


def spent_ms(work: Callable[[], object]) -> float:
    started = time.thread_time()
    work()
    return 1000 * (time.thread_time() - started)


def hardware_rows() -> list[Row]:
    """Counts and verdicts alone, and with longest context, most users and speed."""
    snapshot = snapshot_from_files()
    fleet = fleet_of(snapshot)
    out = []
    for model in MODELS:
        first = Scenario(model=model)
        kept: list[Settling] = []

        def verdicts(scenario: Scenario, kept: list[Settling] = kept) -> None:
            kept[:] = kept or [Settling(scenario, fleet)]
            work = workload_of(scenario)
            for host in fleet.hosts:
                kept[0].smallest(host, work)

        def table(scenario: Scenario, kept: list[Settling] = kept) -> None:
            fits_on(scenario, fleet, settling=kept[0])

        for name, work in (("verdicts", verdicts), ("all figures", table)):
            cold = spent_ms(lambda work=work, first=first: work(first))
            moved = [first.replace(ctx=9000 + 700 * number) for number in range(ROUNDS)]
            warm = statistics.median(spent_ms(lambda s=s, work=work: work(s)) for s in moved)
            out.append(Row(f"{model}, {name}", cold, warm))
    return out


def model_rows() -> list[Row]:
    snapshot = snapshot_from_files()
    out = []
    for query in MACHINES:
        first = Scenario(**query)
        kept: list[Shelf] = []

        def ask(scenario: Scenario, kept: list[Shelf] = kept) -> None:
            kept[:] = kept or [Shelf(scenario, snapshot)]
            runs_on(scenario, snapshot, shelf=kept[0])

        cold = spent_ms(lambda ask=ask, first=first: ask(first))
        moved = [first.replace(ctx=9000 + 700 * number) for number in range(ROUNDS)]
        warm = statistics.median(spent_ms(lambda s=s, ask=ask: ask(s)) for s in moved)
        out.append(Row(" × ".join(str(value) for value in query.values()), cold, warm))
    return out


def main() -> None:
    for title, goal, rows in (
        ("one model, every device", GOAL_HARDWARE_MS, hardware_rows()),
        ("every model, one machine", GOAL_MODELS_MS, model_rows()),
    ):
        print(f"\n{title + f' (goal {goal} ms)':<48} {'first ms':>9} {'next ms':>9}")
        for row in rows:
            print(f"{row.name:<48} {row.first_ms:>9.0f} {row.next_ms:>9.0f}")


if __name__ == "__main__":
    main()
