"""What matters most: each input moved by a fifth down and up, all else as it is (formulas §9). PURE."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from calculator.estimation.economics.deal import Deal
from calculator.estimation.economics.inputs import Source
from calculator.estimation.economics.paths import own_usd_per_month
from calculator.estimation.economics.payback import ALL_DAY, break_even_months, npv_usd
from calculator.estimation.economics.results import Bar, PathName, Tornado

SHARE = 0.2

_Change = Callable[[Deal, float], Deal]


def _rent(deal: Deal, factor: float) -> Deal:
    price = deal.rent_usd_per_hour
    return deal if price is None else deal.with_(rent_usd_per_hour=price * factor)


def _purchase(deal: Deal, factor: float) -> Deal:
    price = deal.machines_usd
    return deal if price is None else deal.with_(machines_usd=price * factor)


def _api(deal: Deal, factor: float) -> Deal:
    if deal.api_input_usd is None:
        return deal
    return deal.with_(
        api_input_usd=deal.api_input_usd * factor,
        api_cached_usd=deal.api_cached_usd * factor,
        api_output_usd=deal.api_output_usd * factor,
    )


def _resale(deal: Deal, factor: float) -> Deal:
    """What the machine brings at the end of the horizon, moved; what it brings on the first day stays."""
    kept = (1.0 - deal.resale_decline_per_year) * factor ** (12.0 / deal.months)
    return deal.with_(resale_decline_per_year=1.0 - kept)


CHANGES: Mapping[str, _Change] = {
    "purchase_price": _purchase,
    "rent_price": _rent,
    "api_price": _api,
    "utilisation": lambda deal, factor: deal.with_(duty=min(1.0, deal.duty * factor)),
    "throughput": lambda deal, factor: deal.with_(requests_per_s=deal.requests_per_s * factor),
    "electricity": lambda deal, factor: deal.with_(usd_per_kwh=deal.usd_per_kwh * factor),
    "resale": _resale,
    "hours": lambda deal, factor: deal.with_(hours_per_day=min(ALL_DAY, deal.hours_per_day * factor)),
}
"""The inputs that are moved. What is rented or bought is the same machine: its speed moves a break-even only
against an API."""


def usd_per_million(deal: Deal, source: Source) -> float | None:
    """Cost of a million tokens, in and out, at the source's price [USD]; None where there is no price or no
    token."""
    tokens = deal.requests_per_month * deal.request_tokens
    if not deal.used or tokens <= 0.0:
        return None
    month = deal.rent_usd_per_month
    if source == "own":
        month = None if deal.running_usd_per_month is None else own_usd_per_month(deal)
    return None if month is None else month / tokens * 1e6


def tornado_of(deal: Deal, source: Source, instead_of: PathName | None) -> Tornado:
    """The inputs by how far they move the NPV, the widest first; by the cost per token where nothing is
    bought."""
    bars = [_bar(deal, name, source, instead_of) for name in CHANGES if _matters(name, deal, instead_of)]
    bars.sort(key=_width, reverse=True)
    return Tornado(
        instead_of,
        _months(deal, instead_of),
        npv_usd(deal, instead_of) if instead_of else None,
        usd_per_million(deal, source),
        tuple(bars),
    )


def _matters(name: str, deal: Deal, instead_of: PathName | None) -> bool:
    """The input has a value here, and is not the price of a way that nothing is held against."""
    if name == "purchase_price":
        return deal.machines_usd is not None
    if name == "rent_price":
        return deal.rent_usd_per_hour is not None and instead_of != "api"
    return name != "api_price" or instead_of == "api"


def _months(deal: Deal, instead_of: PathName | None) -> float | None:
    return break_even_months(deal, instead_of, interest=True, resale=True) if instead_of else None


def _bar(deal: Deal, name: str, source: Source, instead_of: PathName | None) -> Bar:
    low, high = (CHANGES[name](deal, factor) for factor in (1.0 - SHARE, 1.0 + SHARE))
    costs = usd_per_million(low, source), usd_per_million(high, source)
    return Bar(
        name,
        SHARE,
        (_months(low, instead_of), _months(high, instead_of)),
        (npv_usd(low, instead_of), npv_usd(high, instead_of)) if instead_of else None,
        (costs[0], costs[1]) if costs[0] is not None and costs[1] is not None else None,
    )


def _width(bar: Bar) -> float:
    ends = bar.npv_usd or bar.usd_per_million or (0.0, 0.0)
    return abs(ends[1] - ends[0])
