"""Longest context and most users of many hosts at once: one sum, many limits (formulas §0.4, §11.12). PURE.

The same inverse as `capacity_of`, over a vector of limits: every evaluation of the sum serves all of them, on both axes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from typing import Any

import numpy as np

from calculator.estimation.capacity import block_of, capacity_of, most_of_context, users_bound
from calculator.estimation.configuration import Workload
from calculator.estimation.memory import Sum
from calculator.estimation.numbers import round_up
from calculator.estimation.terms import Capacity
from calculator.planner.settling import Alike, Laid

GRID = 12
"""Places of an axis that are evaluated first, evenly apart on a logarithmic scale."""

PATIENCE = 3
"""Guesses along a line before the range is halved."""

LEAST_RISE = 1e-3
"""A line that rises less is flat [B per place]."""


class _Axis:
    """Where many limits are met along one axis. low: the largest place known to keep to the limit, 0 for none; high: the
    smallest known not to, or the first beyond the bound. near, at_near: the place evaluated last, and what is needed there;
    rise: how fast that grows."""

    def __init__(self, limits: Any, of_high_end: Any, bound: int, block: int) -> None:
        self.limits, self.of_high_end = limits, of_high_end
        self.bound, self.block = bound, block
        self.tries = 0
        self.asked = _grid(bound, block)

    @property
    def settled(self) -> bool:
        return bool((self.high - self.low <= 1).all())

    def start(self, value: Any, high_end: Any) -> None:
        """The ranges that the grid leaves; memory never falls along an axis."""
        grid, last = self.asked, len(self.asked) - 1
        behind = np.where(
            self.of_high_end,
            np.searchsorted(high_end, self.limits, side="right"),
            np.searchsorted(value, self.limits, side="right"),
        )
        below, above = np.maximum(behind - 1, 0), np.minimum(behind, last)
        self.low = np.where(behind > 0, grid[below], 0)
        self.high = np.where(behind <= last, grid[above], self.bound + 1)
        ends = np.where(self.of_high_end, high_end[below], value[below])
        more = np.where(self.of_high_end, high_end[above], value[above])
        self.near, self.at_near = grid[below], ends
        self.rise = np.maximum((more - ends) / np.maximum(grid[above] - grid[below], 1), LEAST_RISE)

    def guess(self) -> None:
        """Ask for the end of the block in which a line meets the limit, and for the place behind it."""
        self.tries += 1
        if self.tries % (PATIENCE + 1):
            meets = self.near + np.clip((self.limits - self.at_near) / self.rise, -self.bound, self.bound)
            place = np.floor(meets / self.block).astype(np.int64) * self.block
            place = np.where(place <= self.low, (self.low // self.block + 1) * self.block, place)
            place = np.where(place >= self.high, (self.high - 1) // self.block * self.block, place)
        else:
            place = (self.low + self.high) // 2
        last = np.maximum(self.high - 1, 1)
        place = np.clip(place, np.minimum(self.low + 1, last), last)
        self.asked = np.concatenate([place, np.minimum(place + 1, last)])

    def learn(self, value: Any, high_end: Any) -> None:
        """Narrow every range by what was found at its two places."""
        count = len(self.limits)
        for part in (slice(count, 2 * count), slice(0, count)):
            place, needed = self.asked[part], np.where(self.of_high_end, high_end[part], value[part])
            holds = needed <= self.limits
            self.low = np.where(holds, np.maximum(self.low, place), self.low)
            self.high = np.where(holds, self.high, np.minimum(self.high, place))
        apart = place - self.near
        rise = (needed - self.at_near) / np.where(apart == 0, 1, apart)
        self.rise = np.where((apart != 0) & (rise > LEAST_RISE), rise, self.rise)
        self.near, self.at_near = place, needed


@lru_cache(maxsize=256)
def _grid(bound: int, block: int) -> Any:
    """Places from 1 to the bound, those beyond a block at its end."""
    grid = np.geomspace(1, bound, GRID).round().astype(np.int64)
    return np.unique(np.minimum(np.where(grid > block, round_up(grid, block), grid), bound))


def capacities(alike: Alike, rows: Sequence[Laid]) -> list[Capacity | None]:
    """Longest context and most users of rows that need alike, each with its own limit: what `capacity_of` finds for each
    alone."""
    takes = [row.place.takes_too_much for row in rows]
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


def _borders(sum_: Sum, work: Workload, limits: Any) -> tuple[Any, Any]:
    """(tokens, users) at which each limit is met; the second half of the limits is that of the high end."""
    c = sum_.configuration
    of_high_end = np.arange(len(limits)) >= len(limits) // 2
    axes = (
        _Axis(limits, of_high_end, most_of_context(c), block_of(c)),
        _Axis(limits, of_high_end, users_bound(c), 1),
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
