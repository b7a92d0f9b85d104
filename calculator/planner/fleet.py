"""Every device and system of a snapshot, and which of them engines treat alike. PURE: a Snapshot in, records out."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from calculator.estimation.plans import Hardware
from catalog.records import Accelerator, Engine, System
from catalog.snapshot import Snapshot


@dataclass(frozen=True, eq=False, slots=True)
class Host:
    """What `gpu` may name: one accelerator, or a system of `per_unit` of them."""

    id: str
    name: str
    accelerator: Accelerator
    per_unit: int
    system: System | None

    @property
    def kind(self) -> str:
        """datacenter, workstation, consumer, apple, apu, edge or cpu: of the device inside."""
        return self.accelerator.kind

    def hardware(self, units: int) -> Hardware:
        """So many of it, as resolving sees them."""
        return Hardware(self.accelerator, self.per_unit * units, self.system, units)


@dataclass(frozen=True, eq=False, slots=True)
class Fleet:
    """All hosts of a snapshot. kin: groups of them whose device every engine accepts, refuses and serves alike, whatever
    its memory; the first of each stands for it."""

    snapshot: Snapshot
    hosts: tuple[Host, ...]
    kin: tuple[tuple[Host, ...], ...]


def host_of(gpu: str, snapshot: Snapshot) -> Host | None:
    """The host of an id, None when nothing has it."""
    found = snapshot.hosts(gpu)
    if found is None:
        return None
    accelerator, per_unit, system = found
    return Host(gpu, system.name if system else accelerator.name, accelerator, per_unit, system)


def fleet_of(snapshot: Snapshot) -> Fleet:
    """Every accelerator, then every system."""
    hosts = [host for gpu in (*snapshot.accelerators, *snapshot.systems) if (host := host_of(gpu, snapshot))]
    return _sorted_by_kin(snapshot, hosts)


def fleet_with(snapshot: Snapshot, gpus: Iterable[str]) -> Fleet:
    """Some of them; ids that nothing has are left out."""
    return _sorted_by_kin(snapshot, [host for gpu in gpus if (host := host_of(gpu, snapshot))])


def _sorted_by_kin(snapshot: Snapshot, hosts: Iterable[Host]) -> Fleet:
    named = _names_in_rules(snapshot.engines.values())
    groups: dict[tuple[Any, ...], list[Host]] = {}
    for host in hosts:
        groups.setdefault(_kin_key(host.accelerator, named), []).append(host)
    kin = tuple(tuple(group) for group in groups.values())
    return Fleet(snapshot, tuple(host for group in kin for host in group), kin)


ROWS = ("devices", "format_families")
"""Tables of an engine's rules whose rows name devices."""

NAMES = ("families", "not_families", "architectures", "not_ids")
"""What such a row may name beside vendor, kind and compute capability."""


def _names_in_rules(engines: Iterable[Engine]) -> frozenset[str]:
    """Families, architectures and ids of devices that a rule of an engine speaks of."""
    rows = [row for engine in engines for table in ROWS for row in engine.rules.get(table, ())]
    return frozenset(name for row in rows for field in NAMES for name in row.get(field, ()))


def _kin_key(accelerator: Accelerator, named: frozenset[str]) -> tuple[Any, ...]:
    """Everything about a device that acceptance, the choice of an engine and the ladder of counts look at."""
    a = accelerator
    return (
        a.vendor,
        a.kind,
        a.compute_capability,
        a.scale_up_domain,
        *(name if name in named else None for name in (a.family, a.architecture, a.id)),
    )
