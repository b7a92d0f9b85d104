"""Rent, own or pay an API for the same tokens per month, and where the order turns (formulas §9). PURE."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from calculator.estimation.economics.deal import Deal
from calculator.estimation.economics.present_value import (
    annuity_usd_per_month,
    growing_payments_worth,
    monthly_rate,
    payments_worth,
    present,
    resale_usd,
)
from calculator.estimation.economics.ranges import Doubts, scaled
from calculator.estimation.economics.results import PATHS, Comparison, Path, PathName
from calculator.estimation.terms import Reason


def level_rent_usd_per_month(deal: Deal) -> float:
    """The rent that is worth as much as the changing one over the horizon; today's without a trend
    [USD/month]."""
    rate = monthly_rate(deal.discount_per_year)
    whole = growing_payments_worth(deal.rent_trend_per_year, rate, deal.months)
    return float((deal.rent_usd_per_month or 0.0) * whole / payments_worth(rate, deal.months))


def net_annuity_usd_per_month(deal: Deal) -> float:
    """The capital with interest over the horizon, less what the machine still brings then [USD/month]."""
    rate, capital = monthly_rate(deal.discount_per_year), deal.capital_usd or 0.0
    left = resale_usd(capital, deal.resale_fraction, deal.resale_decline_per_year, deal.months)
    return annuity_usd_per_month(capital - float(present(left, rate, deal.months)), rate, deal.months)


def own_usd_per_month(deal: Deal) -> float:
    """Owning for a month, capital and resale inside: A + O [USD/month]."""
    return net_annuity_usd_per_month(deal) + (deal.running_usd_per_month or 0.0)


def _api_usd_per_month(deal: Deal) -> float:
    return deal.api_usd_per_month or 0.0


USD_PER_MONTH: dict[PathName, Callable[[Deal], float]] = {
    "rent": level_rent_usd_per_month,
    "own": own_usd_per_month,
    "api": _api_usd_per_month,
}
"""What each way costs a month, over the horizon."""


def priced_paths(deal: Deal) -> tuple[PathName, ...]:
    """The ways whose prices are known."""
    known = {
        "rent": deal.rent_usd_per_hour is not None,
        "own": deal.running_usd_per_month is not None,
        "api": deal.api_input_usd is not None and deal.requests_per_s > 0.0,
    }
    return tuple(name for name in PATHS if known[name])


def compare(deal: Deal, doubts: Doubts) -> Comparison | None:
    """The ways with a price, the cheapest first; None when there is none."""
    names = priced_paths(deal)
    if not names:
        return None
    tokens = deal.requests_per_month * deal.request_tokens
    serves = deal.used and tokens > 0.0
    paths = [_path(deal, name, doubts, tokens if serves else None) for name in names]
    paths.sort(key=lambda path: path.usd_per_month.value)
    own = _turns(deal, "own", names) if serves else None
    rent = _turns(deal, "rent", names) if serves else None
    busy = deal.with_(duty=1.0)
    most = busy.requests_per_month * busy.request_tokens
    said = _reasons(deal, names, own, rent, most) if serves else ()
    return Comparison(tokens, most, tuple(paths), own, rent, said)


def _path(deal: Deal, name: PathName, doubts: Doubts, tokens: float | None) -> Path:
    month = scaled(USD_PER_MONTH[name], deal, doubts if name != "api" else ())
    if tokens is None:
        return Path(name, month, None)
    million = scaled(
        lambda d: USD_PER_MONTH[name](d) / (d.requests_per_month * d.request_tokens) * 1e6, deal, doubts
    )
    return Path(name, month, million)


def _turns(deal: Deal, name: PathName, names: tuple[PathName, ...]) -> float | None:
    """Tokens a month from which this way beats the API, the machine busier in the same hours.

    Both are linear in the busy share: fixed + more·u against api·u.
    """
    if name not in names or "api" not in names:
        return None
    cost = USD_PER_MONTH[name]
    idle, busy = cost(deal.with_(duty=0.0)), cost(deal.with_(duty=1.0))
    api = _api_usd_per_month(deal.with_(duty=1.0))
    gain = api - (busy - idle)
    if gain <= 0.0 or idle > gain:
        return None
    share = max(0.0, idle) / gain
    return share * deal.with_(duty=1.0).requests_per_month * deal.request_tokens


def _reasons(
    deal: Deal, names: tuple[PathName, ...], own: float | None, rent: float | None, most: float
) -> tuple[Reason, ...]:
    """From how many tokens a month a machine beats the API, or that it does not even when always busy."""
    if "api" not in names:
        return ()
    named = {"hours": deal.hours_per_day, "busy_tokens": most}
    turns: tuple[tuple[PathName, float | None], ...] = (("own", own), ("rent", rent))
    codes = [(_code(tokens, name), tokens) for name, tokens in turns if name in names]
    return tuple(Reason(code, {**named, "tokens": tokens or 0.0}) for code, tokens in codes)


TURNS: Mapping[PathName, tuple[str, str, str]] = {
    "own": ("own_beats_api_from", "own_beats_api_always", "api_beats_own_busy"),
    "rent": ("rent_beats_api_from", "rent_beats_api_always", "api_beats_rent_busy"),
}
"""Codes of a way held against the API: from some tokens on, always, never."""


def _code(tokens: float | None, name: PathName) -> str:
    some, always, never = TURNS[name]
    if tokens is None:
        return never
    return some if tokens > 0.0 else always
