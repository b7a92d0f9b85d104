"""What would fit instead, found by asking the same question with one change, the smallest change first."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from typing import TypeVar

from calculator.estimation import estimate, verdict_of
from calculator.estimation.configuration import Configuration
from calculator.estimation.sheet import BuiltSize
from calculator.estimation.terms import Estimate
from calculator.planner.counts import Rung, counts_to_try, ladder_of, smallest_of
from calculator.planner.formats import exists
from calculator.resolve import cache_types_for, engines_for, resolve
from calculator.scenario import DEFAULTS, Scenario, Value
from calculator.web import figures
from calculator.web.answer import Answer, permalink
from calculator.web.panels.dock import of_usable
from calculator.web.panels.formats import format_sizes
from calculator.web.panels.links import query_of
from calculator.web.panels.names import cards_of, device_name, format_words, plan_words
from calculator.web.panels.per_snapshot import unmoved
from calculator.web.panels.shapes import WayOut, WouldFitPanel
from calculator.web.wording.speech import gettext as _
from calculator.web.wording.speech import gettext_lazy, ngettext
from calculator.web.wording.text import cache_label, engine_name

SMALLER_CACHES = ("fp8", "q8_0", "q4_0", "mlx-8bit", "mlx-4bit")
STEP = 1024  # a shorter context is rounded down to a multiple
NEARLY = 0.5  # what stands beside the weights hardly depends on their format; the search skips what is far too large
FIT = ("fits", "tight")
WORKS = (*FIT, "offload")
FREE_PLAN: Mapping[str, Value] = {
    "tp": None,
    "pp": None,
    "split": "auto",
    "ep": None,
    "adp": None,
    "dcp": None,
    "dp": None,
}

OWN_CHOICES = (
    (tuple(FREE_PLAN), gettext_lazy("the usual plan")),
    (("quant",), gettext_lazy("the usual weights format")),
    (("kv", "fa"), gettext_lazy("the usual cache type")),
    (("offload", "ngl", "ncmoe"), gettext_lazy("everything on the GPU")),
    (("engine_version", "backend"), gettext_lazy("the usual build")),
)
OWN_SETTINGS = (
    (tuple(FREE_PLAN), gettext_lazy("the usual plan")),
    (("util",), gettext_lazy("the usual memory share")),
    (("seqs",), gettext_lazy("sequences as the users")),
    (("batched", "ubatch"), gettext_lazy("the usual batch")),
    (("maxlen",), gettext_lazy("the longest request as the context")),
    (("wired", "vgm", "display"), gettext_lazy("the system’s usual memory limit")),
    (("ngl", "ncmoe"), gettext_lazy("as much in system RAM as needed")),
)
"""Settings that may be why memory is short."""

FOLLOWING = frozenset({"ctx", "users"})
"""What the engine's settings may follow, with `maxlen` and `seqs`."""

MOST_COUNTS = 3  # counts that are tried on either side

_Found = TypeVar("_Found")


@dataclass(frozen=True, slots=True)
class Found:
    """One change that would fit."""

    name: str
    note: str
    scenario: Scenario
    estimate: Estimate


def ask(answer: Answer, **changes: Value) -> tuple[Scenario, Estimate]:
    """The same question with some values changed, without the search for its capacity."""
    return answer.scenario.replace(**changes), estimate(
        _settled(answer, **changes), capacity=False, speed=False
    )


def works(answer: Answer, **changes: Value) -> bool:
    """Whether the question fits with some values changed."""
    configuration = _settled(answer, **changes)
    if configuration.offload.kind == "none":
        return verdict_of(configuration) in FIT
    return estimate(configuration, capacity=False, speed=False).verdict in WORKS


def _settled(answer: Answer, **changes: Value) -> Configuration:
    """What the changed question means: settled once, and put to the present context and users."""
    scenario = answer.scenario

    def settle() -> Configuration:
        return resolve(scenario.replace(**changes), answer.snapshot).configuration

    if FOLLOWING & changes.keys() or _follows(scenario):
        return settle()
    settled = unmoved(answer, ("settled", *changes.items()), settle)
    return settled.at(answer.configuration.workload)


def _follows(scenario: Scenario) -> bool:
    """Whether a fixed limit of the server has to follow context or users: then the machine moves with them."""
    return scenario.maxlen is not None or scenario.seqs is not None


def would_fit_panel(answer: Answer, *, later: bool = False) -> WouldFitPanel | None:
    """Rows below the card when the answer is no; None when no change is known to help, which the card then says.

    later: only the place for the rows, with the question that brings them.
    """
    if answer.estimate.verdict in WORKS:
        return None
    if later:
        return {"rows": [], "later": f"?{query_of(answer)}"}
    rows = [_row(found, answer.units) for found in changes(answer)]
    return {"rows": rows, "later": ""} if rows else None


