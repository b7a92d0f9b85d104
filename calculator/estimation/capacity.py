"""Longest context and most users: the inverse of the sum, on the same functions (formulas §0.4, §11.12). PURE."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import lru_cache, partial

import numpy as np

from calculator.estimation.border import Border, Excess, Pair
from calculator.estimation.configuration import Configuration, Keyed
from calculator.estimation.engines.acceptance import most_requests
from calculator.estimation.memory import Sum, sum_of
from calculator.estimation.terms import Capacity, Interval, MemoryCurve

MOST_TOKENS = 16_777_216
MOST_USERS = 65_536


def capacity_of(configuration: Configuration) -> Capacity | None:
    """Longest context at the configuration's users and most users at its context; None without a limit.

    `max_*` asks for the point value, `max_*_fits` for the high end and llama.cpp's free margin.
    """
    if sum_of(configuration).limit is None:
        return None
    machine = Keyed(configuration.machine, configuration)
    tokens, users = configuration.workload.context_tokens, configuration.workload.users
    context, requests = longest_context(machine, users), most_users(machine, tokens)
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


def most_of_context(c: Configuration) -> int:
    """The context that nothing goes beyond: the model's maximum [tokens]."""
    return c.model.max_context_tokens or MOST_TOKENS


def longest_context(machine: Keyed, users: int) -> Pair:
    """The longest context for so many requests whose point value, and whose high end, fits [tokens]; asked only where the
    device's limit is known."""
    sum_ = sum_of(machine.configuration)
    bound = most_of_context(machine.configuration)
    fullest = partial(sum_.fullest, users=users)
    return _borders(machine)[0].at(users, bound, lambda tokens: _excess(sum_, fullest(tokens), users))


def most_users(machine: Keyed, tokens: int) -> Pair:
    """The most requests of so long a context, likewise."""
    sum_ = sum_of(machine.configuration)
    bound = users_bound(machine.configuration)
    fullest = partial(sum_.fullest, tokens)
    return _borders(machine)[1].at(tokens, bound, lambda users: _excess(sum_, fullest(users), users))


def users_bound(c: Configuration) -> int:
    """Most requests at once that the engine serves, whatever the memory."""
    served = most_requests(c.engine, c.model, c.cache_type) or MOST_USERS
    return min(served, c.knobs.max_sequences or MOST_USERS)


def _excess(sum_: Sum, needed: Interval, users: int) -> Excess:
    """What the point value has too much, and the high end [B]; nothing fits outright where the engine takes more than the
    device has, whatever is needed."""
    assert sum_.limit is not None, "asked only where a limit is known"
    point = sum_.limit.usable.value
    value = needed.value - point
    if sum_.takes_too_much(users):
        return value, math.inf
    return value, max(value, needed.high - (point - sum_.limit.margin_bytes))


@lru_cache(maxsize=4096)
def _borders(machine: Keyed) -> tuple[Border, Border]:
    """Where a machine is full: the longest context by users, and the most users by context."""
    return Border(partial(block_of, machine.configuration)), Border(lambda: 1)


BLOCK_SAMPLES = np.arange(1, 8193, dtype=np.int64)


def block_of(configuration: Configuration) -> int:
    """In steps of how many tokens the memory of one request grows: what the steps have in common [tokens]."""
    return _block_of(Keyed(configuration.machine, configuration))


@lru_cache(maxsize=1024)
def _block_of(machine: Keyed) -> int:
    needed = np.broadcast_to(
        sum_of(machine.configuration).fullest(BLOCK_SAMPLES, 1).value, BLOCK_SAMPLES.shape
    )
    steps = BLOCK_SAMPLES[:-1][np.diff(needed) != 0]
    return int(np.gcd.reduce(steps)) if len(steps) else 1


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
        c.cache_type, tuple(axis.tolist()), value, low, high, longest_context(machine, users)[0]
    )
