"""One question at many values of one of its parameters: context, users, count or prompt."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from calculator.estimation import estimate
from calculator.estimation.terms import Estimate
from calculator.planner.counts import counts_to_try
from calculator.resolve import MOST_DEVICES, Resolved, resolve
from calculator.scenario import Scenario
from catalog.snapshot import Snapshot

OVER = ("ctx", "users", "n", "prompt")
"""Parameters that a sweep goes over."""

LEAST_CONTEXT = 1024
LONGEST_UNKNOWN = 131_072
"""Longest context where the model's own is not known [tokens]."""
LEAST_PROMPT = 64
MOST_USERS = 65_536
USERS_BEYOND_MEMORY = 2
"""Users go this many times beyond what the memory holds: there the answer is a no, and is said."""


@dataclass(frozen=True, slots=True)
class Point:
    """The answer at one value: exactly that of the question with this value."""

    value: int
    scenario: Scenario
    estimate: Estimate


def values_of(resolved: Resolved, over: str, most_users: int) -> list[int]:
    """The values, ascending: powers of two inside what the model and the engine take, and the present one.

    most_users: what the memory holds at this context, 0 when nothing fits [requests].
    """
    c, scenario = resolved.configuration, resolved.scenario
    if over == "n":
        per_unit = max(1, c.count // max(1, scenario.n))
        counts = {-(-count // per_unit) for count in counts_to_try(c)}
        return sorted({count for count in counts if count * per_unit <= MOST_DEVICES} | {scenario.n})
    if over == "users":
        last = min(MOST_USERS, USERS_BEYOND_MEMORY * max(most_users, c.workload.users))
        found = {*_powers(1, last), c.workload.users} | ({most_users} if most_users else set())
        return sorted(found)
    if over == "prompt":
        last = max(1, c.workload.context_tokens - c.workload.output_tokens)
        return sorted({*_powers(min(LEAST_PROMPT, last), last), last, c.workload.prompt_tokens})
    last = c.model.max_context_tokens or LONGEST_UNKNOWN
    return sorted({*_powers(min(LEAST_CONTEXT, last), last), last, c.workload.context_tokens})


def _powers(low: int, high: int) -> Iterator[int]:
    value = 1 << max(0, (low - 1).bit_length())
    while value <= high:
        yield value
        value *= 2


def sweep(resolved: Resolved, over: str, most_users: int, snapshot: Snapshot) -> Iterator[Point]:
    """The estimates at every value. With another context or another count what was left open is settled anew."""
    for value in values_of(resolved, over, most_users):
        scenario = resolved.scenario.replace(**{over: value})
        yield Point(value, scenario, estimate(resolve(scenario, snapshot).configuration, capacity=False))
