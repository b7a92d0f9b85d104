"""How long the money of one question takes, with every number of its charts: goal 10 ms of processor time.

    python -m benchmarks.money

Hours move with each question, as when a slider does, so nothing is answered from memory. Prices, speed and
power have ranges, which is the dearest case: each is moved to both ends for every figure.
"""

import statistics
import time
from dataclasses import replace

from calculator.estimation import estimate
from calculator.estimation.economics import (
    ApiPrice,
    Electricity,
    Money,
    Purchase,
    Rent,
    Use,
    cost_of,
    ownership_of,
    resale_path,
)
from calculator.estimation.terms import Interval
from calculator.resolve import resolve
from calculator.scenario import parse
from catalog.importers.files import snapshot_from_files

ROUNDS = 300
WARM_UP = 20
GOAL_MS = 10.0

QUESTIONS = {
    "a Mac": "model=llama-3.1-8b-instruct&gpu=mac-m4-max-128",
    "two cards": "model=llama-3.3-70b-instruct&gpu=rtx-3090&n=2",
    "32 GPUs": "model=kimi-k3.1-pro&gpu=h100-sxm&n=32&users=8",
}


def prices() -> Money:
    """Every way has a price, with a range where the market has one."""
    first, decline = resale_path(0.3, 5.0)
    return Money(
        source="own",
        use=Use(8.0, 30.4, 0.5),
        electricity=Electricity(0.15, 1.3, 400.0),
        rent=Rent(Interval(2.5, 2.0, 3.3), trend_per_year=-0.1),
        purchase=Purchase(
            Interval(30_000.0, 25_000.0, 34_000.0),
            5.0,
            maintenance_per_year=0.03,
            resale_fraction=first,
            resale_decline_per_year=decline,
        ),
        api=ApiPrice(0.5, 1.5),
        discount_per_year=0.06,
    )


def timed(query: str) -> tuple[float, float]:
    """Median and 95th percentile of cost and ownership of one question [ms]."""
    pairs = dict(pair.split("=") for pair in query.split("&"))
    answer = estimate(resolve(parse(pairs)[0], snapshot_from_files()).configuration)
    took = []
    for number in range(ROUNDS + WARM_UP):
        money = replace(prices(), use=Use(1.0 + number / 20.0, 30.4, 0.5))
        started = time.thread_time()
        cost_of(answer.configuration, answer.speed, answer.energy, money)
        ownership_of(answer.configuration, answer.speed, answer.energy, money)
        took.append(1000 * (time.thread_time() - started))
    kept = took[WARM_UP:]
    return statistics.median(kept), statistics.quantiles(kept, n=20)[-1]


def main() -> None:
    print(f"{'money of':<12} {'median ms':>10} {'p95 ms':>8}   goal {GOAL_MS:.0f} ms")
    for name, query in QUESTIONS.items():
        median, p95 = timed(query)
        print(f"{name:<12} {median:>10.2f} {p95:>8.2f}")


if __name__ == "__main__":
    main()
