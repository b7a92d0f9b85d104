"""The list of hardware for one question: what narrows and orders it, for the API, the section and its table alike."""

from __future__ import annotations

import math
from collections.abc import Callable, Collection, Mapping
from typing import Any

from calculator.planner.fleet import Fleet, Host
from calculator.planner.hardware import HardwareRow, fits_on, rank
from calculator.planner.recommend import UNIFIED
from calculator.scenario import Parameter, Scenario, parse_value
from calculator.web import figures
from calculator.web.planning import prices_of, settling_for
from catalog.snapshot import Snapshot

KINDS = ("consumer", "workstation", "datacenter", "apple", "apu", "edge", "cpu")
SHARED = (*UNIFIED, "cpu")
"""Kinds without memory of their own."""

SORTS: Mapping[str, Callable[[HardwareRow], Any]] = {
    "rank": rank,
    "speed": lambda row: (-row.tokens_per_s, rank(row)),
    "gpus": lambda row: (not row.works, row.gpus, rank(row)),
    "memory": lambda row: (not row.works, row.memory_gb, rank(row)),
    "headroom": lambda row: (
        -(row.headroom_bytes if row.headroom_bytes is not None else -(1 << 60)),
        rank(row),
    ),
    "context": lambda row: (-(row.capacity.max_context_fits_tokens if row.capacity else 0), rank(row)),
    "name": lambda row: row.host.name.lower(),
    "price": lambda row: (
        not row.works,
        math.inf if row.price_usd is None else row.price_usd,
        rank(row),
    ),
}


def filters(vendors: Collection[str] = ()) -> dict[str, Parameter]:
    """What narrows and orders the list, beside the question itself. vendors: those that the catalogue has."""
    own = (
        Parameter("kind", "choice", choices=KINDS),
        Parameter("vendor", "choice" if vendors else "id", choices=tuple(vendors)),
        Parameter("gpu_only", "switch", "0"),
        Parameter("memory_min", "number", 0, 0, 1e6, unit="GB"),
        Parameter("best", "switch", "0"),
        Parameter("sort", "choice", "rank", choices=tuple(SORTS)),
    )
    return {parameter.name: parameter for parameter in own}


def filters_of(snapshot: Snapshot) -> dict[str, Parameter]:
    """The filters with the vendors of a catalogue."""
    return filters(sorted({vendor_id(device.vendor) for device in snapshot.accelerators.values()}))


def vendor_id(vendor: str) -> str:
    """A vendor as a parameter writes it: `moore-threads`."""
    return vendor.lower().replace(" ", "-")


def hosts_kept(hosts: Fleet, narrowed: Mapping[str, Any]) -> list[Host]:
    """The hosts that the filters leave."""
    return [host for host in hosts.hosts if _kept(host, narrowed)]


def _kept(host: Host, narrowed: Mapping[str, Any]) -> bool:
    device = host.accelerator
    return (
        narrowed["kind"] in (None, host.kind)
        and narrowed["vendor"] in (None, vendor_id(device.vendor))
        and not (narrowed["gpu_only"] == "1" and host.kind in SHARED)
        and device.memory_gb >= narrowed["memory_min"]
    )


SHOWN = ("kind", "vendor", "gpu_only", "memory_min", "sort")
"""What narrows and orders the table; `all` shows every row."""


def view_of(asked: Mapping[str, str], snapshot: Snapshot) -> tuple[dict[str, str], Mapping[str, Any]]:
    """What of a query differs from the usual, as text, and every filter with its value; what cannot be understood is left
    out."""
    own = filters_of(snapshot)
    narrowed: dict[str, Any] = {name: parameter.default for name, parameter in own.items()}
    view: dict[str, str] = {}
    for name in SHOWN:
        value, problem = parse_value(own[name], asked.get(name, "")) if asked.get(name) else (None, None)
        if value is not None and not problem and value != own[name].default:
            narrowed[name] = value
            view[name] = figures.plain(value) if isinstance(value, float) else str(value)
    if asked.get("all") == "1":
        view["all"] = "1"
    return view, narrowed


def listed(scenario: Scenario, snapshot: Snapshot, narrowed: Mapping[str, Any]) -> tuple[HardwareRow, ...]:
    """The question on every host that the filters leave, with prices, in the order asked for."""
    settling = settling_for(scenario, snapshot)
    rows = fits_on(
        scenario,
        settling.fleet,
        settling=settling,
        hosts=hosts_kept(settling.fleet, narrowed),
        prices=prices_of(snapshot),
        best_formats=narrowed["best"] == "1",
    )
    return tuple(sorted(rows, key=SORTS[narrowed["sort"]]))
