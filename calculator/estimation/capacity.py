"""Longest context and most users: the inverse of the sum, on the same functions (formulas §0.4, §11.12). PURE."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import partial
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


def capacity_of(sum_: Sum) -> Capacity | None:
    """Longest context at the configuration's users and most users at its context; None without a limit.

    `max_*` asks for the point value, `max_*_fits` for the high end and llama.cpp's free margin.
    """
    c, limit = sum_.configuration, sum_.limit
    if limit is None:
        return None
    tokens, users = c.workload.context_tokens, c.workload.users
    longest = c.model.max_context_tokens or MOST_TOKENS
    most = int(c.engine.rules.get("max_sequences") or MOST_USERS)
    point, firm = limit.usable.value, limit.usable.value - limit.margin_bytes
    context = _largest(lambda axis: sum_.fullest(axis, users), longest, point, firm)
    requests = _largest(lambda axis: sum_.fullest(tokens, axis), most, point, firm)
    return Capacity(context[0], requests[0], context[1], requests[1])


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
    """The last axis value that holds, settled to the integer."""
    while True:
        passed = int(np.count_nonzero(np.cumprod(holds)))
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
    longest = configuration.model.max_context_tokens or 1_048_576
    users = configuration.workload.users
    top = max(longest, 4096)
    axis = np.unique(np.geomspace(1024, top, points).round().astype(np.int64))
    out = []
    for cache_type in cache_types:
        same = cache_type == configuration.cache_type
        sum_ = Sum(configuration if same else replace(configuration, cache_type=cache_type))
        if sum_.limit is None:
            continue
        curve = sum_.fullest(axis, users)
        point, firm = sum_.limit.usable.value, sum_.limit.usable.value - sum_.limit.margin_bytes
        longest_here = _largest(partial(sum_.fullest, users=users), longest, point, firm)[0]
        out.append(
            MemoryCurve(
                cache_type,
                tuple(axis.tolist()),
                tuple(np.broadcast_to(curve.value, axis.shape).astype(np.int64).tolist()),
                tuple(np.broadcast_to(curve.low, axis.shape).astype(np.int64).tolist()),
                tuple(np.broadcast_to(curve.high, axis.shape).astype(np.int64).tolist()),
                longest_here,
            )
        )
    return tuple(out)
