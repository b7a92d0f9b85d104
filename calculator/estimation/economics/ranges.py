"""Ranges of money: each input that is not sure is moved alone to both its ends, and what that does is added
in quadrature (formulas §10). PURE."""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any

from calculator.estimation.configuration import Configuration
from calculator.estimation.economics.deal import Deal, machines_for, powers, requests_per_s
from calculator.estimation.economics.inputs import Money
from calculator.estimation.terms import Energy, Interval, Speed

Doubts = tuple[tuple[Deal, Deal], ...]
"""The deal at both ends of each input that has a range."""

SMALLEST = 1e-12
"""Money, energy and times below count as nothing."""


def doubts_of(
    c: Configuration, speed: Speed | None, energy: Energy | None, money: Money, deal: Deal
) -> Doubts:
    """The deal at both ends of each input that has a range, one pair for each: they are independent of each
    other."""
    rate = requests_per_s(speed, deal.output_tokens)
    pairs = [(deal.with_(requests_per_s=rate.low), deal.with_(requests_per_s=rate.high))]
    if energy is not None:
        low, high = powers(c, energy, money, "low"), powers(c, energy, money, "high")
        watts = [deal.with_(load_watts=load, idle_watts=idle) for load, idle in (low, high)]
        pairs.append((watts[0], watts[1]))
    if money.rent and deal.rent_usd_per_hour is not None:
        count = machines_for(c.count, money.rent.gpus)
        ends = (money.rent.paid_usd_per_hour("low"), money.rent.paid_usd_per_hour("high"))
        pairs.append(_ends(deal, "rent_usd_per_hour", ends, count))
    if money.purchase and deal.machines_usd is not None:
        count = machines_for(c.count, money.purchase.gpus)
        ends = (money.purchase.usd.low, money.purchase.usd.high)
        pairs.append(_ends(deal, "machines_usd", ends, count))
    return tuple(pair for pair in pairs if pair != (deal, deal))


def _ends(deal: Deal, field: str, ends: tuple[float, float], count: int) -> tuple[Deal, Deal]:
    changes: list[dict[str, Any]] = [{field: count * end} for end in ends]
    return deal.with_(**changes[0]), deal.with_(**changes[1])


def scaled(figure: Callable[[Deal], float], deal: Deal, doubts: Doubts) -> Interval:
    """A figure that is not negative, with its range: the independent factors of each input, their logarithms
    added in quadrature. An end that is zero makes the low end zero."""
    value = figure(deal)
    if value < SMALLEST:
        sums = added(figure, deal, doubts)
        return Interval(value, max(0.0, sums.low), sums.high)
    below = above = 0.0
    for pair in doubts:
        logs = [math.log(max(figure(other), SMALLEST) / value) for other in pair]
        below += min(0.0, *logs) ** 2
        above += max(0.0, *logs) ** 2
    low = value * math.exp(-math.sqrt(below))
    return Interval(value, low if low > SMALLEST else 0.0, value * math.exp(math.sqrt(above)))


def added(figure: Callable[[Deal], float], deal: Deal, doubts: Doubts) -> Interval:
    """A figure of either sign with its range: the independent differences of each input added in
    quadrature."""
    value = figure(deal)
    below = above = 0.0
    for pair in doubts:
        steps = [figure(other) - value for other in pair]
        below += min(0.0, *steps) ** 2
        above += max(0.0, *steps) ** 2
    return Interval(value, value - math.sqrt(below), value + math.sqrt(above))
