"""Longest context and most users: the inverse of the sum, on the same functions (formulas §0.4, §11.12). PURE."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from typing import Any

import numpy as np

from calculator.estimation.configuration import Configuration, Keyed
from calculator.estimation.engines.acceptance import most_requests
from calculator.estimation.memory import Sum, sum_of
from calculator.estimation.terms import Capacity, Interval, MemoryCurve

MOST_TOKENS = 16_777_216
MOST_USERS = 65_536
_SAMPLES = 48
_NEAR = 12

Needed = Callable[[Any], Interval]
"""Needed bytes of the fullest GPU against one axis."""


def capacity_of(configuration: Configuration) -> Capacity | None:
    """Longest context at the configuration's users and most users at its context; None without a limit.

    `max_*` asks for the point value, `max_*_fits` for the high end and llama.cpp's free margin.
    """
    if sum_of(configuration).limit is None:
        return None
    machine = Keyed(configuration.machine, configuration)
    tokens, users = configuration.workload.context_tokens, configuration.workload.users
    context, requests = _longest_context(machine, users), _most_users(machine, tokens)
    plan = configuration.plan
    in_use = plan.host_expert_layers or plan.layers_on_host
    if in_use and configuration.offload.ram_bytes is not None:
        sum_, ram = sum_of(configuration), configuration.offload.ram_bytes
        longest = _largest_on_host(lambda each: sum_.host_bytes(each, users), context[0], ram)
        most = _largest_on_host(lambda each: sum_.host_bytes(tokens, each), requests[0], ram)
        context, requests = (longest, min(longest, context[1])), (most, min(most, requests[1]))
    return Capacity(context[0], requests[0], context[1], requests[1])


def _largest_on_host(host_bytes: Callable[[int], int], bound: int, ram_bytes: int) -> int:
    """The largest axis value up to `bound` whose part in host memory keeps to its size; it grows with the axis."""
    if not bound or host_bytes(bound) <= ram_bytes:
        return bound
    low, high = 0, bound
    while high - low > 1:
        middle = (low + high) // 2
        low, high = (middle, high) if host_bytes(middle) <= ram_bytes else (low, middle)
    return low


@lru_cache(maxsize=8192)
def _longest_context(machine: Keyed, users: int) -> tuple[int, int]:
    sum_ = sum_of(machine.configuration)
    bound = machine.configuration.model.max_context_tokens or MOST_TOKENS
    return _largest(partial(sum_.fullest, users=users), bound, *_limits(sum_))


@lru_cache(maxsize=8192)
def _most_users(machine: Keyed, tokens: int) -> tuple[int, int]:
    sum_ = sum_of(machine.configuration)
    c = machine.configuration
    bound = min(
        most_requests(c.engine, c.model, c.cache_type) or MOST_USERS, c.knobs.max_sequences or MOST_USERS
    )
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

    Memory grows with the axis, so a sampled curve brackets both crossings; further samples around where a straight line
    would cross settle them to the integer, both in one pass.
    """

    def over(axis: Any) -> tuple[Any, Any]:
        curve = needed(axis)
        value = np.broadcast_to(curve.value - point, axis.shape)
        return value, np.broadcast_to(np.maximum(value, curve.high - firm), axis.shape)

    axis = _first_samples(bound)
    brackets = [_bracket(axis, excess) for excess in over(axis)]
    while any(bracket.open for bracket in brackets):
        axis = np.unique(np.concatenate([bracket.samples() for bracket in brackets if bracket.open]))
        for index, excess in enumerate(over(axis)):
            if brackets[index].open:
                brackets[index] = brackets[index].narrowed(axis, excess)
    return brackets[0].low, brackets[1].low


@dataclass(frozen=True, slots=True)
class _Bracket:
    """A crossing between two axis values: at `low` the excess is not above 0, at `high` it is. 0 as low: nothing holds."""

    low: int
    high: int
    excess_low: float
    excess_high: float

    @property
    def open(self) -> bool:
        return self.high - self.low > 1

    def samples(self) -> Any:
        """Integers inside: all when few, else around the straight line's crossing and evenly over the rest."""
        if self.high - self.low <= _SAMPLES:
            return np.arange(self.low + 1, self.high, dtype=np.int64)
        rise = self.excess_high - self.excess_low
        share = -self.excess_low / rise if rise > 0 and math.isfinite(rise) else 0.5
        guess = self.low + int(share * (self.high - self.low))
        near = np.arange(guess - _NEAR, guess + _NEAR + 1, dtype=np.int64)
        spread = np.linspace(self.low, self.high, _NEAR).astype(np.int64)
        points = np.concatenate([near, spread])
        return points[(points > self.low) & (points < self.high)]

    def narrowed(self, axis: Any, excess: Any) -> _Bracket:
        """The bracket after more samples."""
        inside = (axis > self.low) & (axis < self.high)
        own, over = axis[inside], excess[inside]
        passed = int(np.count_nonzero(np.cumprod(over <= 0)))
        low, excess_low = (
            (int(own[passed - 1]), float(over[passed - 1])) if passed else (self.low, self.excess_low)
        )
        if passed == len(own):
            return _Bracket(low, self.high, excess_low, self.excess_high)
        return _Bracket(low, int(own[passed]), excess_low, float(over[passed]))


def _bracket(axis: Any, excess: Any) -> _Bracket:
    """The crossing on a first axis; closed where nothing or everything holds."""
    passed = int(np.count_nonzero(np.cumprod(excess <= 0)))
    if passed == 0:
        return _Bracket(0, 0, 0.0, 0.0)
    if passed == len(axis):
        return _Bracket(int(axis[-1]), int(axis[-1]), 0.0, 0.0)
    return _Bracket(
        int(axis[passed - 1]), int(axis[passed]), float(excess[passed - 1]), float(excess[passed])
    )


@lru_cache(maxsize=1024)
def _first_samples(bound: int) -> Any:
    """Integers from 1 to the bound: all when few, else by ratio."""
    if bound <= _SAMPLES:
        return np.arange(1, bound + 1, dtype=np.int64)
    points = np.unique(np.geomspace(1, bound, _SAMPLES).round().astype(np.int64))
    points[-1] = bound
    return points


def memory_curves(
    configuration: Configuration, cache_types: Sequence[str], points: int = 49
) -> tuple[MemoryCurve, ...]:
    """Needed bytes of the fullest GPU against context, one curve per cache type, up to the model's maximum."""
    out = []
    for cache_type in cache_types:
        same = cache_type == configuration.cache_type
        own = configuration if same else replace(configuration, cache_type=cache_type)
        if sum_of(own).limit is not None:
            out.append(_curve(Keyed(own.machine, own), own.workload.users, points))
    return tuple(out)


@lru_cache(maxsize=2048)
def _curve(machine: Keyed, users: int, points: int) -> MemoryCurve:
    c = machine.configuration
    top = max(c.model.max_context_tokens or 1_048_576, 4096)
    axis = np.unique(np.geomspace(1024, top, points).round().astype(np.int64))
    curve = sum_of(c).fullest(axis, users)
    lines = (
        np.broadcast_to(line, axis.shape).astype(np.int64) for line in (curve.value, curve.low, curve.high)
    )
    value, low, high = (tuple(line.tolist()) for line in lines)
    return MemoryCurve(
        c.cache_type, tuple(axis.tolist()), value, low, high, _longest_context(machine, users)[0]
    )
