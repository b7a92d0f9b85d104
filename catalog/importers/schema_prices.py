"""The shape of the files of prices: providers, offers, purchase and API prices, electricity, colocation, assumptions."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from catalog.importers.schema_fields import (
    Count,
    Head,
    Kind,
    Positive,
    Slug,
    Strict,
    Text,
    Usd,
)
from catalog.prices import Market

Period = Annotated[str, Field(pattern=r"^20\d\d(-(H[12]|Q[1-4]|(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?))?$")]
"""2026, 2026-H2, 2026-Q4, 2026-11 or 2026-11-30: as much as is known."""
Url = Annotated[str, Field(pattern=r"^https?://\S+$")]
Billing = Literal["per-second", "per-minute", "hourly"]
Condition = Literal["new", "used", "mixed", "server"]
Customer = Literal["residential", "commercial", "business", "industrial"]
Topic = Literal[
    "pue",
    "server-overhead",
    "resale",
    "lifetime",
    "utilisation",
    "rent-trend",
    "owned-rate",
    "maintenance",
    "power",
    "colocation",
    "exchange-rate",
    "price-event",
    "api-range",
    "convention",
]
UsdPerHour = Annotated[float, Field(gt=0, le=10_000)]
UsdPerMillion = Annotated[float, Field(ge=0, le=10_000)]
UsdPerKwh = Annotated[float, Field(gt=0, le=5)]
Currency = Annotated[str, Field(pattern=r"^[A-Z]{3}$")]

ROUNDED = 0.02
"""How far dollars may lie from the amount times the rate: sources print both with two or three digits."""


class Dated(Strict):
    """What every price says of itself; as_of is null where the source has no date."""

    id: Slug
    as_of: Period | None
    source: Text
    url: Url | None = None
    kind: Kind
    note: Text | None = None


class Exchange(Strict):
    """A price of another currency: what was published, and the rate with its day."""

    currency: Currency | None = None
    usd_per_unit: Positive | None = None
    rate_as_of: Period | None = None
    rate_kind: Kind | None = None

    def check_exchange(self, usd: float, amount: float | None, name: str) -> None:
        """Raise ValueError unless all or none is there, and the dollars follow from it."""
        told = [amount, self.currency, self.usd_per_unit, self.rate_as_of, self.rate_kind]
        if all(value is None for value in told):
            return
        if amount is None or self.usd_per_unit is None or None in told:
            raise ValueError(
                f"a price of another currency needs {name}, currency, usd_per_unit, rate_as_of and rate_kind"
            )
        if abs(amount * self.usd_per_unit / usd - 1) > ROUNDED:
            raise ValueError(f"{amount:g} × {self.usd_per_unit:g} is not {usd:g}")


class ProviderEntry(Strict):
    id: Slug
    name: Text
    url: Url | None = None
    gpuhunt_name: Text | None = None
    litellm_name: Text | None = None
    note: Text | None = None


class EarlierEntry(Strict):
    usd_per_hour: UsdPerHour
    as_of: Period | None
    source: Text


class OfferEntry(Dated):
    provider: Slug
    instance: Text
    accelerator: Slug
    gpus: Count
    usd_per_hour: UsdPerHour
    market: Market
    region: Text | None
    commitment_months: Count | None = None
    billing: Billing | None = None
    billing_kind: Kind | None = None
    vcpus: Count | None = None
    ram_gb: Positive | None = None
    link: Text | None = None
    cluster: Text | None = None
    currency_uncertain: bool = False
    earlier: list[EarlierEntry] = []

    @model_validator(mode="after")
    def only_a_reservation_binds(self) -> OfferEntry:
        if (self.market == "reserved") != (self.commitment_months is not None):
            raise ValueError("a reserved offer, and no other, says commitment_months")
        return self


class PurchaseEntry(Dated, Exchange):
    device: Slug
    condition: Condition
    usd: Usd
    low_usd: Usd | None = None
    high_usd: Usd | None = None
    basis: Text | None = None
    local_amount: Positive | None = None

    @model_validator(mode="after")
    def figure_lies_in_its_range(self) -> PurchaseEntry:
        if not (self.low_usd or 0) <= self.usd <= (self.high_usd or float("inf")):
            raise ValueError(f"{self.usd:g} lies outside of its range")
        self.check_exchange(self.usd, self.local_amount, "local_amount")
        return self


class EarlierApiEntry(Strict):
    usd_per_million_input_tokens: UsdPerMillion
    usd_per_million_output_tokens: UsdPerMillion
    as_of: Period | None
    source: Text


class ApiPriceEntry(Dated):
    provider: Slug
    model: Slug
    api_id: Text
    usd_per_million_input_tokens: UsdPerMillion
    usd_per_million_cached_input_tokens: UsdPerMillion | None
    usd_per_million_output_tokens: UsdPerMillion
    context_tokens: Count | None
    earlier: list[EarlierApiEntry] = []


class ElectricityEntry(Dated, Exchange):
    region: Slug
    name: Text
    name_zh: Text | None = None
    country: Annotated[str, Field(pattern=r"^[A-Z]{2}$")] | None
    customer: Customer
    usd_per_kwh: UsdPerKwh
    local_per_kwh: Positive | None = None

    @model_validator(mode="after")
    def dollars_follow_from_the_rate(self) -> ElectricityEntry:
        self.check_exchange(self.usd_per_kwh, self.local_per_kwh, "local_per_kwh")
        return self


class ColocationEntry(Dated):
    name: Text
    usd_per_kw_month: Positive
    low_usd_per_kw_month: Positive | None = None
    high_usd_per_kw_month: Positive | None = None


class AssumptionEntry(Dated):
    topic: Topic
    name: Text
    value: float
    low: float | None = None
    high: float | None = None
    unit: Text
    applies_to: Text | None = None
    accelerator: Slug | None = None

    @model_validator(mode="after")
    def value_lies_in_its_range(self) -> AssumptionEntry:
        low, high = (self.value if end is None else end for end in (self.low, self.high))
        if not low <= self.value <= high:
            raise ValueError(f"{self.value:g} lies outside of its range {low:g} to {high:g}")
        return self


class DeviceNameEntry(Strict):
    """A name that lists of prices use for a device; memory and a word of the instance's name tell namesakes apart."""

    id: Slug
    name: Text
    memory_gb: Annotated[float, Field(gt=0)] | None
    instance_word: Text | None = None
    accelerator: Slug
    note: Text | None = None


class ProviderFile(Head):
    kind: Literal["providers"]
    items: list[ProviderEntry]


class OfferFile(Head):
    kind: Literal["offers"]
    items: list[OfferEntry]


class PurchaseFile(Head):
    kind: Literal["purchase-prices"]
    items: list[PurchaseEntry]


class ApiPriceFile(Head):
    kind: Literal["api-prices"]
    items: list[ApiPriceEntry]


class ElectricityFile(Head):
    kind: Literal["electricity"]
    items: list[ElectricityEntry]


class ColocationFile(Head):
    kind: Literal["colocation"]
    items: list[ColocationEntry]


class AssumptionFile(Head):
    kind: Literal["assumptions"]
    items: list[AssumptionEntry]


class DeviceNameFile(Head):
    kind: Literal["device-names"]
    items: list[DeviceNameEntry]