def changes(answer: Answer) -> Iterator[Found]:
    """Every kind of change that fits. Where memory is short: context, cache type, format, count. Where the combination
    is refused: what was left to the engine, the counts on either side, another engine."""
    unsupported = answer.estimate.verdict == "unsupported"
    looks = REFUSED if unsupported else SHORT_OF_MEMORY
    for look in looks:
        found = _once(answer, look)
        if found is not None:
            yield found


def _once(answer: Answer, look: Callable[[Answer], _Found]) -> _Found:
    """look(answer), looked for once for each answer."""
    if look.__name__ not in answer.found:
        answer.found[look.__name__] = look(answer)
    found: _Found = answer.found[look.__name__]
    return found


def _row(found: Found, units: str) -> WayOut:
    memory = found.estimate.memory
    return {
        "code": found.estimate.verdict,
        "name": found.name,
        "note": found.note,
        "needs": of_usable(memory, units) if memory else "",
        "href": permalink(found.scenario),
    }


def _shorter_context(answer: Answer) -> Found | None:
    capacity = answer.estimate.capacity
    if capacity is None:
        return None
    tokens = capacity.max_context_fits_tokens or capacity.max_context_tokens
    tokens = tokens // STEP * STEP or tokens
    if not 0 < tokens < answer.configuration.workload.context_tokens:
        return None
    scenario, other = ask(answer, ctx=tokens)
    name = _("{tokens} tokens of context").format(tokens=figures.whole(tokens))
    return Found(
        name, _("instead of {tokens}").format(tokens=figures.whole(answer.scenario.ctx)), scenario, other
    )


def _own_setting(answer: Answer) -> Found | None:
    """What the engine takes where the visitor has fixed a setting of memory."""
    return _unfixed(answer, OWN_SETTINGS)


def _fewer_requests(answer: Answer) -> Found | None:
    """As many requests at once as fit."""
    capacity = answer.estimate.capacity
    users = (capacity.max_users_fits or capacity.max_users) if capacity else 0
    if not 0 < users < answer.configuration.workload.users:
        return None
    scenario, other = ask(answer, users=users)
    if other.verdict not in WORKS:
        return None
    name = ngettext("{count} request at once", "{count} requests at once", users)
    instead = _("instead of {tokens}").format(tokens=figures.whole(answer.scenario.users))
    return Found(name.format(count=figures.whole(users)), instead, scenario, other)


def _offloaded(answer: Answer) -> Found | None:
    """Part of the model in system RAM, where the engine can keep it there."""
    configuration = answer.configuration
    if "offload" not in configuration.engine.rules or configuration.accelerator.unified:
        return None
    if configuration.offload.kind == "auto":
        return None
    scenario, other = ask(answer, offload="auto", ngl=None, ncmoe=None)
    if other.verdict not in WORKS or other.memory is None:
        return None
    if other.configuration.plan.host_layers == configuration.model.architecture.layer_count:
        return None  # the processor alone would compute
    host = figures.size(other.memory.host_bytes, answer.units)
    name = plan_words(replace(other.configuration, count=1)) or _("everything on the GPU")
    return Found(name, _("needs {size} of system RAM, slower").format(size=host), scenario, other)


def _smaller_cache(answer: Answer) -> Found | None:
    configuration = answer.configuration
    offered = cache_types_for(answer.resolved)
    for cache_type in SMALLER_CACHES:
        other_type = cache_type in offered and cache_type != configuration.cache_type
        if other_type and works(answer, kv=cache_type):
            scenario, other = ask(answer, kv=cache_type)
            label = cache_label(cache_type, configuration.engine)
            return Found(_("{label} KV cache").format(label=label), _("same weights"), scenario, other)
    return None


def sizes_of(answer: Answer) -> list[BuiltSize]:
    """The formats that the engine loads here with their sizes, largest first."""
    sizes = format_sizes(answer.resolved, answer.snapshot)
    return unmoved(answer, "sizes", lambda: sorted(sizes, key=lambda size: -size.size_bytes))


def largest_format(answer: Answer) -> Found | None:
    """The largest weights format that fits on the same hardware."""
    return _once(answer, _largest_format)


def _largest_format(answer: Answer) -> Found | None:
    configuration, memory = answer.configuration, answer.estimate.memory
    if memory is None:
        return None
    beside = memory.total_bytes - sum(part.total_bytes for part in memory.parts if part.name == "weights")
    room = memory.limit.usable.value * configuration.count - NEARLY * beside
    mixed = bool(configuration.cards)  # each card has its own limit: none is ruled out beforehand
    for size in sizes_of(answer):
        too_large = size.least_bytes > room and not mixed
        if size.weights_format is configuration.weights_format or too_large:
            continue
        if not exists(configuration, size.weights_format):
            continue
        if works(answer, quant=size.weights_format.id):
            scenario, other = ask(answer, quant=size.weights_format.id)
            name = format_words(size.weights_format, configuration.model.native_format)
            return Found(
                name,
                _("{size} of weights").format(size=figures.size(size.size_bytes, answer.units)),
                scenario,
                other,
            )
    return None


