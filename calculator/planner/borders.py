"""Longest context and most users of many hosts at once: one sum, many limits (formulas §0.4, §11.12). PURE.

The same inverse as `capacity_of`, over a vector of limits: every evaluation of the sum serves all of them, on both axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from calculator.estimation.capacity import block_of, capacity_of, most_of_context, most_of_users
from calculator.estimation.configuration import Workload
from calculator.estimation.memory import Sum
from calculator.estimation.terms import Capacity
from calculator.planner.settling import Alike, Laid

GRID = 12
"""Places of an axis that are evaluated first, evenly apart on a logarithmic scale."""

PATIENCE = 3
"""Guesses along a line before the range is halved."""


class _Axis:
    """Where many limits are met along one axis. low: the largest place known to keep to the limit, 0 for none; high: the
    smallest known not to, or the first beyond the bound."""

    def __init__(self, limits: Any, of_high_end: Any, bound: int, block: int) -> None:
        self.limits, self.of_high_end = limits, of_high_end
        self.bound, self.block = bound, block
        self.low, self.high = np.zeros(len(limits), np.int64), np.full(len(limits), bound + 1)
        self.at_low, self.at_high = np.full(len(limits), np.nan), np.full(len(limits), np.nan)
        self.tries = 0
        self.asked = np.unique(np.geomspace(1, bound, GRID).round().astype(np.int64))

    @property
    def settled(self) -> bool:
        return bool((self.high - self.low <= 1).all())

    def start(self, value: Any, high_end: Any) -> None:
        """The ranges that the grid leaves; memory never falls along an axis."""
        for which, ends in ((~self.of_high_end, value), (self.of_high_end, high_end)):
            behind = np.searchsorted(ends, self.limits[which], side="right")
            below, within = np.maximum(behind - 1, 0), np.minimum(behind, len(ends) - 1)
            some, more = behind > 0, behind < len(ends)
            self.low[which] = np.where(some, self.asked[below], 0)
            self.at_low[which] = np.where(some, ends[below], np.nan)
            self.high[which] = np.where(more, self.asked[within], self.bound + 1)
            self.at_high[which] = np.where(more, ends[within], np.nan)

    def guess(self) -> None:
        """Ask for the end of the block where a line through the two ends meets the limit, and for the place behind it."""
        middle = (self.low + self.high) // 2
        self.tries += 1
        if self.tries % (PATIENCE + 1):
            share = (self.limits - self.at_low) / np.maximum(self.at_high - self.at_low, 1.0)
            meets = self.low + np.nan_to_num(share, nan=0.5) * (self.high - self.low)
            middle = meets.astype(np.int64) // self.block * self.block
        middle = np.clip(middle, self.low + 1, np.maximum(self.high - 1, 1))
        self.asked = np.concatenate([middle, np.minimum(middle + 1, np.maximum(self.high - 1, 1))])

    def learn(self, value: Any, high_end: Any) -> None:
        """Narrow every range by what was found at its two places."""
        count = len(self.limits)
        for part in (slice(0, count), slice(count, 2 * count)):
            place, needed = self.asked[part], np.where(self.of_high_end, high_end[part], value[part])
            holds = (needed <= self.limits) & (place > self.low)
            fails = (needed > self.limits) & (place < self.high)
            self.low, self.at_low = np.where(holds, place, self.low), np.where(holds, needed, self.at_low)
            self.high, self.at_high = np.where(fails, place, self.high), np.where(fails, needed, self.at_high)


def capacities(alike: Alike, rows: Sequence[Laid]) -> list[Capacity | None]:
    """Longest context and most users of rows that need alike, each with its own limit: what `capacity_of` finds for each
    alone."""
    takes = [_takes_too_much(row) for row in rows]
    plain = [n for n, much in enumerate(takes) if much is not None and not rows[n].configuration.plan.host_expert_layers]  # fmt: skip
    out = [None if n in plain else capacity_of(row.configuration) for n, row in enumerate(rows)]
    if not plain:
        return out
    limits = [rows[n].limit for n in plain]
    points = np.array([limit.usable.value for limit in limits if limit])
    firm = np.array([limit.usable.value - limit.margin_bytes for limit in limits if limit])
    c = rows[plain[0]].configuration
    context, users = _borders(alike.sum, c.workload, np.concatenate([points, firm]))
    for place, n in enumerate(plain):
        at, high_end = place, place + len(plain)
        keeps = 0 if takes[n] else 1
        out[n] = Capacity(
            int(context[at]),
            int(users[at]),
            keeps * int(min(context[at], context[high_end])),
            keeps * int(min(users[at], users[high_end])),
        )
    return out


def _takes_too_much(row: Laid) -> bool | None:
    """Whether the engine takes more than the device has; None where that depends on the requests."""
    return Sum(row.configuration).takes_alike


def _borders(sum_: Sum, work: Workload, limits: Any) -> tuple[Any, Any]:
    """(tokens, users) at which each limit is met; the second half of the limits is that of the high end."""
    c = sum_.configuration
    of_high_end = np.arange(len(limits)) >= len(limits) // 2
    axes = (
        _Axis(limits, of_high_end, most_of_context(c), block_of(c)),
        _Axis(limits, of_high_end, most_of_users(c), 1),
    )
    first = True
    while pending := [axis for axis in axes if first or not axis.settled]:
        if not first:
            for axis in pending:
                axis.guess()
        places = _places(axes, pending, work)
        needed = sum_.fullest(*places)
        value = np.broadcast_to(needed.value, places[0].shape)
        high_end = np.broadcast_to(needed.high, places[0].shape)
        start = 0
        for axis in pending:
            part = slice(start, start + len(axis.asked))
            start += len(axis.asked)
            (axis.start if first else axis.learn)(value[part], high_end[part])
        first = False
    return axes[0].low, axes[1].low


def _places(axes: Sequence[_Axis], pending: Sequence[_Axis], work: Workload) -> tuple[Any, Any]:
    """Context and users at every place that the axes ask for."""
    tokens, users = [], []
    for axis in pending:
        along_context = axis is axes[0]
        tokens.append(axis.asked if along_context else np.full(len(axis.asked), work.context_tokens))
        users.append(np.full(len(axis.asked), work.users) if along_context else axis.asked)
    return np.concatenate(tokens), np.concatenate(users)
