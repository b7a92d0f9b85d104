"""Verdicts of one machine that are known already, and what follows from them without computing again. PURE.

More context or more users never need less memory (a law that the tests hold): where 8,192 tokens fit for 4 requests, so
do 4,096 tokens for 2, and where a question does not fit, no larger one does. A moving slider asks for many neighbours.
"""

from __future__ import annotations

from functools import lru_cache
from typing import Literal

from calculator.estimation.configuration import Machine
from calculator.estimation.terms import Verdict

ORDER: tuple[Verdict, ...] = ("fits", "tight", "does_not_fit", "unsupported")
"""Verdicts as they follow one another while context and users grow."""

MOST_CORNERS = 24
"""Corners that are kept of each border; beyond it the one that was learnt first is forgotten."""

Axis = Literal["context", "users"]
Corner = tuple[int, int]
"""(context tokens, users)."""


class Known:
    """What is known of one machine. Between each two neighbours of ORDER runs a border through the plane of context and
    users: `below` are the outermost points known to lie before it, `beyond` the innermost known to lie behind it."""

    __slots__ = ("below", "beyond", "last")

    def __init__(self) -> None:
        self.below: tuple[list[Corner], ...] = ([], [], [])
        self.beyond: tuple[list[Corner], ...] = ([], [], [])
        self.last: Corner = (0, 0)

    def at(self, tokens: int, users: int) -> Verdict | None:
        """The verdict there, None when it does not follow from what is known."""
        for border, verdict in enumerate(ORDER[:-1]):
            if any(tokens <= t and users <= u for t, u in self.below[border]):
                return verdict
            if not any(tokens >= t and users >= u for t, u in self.beyond[border]):
                return None
        return ORDER[-1]

    def moving(self, tokens: int, users: int) -> Axis | None:
        """Along which axis the questions move that had to be computed: this one and the one before it."""
        before, self.last = self.last, (tokens, users)
        if before == self.last:
            return None
        if before[1] == users:
            return "context"
        return "users" if before[0] == tokens else None

    def learn(self, tokens: int, users: int, verdict: Verdict) -> None:
        """Remember a verdict that was computed."""
        place = ORDER.index(verdict)
        for border in range(len(ORDER) - 1):
            if place <= border:
                corners = [(t, u) for t, u in self.below[border] if t > tokens or u > users]
                self.below[border][:] = [*corners, (tokens, users)][-MOST_CORNERS:]
            else:
                corners = [(t, u) for t, u in self.beyond[border] if t < tokens or u < users]
                self.beyond[border][:] = [*corners, (tokens, users)][-MOST_CORNERS:]


@lru_cache(maxsize=4096)
def known_of(_machine: Machine) -> Known:
    """What is known of a machine; of those that were asked for longest ago nothing is."""
    return Known()
