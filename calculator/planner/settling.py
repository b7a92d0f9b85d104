"""One question put to many hosts: what it means on each, and what several of them need alike. PURE.

A host's memory enters the limit alone. What is needed of a GPU follows from model, format, engine, plan and settings; so
hosts that agree in those share one sum, and the limit of each is compared with it.
"""

from __future__ import annotations

import math
from collections.abc import Hashable
from dataclasses import dataclass, field, replace
from functools import cached_property
from operator import attrgetter

from calculator.estimation.configuration import Configuration, Plan, Workload
from calculator.estimation.engines import rules_of
from calculator.estimation.estimate import not_computable, refusals_of, verdict_within
from calculator.estimation.memory import Sum, needs_alike, sum_of
from calculator.estimation.plans import Hardware
from calculator.estimation.terms import Interval, Limit, Reason, Verdict
from calculator.estimation.throughput.load import Machine, machine_of
from calculator.estimation.throughput.reads import Reads
from calculator.estimation.weights import published_file
from calculator.planner.counts import counts_to_try
from calculator.planner.fleet import Fleet, Host
from calculator.planner.formats import formats_of
from calculator.resolve import on_device, planned, resolve
from calculator.scenario import DEFAULTS, Scenario
from catalog.records import WeightsFormat

RATE_CONSTANTS = ("speed_", "power_")
"""Calibrated constants whose names begin so enter speed and power, never memory."""

WORKS: tuple[Verdict, ...] = ("fits", "tight", "offload")
"""Verdicts of what runs."""

RANK: tuple[Verdict, ...] = ("fits", "tight", "offload", "does_not_fit", "unsupported")
"""Verdicts in the order of lists."""

MOST_KEPT = 16
"""Contexts and users whose memory is remembered beside a sum; a slider moves on."""

MOVING = ("ctx", "users", "prompt", "output", "prefix")
"""Parameters that a settled question leaves open: its workload."""


def on_devices_alone(scenario: Scenario) -> Scenario:
    """The question with everything on the devices and the plan left to the engine: another count needs another plan, and
    offload is a way out of its own."""
    return scenario.replace(tp=None, pp=None, split="auto", offload="none", ngl=None, ncmoe=None)


def without_workload(scenario: Scenario) -> Scenario:
    """The question with the default workload, unless a setting of the engine follows context or users."""
    if scenario.maxlen is not None or scenario.seqs is not None:
        return scenario
    return scenario.replace(**{name: DEFAULTS[name] for name in MOVING})


def unmoved(scenario: Scenario) -> Scenario:
    """The question without hardware and workload: one `Settling` answers all that agree in it."""
    return without_workload(on_devices_alone(scenario)).replace(gpu=DEFAULTS["gpu"], n=1)


@dataclass(eq=False)
class Alike:
    """Configurations that need the same of a GPU for the same context and users. `sum` is one of theirs."""

    sum: Sum
    kept: dict[tuple[int, int], Interval] = field(default_factory=dict)

    @cached_property
    def reads(self) -> Reads:
        """What a step reads and computes."""
        return Reads(self.sum.configuration)

    def needs(self, work: Workload) -> Interval:
        """Needed on the fullest GPU [B], worked out once."""
        place = (work.context_tokens, work.users)
        found = self.kept.get(place)
        if found is None:
            if len(self.kept) >= MOST_KEPT:
                self.kept.clear()
            found = self.kept[place] = self.sum.fullest(*place)
        return found


@dataclass(eq=False)
class Place:
    """A host in one count before anything is asked of it. alike, limit: None where nothing is computed, or no memory
    figure is known."""

    configuration: Configuration
    alike: Alike | None
    limit: Limit | None

    @cached_property
    def takes_too_much(self) -> bool | None:
        """Whether the engine takes more than the device has; None where that depends on the requests."""
        return Sum(self.configuration).takes_alike

    @cached_property
    def machine(self) -> Machine:
        """What the machine brings to every load; those that need alike read alike."""
        assert self.alike is not None, "asked only of what runs"
        return machine_of(self.configuration, self.alike.reads)


@dataclass(frozen=True, eq=False, slots=True)
class Laid:
    """The question on one host in one count: its configuration with its workload, and the verdict."""

    host: Host
    units: int
    place: Place
    configuration: Configuration
    verdict: Verdict

    @property
    def alike(self) -> Alike | None:
        return self.place.alike

    @property
    def limit(self) -> Limit | None:
        """What the engine may take of one GPU."""
        return self.place.limit

    @property
    def needed(self) -> Interval | None:
        """Needed on the fullest GPU [B]."""
        return self.alike.needs(self.configuration.workload) if self.alike else None

    @property
    def short_bytes(self) -> float | None:
        """What the fullest GPU is short of; negative where something is left [B]."""
        if self.limit is None or self.needed is None:
            return None
        return self.needed.value - self.limit.usable.value


