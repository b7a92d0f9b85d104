"""Prices in words: how old they are, who asks them, of what they are."""

from __future__ import annotations

from collections.abc import Mapping
from datetime import date
from typing import Any

from calculator.web import figures
from calculator.web.wording.speech import gettext as _
from calculator.web.wording.speech import gettext_lazy
from catalog.prices import price_age

MARKETS: Mapping[str, Any] = {
    "on-demand": gettext_lazy("on demand"),
    "spot": gettext_lazy("spot"),
    "reserved": gettext_lazy("reserved"),
    "marketplace": gettext_lazy("marketplace"),
    "secure": gettext_lazy("secure cloud"),
    "community": gettext_lazy("community cloud"),
}
"""What an offer is bound to."""

BILLINGS: Mapping[str, Any] = {
    "per-second": gettext_lazy("by the second"),
    "per-minute": gettext_lazy("by the minute"),
    "hourly": gettext_lazy("by the hour"),
}

CONDITIONS: Mapping[str, Any] = {
    "new": gettext_lazy("new"),
    "used": gettext_lazy("used"),
    "mixed": gettext_lazy("listings, new and used"),
    "server": gettext_lazy("whole server"),
}

CUSTOMERS: Mapping[str, Any] = {
    "residential": gettext_lazy("households"),
    "commercial": gettext_lazy("commercial customers"),
    "business": gettext_lazy("businesses"),
    "industrial": gettext_lazy("industry"),
}


def of_date(as_of: str | None) -> str:
    """`of 2026-08`: when a figure was read, to the month."""
    return _("of {date}").format(date=as_of[:7]) if as_of else _("undated")


def age_words(as_of: str | None, today: date) -> str:
    """The same, and what to do with a stale one: `of 2025-03; check`."""
    stale = price_age(as_of, today).freshness in ("stale", "undated")
    return _("{date}; check").format(date=of_date(as_of)) if stale else of_date(as_of)


def usd_range(low: float, high: float) -> str:
    """Both ends of a range of money: $1.20–1.60."""
    return f"{figures.usd(low)}{figures.EN_DASH}{figures.usd(high).lstrip('$')}"
