"""What money is asked about: hours, prices, rates, as plain frozen values with their units in the names.
PURE.

Shares are fractions of 1, yearly changes too: 0.06 is 6 %. Prices with a spread are an `Interval`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from functools import lru_cache
from typing import Any, Literal

from calculator.estimation.terms import Interval, Reason

Source = Literal["rent", "own"]
Billed = Literal["all_hours", "busy_hours"]

LEAST = 1e-6
"""Hours a day, or a share of them, below which a machine counts as never used."""

USUAL_IDLE_SHARE = Interval(0.15, 0.03, 0.3)
"""Idle power as a share of power under load where no device figure is known: machines with measured idle
power have 0.03 to 0.08, servers keep fans and processors running. An assumption that the owner may
replace."""


def exactly(value: float) -> Interval:
    """An interval without any width."""
    return Interval(value, value, value)


@dataclass(frozen=True, slots=True)
class Use:
    """When the machine runs. duty: the share of the hours that it is busy, 0 … 1."""

    hours_per_day: float
    days_per_month: float
    duty: float


@dataclass(frozen=True, slots=True)
class Electricity:
    """What power costs and emits. pue: the building's power ÷ the machine's. idle_share: idle power ÷ power
    under load, where the device's own idle power is not known."""

    usd_per_kwh: float
    pue: float = 1.0
    grams_co2_per_kwh: float | None = None
    idle_share: Interval = USUAL_IDLE_SHARE


@dataclass(frozen=True, slots=True)
class Rent:
    """The price of renting one machine of `gpus` devices of the kind `device`.

    billed: every hour that the machine is kept, or busy hours alone (by the second, or scaled to zero).
    trend_per_year: the yearly change of the price, −0.2 for a fifth less. restart_overhead: time lost to
    interruptions of spot machines, as a share of the useful time. reserved_discount: what a commitment takes
    off.
    """

    usd_per_hour: Interval
    gpus: int = 1
    device: str = ""
    billed: Billed = "all_hours"
    trend_per_year: float = 0.0
    restart_overhead: float = 0.0
    reserved_discount: float = 0.0

    def paid_usd_per_hour(self, end: str) -> float:
        """Price of a useful hour at one end of its range: P·(1 + restart overhead)·(1 − discount) [USD/h]."""
        price: float = getattr(self.usd_per_hour, end)
        return price * (1.0 + self.restart_overhead) * (1.0 - self.reserved_discount)


@dataclass(frozen=True, slots=True)
class Purchase:
    """The price of one machine of `gpus` devices of the kind `device`, and what owning it costs.

    server_fraction, tax_fraction: added to the price. networking_usd: for the whole configuration, once.
    colocation_usd_per_month, admin_usd_per_month: for the whole configuration. maintenance_per_year: of the
    capital. resale_fraction: of the capital on the first day; resale_decline_per_year: what it loses each
    year of what is left.
    """

    usd: Interval
    years: float
    gpus: int = 1
    device: str = ""
    server_fraction: float = 0.0
    tax_fraction: float = 0.0
    networking_usd: float = 0.0
    colocation_usd_per_month: float = 0.0
    admin_usd_per_month: float = 0.0
    maintenance_per_year: float = 0.0
    resale_fraction: float = 0.0
    resale_decline_per_year: float = 0.0


@dataclass(frozen=True, slots=True)
class ApiPrice:
    """The price of the same model at a provider [USD per million tokens]. A cached token without a price of
    its own costs as much as any other."""

    usd_per_million_input: float
    usd_per_million_output: float
    usd_per_million_cached: float | None = None

    @property
    def cached_usd(self) -> float:
        """Price of a million input tokens that the provider's cache holds [USD]."""
        own = self.usd_per_million_cached
        return self.usd_per_million_input if own is None else own


@dataclass(frozen=True, slots=True)
class Money:
    """Everything about money of one question. source: which of the two carries the cost per token."""

    source: Source
    use: Use
    electricity: Electricity
    rent: Rent | None = None
    purchase: Purchase | None = None
    api: ApiPrice | None = None
    discount_per_year: float = 0.0


