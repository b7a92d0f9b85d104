"""One change away from what works: a cheaper machine, the neighbour that just fails, more context, more users. PURE."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace

from calculator.estimation import estimate
from calculator.estimation.configuration import Configuration, Workload
from calculator.estimation.terms import Estimate, Speed
from calculator.estimation.throughput.many import Asked, speeds_of
from calculator.planner.fleet import Host
from calculator.planner.formats import formats_of
from calculator.planner.machine_price import MachinePrice, machine_price
from calculator.planner.question import WORKS, on_devices_alone
from calculator.planner.settling import Laid, Settling
from calculator.resolve import Resolved, resolve
from calculator.scenario import Scenario, Value
from catalog.snapshot import Snapshot

MOST = 4
"""Neighbours that are named."""

CLASSES = (("consumer", "workstation"), ("datacenter",), ("apple", "apu", "edge"), ("cpu",))
"""Kinds of devices that stand for one another: nobody swaps a desktop card for a rack."""

LESS = 0.9
"""A machine is cheaper from a tenth less on: prices of several sources differ by as much."""

_Priced = tuple[Laid, MachinePrice | None]

ON_DEVICES: Mapping[str, Value] = {"offload": "none", "ngl": None, "ncmoe": None}
"""What keeps all of the model on the devices."""

STEPS_OF_CONTEXT, STEPS_OF_USERS = 16, 64
"""More context and more users are at most so many times the present ones."""

ROUND_TOKENS = 1024
"""A context that is no power of two is a multiple of this."""


@dataclass(frozen=True, eq=False, slots=True)
class Neighbour:
    """The question with one change. code: `fewer`, `more`, `cheaper`, `smaller`, `fails`, `context`, `users` or `format`.
    price, saved_share: what its machine costs, and how much less that is, where the change is about money [1]."""

    code: str
    scenario: Scenario
    estimate: Estimate
    price: MachinePrice | None = None
    saved_share: float | None = None


@dataclass(frozen=True, slots=True)
class _Here:
    """Where the visitor stands. settling: the question on every host. host: None for a list of cards."""

    resolved: Resolved
    estimate: Estimate
    snapshot: Snapshot
    settling: Settling
    host: Host | None

    @property
    def scenario(self) -> Scenario:
        return self.resolved.scenario

    @property
    def configuration(self) -> Configuration:
        return self.resolved.configuration

    @property
    def work(self) -> Workload:
        return self.configuration.workload

    def moved(self, code: str, **changes: Value) -> Neighbour:
        """The question with one change, computed."""
        return self._computed(code, self.scenario.replace(**changes))

    def on(self, code: str, host: Host, units: int) -> Neighbour:
        """The question on other hardware: its own plan, and no price of the present machine."""
        asked = on_devices_alone(self.scenario)
        return self._computed(code, asked.replace(gpu=host.id, n=units, price=None, rent=None))

    def _computed(self, code: str, scenario: Scenario) -> Neighbour:
        c = resolve(scenario, self.snapshot).configuration
        return Neighbour(code, scenario, estimate(c, capacity=False))


def one_change_away(
    resolved: Resolved, answer: Estimate, snapshot: Snapshot, settling: Settling
) -> tuple[Neighbour, ...]:
    """Up to four neighbours of a question that works: where a smaller or cheaper machine would do, where the next smaller
    one fails, and how much further this one goes. Nothing where it does not work."""
    if answer.verdict not in WORKS:
        return ()
    fleet = settling.fleet
    host = next((host for host in fleet.hosts if host.id == resolved.scenario.gpu), None)
    here = _Here(resolved, answer, snapshot, settling, host)
    looks: tuple[Callable[[_Here], Neighbour | None], ...] = (
        _smaller_machine,
        _just_fails,
        _context,
        _users,
        _format,
    )
    return tuple(_first(MOST, (look(here) for look in looks)))


def _first(most: int, found: Iterable[Neighbour | None]) -> Iterator[Neighbour]:
    """The first neighbours there are; what is not needed is not looked for."""
    for neighbour in found:
        if neighbour is not None:
            yield neighbour
            most -= 1
            if not most:
                return


# --- the machine ------------------------------------------------------------------------------------------------------


def _smaller_machine(here: _Here) -> Neighbour | None:
    """Fewer of the same where fewer fit, or as many as hold all of what is partly in system RAM; else a cheaper one."""
    if here.host is None:
        return None
    fits, _tight = here.settling.smallest(here.host, here.work)
    if fits and fits.units < here.scenario.n:
        return here.on("fewer", here.host, fits.units)
    if here.estimate.verdict == "offload":
        return here.on("more", here.host, fits.units) if fits else None
    return _cheaper(here)


def _cheaper(here: _Here) -> Neighbour | None:
    """The fastest of its class that costs less, with no more GPUs; where no price is known, the fastest with less
    memory."""
    others = [laid for host in _class_of(here) if (laid := _in_short(here, host)) is not None]
    present = machine_price(here.configuration, here.scenario, here.snapshot)
    if present is None:
        total = here.configuration.count * here.configuration.accelerator.memory_gb
        smaller = _fastest([(laid, None) for laid in others if _memory_gb(laid) < total])
        return here.on("smaller", smaller[0].host, smaller[0].units) if smaller else None
    asked = here.scenario.replace(price=None, rent=None, source=present.source)
    priced = [(laid, machine_price(laid.configuration, asked, here.snapshot)) for laid in others]
    best = _fastest([(laid, price) for laid, price in priced if price and price.usd <= LESS * present.usd])
    if best is None or best[1] is None:
        return None
    found = here.on("cheaper", best[0].host, best[0].units)
    return replace(found, price=best[1], saved_share=1 - best[1].usd / present.usd)


def _class_of(here: _Here) -> Iterator[Host]:
    """Other hosts that can be had and stand for the present one."""
    assert here.host is not None, "asked only of one kind of device"
    kinds = next((kinds for kinds in CLASSES if here.host.kind in kinds), (here.host.kind,))
    for host in here.settling.fleet.hosts:
        if host.kind in kinds and host.accelerator.exists and host is not here.host:
            yield host


def _in_short(here: _Here, host: Host) -> Laid | None:
    """The question on the smallest count of a host that fits, unless that takes more GPUs than the present machine has."""
    fits, _tight = here.settling.smallest(host, here.work)
    return fits if fits and fits.configuration.count <= here.configuration.count else None


def _memory_gb(laid: Laid) -> int:
    return laid.configuration.count * laid.host.accelerator.memory_gb


def _fastest(machines: Sequence[_Priced]) -> _Priced | None:
    """The one with the highest rate of one user in two digits; of those the cheapest, then with the least memory."""
    speeds = speeds_of([Asked(laid.configuration, laid.place.machine) for laid, _ in machines])
    rated = [(each, speed) for each, speed in zip(machines, speeds, strict=True) if speed is not None]

    def order(pair: tuple[_Priced, Speed]) -> tuple[object, ...]:
        (laid, price), speed = pair
        pace = float(f"{speed.decode_tokens_per_s_per_user.value:.2g}")
        return -pace, price.usd if price else 0.0, _memory_gb(laid), laid.host.id

    return min(rated, key=order)[0] if rated else None


def _just_fails(here: _Here) -> Neighbour | None:
    """The next smaller count of the same that does not fit; for a single device another of its maker and class that is
    short of the least."""
    host = here.host
    if host is None or here.estimate.verdict == "offload":
        return None
    for units in reversed(here.settling.units_to_try(host)):
        if units < here.scenario.n:
            laid = here.settling.laid(host, units, here.work)
            if laid.verdict == "does_not_fit":
                return here.on("fails", host, units)
    nearest = _nearest_single(here, host) if here.configuration.count == 1 else None
    return here.on("fails", nearest.host, 1) if nearest else None


def _nearest_single(here: _Here, host: Host) -> Laid | None:
    """One device of the same maker that is short of the least: of the same kind first, of equals the fastest memory."""
    others = (
        here.settling.laid(other, 1, here.work)
        for other in _class_of(here)
        if other.system is None and other.accelerator.vendor == host.accelerator.vendor
    )
    short = [laid for laid in others if laid.verdict == "does_not_fit" and laid.limit]
    return min(short, key=lambda laid: (laid.host.kind != host.kind, *_nearness(laid)), default=None)


def _nearness(laid: Laid) -> tuple[object, ...]:
    """What is short as a share of what may be taken, to the per cent."""
    assert laid.limit is not None, "asked only of what is short"
    share = (laid.short_bytes or 0.0) / laid.limit.usable.value
    return round(share, 2), -(laid.host.accelerator.bandwidth_bytes_per_s or 0.0), laid.host.id


# --- the workload -----------------------------------------------------------------------------------------------------


def _context(here: _Here) -> Neighbour | None:
    """The largest power of two of tokens that fits, else the longest context; a shorter one where the present is tight."""
    capacity, present = here.estimate.capacity, here.work.context_tokens
    if capacity is None:
        return None
    longest = capacity.max_context_fits_tokens
    if here.estimate.verdict == "offload":
        longest = longest or capacity.max_context_tokens
    tokens = _largest_power(min(longest, STEPS_OF_CONTEXT * present))
    if tokens <= present:
        tokens = longest // ROUND_TOKENS * ROUND_TOKENS
    shorter = here.estimate.verdict == "tight" and 0 < tokens < present
    if not (tokens > present or shorter):
        return None
    return _working(here.moved("context", ctx=tokens))


def _users(here: _Here) -> Neighbour | None:
    """The largest power of two of requests that fits, else the most."""
    capacity, present = here.estimate.capacity, here.work.users
    if capacity is None:
        return None
    most = capacity.max_users_fits
    users = _largest_power(min(most, STEPS_OF_USERS * present))
    users = users if users > present else most
    return _working(here.moved("users", users=users)) if users > present else None


def _largest_power(most: int) -> int:
    """The largest power of two up to a number, 0 below one."""
    return 1 << (most.bit_length() - 1) if most > 0 else 0


def _format(here: _Here) -> Neighbour | None:
    """The format with the most bits that fits, where it has more than the present one; else the next smaller one. Of what
    is partly in system RAM the first that needs none."""
    c = here.configuration
    formats = list(formats_of(c, here.snapshot.formats.values()))
    if c.weights_format not in formats:
        return None
    at = formats.index(c.weights_format)
    for each in (*formats[:at], *formats[at + 1 :]):
        found = here.moved("format", quant=each.id, **ON_DEVICES)
        if found.estimate.verdict in ("fits", "tight"):
            return found
    return None


def _working(neighbour: Neighbour) -> Neighbour | None:
    return neighbour if neighbour.estimate.verdict in WORKS else None
