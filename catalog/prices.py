"""What things cost, as frozen records: offers of clouds, purchase prices, hosted APIs, electricity, colocation.

PURE: no Django, no database, no files, no clock. Prices are US dollars before tax; the unit stands in each name. Every
row has the day of its figure (`as_of`), where it was read (`source`) and how (`kind`, as for sources of devices).
"""

from __future__ import annotations

from dataclasses import dataclass
from datetime import date
from typing import Literal, NamedTuple

FRESH_DAYS = 30
"""Up to here a price is taken as it stands."""
STALE_DAYS = 90
"""From the day after on a price is marked as old."""

Freshness = Literal["fresh", "ageing", "stale", "undated"]
Market = Literal["on-demand", "spot", "reserved", "marketplace", "secure", "community"]


class PriceAge(NamedTuple):
    """How old a price is. days: None when the source has no date."""

    days: int | None
    freshness: Freshness


def first_day(as_of: str) -> date:
    """The first day of a period as the catalogue writes it: 2026-11-09, 2026-11, 2026-Q4, 2026-H2 or 2026.

    Raises ValueError for anything else.
    """
    year, _, rest = as_of.partition("-")
    if rest[:1] in ("H", "Q"):
        months = 6 if rest[0] == "H" else 3
        return date(int(year), 1 + months * (int(rest[1:]) - 1), 1)
    month, _, day = rest.partition("-")
    return date(int(year), int(month or 1), int(day or 1))


def price_age(as_of: str | None, today: date) -> PriceAge:
    """The age of a price [days] and what to say of it: fresh to 30 days, ageing to 90, stale beyond.

    A price known only to its month, quarter or year counts from the first day of that, so none looks newer than it is;
    one without a date is `undated` and worth as little as a stale one.

    >>> price_age("2026-11-09", date(2026, 12, 1))
    PriceAge(days=22, freshness='fresh')
    """
    if not as_of:
        return PriceAge(None, "undated")
    days = max((today - first_day(as_of)).days, 0)
    return PriceAge(days, "fresh" if days <= FRESH_DAYS else "ageing" if days <= STALE_DAYS else "stale")


@dataclass(frozen=True, slots=True)
class Provider:
    """Who rents accelerators out or answers for tokens. url: its page of prices."""

    id: str
    name: str
    url: str | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class EarlierPrice:
    """What an offer cost before: `usd` in the unit of the offer."""

    usd: float
    as_of: str | None
    source: str


@dataclass(frozen=True, slots=True)
class Offer:
    """One size of a cloud at one price: `gpus` accelerators for `usd_per_hour`, all of them together.

    market: on-demand, spot (may be taken back), reserved (bound for commitment_months), marketplace (hosts set the
    price), secure and community (a provider's own and third-party data centres). region: None when one price holds for
    all, or none is said. billing: per-second, per-minute, hourly or None. link, cluster: between the GPUs of one machine
    and between machines, where the provider says. earlier: the newest first.
    """

    id: str
    provider: str
    instance: str
    accelerator_id: str
    gpus: int
    usd_per_hour: float
    market: str
    region: str | None
    as_of: str | None
    source: str
    kind: str
    url: str | None
    billing: str | None = None
    commitment_months: int | None = None
    vcpus: int | None = None
    ram_gb: float | None = None
    link: str = ""
    cluster: str = ""
    currency_uncertain: bool = False
    earlier: tuple[EarlierPrice, ...] = ()
    note: str = ""

    @property
    def usd_per_gpu_hour(self) -> float:
        """The hourly price of one of its accelerators."""
        return self.usd_per_hour / self.gpus


@dataclass(frozen=True, slots=True)
class Converted:
    """A price as it was published: `amount` in `currency`, and the rate by which it became dollars.

    rate_kind: documentation when the source names the rate, derived when it prints both prices, from memory.
    """

    amount: float
    currency: str
    usd_per_unit: float
    rate_as_of: str
    rate_kind: str


@dataclass(frozen=True, slots=True)
class PurchasePrice:
    """What a device (an accelerator or a system) costs to buy, one row for each figure that was read.

    condition: new, used, mixed (listings of both), server (a whole machine or rack as a maker sells it). usd: the figure
    itself, or the middle of low_usd to high_usd; an end that is not known is None.
    """

    id: str
    device_id: str
    condition: str
    usd: float
    as_of: str | None
    source: str
    kind: str
    url: str | None
    low_usd: float | None = None
    high_usd: float | None = None
    basis: str = ""
    converted: Converted | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class ApiPrice:
    """What a provider asks for a million tokens of a model. cached: prompt tokens that it still has; None: not said."""

    id: str
    provider: str
    model_id: str
    api_id: str
    usd_per_million_input_tokens: float
    usd_per_million_cached_input_tokens: float | None
    usd_per_million_output_tokens: float
    context_tokens: int | None
    as_of: str | None
    source: str
    kind: str
    url: str | None
    note: str = ""


@dataclass(frozen=True, slots=True)
class ElectricityPrice:
    """What a kilowatt hour costs a sort of customer (residential, commercial, industrial, business) in a region."""

    id: str
    region: str
    name: str
    country: str | None
    customer: str
    usd_per_kwh: float
    as_of: str | None
    source: str
    kind: str
    url: str | None
    name_zh: str = ""
    converted: Converted | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Colocation:
    """What a kilowatt of rack power costs a month in somebody's data centre; usd is the middle of a range."""

    id: str
    name: str
    usd_per_kw_month: float
    as_of: str | None
    source: str
    kind: str
    url: str | None
    low_usd_per_kw_month: float | None = None
    high_usd_per_kw_month: float | None = None
    note: str = ""


@dataclass(frozen=True, slots=True)
class Assumption:
    """A figure that a calculation of cost starts from (PUE, resale, maintenance …) with its range and source.

    topic: pue, server-overhead, resale, lifetime, utilisation, rent-trend, owned-rate, maintenance, power, colocation,
    exchange-rate, price-event, api-range, convention. unit: fraction, usd, years …
    """

    id: str
    topic: str
    name: str
    value: float
    unit: str
    as_of: str | None
    source: str
    kind: str
    url: str | None
    low: float | None = None
    high: float | None = None
    applies_to: str = ""
    accelerator_id: str | None = None
    note: str = ""
