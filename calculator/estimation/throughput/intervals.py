"""From a point to its central 90 % interval: the spread of the class, and of whatever else the figure rests on
(formulas §10). PURE."""

from __future__ import annotations

import math
from collections.abc import Mapping
from typing import Any

from calculator.estimation.configuration import Configuration
from calculator.estimation.numbers import least
from calculator.estimation.terms import Interval

LINK_DOUBT = math.log(2.0)
"""Times of messages over slower links are known to a factor of two (formulas §10)."""


def spread_of(c: Configuration, figure: str, shares: Mapping[str, float]) -> tuple[float, float]:
    """(low, high) as factors on a rate: those of the class, widened by host memory and slow links where a step spends its
    time on them. shares: of a decode step, by what it is spent on.
    """
    own = c.constants[f"speed_spread_{figure}"]
    doubts = [(math.log(own.low), math.log(own.high))]
    if shares.get("host memory"):
        host = c.constants["speed_host"]
        doubts.append(
            _part(shares["host memory"], math.log(host.low / host.value), math.log(host.high / host.value))
        )
    if shares.get("interconnect"):
        doubts.append(_part(shares["interconnect"], -LINK_DOUBT, LINK_DOUBT))
    low = math.sqrt(sum(below * below for below, _ in doubts))
    high = math.sqrt(sum(above * above for _, above in doubts))
    return math.exp(-low), math.exp(high)


def _part(share: float, low: float, high: float) -> tuple[float, float]:
    return share * low, share * high


def of_rate(value: Any, spread: tuple[float, float], most: Any = math.inf) -> Interval:
    """The interval of a rate; neither end is above what is physically possible."""
    return Interval(value, value * spread[0], least(value * spread[1], most))


def of_time(value: Any, spread: tuple[float, float], shortest: Any = 0.0) -> Interval:
    """The interval of a time whose rate has this spread."""
    low = value / spread[1]
    return Interval(value, max(low, shortest) if isinstance(low, float) else low, value / spread[0])
