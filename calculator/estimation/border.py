"""Where a quantity that grows crosses its limit: the largest whole number before it, found with few evaluations. PURE.

Memory grows with context and with users, and in long stretches along a straight line: the line through two points that
were evaluated leads to the crossing or next to it. Neighbouring questions bound each other: with more users the longest
context is never longer.
"""

from __future__ import annotations

import math
from bisect import bisect_left
from collections.abc import Callable

Pair = tuple[int, int]
"""The largest values whose point value keeps to the limit, and whose high end does; 0 where not even 1 does."""

Excess = tuple[float, float]
"""How far the point value and the high end lie above what they must keep to [B]; not above 0 is within."""

MOST_KEPT = 512
"""Places of one border that are remembered; beyond it all are forgotten."""

PATIENCE = 3
"""Guesses in a row that may leave more than half of the range; then the range is halved."""


class Border:
    """The border of one machine: along one axis (users, or context) the largest value of the other.

    block: in steps of how many the other axis is dealt, asked for where it matters; it guides the search and decides
    nothing.
    """

    __slots__ = ("block", "places", "sorted")

    def __init__(self, block: Callable[[], int]) -> None:
        self.block = block
        self.places: dict[int, Pair] = {}
        self.sorted: list[int] = []

    def at(self, place: int, bound: int, excess: Callable[[int], Excess]) -> Pair:
        """The largest values up to `bound` at a place of the axis; excess: against the other axis, never falling."""
        found = self.places.get(place)
        if found is None:
            found = self._search(place, bound, excess)
            if len(self.sorted) >= MOST_KEPT:
                self.places.clear()
                self.sorted.clear()
            self.places[place] = found
            self.sorted.insert(bisect_left(self.sorted, place), place)
        return found

    def _search(self, place: int, bound: int, excess: Callable[[int], Excess]) -> Pair:
        at = bisect_left(self.sorted, place)
        before = self.places[self.sorted[at - 1]] if at else (bound, bound)
        behind = self.places[self.sorted[at]] if at < len(self.sorted) else (0, 0)
        known: dict[int, Excess] = {}

        def evaluated(value: int) -> Excess:
            if value not in known:
                known[value] = excess(value)
            return known[value]

        point = self._crossing(_Side(0, behind[0], min(before[0], bound), known), evaluated)
        firm = self._crossing(_Side(1, behind[1], min(before[1], point), known), evaluated)
        return point, firm

    def _crossing(self, side: _Side, evaluated: Callable[[int], Excess]) -> int:
        """The largest value of the range whose excess is not above 0; its low end holds, or is 0."""
        side.narrow()
        if side.low >= side.high or evaluated(side.high)[side.which] <= 0:
            return side.high
        slow = 0
        while (width := side.high - side.low) > 1:
            guess = (side.low + side.high) // 2 if slow == PATIENCE else self._guess(side)
            if evaluated(guess)[side.which] <= 0:
                side.low = guess
            else:
                side.high = guess
            slow = 0 if slow == PATIENCE or side.high - side.low <= width // 2 else slow + 1
        return side.low

    def _guess(self, side: _Side) -> int:
        """The next value to evaluate, inside: where the line through the two points nearest to 0 meets it."""
        near = side.nearest()
        if len(near) < 2:
            return side.low + 1
        (one, first), (two, second) = near
        if one == two:
            return self._edge(first, side.low, side.high)
        meets = math.floor(first - one * (second - first) / (two - one))
        return min(max(meets, side.low + 1), side.high - 1)

    def _edge(self, flat: int, low: int, high: int) -> int:
        """Where memory is the same for neighbours it is dealt in whole blocks: the end of the block, or one behind it."""
        block = self.block()
        if flat <= low:
            end = (low // block + 1) * block
            return end + 1 if end + 1 < high else min(end, high - 1)
        end = (high - 1) // block * block
        return end if end > low else low + 1


class _Side:
    """A range with a crossing inside, of the point value (which 0) or of the high end (1), and what was evaluated."""

    __slots__ = ("high", "known", "low", "which")

    def __init__(self, which: int, low: int, high: int, known: dict[int, Excess]) -> None:
        self.which, self.low, self.high, self.known = which, low, high, known

    def narrow(self) -> None:
        """Make use of what was evaluated for the other side."""
        for value, found in self.known.items():
            if found[self.which] <= 0:
                self.low = max(self.low, min(value, self.high))
            elif value < self.high:
                self.high = max(value, self.low)

    def nearest(self) -> list[tuple[float, int]]:
        """(excess, value) of the two evaluated points nearest to the crossing."""
        found = [(each[self.which], value) for value, each in self.known.items()]
        return sorted((pair for pair in found if math.isfinite(pair[0])), key=lambda pair: abs(pair[0]))[:2]
