"""Which prices a question means: Scenario and prices of the catalogue → Money, with the rows it was made from. PURE.

Memory, speed and money speak of one machine, so a price is taken only where it is a price of that machine: an offer with
as many devices as the plan joins, whole servers where a device is sold as a module alone.
"""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TypeVar

from calculator.estimation.configuration import Configuration
from calculator.estimation.economics import (
    ApiPrice,
    Electricity,
    Money,
    Purchase,
    Rent,
    Use,
    exactly,
    resale_path,
)
from calculator.estimation.economics.deal import machines_for
from calculator.estimation.economics.inputs import Source
from calculator.estimation.terms import Interval, Reason
from calculator.scenario import DEFAULTS, Problem, Scenario
from catalog import prices
from catalog.price_book import CUSTOMERS
from catalog.prices import STALE_DAYS, ElectricityPrice, Offer, PurchasePrice, first_day
from catalog.snapshot import Snapshot

Row = TypeVar("Row", Offer, PurchasePrice)

MODULES = ("datacenter_sxm", "datacenter_oam", "rack_scale")
"""Ladders of devices that are sold as modules: alone they are no machine, so their price is none of a machine."""

MARKETS: tuple[tuple[str, ...], ...] = (
    ("on-demand", "secure"),
    ("community", "marketplace"),
    ("reserved",),
    ("spot",),
)
"""Kinds of offers in the order in which they are taken when none is asked for: what nobody takes back first."""

CONDITIONS: tuple[tuple[str, ...], ...] = (("new", "server"), ("used", "mixed"))
"""Conditions in which a machine is bought, in that order: used where nobody names a price of a new one."""

CARDS_OF_SERVER = "gpu-share-of-server-price"
"""The assumption that says which part of a server's price its GPUs are."""

PUE: dict[str, float] = {"home": 1.0, "datacenter": 1.3}
"""Power of the building per power of the machine, where none is given (contract of `pue`)."""


@dataclass(frozen=True, slots=True)
class Bought:
    """What a machine is bought for. row: None for the visitor's own price. gpus: devices of one machine."""

    purchase: Purchase
    row: PurchasePrice | None


@dataclass(frozen=True, slots=True)
class Rented:
    """What a machine is rented for. offer: None for the visitor's own price. single: the offer is of one device, taken so many times: whether they come in one
    machine is for the visitor to ask."""

    rent: Rent
    offer: Offer | None
    single: bool = False


@dataclass(frozen=True, slots=True)
class Priced:
    """Money of one question and the rows that it was made from. electricity: None for the visitor's own price or none."""

    money: Money
    rented: Rented | None
    bought: Bought | None
    api: prices.ApiPrice | None
    electricity: ElectricityPrice | None
    remarks: tuple[Reason, ...]
    problems: tuple[Problem, ...]


def priced(scenario: Scenario, c: Configuration, snapshot: Snapshot) -> Priced:
    """The money of a settled question; values that no row has are named and replaced."""
    problems: list[Problem] = []
    provider = _known(scenario.provider, snapshot.prices.providers, "provider", problems)
    region = _known(scenario.region, snapshot.prices.electricity_by_region, "region", problems)
    row = electricity_row(snapshot, region or str(DEFAULTS["region"]), c)
    rented = _own_rent(scenario, c) or cheapest_rent(
        c, snapshot.offers_for(c.accelerator.id), scenario, provider
    )
    bought = purchase_of(scenario, c, snapshot)
    listed = next(iter(snapshot.api_prices_for(c.model.id)), None)
    api = _api_price(scenario, listed)
    usd_per_kwh = scenario.kwh if scenario.kwh is not None else row.usd_per_kwh if row else 0.0
    money = Money(
        source=_source(scenario, c, rented, bought),
        use=Use(scenario.hours, scenario.days, scenario.duty / 100),
        electricity=Electricity(usd_per_kwh, scenario.pue or PUE[_place(c)]),
        rent=rented.rent if rented else None,
        purchase=bought.purchase if bought else None,
        api=api,
        discount_per_year=scenario.rate / 100,
    )
    remarks = (*_remarks(c, rented, bought), *_without_tariff(scenario, row))
    tariff = row if scenario.kwh is None else None
    own_api = scenario.api_in is not None or scenario.api_out is not None
    return Priced(
        money,
        rented,
        bought,
        None if own_api else listed,
        tariff,
        remarks,
        tuple(problems),
    )


