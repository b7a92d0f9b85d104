"""Energy of a month and of a million tokens under a use (formulas §9). PURE."""

from __future__ import annotations

from calculator.estimation.economics.deal import Deal
from calculator.estimation.economics.ranges import Doubts, scaled
from calculator.estimation.economics.results import EnergyUse
from calculator.estimation.terms import Interval
from calculator.estimation.throughput.energy import grams_co2, joules_per_token


def kwh_per_million_output(deal: Deal) -> float:
    """Energy of a month over its generated tokens, idle hours inside [kWh per million]."""
    tokens = deal.requests_per_month * deal.output_tokens
    return (deal.kwh_per_month or 0.0) / tokens * 1e6


def joules_per_output_token(deal: Deal) -> float:
    """Energy of one generated token while the machine is busy: P·PUE/R_s [J]."""
    return joules_per_token(deal.load_watts or 0.0, deal.requests_per_s * deal.output_tokens, deal.pue)


def energy_use(deal: Deal, doubts: Doubts, grams_co2_per_kwh: float | None) -> EnergyUse | None:
    """Energy under this use; None where no power figure is known."""
    if deal.watts is None:
        return None
    serves = deal.used and deal.requests_per_s > 0.0
    month = scaled(lambda d: d.kwh_per_month or 0.0, deal, doubts)
    million = scaled(kwh_per_million_output, deal, doubts) if serves else None
    return EnergyUse(
        average_watts=scaled(lambda d: d.watts or 0.0, deal, doubts),
        kwh_per_month=month,
        usd_per_month=times(month, deal.usd_per_kwh),
        grams_co2_per_month=_emissions(month, grams_co2_per_kwh),
        joules_per_output_token=scaled(joules_per_output_token, deal, doubts) if serves else None,
        kwh_per_million_output=million,
        usd_per_million_output=times(million, deal.usd_per_kwh) if million else None,
        grams_co2_per_million_output=_emissions(million, grams_co2_per_kwh) if million else None,
    )


def times(interval: Interval, factor: float) -> Interval:
    """An interval times a factor that is not negative."""
    return Interval(interval.value * factor, interval.low * factor, interval.high * factor)


def _emissions(kwh: Interval, grams_per_kwh: float | None) -> Interval | None:
    if grams_per_kwh is None:
        return None
    value, low, high = (grams_co2(end, grams_per_kwh) for end in (kwh.value, kwh.low, kwh.high))
    return Interval(value, low, high)
