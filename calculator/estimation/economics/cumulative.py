"""Money spent over the months: buying, renting, an API, each with its range (formulas §9). PURE."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np

from calculator.estimation.economics.deal import Deal
from calculator.estimation.economics.paths import priced_paths
from calculator.estimation.economics.present_value import growing_payments_worth, resale_usd
from calculator.estimation.economics.ranges import Doubts
from calculator.estimation.economics.results import Cumulative, Line


def _rent(deal: Deal, months: Any) -> Any:
    return (deal.rent_usd_per_month or 0.0) * growing_payments_worth(deal.rent_trend_per_year, 0.0, months)


def _own(deal: Deal, months: Any) -> Any:
    return (deal.capital_usd or 0.0) + (deal.running_usd_per_month or 0.0) * months


def _own_after_resale(deal: Deal, months: Any) -> Any:
    left = resale_usd(deal.capital_usd or 0.0, deal.resale_fraction, deal.resale_decline_per_year, months)
    return _own(deal, months) - left


def _api(deal: Deal, months: Any) -> Any:
    return (deal.api_usd_per_month or 0.0) * months


def cumulative_of(deal: Deal, doubts: Doubts) -> Cumulative:
    """Cumulative cost at the end of each month of the horizon, from month 0; without interest, as an account
    shows it.

    Where the line of owning meets that of renting lies the simple break-even. The API is paid for the tokens
    of the point's speed: its own line has no range.
    """
    months = np.arange(round(deal.months) + 1, dtype=float)
    known = priced_paths(deal)
    lines = []
    if "rent" in known:
        lines.append(_line("rent", _rent, deal, doubts, months))
    if "own" in known:
        lines.append(_line("own", _own, deal, doubts, months))
        lines.append(_line("own_after_resale", _own_after_resale, deal, doubts, months))
    if "api" in known:
        lines.append(_line("api", _api, deal, (), months))
    return Cumulative(tuple(months.tolist()), tuple(lines))


def _line(name: Any, spent: Callable[[Deal, Any], Any], deal: Deal, doubts: Doubts, months: Any) -> Line:
    """One line with its range: differences of each doubtful input in quadrature, month by month."""
    value = spent(deal, months)
    below, above = np.zeros_like(value), np.zeros_like(value)
    for pair in doubts:
        steps = [spent(other, months) - value for other in pair]
        below += np.minimum(0.0, np.minimum(*steps)) ** 2
        above += np.maximum(0.0, np.maximum(*steps)) ** 2
    low, high = value - np.sqrt(below), value + np.sqrt(above)
    return Line(name, tuple(value.tolist()), tuple(low.tolist()), tuple(high.tolist()))