@dataclass(eq=False, slots=True)
class _Kin:
    """What a group of hosts has in common. weights_bytes: the layers of one copy, 0 where nothing is computed."""

    base: Configuration
    ladder: tuple[int, ...]
    weights_bytes: float
    formats: tuple[WeightsFormat, ...] | None = None
    refused: dict[Hashable, tuple[Reason, ...]] = field(default_factory=dict)


class Settling:
    """A question without its workload on the hosts of a fleet; a workload is asked of it."""

    def __init__(self, scenario: Scenario, fleet: Fleet) -> None:
        self.scenario = unmoved(scenario)
        self.fleet = fleet
        self.snapshot = fleet.snapshot
        self._first = {host: group[0] for group in fleet.kin for host in group}
        self._kin: dict[Host, _Kin] = {}
        self._devices: dict[Hashable, tuple[Configuration, int, Limit | None]] = {}
        self._places: dict[Hashable, Place] = {}
        self._plans: dict[Hashable, tuple[Plan, tuple[object, ...]]] = {}
        self._alike: dict[Hashable, Alike] = {}
        self._kinds: dict[Hashable, int] = {}
        self._constants: dict[Hashable, tuple[object, ...]] = {}

    def _kin_of(self, host: Host) -> _Kin:
        """The host's kin, settled when the first of them is asked for."""
        first = self._first[host]
        found = self._kin.get(first)
        if found is None:
            found = self._kin[first] = self._settled(first)
        return found

    def _settled(self, first: Host) -> _Kin:
        base = resolve(self.scenario.replace(gpu=first.id, n=1), self.snapshot).configuration
        ladder = counts_to_try(base)
        if not_computable(base):
            return _Kin(base, ladder, 0.0)
        return _Kin(base, ladder, sum_of(base.one_copy()).least_weights)

    def base(self, host: Host) -> Configuration:
        """The configuration of the host's kin: model, engine, format and platform are the host's own."""
        return self._kin_of(host).base

    def units_to_try(self, host: Host) -> list[int]:
        """The ladder of counts in whole units of the host, smallest first."""
        return sorted({-(-count // host.per_unit) for count in self._kin_of(host).ladder})

    def laid(
        self, host: Host, units: int, work: Workload, weights_format: WeightsFormat | None = None
    ) -> Laid:
        """The question on so many of a host, with the verdict that `verdict_of` finds for it alone; in another format than
        the engine's usual."""
        place = self._place(host, units, weights_format)
        return self._unless_refused(_by_memory(host, units, place, work))

    def smallest(self, host: Host, work: Workload) -> tuple[Laid | None, Laid | None]:
        """The smallest count that fits and a smaller tight one, as `smallest_counts` finds them; None where none is."""
        least, tight = self._least(host), None
        for number in self.units_to_try(host):
            if number * host.per_unit < least:
                continue
            laid = _by_memory(host, number, self._place(host, number), work)
            if laid.verdict in ("fits", "tight"):
                laid = self._unless_refused(laid)
            if laid.verdict == "fits":
                return laid, tight
            if laid.verdict == "tight" and tight is None:
                tight = laid
        return None, tight

    def closest(self, host: Host, work: Workload) -> Laid:
        """Where no count works: the largest that the engine accepts, which is short of the least; else the smallest."""
        for number in reversed(self.units_to_try(host)):
            laid = self.laid(host, number, work)
            if laid.verdict != "unsupported":
                return laid
        return laid

    def best_format(self, host: Host, units: int, work: Workload) -> Laid | None:
        """So many of a host in the format with the most bits that fits there; None where none does, or where the question
        names its format."""
        kin = self._kin_of(host)
        if self.scenario.quant is not None or not kin.weights_bytes:
            return None
        if kin.formats is None:
            kin.formats = formats_of(kin.base, self.snapshot.formats.values())
        for weights_format in kin.formats:
            usual = weights_format is kin.base.weights_format
            place = self._place(host, units, None if usual else weights_format)
            laid = _by_memory(host, units, place, work)
            if laid.verdict == "fits" and self._unless_refused(laid).verdict == "fits":
                return laid
        return None

    def _least(self, host: Host) -> int:
        """GPUs that the weights alone need; 1 where that is not known [1]."""
        kin = self._kin_of(host)
        limit = self._on_device(host, kin)[2]
        return math.ceil(kin.weights_bytes / limit.usable.value) if limit and kin.weights_bytes else 1

    def _place(self, host: Host, units: int, weights_format: WeightsFormat | None = None) -> Place:
        key = (host, units, weights_format)
        found = self._places.get(key)
        if found is None:
            found = self._places[key] = self._placed(host, units, weights_format)
        return found

    def _placed(self, host: Host, units: int, weights_format: WeightsFormat | None) -> Place:
        device, kind, _ = self._on_device(host, self._kin_of(host), weights_format)
        hardware = host.hardware(units)
        plan, shape = self._plan(device, hardware)
        own = self._of_system(device, plan, hardware) if host.system else {}
        c = device.with_(count=hardware.count, plan=plan, **own)
        limit = None if not_computable(c) else rules_of(c.engine.family).limit(c)
        if limit is None:
            return Place(c, None, None)
        key = (kind, c.count, shape)
        alike = self._alike.get(key)
        if alike is None:
            alike = self._alike[key] = Alike(sum_of(c))
        return Place(c, alike, limit)

    def _unless_refused(self, laid: Laid) -> Laid:
        """The same, unless the engine refuses it."""
        refused, c = self._kin_of(laid.host).refused, laid.configuration
        key = (c.count, c.plan, c.weights_format, c.workload.users)
        if key not in refused:
            refused[key] = refusals_of(c)
        return replace(laid, verdict="unsupported") if refused[key] else laid

    def _plan(self, c: Configuration, hardware: Hardware) -> tuple[Plan, tuple[object, ...]]:
        """The plan, and what of it enters the memory of a GPU: all but how the devices stand together."""
        place = (hardware.gpus_per_node, hardware.nodes, hardware.fast_domain)
        key = (c.engine, c.weights_format, hardware.count, place)
        found = self._plans.get(key)
        if found is None:
            plan = planned(c, self.scenario, hardware)
            found = self._plans[key] = plan, _shape(plan)
        return found

    def _of_system(self, c: Configuration, plan: Plan, hardware: Hardware) -> dict[str, object]:
        """What a system brings beside its devices."""
        own: dict[str, object] = {"system": hardware.system, "system_count": hardware.units}
        if plan.host_expert_layers:
            own["offload"] = on_device(c, self.scenario, self.snapshot, hardware).offload
        return own

    def _on_device(
        self, host: Host, kin: _Kin, weights_format: WeightsFormat | None = None
    ) -> tuple[Configuration, int, Limit | None]:
        """The configuration on one of the host's devices, what is needed of it as a number, and its limit."""
        found = self._devices.get((host.accelerator, weights_format))
        if found is None:
            loose = Hardware(host.accelerator, 1, None, 1)
            c = on_device(kin.base, self.scenario, self.snapshot, loose)
            if weights_format is not None:
                c = c.with_(weights_format=weights_format, file=published_file(c.model, weights_format.id))
            key = (c.engine, c.backend, c.weights_format, c.knobs, needs_alike(c), self._memory_constants(c))
            kind = self._kinds.setdefault(key, len(self._kinds))
            limit = rules_of(c.engine.family).limit(c) if kin.weights_bytes else None
            found = self._devices[host.accelerator, weights_format] = c, kind, limit
        return found

    def _memory_constants(self, c: Configuration) -> tuple[object, ...]:
        """The constants that memory is worked out with, by name and ends."""
        key = (c.engine, c.backend, c.accelerator.device_classes)
        found = self._constants.get(key)
        if found is None:
            rows = [row for row in c.constants.values() if not row.name.startswith(RATE_CONSTANTS)]
            found = self._constants[key] = tuple((row.name, row.value, row.low, row.high) for row in rows)
        return found


_shape = attrgetter(
    "split",
    "tp",
    "pp",
    "ep",
    "adp",
    "dcp",
    "dp",
    "layers_per_stage",
    "host_layers",
    "output_on_host",
    "host_expert_layers",
)


def _by_memory(host: Host, units: int, place: Place, work: Workload) -> Laid:
    """The verdict as memory alone decides it."""
    alike, limit = place.alike, place.limit
    c = place.configuration.at(work)
    verdict: Verdict = "does_not_fit"
    if alike is None or limit is None:
        verdict = "unsupported"
    elif alike.sum.least_weights <= limit.usable.value:
        verdict = verdict_within(c, alike.needs(work), limit)
    return Laid(host, units, place, c, verdict)
