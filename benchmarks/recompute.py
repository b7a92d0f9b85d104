"""How long an answer takes in this process, against a view that says a constant: ratios, measured in one run.

    python -m benchmarks.recompute

The machine's own speed drops out of the ratios, so they can be compared between machines and days: each request is
followed by one to the constant view. Processor time is counted, not waiting for other programs: nothing here waits for
anything else. Every request goes through the whole middleware, compressed. A slider moves with each, as a thumb does, so
nothing is answered from memory.
"""

from __future__ import annotations

import gc
import gzip
import os
import statistics
import time
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import django

from benchmarks.questions import NAMES, QUESTIONS, SLIDERS, Page

ROUNDS = 400
WARM_UP = 40
RATIO_GOAL = 6.0
P95_GOAL_MS = 4.0
SIZE_GOAL_BYTES = 4096


@dataclass(frozen=True)
class Timing:
    """One kind of request: median and 95th percentile [ms], how many times the constant view's median, size as sent."""

    name: str
    median_ms: float
    p95_ms: float
    ratio: float
    sent_bytes: float


def _took(ask: Callable[[], Any]) -> tuple[float, Any]:
    started = time.thread_time()
    answer = ask()
    return 1000 * (time.thread_time() - started), answer


def timed(
    name: str, ask: Callable[[int], Any], constant: Callable[[int], Any], after: Callable[[Any], None]
) -> Timing:
    for number in range(WARM_UP):
        after(ask(number))
        constant(number)
    own, other, sizes = [], [], []
    for number in range(WARM_UP, WARM_UP + ROUNDS):
        took, answer = _took(lambda number=number: ask(number))
        own.append(took)
        other.append(_took(lambda number=number: constant(number))[0])
        sizes.append(len(answer.content))
        after(answer)
    p95 = statistics.quantiles(own, n=20)[-1]
    median = statistics.median(own)
    return Timing(name, median, p95, median / statistics.median(other), statistics.median(sizes))


def _text(answer: Any) -> str:
    body = answer.content
    return (gzip.decompress(body) if answer.headers.get("Content-Encoding") == "gzip" else body).decode()


def timings() -> list[Timing]:
    from django.test import Client  # noqa: PLC0415 - after django.setup()

    client = Client(SERVER_NAME="localhost")

    def get(path: str, query: dict[str, str], headers: dict[str, str] | None = None) -> Any:
        answer = client.get(path, query, headers=headers)
        assert answer.status_code == 200, f"{path} answered {answer.status_code}"
        return answer

    def constant(number: int) -> Any:
        return get("/healthz", {"number": str(number)})

    def nothing(_answer: Any) -> None:
        return None

    rows = []
    for name, query in QUESTIONS.items():
        for slider, place in SLIDERS.items():
            page = Page(_text(get("/", query)))

            def moved(
                number: int, query: dict = query, slider: str = slider, place: Any = place
            ) -> dict[str, str]:
                return {**query, NAMES[slider]: str(place(number))}

            def fragment(number: int, page: Page = page, moved: Any = moved) -> Any:
                return get("/", moved(number), page.headers)

            def learn(answer: Any, page: Page = page) -> None:
                page.learn(_text(answer))

            rows.append(timed(f"fragment, {name}, {slider}", fragment, constant, learn))
        rows.append(
            timed(
                f"API, {name}",
                lambda number, moved=moved: get("/api/v1/estimate", moved(number)),
                constant,
                nothing,
            )
        )
    rows.append(
        timed("whole page, one GPU", lambda number: get("/", {"ctx": str(8000 + number)}), constant, nothing)
    )
    rows.append(timed("constant view", constant, constant, nothing))
    return rows


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")
    django.setup()
    from catalog import live  # noqa: PLC0415 - after django.setup()

    live.warm()
    gc.collect()
    gc.freeze()  # as a server does when it is warm
    rows = timings()
    print(f"{'request':<32} {'median ms':>10} {'p95 ms':>8} {'× constant':>11} {'bytes':>7}")
    for row in rows:
        print(
            f"{row.name:<32} {row.median_ms:>10.2f} {row.p95_ms:>8.2f} {row.ratio:>11.1f} {row.sent_bytes:>7.0f}"
        )
    fragments = [row for row in rows if row.name.startswith("fragment")]
    for words, values, goal in (
        ("× the constant view", [row.ratio for row in fragments], RATIO_GOAL),
        ("ms p95", [row.p95_ms for row in fragments], P95_GOAL_MS),
        ("bytes compressed", [row.sent_bytes for row in fragments], SIZE_GOAL_BYTES),
    ):
        kept = sum(value <= goal for value in values)
        print(
            f"fragments: {min(values):.4g}–{max(values):.4g} {words} (goal {goal:g}: {kept} of {len(values)} keep it)"
        )


if __name__ == "__main__":
    main()
