"""All prices of one state of the catalogue, with look-ups. PURE: no Django, no files, no clock.

Every look-up lists the newest figure first (what is known to the year counts from its first day) and what has no date
last; nothing is averaged and nothing left out, so the
reader of a price chooses and can show what the others say.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Any, Protocol, TypeVar

from catalog import price_entries as entry_to
from catalog.prices import (
    ApiPrice,
    Assumption,
    Colocation,
    ElectricityPrice,
    Offer,
    Provider,
    PurchasePrice,
    first_day,
)

CUSTOMERS = ("residential", "commercial", "business", "industrial")
"""Sorts of customers of electricity, from the household to the largest."""


class Dated(Protocol):
    """A price with its day."""

    @property
    def as_of(self) -> str | None: ...


Row = TypeVar("Row", bound=Dated)


def _newest_first(row: Dated) -> int:
    return -first_day(row.as_of).toordinal() if row.as_of else -date.min.toordinal()


def _grouped(
    rows: Iterable[Row], key: Callable[[Row], str], order: Callable[[Row], Any] = lambda _: 0
) -> Mapping[str, tuple[Row, ...]]:
    """Rows by key, the newest first; rows of one day by `order`."""
    found: dict[str, list[Row]] = {}
    for row in sorted(rows, key=lambda row: (_newest_first(row), order(row))):
        found.setdefault(key(row), []).append(row)
    return {name: tuple(own) for name, own in found.items()}


@dataclass(frozen=True, eq=False)
class PriceBook:
    """Providers by id and every price."""

    providers: Mapping[str, Provider] = field(default_factory=dict)
    offers: tuple[Offer, ...] = ()
    purchases: tuple[PurchasePrice, ...] = ()
    api_prices: tuple[ApiPrice, ...] = ()
    electricity: tuple[ElectricityPrice, ...] = ()
    colocation: tuple[Colocation, ...] = ()
    assumptions: Mapping[str, Assumption] = field(default_factory=dict)

    @cached_property
    def offers_by_accelerator(self) -> Mapping[str, tuple[Offer, ...]]:
        """Offers by the id of the accelerator; of one day the cheapest per GPU first."""
        return _grouped(self.offers, lambda row: row.accelerator_id, lambda row: row.usd_per_gpu_hour)

    @cached_property
    def purchases_by_device(self) -> Mapping[str, tuple[PurchasePrice, ...]]:
        """Purchase prices by the id of the accelerator or system."""
        return _grouped(self.purchases, lambda row: row.device_id, lambda row: row.usd)

    @cached_property
    def api_prices_by_model(self) -> Mapping[str, tuple[ApiPrice, ...]]:
        """Prices of hosted APIs by model; of one day the cheapest output first."""
        return _grouped(
            self.api_prices, lambda row: row.model_id, lambda row: row.usd_per_million_output_tokens
        )

    @cached_property
    def electricity_by_region(self) -> Mapping[str, tuple[ElectricityPrice, ...]]:
        """Prices of a kWh by region, from the household to the largest customer, the newest of each sort first."""
        regions = _grouped(self.electricity, lambda row: row.region)
        return {
            region: tuple(sorted(rows, key=lambda row: CUSTOMERS.index(row.customer)))
            for region, rows in regions.items()
        }

    def assumptions_of(self, topic: str) -> tuple[Assumption, ...]:
        """The figures of one topic, in the order of the catalogue."""
        return tuple(row for row in self.assumptions.values() if row.topic == topic)


def _by_id(records: Iterable[Any]) -> dict[str, Any]:
    return {record.id: record for record in records}


def build_price_book(entries: Mapping[str, list[dict[str, Any]]]) -> PriceBook:
    """The prices among the entries of a catalogue; a kind that is missing is empty."""
    return PriceBook(
        providers=_by_id(map(entry_to.provider_record, entries.get("providers", ()))),
        offers=tuple(map(entry_to.offer_record, entries.get("offers", ()))),
        purchases=tuple(map(entry_to.purchase_record, entries.get("purchase_prices", ()))),
        api_prices=tuple(map(entry_to.api_price_record, entries.get("api_prices", ()))),
        electricity=tuple(map(entry_to.electricity_record, entries.get("electricity", ()))),
        colocation=tuple(map(entry_to.colocation_record, entries.get("colocation", ()))),
        assumptions=_by_id(map(entry_to.assumption_record, entries.get("assumptions", ()))),
    )