FIRST_DAY_RESALE = 0.9
"""What a machine without a scratch brings on its first day: it is no longer new. An assumption (the example
W-9.5)."""


LEAST_KEPT = 1e-6
"""Share of its value that a machine keeps in a year, at least: beside 1, less than that is lost in a float."""


def resale_path(at_end: float, years: float) -> tuple[float, float]:
    """(fraction on the first day, yearly decline) of a machine that brings `at_end` of its price after
    `years`.

    0.9·(1 − decline)^years = at_end. What keeps more than 0.9 does not decline; what brings nothing never
    brought any; what would decline to less than LEAST_KEPT a year brings less on the first day instead, so that
    the end is met in every case.

    >>> first, decline = resale_path(0.3, 3)
    >>> round(first * (1 - decline) ** 3, 6)
    0.3
    """
    if at_end <= 0.0:
        return 0.0, 0.0
    if at_end >= FIRST_DAY_RESALE:
        return at_end, 0.0
    kept = max((at_end / FIRST_DAY_RESALE) ** (1.0 / years), LEAST_KEPT)
    return at_end / kept**years, 1.0 - kept


BOUNDS: Mapping[str, tuple[float, float]] = {
    "hours_per_day": (0.0, 24.0),
    "days_per_month": (0.0, 31.0),
    "duty": (0.0, 1.0),
    "usd_per_kwh": (0.0, 100.0),
    "pue": (1.0, 5.0),
    "grams_co2_per_kwh": (0.0, 5000.0),
    "idle_share": (0.0, 1.0),
    "usd_per_hour": (0.0, 1e7),
    "gpus": (1.0, 1e6),
    "trend_per_year": (-0.9, 5.0),
    "restart_overhead": (0.0, 10.0),
    "reserved_discount": (0.0, 1.0),
    "usd": (0.0, 1e12),
    "years": (0.25, 20.0),
    "server_fraction": (0.0, 10.0),
    "tax_fraction": (0.0, 1.0),
    "networking_usd": (0.0, 1e12),
    "colocation_usd_per_month": (0.0, 1e9),
    "admin_usd_per_month": (0.0, 1e9),
    "maintenance_per_year": (0.0, 1.0),
    "resale_fraction": (0.0, 2.0),
    "resale_decline_per_year": (0.0, 1.0),
    "usd_per_million_input": (0.0, 1e6),
    "usd_per_million_output": (0.0, 1e6),
    "usd_per_million_cached": (0.0, 1e6),
    "discount_per_year": (-0.5, 1.0),
}
"""Least and most of each input; what lies outside is a slip, not a price."""


@lru_cache(maxsize=64)
def bad_inputs(money: Money) -> tuple[Reason, ...]:
    """A reason for each input that is no number or lies outside its bounds: nothing is computed with
    those."""
    return tuple(reason for name, value in _numbers(money) if (reason := _problem(name, value)))


def _numbers(part: Any) -> Iterator[tuple[str, Any]]:
    """Every number of the inputs, by the name of its field."""
    for field in fields(part):
        value = getattr(part, field.name)
        if isinstance(value, Interval) or field.name in BOUNDS:
            yield field.name, value
        elif is_dataclass(value):
            yield from _numbers(value)


def _problem(name: str, value: Any) -> Reason | None:
    if value is None:
        return None
    ends = (value.low, value.value, value.high) if isinstance(value, Interval) else (value,)
    if not all(isinstance(end, int | float) and -1e300 < end < 1e300 for end in ends):
        return Reason("money_not_a_number", {"field": name})
    low, high = BOUNDS[name]
    if not all(low <= end <= high for end in ends) or list(ends) != sorted(ends):
        outside = next((end for end in ends if not low <= end <= high), ends[0])
        return Reason("money_out_of_bounds", {"field": name, "given": outside, "low": low, "high": high})
    return None