def _other_engine(answer: Answer) -> Found | None:
    for engine, listed in engines_for(answer.resolved, answer.snapshot):
        if not listed or engine.id == answer.configuration.engine.id:
            continue
        changed: dict[str, Value] = {"engine": engine.id, "quant": None, **FREE_PLAN}
        if works(answer, **changed):
            scenario, other = ask(answer, **changed)
            return Found(engine_name(engine.id), _("same hardware"), scenario, other)
    return None


def _as_many_as_served(answer: Answer) -> Found | None:
    """As many requests at once as the engine serves."""
    for reason in answer.estimate.reasons:
        if reason.code == "too_many_requests":
            users = int(reason.factors["limit"])
            if works(answer, users=users):
                scenario, other = ask(answer, users=users)
                name = ngettext("{count} request", "{count} requests", users)
                return Found(
                    name.format(count=figures.whole(users)),
                    _("instead of {tokens}").format(tokens=figures.whole(answer.scenario.users)),
                    scenario,
                    other,
                )
    return None


def _own_choice(answer: Answer) -> Found | None:
    """What the engine takes where the visitor has fixed something: plan, format, cache type."""
    return _unfixed(answer, OWN_CHOICES)


def _unfixed(answer: Answer, choices: Iterable[tuple[tuple[str, ...], object]]) -> Found | None:
    for name, label in choices:
        fixed = {
            field: DEFAULTS[field] for field in name if getattr(answer.scenario, field) != DEFAULTS[field]
        }
        if fixed and works(answer, **fixed):
            scenario, other = ask(answer, **fixed)
            return Found(str(label), _("same hardware"), scenario, other)
    return None


def _fewer(answer: Answer) -> Found | None:
    """The next smaller count that the engine accepts and that holds the model."""
    return _other_count(answer, [count for count in reversed(_counts(answer)) if count < answer.scenario.n])


def _more(answer: Answer) -> Found | None:
    """The next larger one."""
    return _other_count(answer, [count for count in _counts(answer) if count > answer.scenario.n])


def _counts(answer: Answer) -> list[int]:
    """Counts of what `gpu` names that the engine's ladder has; a list of cards has its own numbers."""
    if cards_of(answer.scenario.gpu, answer.snapshot):
        return []
    configuration = answer.configuration
    per_unit = configuration.system.count if configuration.system else 1
    return sorted({-(-count // per_unit) for count in counts_to_try(configuration)})


def _other_count(answer: Answer, counts: list[int]) -> Found | None:
    for number in counts[:MOST_COUNTS]:
        if works(answer, **_count(number)):
            return _with_count(answer, number)
    return None


def smallest_number(answer: Answer) -> int | None:
    """How many of what `gpu` names hold the model, None when no count that was tried does."""
    return _once(answer, _smallest_number)


def _smallest_number(answer: Answer) -> int | None:
    if answer.estimate.memory is None or cards_of(answer.scenario.gpu, answer.snapshot):
        return None

    def ladder() -> tuple[Rung, ...]:
        return ladder_of(answer.scenario.replace(**FREE_PLAN), answer.snapshot)

    rungs = ladder() if _follows(answer.scenario) else unmoved(answer, "ladder", ladder)
    counts = smallest_of(rungs, answer.configuration.workload)
    return counts.fits or counts.tight


def _smallest_count(answer: Answer) -> Found | None:
    number = smallest_number(answer)
    if not number or number == answer.scenario.n:
        return None
    return _with_count(answer, number)


def _count(number: int) -> dict[str, Value]:
    return {"n": number, **FREE_PLAN}


def _with_count(answer: Answer, number: int) -> Found:
    """The same question with another count and the plan that suits it."""
    scenario, other = ask(answer, **_count(number))
    gpus = other.configuration.count
    name = f"{figures.whole(gpus)} × {device_name(other.configuration, answer.snapshot)}"
    return Found(name, _machines(other.configuration), scenario, other)


def _machines(configuration: Configuration) -> str:
    """`one machine`, `4 nodes of 8`."""
    plan = configuration.plan
    if plan.nodes == 1:
        return _("one machine")
    words = ngettext("{nodes} node", "{nodes} nodes of {size}", plan.nodes)
    return words.format(nodes=plan.nodes, size=plan.gpus_per_node)


def fits_from(answer: Answer) -> tuple[int, str] | None:
    """The smallest number of these GPUs that holds the model, where it is another one, and in which machines."""
    number = smallest_number(answer)
    if not number or number == answer.scenario.n:
        return None
    configuration = _settled(answer, **_count(number))
    return configuration.count, _machines(configuration)


REFUSED = (_as_many_as_served, _own_choice, _fewer, _more, _other_engine)
SHORT_OF_MEMORY = (
    _own_setting,
    _shorter_context,
    _fewer_requests,
    _smaller_cache,
    _largest_format,
    _smallest_count,
    _offloaded,
)
