"""What a whole machine costs, to compare it with another: rent of an hour, or its purchase. PURE."""

from __future__ import annotations

from dataclasses import dataclass

from calculator.estimation.configuration import Configuration
from calculator.estimation.economics.deal import machines_for
from calculator.estimation.economics.inputs import Source
from calculator.pricing import cheapest_rent, purchase_of
from calculator.scenario import Scenario
from catalog.prices import first_day
from catalog.snapshot import Snapshot

OLDEST_DAYS = 366
"""Older prices are none to compare by."""


@dataclass(frozen=True, slots=True)
class MachinePrice:
    """What a whole machine costs: rent of an hour, or its purchase [USD]. as_of: the day of the price, empty for the
    visitor's own. condition: new, used …, of a purchase."""

    source: Source
    usd: float
    as_of: str = ""
    condition: str = ""


def machine_price(c: Configuration, scenario: Scenario, snapshot: Snapshot) -> MachinePrice | None:
    """Rent or purchase of the whole machine, by the source of the question; None without a price that is younger than
    OLDEST_DAYS."""
    if (scenario.source or (c.money.source if c.money else "own")) == "rent":
        if scenario.rent is not None:
            return MachinePrice("rent", scenario.rent)
        found = cheapest_rent(c, snapshot.offers_for(c.accelerator.id), scenario, scenario.provider)
        if found is None or found.offer is None:
            return None
        usd = machines_for(c.count, found.rent.gpus) * found.rent.usd_per_hour.value
        return MachinePrice("rent", usd, found.offer.as_of or "")
    bought = purchase_of(scenario, c, snapshot)
    if bought is None or (bought.row and not is_recent(bought.row.as_of, snapshot)):
        return None
    usd = machines_for(c.count, bought.purchase.gpus) * bought.purchase.usd.value
    day, condition = (bought.row.as_of or "", bought.row.condition) if bought.row else ("", "")
    return MachinePrice("own", usd * (1 + bought.purchase.server_fraction), day, condition)


def is_recent(as_of: str | None, snapshot: Snapshot) -> bool:
    """Whether a price may be compared with others: it is dated, and not older than OLDEST_DAYS on the catalogue's day."""
    if not as_of:
        return False
    return (first_day(snapshot.updated[:10]) - first_day(as_of)).days <= OLDEST_DAYS
