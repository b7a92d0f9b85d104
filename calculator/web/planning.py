"""What the planner settles once for a snapshot and a question, kept while sliders move."""

from __future__ import annotations

from functools import lru_cache, partial

from calculator.planner.fleet import Fleet, fleet_of
from calculator.planner.hardware import Price, Prices
from calculator.planner.machine_price import is_recent
from calculator.planner.models import Shelf, unmodelled
from calculator.planner.question import unmoved
from calculator.planner.settling import Settling
from calculator.pricing import CONDITIONS, MODULES
from calculator.scenario import Scenario
from calculator.web.panels.per_snapshot import per_snapshot
from catalog.prices import PurchasePrice
from catalog.snapshot import Snapshot

MOST_QUESTIONS = 8
"""Questions that stay settled: each holds some hundred configurations."""

MOST_MACHINES = 4
"""Machines that stay settled with every model."""

fleet = partial(per_snapshot, fleet_of)


def _prices_of(snapshot: Snapshot) -> Prices:
    """The newest recent price of each condition of every device and system that is a machine or a card by itself."""
    found: dict[str, tuple[Price, ...]] = {}
    for device, rows in snapshot.prices.purchases_by_device.items():
        own = snapshot.accelerators.get(device)
        if own is not None and own.ladder in MODULES:
            continue
        newest: dict[str, PurchasePrice] = {}
        for row in rows:
            if is_recent(row.as_of, snapshot):
                newest.setdefault(row.condition, row)
        found[device] = tuple(
            Price(row.usd, row.as_of or "", row.condition, row.source)
            for conditions in CONDITIONS
            for condition in conditions
            for row in (newest.get(condition),)
            if row
        )
    return found


prices_of = partial(per_snapshot, _prices_of)


def settling_for(scenario: Scenario, snapshot: Snapshot) -> Settling:
    """The question on every host of its own fleet; another workload is asked of the same. Hosts are asked of that fleet:
    `fleet` may have been made anew since."""
    return _settling(unmoved(scenario), snapshot)


@lru_cache(maxsize=MOST_QUESTIONS)
def _settling(scenario: Scenario, snapshot: Snapshot) -> Settling:
    hosts: Fleet = fleet(snapshot)
    return Settling(scenario, hosts)


def shelf_for(scenario: Scenario, snapshot: Snapshot) -> Shelf:
    """The question's machine with every model; another workload is asked of the same."""
    return _shelf(unmodelled(scenario), snapshot)


@lru_cache(maxsize=MOST_MACHINES)
def _shelf(scenario: Scenario, snapshot: Snapshot) -> Shelf:
    return Shelf(scenario, snapshot)
