"""One question put to many hosts: what it means on each, and what several of them need alike. PURE.

A host's memory enters the limit alone. What is needed of a GPU follows from model, format, engine, plan and settings; so
hosts that agree in those share one sum, and a limit is compared with it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from calculator.estimation import least_gpus
from calculator.estimation.configuration import Configuration, Plan
from calculator.estimation.engines import is_built, rules_of
from calculator.estimation.engines.shared import server_defaults
from calculator.estimation.estimate import refusals_of, verdict_within
from calculator.estimation.memory import Sum, sum_of
from calculator.estimation.terms import Interval, Limit, Reason, Verdict
from calculator.planner.counts import counts_to_try
from calculator.planner.fleet import Fleet, Host
from calculator.resolve import on_hardware, resolve
from calculator.scenario import Scenario
from catalog.records import Constant

RATE_CONSTANTS = ("speed_", "power_")
"""Calibrated constants whose names begin so enter speed and power, never memory."""


def on_devices_alone(scenario: Scenario) -> Scenario:
    """The question with everything on the devices and the plan left to the engine: another count needs another plan, and
    offload is a way out of its own."""
    return scenario.replace(tp=None, pp=None, split="auto", offload="none", ngl=None, ncmoe=None)


@dataclass(eq=False)
class Alike:
    """Configurations that need the same of a GPU for the same context and users. `sum` is one of theirs."""

    sum: Sum
    refused: tuple[Reason, ...]
    needed: dict[tuple[int, int], Interval] = field(default_factory=dict)

    def needs(self, tokens: int, users: int) -> Interval:
        """Needed on the fullest GPU [B], worked out once."""
        found = self.needed.get((tokens, users))
        if found is None:
            found = self.needed[tokens, users] = self.sum.fullest(tokens, users)
        return found


@dataclass(frozen=True, eq=False, slots=True)
class Laid:
    """The question on one host in one count: its configuration, with those that need the same, the limit of a GPU (None
    without a memory figure) and the verdict."""

    host: Host
    units: int
    configuration: Configuration
    alike: Alike
    limit: Limit | None
    verdict: Verdict

    @property
    def needed(self) -> Interval:
        """Needed on the fullest GPU [B]."""
        work = self.configuration.workload
        return self.alike.needs(work.context_tokens, work.users)

    @property
    def missing_bytes(self) -> float:
        """What the fullest GPU is short of; negative where something is left [B]."""
        return self.needed.value - (self.limit.usable.value if self.limit else 0.0)


class Settling:
    """A question on the hosts of a fleet. Nothing here outlives the question."""

    def __init__(self, scenario: Scenario, fleet: Fleet) -> None:
        self.scenario = on_devices_alone(scenario)
        self.snapshot = fleet.snapshot
        self.fleet = fleet
        self._alike: dict[tuple[Any, ...], Alike] = {}
        self._plans: dict[tuple[Any, ...], Configuration] = {}
        self._constants: dict[tuple[Any, ...], tuple[Any, ...]] = {}
        self._bases: dict[Host, Configuration] = {}
        self._ladders: dict[Host, tuple[int, ...]] = {}
        for group in fleet.kin:
            first = group[0]
            base = resolve(self.scenario.replace(gpu=first.id, n=1), self.snapshot).configuration
            ladder = counts_to_try(base)
            for host in group:
                self._bases[host] = base
                self._ladders[host] = ladder

    def base(self, host: Host) -> Configuration:
        """The configuration of the host's kin: model, engine, format, platform and workload are the host's own."""
        return self._bases[host]

    def units_to_try(self, host: Host) -> list[int]:
        """The ladder of counts in whole units of the host, smallest first."""
        return sorted({-(-count // host.per_unit) for count in self._ladders[host]})

    def laid(self, host: Host, units: int) -> Laid:
        """The question on so many of a host."""
        configuration = self._on(host, units)
        alike = self._alike_of(configuration)
        return self.judge(host, units, configuration, alike)

    def judge(self, host: Host, units: int, configuration: Configuration, alike: Alike) -> Laid:
        """The verdict on a configuration, the same that `verdict_of` finds for it alone."""
        if alike.refused:
            built = is_built(configuration.engine)
            limit = rules_of(configuration.engine.family).limit(configuration) if built else None
            return Laid(host, units, configuration, alike, limit, "unsupported")
        limit = rules_of(configuration.engine.family).limit(configuration)
        if limit is None:
            return Laid(host, units, configuration, alike, None, "unsupported")
        if alike.sum.least_weights > limit.usable.value:
            return Laid(host, units, configuration, alike, limit, "does_not_fit")
        work = configuration.workload
        needed = alike.needs(work.context_tokens, work.users)
        verdict = verdict_within(configuration, needed, limit)
        return Laid(host, units, configuration, alike, limit, verdict)

    def smallest(self, host: Host) -> tuple[Laid | None, Laid | None, Laid]:
        """(the smallest count that fits, a smaller tight one, the last one tried), as `smallest_counts` finds them."""
        units = self.units_to_try(host)
        least = self._least(host)
        tight = last = None
        for number in units:
            if number * host.per_unit < least and number != units[-1]:
                continue
            last = laid = self.laid(host, number)
            if laid.verdict == "fits":
                return laid, tight, laid
            if laid.verdict == "tight" and tight is None:
                tight = laid
        assert last is not None, "the last count of the ladder is always tried"
        return None, tight, last

    def _least(self, host: Host) -> int:
        """GPUs that the weights alone need [1]."""
        one = self._on(host, 1)
        return least_gpus(one)

    def _on(self, host: Host, units: int) -> Configuration:
        return on_hardware(self._bases[host], self.scenario, self.snapshot, host.hardware(units))

    def _alike_of(self, c: Configuration) -> Alike:
        key = (
            c.model,
            c.engine,
            c.engine_version,
            c.backend,
            c.weights_format,
            c.cache_type,
            c.count,
            c.knobs,
            c.accelerator.kind,
            c.accelerator.vendor,
            c.accelerator.compute_capability,
            c.plan,
            id(server_defaults(c.engine, c.accelerator)),
            self._memory_constants(c),
        )
        found = self._alike.get(key)
        if found is None:
            found = self._alike[key] = Alike(sum_of(c), refusals_of(c))
        return found

    def _memory_constants(self, c: Configuration) -> tuple[Any, ...]:
        """The constants that memory is worked out with, by name and ends."""
        key = (c.engine, c.backend, c.accelerator.device_classes)
        found = self._constants.get(key)
        if found is None:
            rows = (row for row in c.constants.values() if not row.name.startswith(RATE_CONSTANTS))
            found = tuple(sorted((row.name, row.value, row.low, row.high) for row in rows))
            self._constants[key] = found
        return found
