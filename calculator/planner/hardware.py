"""One model against every device and system: the smallest count that fits, what it holds there, how fast. PURE."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace

from calculator.estimation import estimate
from calculator.estimation.configuration import Configuration
from calculator.estimation.estimate import refusals_of
from calculator.estimation.terms import Capacity, Interval, Limit, Reason, Speed, Verdict
from calculator.estimation.throughput.many import Asked, speeds_of
from calculator.planner.borders import capacities
from calculator.planner.fleet import Fleet, Host
from calculator.planner.question import RANK, WORKS, on_devices_alone
from calculator.planner.settling import Alike, Laid, Settling
from calculator.resolve import resolve, workload_of
from calculator.scenario import Scenario


@dataclass(frozen=True, slots=True)
class Price:
    """What one unit of a host costs. condition: new or used. date: when it was seen, as ISO 8601."""

    usd: float
    date: str
    condition: str
    source: str


Prices = Mapping[str, Sequence[Price]]
"""Prices by the id of a host, as many as are known."""


@dataclass(frozen=True, eq=False, slots=True)
class HardwareRow:
    """One host. units, verdict: the smallest count that fits, else the smallest that is tight, else the last of the ladder
    that was tried. tight_units: a smaller count that is tight, beside one that fits. needed, limit: on the fullest GPU;
    None where they are not computed. capacity, speed: None for what does not run, speed also without the device's figures.
    why: what is refused, or is missing. prices: of one unit, as many as are known. best_format: what one unit holds in the
    format with the most bits that fits there, where it was asked for."""

    host: Host
    units: int
    verdict: Verdict
    tight_units: int | None
    configuration: Configuration
    needed: Interval | None
    limit: Limit | None
    capacity: Capacity | None = None
    speed: Speed | None = None
    why: Reason | None = None
    prices: tuple[Price, ...] = ()
    best_format: Laid | None = None

    @property
    def works(self) -> bool:
        """Runs in some count of the ladder."""
        return self.verdict in WORKS

    @property
    def gpus(self) -> int:
        """Devices in that count."""
        return self.configuration.count

    @property
    def headroom_bytes(self) -> int | None:
        """Usable minus needed on the fullest GPU; negative when it is short [B]."""
        if self.needed is None or self.limit is None:
            return None
        return int(self.limit.usable.value - self.needed.value)

    @property
    def price(self) -> Price | None:
        """The cheapest of one unit, which a used one is where it is sold used."""
        return min(self.prices, key=lambda price: price.usd, default=None)

    @property
    def price_usd(self) -> float | None:
        """The cheapest price of all units [USD]."""
        return None if self.price is None else self.units * self.price.usd

    @property
    def memory_gb(self) -> int:
        """Memory of all devices by their names [GB]."""
        return self.gpus * self.host.accelerator.memory_gb

    @property
    def tokens_per_s(self) -> float:
        """Decode rate of one user, 0 where none is known [tokens/s]."""
        return self.speed.decode_tokens_per_s_per_user.value if self.speed else 0.0


def fits_on(
    scenario: Scenario,
    fleet: Fleet,
    *,
    settling: Settling | None = None,
    hosts: Iterable[Host] | None = None,
    prices: Prices | None = None,
    best_formats: bool = False,
) -> tuple[HardwareRow, ...]:
    """The question on every host of a fleet in its smallest count, best first.

    Count, plan and offload of the question are left open: the count is searched along the engine's ladder, the plan is the
    engine's own, everything stays on the devices. settling: that of an earlier question which differs in its workload
    alone (`unmoved`). hosts: those that are asked for, all by default. best_formats: look for the best format of one unit
    of each too, which takes its time when a model is asked for the first time.
    """
    asked = settling or Settling(scenario, fleet)
    work = workload_of(scenario)
    smallest = [(host, *asked.smallest(host, work)) for host in hosts or fleet.hosts]
    found = [
        (fits or tight or asked.closest(host, work), tight if fits else None)
        for host, fits, tight in smallest
    ]
    figures = figures_of([laid for laid, _ in found])
    rows = [
        _row(scenario, fleet, laid, tight, *own) for (laid, tight), own in zip(found, figures, strict=True)
    ]
    if prices:
        rows = [replace(row, prices=tuple(prices.get(row.host.id, ()))) for row in rows]
    if best_formats:
        rows = [replace(row, best_format=asked.best_format(row.host, 1, work)) for row in rows]
    return tuple(sorted(rows, key=rank))


def figures_of(found: Sequence[Laid]) -> list[tuple[Capacity | None, Speed | None]]:
    """Capacity and speed of what works; of the others nothing."""
    works = [laid for laid in found if laid.verdict in WORKS]
    groups: dict[Alike, list[Laid]] = {}
    for laid in works:
        if laid.alike:
            groups.setdefault(laid.alike, []).append(laid)
    held: dict[Laid, Capacity | None] = {}
    for alike, own in groups.items():
        held.update(zip(own, capacities(alike, own), strict=True))
    fast = dict(
        zip(works, speeds_of([Asked(laid.configuration, laid.place.machine) for laid in works]), strict=True)
    )
    return [(held.get(laid), fast.get(laid)) for laid in found]


def _row(
    scenario: Scenario,
    fleet: Fleet,
    laid: Laid,
    tight: Laid | None,
    capacity: Capacity | None,
    speed: Speed | None,
) -> HardwareRow:
    row = HardwareRow(
        host=laid.host,
        units=laid.units,
        verdict=laid.verdict,
        tight_units=tight.units if tight else None,
        configuration=laid.configuration,
        needed=laid.needed,
        limit=laid.limit,
        capacity=capacity,
        speed=speed,
        why=_why(laid),
    )
    return _settled_alone(row, scenario, fleet) if row.works and _settles_more(laid) else row


def _why(laid: Laid) -> Reason | None:
    """What the engine refuses, or which figure is missing; nothing where memory alone decides."""
    if laid.verdict != "unsupported":
        return None
    refused = refusals_of(laid.configuration)
    return (
        refused[0] if refused else Reason("memory_unknown", {"device": laid.configuration.accelerator.name})
    )


def _settles_more(laid: Laid) -> bool:
    """Whether an estimate settles more than the count: one GPU of a machine of several, experts in host memory."""
    c = laid.configuration
    return bool(c.plan.host_expert_layers) or (
        laid.host.per_unit > 1 and bool(c.engine.rules.get("one_gpu_first"))
    )


def _settled_alone(row: HardwareRow, scenario: Scenario, fleet: Fleet) -> HardwareRow:
    """The row by an estimate of its own."""
    asked = on_devices_alone(scenario).replace(gpu=row.host.id, n=row.units)
    answer = estimate(resolve(asked, fleet.snapshot).configuration)
    memory = answer.memory
    return replace(
        row,
        verdict=answer.verdict,
        configuration=answer.configuration,
        needed=memory.needed if memory else None,
        limit=memory.limit if memory else None,
        capacity=answer.capacity,
        speed=answer.speed,
        why=None if answer.verdict in WORKS else answer.reasons[0],
    )


def rank(row: HardwareRow) -> tuple[object, ...]:
    """What works first, the fewest devices of it, then the fastest; of what does not, the closest."""
    if row.works:
        return RANK.index(row.verdict), row.gpus, -row.tokens_per_s, row.host.id
    return RANK.index(row.verdict), shortage(row), 0.0, row.host.id


def shortage(row: HardwareRow) -> float:
    """How far what is needed lies above what may be taken, as a share of it; not known: as far as can be [1]."""
    if row.needed is None or row.limit is None or not row.limit.usable.value:
        return math.inf
    return row.needed.value / row.limit.usable.value - 1
