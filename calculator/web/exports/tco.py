"""Rent, buy or API as JSON: the figures of cost_of and ownership_of, finished, with their sentences.

Figures with a range are {"value", "low", "high"}, a central 90 % interval; null is what does not exist, and a
sentence in `reasons` says why.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from calculator.estimation.economics.results import (
    Comparison,
    Cost,
    Costed,
    Cumulative,
    EnergyUse,
    Explained,
    Months,
    Owned,
    Ownership,
    Payback,
    Tornado,
)
from calculator.estimation.terms import Interval, Reason
from calculator.web.wording.economics import BAR_NAMES, LINE_NAMES, PATH_NAMES, explained_words
from calculator.web.wording.reasons import reason_words

_DIGITS = 6


def tco_json(costed: Costed, owned: Owned, units: str = "gib") -> dict[str, Any]:
    """The whole answer: cost per million tokens, energy, ownership, the ways side by side, and the numbers of
    the charts."""
    ownership, comparison = owned.ownership, owned.comparison
    energy = ownership.energy if ownership else costed.cost.energy if costed.cost else None
    return {
        "cost": cost_json(costed.cost) if costed.cost else None,
        "cost_reasons": _sentences(costed.reasons, units),
        "energy": energy_json(energy) if energy else None,
        "ownership": ownership_json(ownership, units) if ownership else None,
        "comparison": comparison_json(comparison, units) if comparison else None,
        "reasons": _sentences(owned.reasons, units),
    }


def cost_json(cost: Cost) -> dict[str, Any]:
    """The object `cost` of an estimate [USD]."""
    return {
        "source": cost.source,
        "usd_per_hour": rounded(cost.usd_per_hour.value),
        "usd_per_hour_interval": interval_json(cost.usd_per_hour),
        "usd_per_month": interval_json(cost.usd_per_month),
        "utilisation": rounded(cost.utilisation),
        "usd_per_request": interval_json(cost.usd_per_request),
        "usd_per_million_input": interval_json(cost.usd_per_million_input),
        "usd_per_million_cached": rounded(cost.usd_per_million_cached),
        "usd_per_million_output": interval_json(cost.usd_per_million_output),
        "usd_per_million_blended": interval_json(cost.usd_per_million_blended),
        "usd_per_million_all_on_output": interval_json(cost.usd_per_million_all_on_output),
        "input_share": rounded(cost.input_share),
        "tokens_per_month": rounded(cost.tokens_per_month),
        "explanations": _explanations(cost.explained),
    }


def energy_json(energy: EnergyUse) -> dict[str, Any]:
    """Energy of a month and of tokens, PUE inside but for the watts."""
    return {
        "average_watts": interval_json(energy.average_watts),
        "kwh_per_month": interval_json(energy.kwh_per_month),
        "usd_per_month": interval_json(energy.usd_per_month),
        "grams_co2_per_month": _interval_or_none(energy.grams_co2_per_month),
        "joules_per_output_token": _interval_or_none(energy.joules_per_output_token),
        "kwh_per_million_output": _interval_or_none(energy.kwh_per_million_output),
        "usd_per_million_output": _interval_or_none(energy.usd_per_million_output),
        "grams_co2_per_million_output": _interval_or_none(energy.grams_co2_per_million_output),
    }


def ownership_json(owned: Ownership, units: str) -> dict[str, Any]:
    """What owning costs, when it pays, and the numbers of both charts [USD]."""
    share = owned.break_even_utilisation
    return {
        "capital_usd": interval_json(owned.capital_usd),
        "running_usd_per_month": interval_json(owned.running_usd_per_month),
        "running_parts_usd_per_month": {name: rounded(usd) for name, usd in owned.running_parts.items()},
        "resale_usd": rounded(owned.resale_usd),
        "annuity_usd_per_month": rounded(owned.annuity_usd_per_month),
        "financed_usd_per_month": rounded(owned.financed_usd_per_month),
        "straight_line_usd_per_month": rounded(owned.straight_line_usd_per_month),
        "break_even_utilisation": None if share is None else rounded(share),
        "paybacks": [payback_json(paid, units) for paid in owned.paybacks],
        "tornado": tornado_json(owned.tornado),
        "cumulative": cumulative_json(owned.cumulative),
        "explanations": _explanations(owned.explained),
    }


def payback_json(paid: Payback, units: str) -> dict[str, Any]:
    """Owning instead of one other way. Months are null where it never pays; an open high end may be never."""
    hours = paid.from_hours_per_day
    return {
        "instead_of": paid.instead_of,
        "avoided_usd_per_month": rounded(paid.avoided_usd_per_month),
        "saving_usd_per_month": interval_json(paid.saving_usd_per_month),
        "break_even_months": {
            "simple": months_json(paid.simple),
            "discounted": months_json(paid.discounted),
            "with_resale": months_json(paid.with_resale),
        },
        "npv_usd": interval_json(paid.npv_usd),
        "from_hours_per_day": None if hours is None else rounded(hours),
        "reasons": _sentences(paid.reasons, units),
    }


def months_json(months: Months) -> dict[str, float | None]:
    ends = {"value": months.value, "low": months.low, "high": months.high}
    return {name: None if end is None else rounded(end) for name, end in ends.items()}


def tornado_json(tornado: Tornado) -> dict[str, Any]:
    """What matters most, the widest bar first; each end is the input a share lower and higher."""
    return {
        "instead_of": tornado.instead_of,
        "months": _or_none(tornado.months),
        "npv_usd": _or_none(tornado.npv_usd),
        "usd_per_million": _or_none(tornado.usd_per_million),
        "bars": [
            {
                "input": bar.name,
                "label": str(BAR_NAMES[bar.name]),
                "share": bar.share,
                "months": [_or_none(end) for end in bar.months],
                "npv_usd": [rounded(end) for end in bar.npv_usd] if bar.npv_usd else None,
                "usd_per_million": [rounded(end) for end in bar.usd_per_million]
                if bar.usd_per_million
                else None,
            }
            for bar in tornado.bars
        ],
    }


def cumulative_json(spent: Cumulative) -> dict[str, Any]:
    """Money spent until the end of each month, to the cent [USD]."""
    return {
        "months": [int(month) for month in spent.months],
        "lines": [
            {
                "name": line.name,
                "label": str(LINE_NAMES[line.name]),
                "usd": [round(usd, 2) for usd in line.usd],
                "low_usd": [round(usd, 2) for usd in line.low_usd],
                "high_usd": [round(usd, 2) for usd in line.high_usd],
            }
            for line in spent.lines
        ],
    }


def comparison_json(compared: Comparison, units: str) -> dict[str, Any]:
    """The ways to the same tokens, the cheapest first, and from how many tokens a month a machine beats the
    API."""
    return {
        "tokens_per_month": rounded(compared.tokens_per_month),
        "busy_tokens_per_month": rounded(compared.busy_tokens_per_month),
        "cheapest": compared.paths[0].name,
        "paths": [
            {
                "name": path.name,
                "label": str(PATH_NAMES[path.name]),
                "usd_per_month": interval_json(path.usd_per_month),
                "usd_per_million": _interval_or_none(path.usd_per_million),
            }
            for path in compared.paths
        ],
        "own_beats_api_from_tokens": _or_none(compared.own_beats_api_from_tokens),
        "rent_beats_api_from_tokens": _or_none(compared.rent_beats_api_from_tokens),
        "reasons": _sentences(compared.reasons, units),
    }


def interval_json(interval: Interval) -> dict[str, float]:
    return {
        "value": rounded(interval.value),
        "low": rounded(interval.low),
        "high": rounded(interval.high),
    }


def rounded(value: float) -> float:
    """Six significant digits: more than any price is known to, and enough that sums still add up."""
    return float(f"{value:.{_DIGITS}g}")


def _or_none(value: float | None) -> float | None:
    return None if value is None else rounded(value)


def _interval_or_none(interval: Interval | None) -> dict[str, float] | None:
    return None if interval is None else interval_json(interval)


def _sentences(reasons: Iterable[Reason], units: str) -> list[str]:
    return [reason_words(reason, units) for reason in reasons]


def _explanations(rows: Iterable[Explained]) -> dict[str, str]:
    """How figures came about, by the figure's name; the first where two have one name."""
    out: dict[str, str] = {}
    for row in rows:
        out.setdefault(row.code, explained_words(row))
    return out
