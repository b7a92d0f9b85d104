"""How long an answer takes in this process, against a view that says a constant: ratios, measured in one run.

    python -m benchmarks.recompute

The machine's own speed drops out of the ratios, so they can be compared between machines and days. Processor time is
counted, not waiting for other programs: nothing here waits for anything else. Every request goes through the whole
middleware. The context changes with each, as when a slider moves, so nothing is answered from memory.
"""

import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass

import django

ROUNDS = 300
WARM_UP = 20
FRAGMENT_RATIO = 8  # the fragment's median may be this many times the constant view's
FRAGMENT_P95_MS = 8.0

QUESTIONS = {
    "one GPU": "model=llama-3.1-8b-instruct",
    "two cards": "model=llama-3.3-70b-instruct&gpu=rtx-3090&n=2",
    "32 GPUs": "model=kimi-k3.1-pro&gpu=h100-sxm&n=32",
    "does not fit": "model=deepseek-r1&gpu=h100-sxm&n=8",
}


@dataclass(frozen=True)
class Timing:
    """Median and 95th percentile of one kind of request [ms]."""

    name: str
    median_ms: float
    p95_ms: float


def timed(name: str, ask: Callable[[int], object]) -> Timing:
    for number in range(WARM_UP):
        ask(number)
    took = []
    for number in range(ROUNDS):
        started = time.thread_time()
        ask(WARM_UP + number)
        took.append(1000 * (time.thread_time() - started))
    return Timing(name, statistics.median(took), statistics.quantiles(took, n=20)[-1])


def timings() -> list[Timing]:
    from django.test import Client  # noqa: PLC0415 - after django.setup()

    from calculator.web.answer import answer  # noqa: PLC0415 - after django.setup()
    from calculator.web.panels.page import calculator_page  # noqa: PLC0415 - after django.setup()
    from catalog import live  # noqa: PLC0415 - after django.setup()

    client = Client(SERVER_NAME="localhost")

    def get(path: str, pairs: dict, headers: dict | None = None) -> object:
        answer = client.get(path, pairs, headers=headers)
        assert answer.status_code == 200, f"{path} answered {answer.status_code}"
        return answer

    rows = [timed("constant view", lambda number: get("/healthz", {"number": number}))]
    for name, query in QUESTIONS.items():
        pairs = dict(pair.split("=") for pair in query.split("&"))
        page = calculator_page(answer(pairs, live.current()), canonical="", fragment=True)
        headers = {"HX-Request": "true", "Stowage-Choices": page["question"]["choices_key"]}

        def fragment(number: int, pairs: dict = pairs, headers: dict = headers) -> object:
            return get("/", {**pairs, "ctx": 8000 + 16 * number}, headers=headers)

        def estimate(number: int, pairs: dict = pairs) -> object:
            return get("/api/v1/estimate", {**pairs, "ctx": 8000 + 16 * number})

        rows += [timed(f"fragment, {name}", fragment), timed(f"API, {name}", estimate)]
    rows.append(timed("whole page, one GPU", lambda number: get("/", {"ctx": 8000 + 16 * number})))
    return rows


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    rows = timings()
    constant = rows[0].median_ms
    print(f"{'request':<28} {'median ms':>10} {'p95 ms':>8} {'× constant':>11}")
    for row in rows:
        print(f"{row.name:<28} {row.median_ms:>10.2f} {row.p95_ms:>8.2f} {row.median_ms / constant:>11.1f}")
    first = rows[1]
    print(
        f"\n{first.name}: {first.median_ms / constant:.1f} × the constant view (goal {FRAGMENT_RATIO}), ",
        end="",
    )
    print(f"p95 {first.p95_ms:.1f} ms (goal {FRAGMENT_P95_MS:.0f})")


if __name__ == "__main__":
    main()
