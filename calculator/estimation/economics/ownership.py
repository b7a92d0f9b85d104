"""Rent, buy or pay an API: what owning costs, when it pays, and what that depends on (formulas §9). PURE."""

from __future__ import annotations

from calculator.estimation.configuration import Configuration
from calculator.estimation.economics.basis import Ground, ground_of, unused
from calculator.estimation.economics.cumulative import cumulative_of
from calculator.estimation.economics.deal import Deal
from calculator.estimation.economics.inputs import Money
from calculator.estimation.economics.paths import compare, net_annuity_usd_per_month
from calculator.estimation.economics.payback import payback
from calculator.estimation.economics.power import energy_use
from calculator.estimation.economics.present_value import (
    annuity_usd_per_month,
    break_even_utilisation,
    monthly_rate,
    resale_usd,
    straight_line_usd_per_month,
)
from calculator.estimation.economics.ranges import scaled
from calculator.estimation.economics.results import EnergyUse, Explained, Owned, Ownership, PathName, Payback
from calculator.estimation.economics.tornado import tornado_of
from calculator.estimation.terms import Energy, Reason, Speed


def ownership_of(c: Configuration, speed: Speed | None, energy: Energy | None, money: Money) -> Owned:
    """What owning costs and when it pays, against renting and against an API, for the same machines and
    tokens.

    Never raises, and no figure is infinite: what never comes is None with a reason. Without a speed the API
    is left out: it is paid by the token.
    """
    ground = ground_of(c, speed, energy, money)
    if not isinstance(ground, Ground):
        return Owned(None, None, ground)
    deal, named = ground.deal, {"device": c.accelerator.name}
    reasons = [*unused(deal), *ground.remarks]
    comparison = compare(deal, ground.doubts)
    power = energy_use(deal, ground.doubts, ground.money.electricity.grams_co2_per_kwh)
    if deal.machines_usd is None:
        return Owned(None, comparison, (Reason("no_purchase_price", named), *reasons))
    if power is None:
        return Owned(None, comparison, (Reason("cost_needs_power", named), *reasons))
    paybacks = tuple(payback(deal, name, ground.doubts) for name in _against(deal))
    if not paybacks:
        reasons.append(Reason("nothing_to_compare", {}))
    return Owned(_ownership(ground, power, paybacks), comparison, tuple(reasons))


def _against(deal: Deal) -> tuple[PathName, ...]:
    """The ways that owning can be held against."""
    rent: tuple[PathName, ...] = ("rent",) if deal.rent_usd_per_hour is not None else ()
    api: tuple[PathName, ...] = (
        ("api",) if deal.api_input_usd is not None and deal.requests_per_s > 0.0 else ()
    )
    return (*rent, *api)


def _ownership(ground: Ground, power: EnergyUse, paybacks: tuple[Payback, ...]) -> Ownership:
    deal, doubts = ground.deal, ground.doubts
    capital, rate = deal.capital_usd or 0.0, monthly_rate(deal.discount_per_year)
    left = float(resale_usd(capital, deal.resale_fraction, deal.resale_decline_per_year, deal.months))
    annuity, running = net_annuity_usd_per_month(deal), deal.running_usd_per_month or 0.0
    price = deal.rent_usd_per_hour
    return Ownership(
        capital_usd=scaled(lambda d: d.capital_usd or 0.0, deal, doubts),
        running_usd_per_month=scaled(lambda d: d.running_usd_per_month or 0.0, deal, doubts),
        running_parts=running_parts(deal),
        resale_usd=left,
        annuity_usd_per_month=annuity,
        financed_usd_per_month=annuity_usd_per_month(capital, rate, deal.months),
        straight_line_usd_per_month=straight_line_usd_per_month(capital, left, deal.months),
        break_even_utilisation=None
        if price is None
        else break_even_utilisation(annuity + running, price, deal.hours_per_month),
        energy=power,
        paybacks=paybacks,
        tornado=tornado_of(deal, ground.money.source, paybacks[0].instead_of if paybacks else None),
        cumulative=cumulative_of(deal, doubts),
        explained=explained(deal, annuity, paybacks),
    )


def running_parts(deal: Deal) -> dict[str, float]:
    """What a month of owning is made of, beside the capital [USD/month]."""
    return {
        "electricity": deal.electricity_usd_per_month or 0.0,
        "colocation_and_admin": deal.fixed_usd_per_month,
        "maintenance": deal.maintenance_per_year * (deal.capital_usd or 0.0) / 12.0,
    }


def explained(deal: Deal, annuity: float, paybacks: tuple[Payback, ...]) -> tuple[Explained, ...]:
    """How each figure came about."""
    capital, running = deal.capital_usd or 0.0, deal.running_usd_per_month or 0.0
    power = {
        "watts": deal.watts or 0.0,
        "hours": deal.hours_per_month,
        "pue": deal.pue,
        "usd_per_kwh": deal.usd_per_kwh,
        "kwh": deal.kwh_per_month or 0.0,
    }
    whole = {
        "machines_usd": deal.machines_usd or 0.0,
        "share": deal.added_fraction,
        "networking_usd": deal.networking_usd,
    }
    beside = deal.added_fraction > 0.0 or deal.networking_usd > 0.0
    lent = {"capital_usd": capital, "months": deal.months, "rate": deal.discount_per_year}
    rows = [
        Explained("capital_usd" if beside else "capital_usd_of_machines", capital, "market", whole),
        Explained("electricity_usd_per_month", deal.electricity_usd_per_month or 0.0, "market", power),
        Explained("running_usd_per_month", running, "market", running_parts(deal)),
        Explained("annuity_usd_per_month", annuity, "market", lent),
    ]
    for paid in paybacks:
        if paid.instead_of == "rent":
            named = {"usd_per_hour": deal.rent_usd_per_hour or 0.0, "hours": deal.paid_hours_per_month}
            rows.append(Explained("rent_usd_per_month", paid.avoided_usd_per_month, "market", named))
        if paid.simple.value is not None:
            saved = {"capital_usd": capital, "saving_usd": paid.saving_usd_per_month.value}
            rows.append(Explained("simple_months", paid.simple.value, "market", saved))
    return tuple(rows)