def _known(asked: str | None, known: Iterable[str], field: str, problems: list[Problem]) -> str | None:
    """An id that exists, or None with a problem that names near ones."""
    if asked is None:
        return None
    names = list(known)
    if asked in names:
        return asked
    near = ", ".join(difflib.get_close_matches(asked, names, n=3, cutoff=0.5))
    used = DEFAULTS[field]
    problems.append(Problem(field, asked, used, "unknown_id", (("near", near),)))
    return str(used) if used is not None else None


def _place(c: Configuration) -> str:
    """Where such a machine stands."""
    return "datacenter" if c.accelerator.kind == "datacenter" else "home"


def _source(scenario: Scenario, c: Configuration, rented: Rented | None, bought: Bought | None) -> Source:
    """Rent or own: as asked, else as such machines usually are, else whichever has a price (contract of `source`)."""
    if scenario.source in ("rent", "own"):
        return "rent" if scenario.source == "rent" else "own"
    if _place(c) == "datacenter":
        return "own" if bought and not rented else "rent"
    return "rent" if rented and not bought else "own"


def _own_rent(scenario: Scenario, c: Configuration) -> Rented | None:
    """The visitor's own price of an hour of the whole machine."""
    if scenario.rent is None:
        return None
    rent = Rent(
        exactly(scenario.rent),
        gpus=c.count,
        device=c.accelerator.id,
        trend_per_year=scenario.rent_trend / 100,
    )
    return Rented(rent, None)


def _api_price(scenario: Scenario, listed: prices.ApiPrice | None) -> ApiPrice | None:
    """The listed price, with what the visitor puts in its place; one of two alone stands for both where none is listed."""
    read, written = scenario.api_in, scenario.api_out
    if listed is None and read is None and written is None:
        return None
    if listed is not None:
        cached = listed.usd_per_million_cached_input_tokens if read is None else None
        read = listed.usd_per_million_input_tokens if read is None else read
        written = listed.usd_per_million_output_tokens if written is None else written
        return ApiPrice(read, written, cached)
    both = read if read is not None else written
    return ApiPrice(
        read if read is not None else both or 0.0, written if written is not None else both or 0.0
    )


def electricity_row(snapshot: Snapshot, region: str, c: Configuration) -> ElectricityPrice | None:
    """The price of a region for the sort of customer: the household at home, the largest customer for a data centre."""
    rows = snapshot.prices.electricity_by_region.get(region, ())
    order = CUSTOMERS if _place(c) == "home" else tuple(reversed(CUSTOMERS))
    return min(rows, key=lambda row: order.index(row.customer), default=None)


# --- rent -------------------------------------------------------------------------------------------------------------


def devices_joined(c: Configuration) -> int:
    """Devices that one rented machine must have: all of them, or those of one node of a cluster."""
    return c.count if c.plan.nodes == 1 else min(c.count, c.plan.gpus_per_node)


def cheapest_rent(
    c: Configuration, offers: Sequence[Offer], scenario: Scenario, provider: str | None
) -> Rented | None:
    """The cheapest offer that holds the machine, of the market asked for or of the first of MARKETS that has one.

    Offers older than STALE_DAYS before the newest are taken only where there is no younger one: prices of the same day
    are compared. Machines of the right size come before single devices taken many times.
    """
    kept = [offer for offer in offers if provider in (None, offer.provider)]
    markets = ((scenario.market,),) if scenario.market else MARKETS
    for market in markets:
        own = _young([offer for offer in kept if offer.market in market])
        whole = [offer for offer in own if offer.gpus >= devices_joined(c)]
        single = [offer for offer in own if offer.gpus == 1]
        for found, alone in ((whole, False), (single, True)):
            if found:
                return _rented(
                    c, min(found, key=lambda offer: rent_usd_per_hour(c, offer)), scenario, alone=alone
                )
    return None


def rent_usd_per_hour(c: Configuration, offer: Offer) -> float:
    """So many whole machines of an offer as hold the configuration, for an hour [USD/h]."""
    return machines_for(c.count, offer.gpus) * offer.usd_per_hour


def _rented(c: Configuration, offer: Offer, scenario: Scenario, *, alone: bool) -> Rented:
    rent = Rent(
        exactly(offer.usd_per_hour),
        gpus=offer.gpus,
        device=c.accelerator.id,
        trend_per_year=scenario.rent_trend / 100,
    )
    return Rented(rent, offer, alone and c.count > 1)


