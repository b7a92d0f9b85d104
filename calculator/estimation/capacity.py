"""Longest context and most users: the inverse of the sum, on the same functions (formulas §0.4, §11.12). PURE."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from calculator.estimation.configuration import Configuration
from calculator.estimation.memory import Sum
from calculator.estimation.terms import Capacity, Interval, MemoryCurve

MOST_TOKENS = 16_777_216
MOST_USERS = 65_536
_SAMPLES = 48

Needed = Callable[[Any], Interval]
"""Needed bytes of the fullest GPU against one axis."""


@dataclass(frozen=True, slots=True)
class _Machine:
    """A configuration compared by its machine alone, so that a moving slider finds what it does not change."""

    machine: tuple[object, ...]
    configuration: Configuration = field(compare=False)


def capacity_of(configuration: Configuration) -> Capacity | None:
    """Longest context at the configuration's users and most users at its context; None without a limit.

    `max_*` asks for the point value, `max_*_fits` for the high end and llama.cpp's free margin.
    """
    if Sum(configuration).limit is None:
        return None
    machine = _Machine(configuration.machine, configuration)
    context = _longest_context(machine, configuration.workload.users)
    requests = _most_users(machine, configuration.workload.context_tokens)
    return Capacity(context[0], requests[0], context[1], requests[1])


@lru_cache(maxsize=8192)
def _longest_context(machine: _Machine, users: int) -> tuple[int, int]:
    sum_ = Sum(machine.configuration)
    bound = machine.configuration.model.max_context_tokens or MOST_TOKENS
    return _largest(partial(sum_.fullest, users=users), bound, *_limits(sum_))


@lru_cache(maxsize=8192)
def _most_users(machine: _Machine, tokens: int) -> tuple[int, int]:
    sum_ = Sum(machine.configuration)
    c = machine.configuration
    bound = min(int(c.engine.rules.get("max_sequences") or MOST_USERS), c.knobs.max_sequences or MOST_USERS)
    return _largest(partial(sum_.fullest, tokens), bound, *_limits(sum_))


def _limits(sum_: Sum) -> tuple[float, float]:
    """What the point value must keep to, and what the high end must keep to [B]; nothing fits outright where the engine
    takes more than the device has, whatever the workload."""
    limit, rules, c = sum_.limit, sum_.rules, sum_.configuration
    assert limit is not None, "asked only where a limit is known"
    point = limit.usable.value
    if rules.occupied_refusal(c, rules.occupied(c, int(point), limit), limit):
        return point, -math.inf
    return point, point - limit.margin_bytes


def _largest(needed: Needed, bound: int, point: float, firm: float) -> tuple[int, int]:
    """The largest axis value whose point value keeps to `point`, and whose high end keeps to `firm`, up to `bound`.

    Memory grows with the axis, so a sampled curve brackets the crossing and further samples inside settle it.
    """
    axis = _samples(1, bound)
    curve = needed(axis)
    return (
        _refine(needed, axis, curve.value <= point, lambda n: n.value <= point),
        _refine(
            needed,
            axis,
            (curve.high <= firm) & (curve.value <= point),
            lambda n: (n.high <= firm) & (n.value <= point),
        ),
    )


def _refine(needed: Needed, axis: Any, holds: Any, test: Callable[[Interval], Any]) -> int:
    """The last axis value that holds, settled to the integer. `holds` is one value where the axis changes nothing."""
    while True:
        passed = int(np.count_nonzero(np.cumprod(np.broadcast_to(holds, axis.shape))))
        if passed == 0:
            return 0
        if passed == len(axis):
            return int(axis[-1])
        low, high = int(axis[passed - 1]), int(axis[passed])
        if high - low <= 1:
            return low
        axis = _samples(low, high)
        holds = test(needed(axis))


def _samples(low: int, high: int) -> Any:
    """Integers from low to high: evenly spaced, or by ratio over a wide range, without repeats."""
    if high - low < _SAMPLES:
        return np.arange(low, high + 1, dtype=np.int64)
    spaced = np.geomspace if high > 64 * low else np.linspace
    raw = spaced(low, high, _SAMPLES)
    points = np.unique(raw.round().astype(np.int64))
    points[0], points[-1] = low, high
    return points


def memory_curves(
    configuration: Configuration, cache_types: Sequence[str], points: int = 49
) -> tuple[MemoryCurve, ...]:
    """Needed bytes of the fullest GPU against context, one curve per cache type, up to the model's maximum."""
    out = []
    for cache_type in cache_types:
        same = cache_type == configuration.cache_type
        own = configuration if same else replace(configuration, cache_type=cache_type)
        if Sum(own).limit is not None:
            out.append(_curve(_Machine(own.machine, own), own.workload.users, points))
    return tuple(out)


@lru_cache(maxsize=2048)
def _curve(machine: _Machine, users: int, points: int) -> MemoryCurve:
    c = machine.configuration
    top = max(c.model.max_context_tokens or 1_048_576, 4096)
    axis = np.unique(np.geomspace(1024, top, points).round().astype(np.int64))
    curve = Sum(c).fullest(axis, users)
    lines = (
        np.broadcast_to(line, axis.shape).astype(np.int64) for line in (curve.value, curve.low, curve.high)
    )
    value, low, high = (tuple(line.tolist()) for line in lines)
    return MemoryCurve(
        c.cache_type, tuple(axis.tolist()), value, low, high, _longest_context(machine, users)[0]
    )
