"""How sentences write money and time: the names of the inputs, months and years."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calculator.web import figures
from calculator.web.wording.speech import gettext_lazy as _
from calculator.web.wording.speech import ngettext

INPUTS: Mapping[str, Any] = {
    "hours_per_day": _("hours a day"),
    "days_per_month": _("days a month"),
    "duty": _("busy share of the hours"),
    "usd_per_kwh": _("price of electricity"),
    "pue": _("PUE"),
    "grams_co2_per_kwh": _("CO₂ of electricity"),
    "idle_share": _("idle power"),
    "usd_per_hour": _("rent per hour"),
    "gpus": _("GPUs of a machine"),
    "trend_per_year": _("yearly change of rents"),
    "restart_overhead": _("restarts of spot machines"),
    "reserved_discount": _("discount for a commitment"),
    "usd": _("purchase price"),
    "years": _("years"),
    "server_fraction": _("server share"),
    "tax_fraction": _("tax"),
    "networking_usd": _("network"),
    "colocation_usd_per_month": _("colocation"),
    "admin_usd_per_month": _("administration"),
    "maintenance_per_year": _("maintenance"),
    "resale_fraction": _("resale value"),
    "resale_decline_per_year": _("yearly decline of the resale value"),
    "usd_per_million_input": _("API price of input"),
    "usd_per_million_output": _("API price of output"),
    "usd_per_million_cached": _("API price of cached input"),
    "discount_per_year": _("discount rate"),
}
"""The inputs of money, as sentences name them."""


def input_name(field: object) -> str:
    """The name of an input of money in a sentence."""
    return str(INPUTS[str(field)]) if str(field) in INPUTS else str(field)


def months(value: float) -> str:
    """A number of months: 36 months, 1 month, 20.2 months; whole ones from 100 on."""
    whole = value >= 99.95 or float(value).is_integer()
    written = figures.number(value, 0 if whole else 1)
    return ngettext("{count} month", "{count} months", _form(written)).format(count=written)


def years(value: float) -> str:
    """A number of years: 3 years, 1 year, 2.5 years."""
    written = figures.plain(value)
    return ngettext("{count} year", "{count} years", _form(written)).format(count=written)


def _form(written: str) -> int:
    """The number whose plural form suits: fractions take that of many."""
    return 1 if written == "1" else 2