def _young(rows: Sequence[Row]) -> Sequence[Row]:
    """Those of the newest STALE_DAYS; all where none has a date."""
    dated = [row for row in rows if row.as_of]
    if not dated:
        return rows
    newest = max(first_day(str(row.as_of)) for row in dated)
    return [row for row in dated if (newest - first_day(str(row.as_of))).days <= STALE_DAYS]


# --- purchase ---------------------------------------------------------------------------------------------------------


def purchase_of(scenario: Scenario, c: Configuration, snapshot: Snapshot) -> Bought | None:
    """What the machine is bought for: the visitor's price of the whole, else rows of the system or the device."""
    if scenario.price is not None:
        share = _share_asked(scenario) or 0.0
        return Bought(_purchase(scenario, c, exactly(scenario.price), c.count, share), None)
    if c.cards:
        return None
    found = [
        (row, gpus)
        for device, gpus in _sold_as(c, snapshot)
        if (row := purchase_row(snapshot.purchase_prices_for(device)))
    ]
    if not found:
        return None
    row, gpus = min(found, key=lambda pair: machines_for(c.count, pair[1]) * pair[0].usd)
    asked = _share_asked(scenario)
    share = _usual_share(c, row, snapshot) if asked is None else asked
    return Bought(_purchase(scenario, c, _range(row), gpus, share), row)


def _sold_as(c: Configuration, snapshot: Snapshot) -> list[tuple[str, int]]:
    """(id, devices of it): what is asked for; else the device alone, or the servers that hold it where it is a module."""
    if c.system:
        return [(c.system.id, c.system.count), *_alone(c)]
    alone = _alone(c)
    return alone or [
        (system.id, system.count)
        for system in snapshot.systems.values()
        if system.accelerator_id == c.accelerator.id
    ]


def _alone(c: Configuration) -> list[tuple[str, int]]:
    return [] if c.accelerator.ladder in MODULES else [(c.accelerator.id, 1)]


def purchase_row(rows: Sequence[PurchasePrice]) -> PurchasePrice | None:
    """The newest figure of the first of CONDITIONS that has one; rows stand newest first."""
    for conditions in CONDITIONS:
        for row in rows:
            if row.condition in conditions:
                return row
    return None


def _range(row: PurchasePrice) -> Interval:
    low = row.usd if row.low_usd is None else row.low_usd
    high = row.usd if row.high_usd is None else row.high_usd
    return Interval(row.usd, min(low, row.usd), max(high, row.usd))


def _share_asked(scenario: Scenario) -> float | None:
    """The visitor's rest of the machine per price of its GPUs [1]."""
    return None if scenario.server_share is None else scenario.server_share / 100


def _usual_share(c: Configuration, row: PurchasePrice, snapshot: Snapshot) -> float:
    """The rest of the machine per price of its GPUs: for loose data-centre cards what a server's price says; none where
    the row is a whole machine, and none for a desktop, whose price nobody gives (said as a remark) [1]."""
    share = snapshot.prices.assumptions.get(CARDS_OF_SERVER)
    return 1 / share.value - 1 if share and _loose(c, row) and _place(c) == "datacenter" else 0.0


def _loose(c: Configuration, row: PurchasePrice) -> bool:
    """A price of cards alone, which need a machine around them."""
    return row.device_id == c.accelerator.id and not c.accelerator.unified


def _purchase(scenario: Scenario, c: Configuration, usd: Interval, gpus: int, share: float) -> Purchase:
    first, decline = resale_path(scenario.resale / 100, scenario.years)
    return Purchase(
        usd,
        scenario.years,
        gpus=gpus,
        device=c.accelerator.id,
        server_fraction=share,
        colocation_usd_per_month=scenario.colo,
        maintenance_per_year=scenario.maintenance / 100,
        resale_fraction=first,
        resale_decline_per_year=decline,
    )


def _remarks(c: Configuration, rented: Rented | None, bought: Bought | None) -> Iterable[Reason]:
    """What a reader should know of the prices beside any figure."""
    if rented and rented.single:
        yield Reason("rented_one_by_one", {"gpus": c.count})
    elif rented and rented.offer and c.count > rented.offer.gpus:
        yield Reason("rented_machines_joined", {"machines": machines_for(c.count, rented.offer.gpus)})
    if bought and bought.row and bought.purchase.server_fraction == 0 and _loose(c, bought.row):
        yield Reason("bought_cards_alone", {"device": c.accelerator.name})


def _without_tariff(scenario: Scenario, row: ElectricityPrice | None) -> Iterable[Reason]:
    if row is None and scenario.kwh is None:
        yield Reason("no_tariff", {"region": scenario.region})
