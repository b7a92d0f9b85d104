"""When owning has paid for itself, what it is worth, and from how many hours a day (formulas §9). PURE."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import lru_cache
from typing import Any

import numpy as np

from calculator.estimation.economics.deal import Deal
from calculator.estimation.economics.present_value import (
    LONGEST_MONTHS,
    discounted_months,
    growing_payments_worth,
    monthly_rate,
    payments_worth,
    present,
    resale_usd,
)
from calculator.estimation.economics.ranges import Doubts, added
from calculator.estimation.economics.results import Months, PathName, Payback
from calculator.estimation.terms import Reason

ALL_DAY = 24.0
EXACT_MONTHS = 1e-6
AT_ONCE_MONTHS = 0.05
"""What is saved in so few months is a machine that costs nothing, or is sold for as much as it was bought."""


@dataclass(frozen=True, slots=True)
class Flow:
    """What owning changes in the account: capital, what is avoided and paid each month, and how the three go
    on."""

    capital_usd: float
    avoided_usd: float
    running_usd: float
    trend_per_year: float
    rate: float
    resale_fraction: float
    resale_decline_per_year: float

    @property
    def changes(self) -> tuple[float, float, float]:
        """What the sums below depend on."""
        return self.trend_per_year, self.rate, self.resale_decline_per_year


def flow_of(deal: Deal, instead_of: PathName, *, interest: bool = True, resale: bool = True) -> Flow:
    """The flow of a deal that has a capital, a power figure and the price of what is avoided; rents follow
    their trend."""
    return Flow(
        deal.capital_usd or 0.0,
        deal.avoided_usd_per_month(instead_of) or 0.0,
        deal.running_usd_per_month or 0.0,
        deal.rent_trend_per_year if instead_of == "rent" else 0.0,
        monthly_rate(deal.discount_per_year) if interest else 0.0,
        deal.resale_fraction if resale else 0.0,
        deal.resale_decline_per_year,
    )


def _sums(changes: tuple[float, float, float], months: Any) -> tuple[Any, Any, Any]:
    """Present values of 1 USD: of rent each month, of running cost each month, of resale at the end [USD]."""
    trend, rate, decline = changes
    left = present(resale_usd(1.0, 1.0, decline, months), rate, months)
    return growing_payments_worth(trend, rate, months), payments_worth(rate, months), left


@lru_cache(maxsize=64)
def _table(changes: tuple[float, float, float]) -> tuple[Any, Any, Any]:
    """The sums of every month: they stay while hours and prices move."""
    return _sums(changes, np.arange(LONGEST_MONTHS + 1, dtype=float))


def _worth(flow: Flow, sums: tuple[Any, Any, Any]) -> Any:
    saved, paid, left = sums
    kept = flow.capital_usd * (flow.resale_fraction * left - 1.0)
    return flow.avoided_usd * saved - flow.running_usd * paid + kept


def worth_usd(flow: Flow, months: Any) -> Any:
    """What owning for so many months is worth today: −K + Σ (avoided_t − O)/(1 + r)^t + resale/(1 + r)^m
    [USD].

    months: a number or an array.
    """
    return _worth(flow, _sums(flow.changes, months))


def npv_usd(deal: Deal, instead_of: PathName) -> float:
    """Net present value at the end of the horizon, resale inside [USD]."""
    return float(worth_usd(flow_of(deal, instead_of), deal.months))


def first_month(flow: Flow) -> float | None:
    """The first month at which the worth is not negative: by the table of months, then by false position
    between two."""
    reached = _worth(flow, _table(flow.changes)) >= 0.0
    first = int(reached.argmax())
    if first == 0:
        return 0.0 if reached[0] else None
    low, high = first - 1.0, float(first)
    below, above = (float(worth_usd(flow, month)) for month in (low, high))
    while True:
        middle = low - below * (high - low) / (above - below) if above > below else high
        worth = float(worth_usd(flow, middle))
        if worth >= 0.0:
            step, high, above = high - middle, middle, worth
        else:
            step, low, below = middle - low, middle, worth
        if step < EXACT_MONTHS:
            return middle


def break_even_months(deal: Deal, instead_of: PathName, *, interest: bool, resale: bool) -> float | None:
    """Months until owning has paid for itself; None when it has not after fifty years.

    In closed form where prices stay and nothing is sold, else the first root of `worth_usd`.
    """
    flow = flow_of(deal, instead_of, interest=interest, resale=resale)
    if flow.trend_per_year or flow.resale_fraction:
        return first_month(flow)
    saving = flow.avoided_usd - flow.running_usd
    return discounted_months(flow.capital_usd, saving, flow.rate)


def from_hours_per_day(deal: Deal, instead_of: PathName) -> float | None:
    """Hours a day from which the horizon's NPV is not negative: it is linear in them; None when 24 are not
    enough [h]."""
    none = npv_usd(deal.with_(hours_per_day=0.0), instead_of)
    all_day = npv_usd(deal.with_(hours_per_day=ALL_DAY), instead_of)
    if none >= 0.0:
        return 0.0
    if all_day < 0.0:
        return None
    return ALL_DAY * none / (none - all_day)


def _months(deal: Deal, instead_of: PathName, doubts: Doubts, *, interest: bool, resale: bool) -> Months:
    """A break-even with its range; an end at which it never pays leaves the range open."""

    def at(other: Deal) -> float | None:
        return break_even_months(other, instead_of, interest=interest, resale=resale)

    value = at(deal)
    pairs = [(at(low), at(high)) for low, high in doubts]
    known = [end for pair in pairs for end in pair if end is not None]
    if value is None:
        return Months(None, min(known, default=None), None)
    never = any(end is None for pair in pairs for end in pair)
    if value < EXACT_MONTHS:
        return Months(value, 0.0, None if never else max(known, default=value))
    below = above = 0.0
    for pair in pairs:
        logs = [math.log(max(end, EXACT_MONTHS) / value) for end in pair if end is not None]
        below += min([0.0, *logs]) ** 2
        above += max([0.0, *logs]) ** 2
    high = value * math.exp(math.sqrt(above))
    open_end = never or high > LONGEST_MONTHS
    return Months(value, value * math.exp(-math.sqrt(below)), None if open_end else high)


def payback(deal: Deal, instead_of: PathName, doubts: Doubts) -> Payback:
    """Owning instead of renting, or of an API, with ranges and with words for what never comes."""

    def saving(d: Deal) -> float:
        return (d.avoided_usd_per_month(instead_of) or 0.0) - (d.running_usd_per_month or 0.0)

    resold = _months(deal, instead_of, doubts, interest=True, resale=True)
    npv = added(lambda d: npv_usd(d, instead_of), deal, doubts)
    hours = from_hours_per_day(deal, instead_of)
    return Payback(
        instead_of=instead_of,
        avoided_usd_per_month=deal.avoided_usd_per_month(instead_of) or 0.0,
        saving_usd_per_month=added(saving, deal, doubts),
        simple=_months(deal, instead_of, doubts, interest=False, resale=False),
        discounted=_months(deal, instead_of, doubts, interest=True, resale=False),
        with_resale=resold,
        npv_usd=npv,
        from_hours_per_day=hours,
        reasons=_reasons(deal, instead_of, resold.value, npv.value, hours),
    )


def _reasons(
    deal: Deal, instead_of: PathName, months: float | None, npv: float, hours: float | None
) -> tuple[Reason, ...]:
    """Whether it pays within the horizon, in words; when not, from how many hours a day, and what stands in
    the way."""
    rent = instead_of == "rent"
    named = {"hours": deal.hours_per_day, "years": deal.months / 12.0}
    if months is not None and months <= deal.months:
        paid = {**named, "months": months}
        if months < AT_ONCE_MONTHS and npv >= 0.0:
            return (Reason("pays_at_once", {}),)
        said = Reason("pays_instead_of_rent" if rent else "pays_instead_of_api", paid)
        lost = Reason("pays_then_rent_is_cheaper" if rent else "pays_then_api_is_cheaper", paid)
        return (said, lost) if npv < 0.0 else (said,)
    if hours is not None:
        found = {**named, "from_hours": round_up(hours)}
        first = Reason("rent_pays_from_hours" if rent else "api_pays_from_hours", found)
    else:
        first = Reason("rent_cheaper_all_day" if rent else "api_cheaper_all_day", named)
    if months is not None:
        return (first, Reason("pays_after_horizon", {**named, "months": months}))
    running, avoided = deal.running_usd_per_month or 0.0, deal.avoided_usd_per_month(instead_of) or 0.0
    paid = {"running_usd": running, "avoided_usd": avoided}
    if running >= avoided:
        return (first, Reason("running_above_rent" if rent else "running_above_api", paid))
    owed = (deal.capital_usd or 0.0) * monthly_rate(deal.discount_per_year)
    if owed >= avoided - running:
        return (first, Reason("interest_above_saving", {"owed_usd": owed, "saving_usd": avoided - running}))
    return (first,)


def round_up(hours: float) -> float:
    """Hours a day, to the next tenth: what is said is enough [h]."""
    return min(ALL_DAY, math.ceil(hours * 10.0 - 1e-9) / 10.0)
