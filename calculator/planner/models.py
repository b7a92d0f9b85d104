"""Every model against one machine: the format with the most bits that fits, the longest context, how fast. PURE."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field

from calculator.estimation import estimate
from calculator.estimation.capacity import longest_context
from calculator.estimation.configuration import Configuration, Keyed, Workload
from calculator.estimation.estimate import not_computable, refusals_of, verdict_within
from calculator.estimation.memory import Sum, sum_of
from calculator.estimation.terms import Interval, Limit, Reason, Speed, Verdict
from calculator.estimation.throughput.load import remembered_machine
from calculator.estimation.throughput.many import Asked, speeds_of
from calculator.planner.formats import formats_of, nominal_bits
from calculator.planner.settling import RANK, WORKS, on_devices_alone, without_workload
from calculator.resolve import resolve, workload_of
from calculator.scenario import DEFAULTS, Scenario
from catalog.records import LanguageModel, WeightsFormat
from catalog.snapshot import Snapshot

HARDLY_LESS = 0.75
"""No file holds a smaller share than this of its parameters at the format's usual bits; what is larger even so is not
looked at."""


@dataclass(frozen=True, eq=False, slots=True)
class ModelRow:
    """One model on the machine. weights_format, verdict: the format with the most bits that fits, else that is tight, else
    the one that is short of the least. usual: the engine takes that format by itself. needed, limit: on the fullest GPU;
    None where they are not computed. max_context_tokens, max_context_fits_tokens, speed: of what runs. why: what is
    refused, or is missing."""

    model: LanguageModel
    weights_format: WeightsFormat
    usual: bool
    verdict: Verdict
    configuration: Configuration
    needed: Interval | None
    limit: Limit | None
    max_context_tokens: int | None = None
    max_context_fits_tokens: int | None = None
    speed: Speed | None = None
    why: Reason | None = None

    @property
    def works(self) -> bool:
        """Runs on the machine."""
        return self.verdict in WORKS

    @property
    def headroom_bytes(self) -> int | None:
        """Usable minus needed on the fullest GPU; negative when it is short [B]."""
        if self.needed is None or self.limit is None:
            return None
        return int(self.limit.usable.value - self.needed.value)


@dataclass(eq=False, slots=True)
class _Try:
    """A model in one format on the machine, before anything is asked of it."""

    weights_format: WeightsFormat
    configuration: Configuration
    sum: Sum | None
    limit: Limit | None
    refused: dict[int, tuple[Reason, ...]] = field(default_factory=dict)

    def judged(self, work: Workload) -> Verdict:
        """The verdict that `verdict_of` finds."""
        if self.sum is None or self.limit is None:
            return "unsupported"
        c = self.configuration.at(work)
        if work.users not in self.refused:
            self.refused[work.users] = refusals_of(c)
        if self.refused[work.users]:
            return "unsupported"
        if self.sum.least_weights > self.limit.usable.value:
            return "does_not_fit"
        needed = self.sum.fullest(work.context_tokens, work.users)
        return verdict_within(c, needed, self.limit)


@dataclass(eq=False)
class _Model:
    """A model on the machine, its formats tried as far as questions went."""

    usual: Configuration
    formats: tuple[WeightsFormat, ...]
    tries: dict[WeightsFormat, _Try] = field(default_factory=dict)


class Shelf:
    """A machine with every model, whatever the workload; a workload is asked of it. Nothing outlives it."""

    def __init__(self, scenario: Scenario, snapshot: Snapshot, models: Iterable[LanguageModel] = ()) -> None:
        self.scenario = unmodelled(scenario)
        self.snapshot = snapshot
        chosen = tuple(models) or tuple(snapshot.models.values())
        self.models = [self._settled(model) for model in chosen]

    def _settled(self, model: LanguageModel) -> _Model:
        usual = resolve(self.scenario.replace(model=model.id), self.snapshot).configuration
        if self.scenario.quant is not None or not_computable(usual):
            return _Model(usual, (usual.weights_format,))
        formats = formats_of(usual, self.snapshot.formats.values()) or (usual.weights_format,)
        return _Model(usual, formats)

    def tried(self, model: _Model, weights_format: WeightsFormat) -> _Try:
        """The model in a format, settled once."""
        found = model.tries.get(weights_format)
        if found is None:
            found = model.tries[weights_format] = self._try(model, weights_format)
        return found

    def _try(self, model: _Model, weights_format: WeightsFormat) -> _Try:
        c = model.usual
        if weights_format is not c.weights_format:
            asked = self.scenario.replace(model=c.model.id, engine=c.engine.id, quant=weights_format.id)
            c = resolve(asked, self.snapshot).configuration
        sum_ = None if not_computable(c) else sum_of(c)
        return _Try(weights_format, c, sum_, sum_.limit if sum_ else None)

    def best(self, model: _Model, work: Workload) -> tuple[_Try, Verdict]:
        """The first format that fits, else the first that is tight, else the last."""
        tight = None
        for each in self._within_reach(model):
            found = self.tried(model, each)
            verdict = found.judged(work)
            if verdict == "fits":
                return found, verdict
            if verdict == "tight" and tight is None:
                tight = found
        return (tight, "tight") if tight else (found, verdict)

    def _within_reach(self, model: _Model) -> tuple[WeightsFormat, ...]:
        """The formats without those whose weights alone are far too large; the smallest is always looked at."""
        c = model.usual
        limit = self.tried(model, c.weights_format).limit
        if limit is None:
            return model.formats
        room = 8 * limit.usable.value * c.count
        table = c.model.architecture.vocabulary_size * c.model.architecture.hidden_size
        weights = HARDLY_LESS * (c.model.architecture.text_parameters - table)
        near = tuple(each for each in model.formats if weights * nominal_bits(c.model, each) <= room)
        return near or model.formats[-1:]


def unmodelled(scenario: Scenario) -> Scenario:
    """The question without model and workload: one `Shelf` answers all that agree in it."""
    return without_workload(on_devices_alone(scenario)).replace(model=DEFAULTS["model"])


def runs_on(
    scenario: Scenario,
    snapshot: Snapshot,
    *,
    shelf: Shelf | None = None,
    models: Iterable[LanguageModel] = (),
) -> tuple[ModelRow, ...]:
    """Every model on the machine of the question, in the format with the most bits that fits, best first; in the format of
    the question where one is asked for.

    Plan and offload of the question are left open, as in `fits_on`. shelf: that of an earlier question which differs in
    model and workload alone (`unmodelled`). models: those that are asked for, all by default.
    """
    asked = shelf or Shelf(scenario, snapshot, models)
    work = workload_of(scenario)
    found = [(model, *asked.best(model, work)) for model in asked.models]
    works = [one.configuration.at(work) for _, one, verdict in found if verdict in WORKS]
    speeds = dict(zip(map(id, works), _speeds(works), strict=True))
    running = iter(works)
    rows = []
    for model, one, verdict in found:
        c = next(running) if verdict in WORKS else one.configuration.at(work)
        rows.append(_row(model, one, verdict, c, speeds.get(id(c))))
    return tuple(sorted(rows, key=rank))


def _speeds(works: list[Configuration]) -> list[Speed | None]:
    return speeds_of([Asked(c, remembered_machine(c)) for c in works])


def rank(row: ModelRow) -> tuple[object, ...]:
    """What runs first, the largest model of it."""
    return RANK.index(row.verdict), -row.model.text_parameters, row.model.id


def _row(model: _Model, one: _Try, verdict: Verdict, c: Configuration, speed: Speed | None) -> ModelRow:
    usual = one.weights_format is model.usual.weights_format
    if verdict in WORKS and (
        c.plan.host_expert_layers or (c.count > 1 and c.engine.rules.get("one_gpu_first"))
    ):
        return _settled_alone(one, c, usual=usual)
    work = c.workload
    longest = longest_context(Keyed(c.machine, c), work.users) if verdict in WORKS else (None, None)
    refused = one.refused.get(work.users) or refusals_of(c) if verdict == "unsupported" else ()
    return ModelRow(
        model=c.model,
        weights_format=one.weights_format,
        usual=usual,
        verdict=verdict,
        configuration=c,
        needed=one.sum.fullest(work.context_tokens, work.users) if one.sum and one.limit else None,
        limit=one.limit,
        max_context_tokens=longest[0],
        max_context_fits_tokens=longest[1],
        speed=speed,
        why=refused[0] if refused else None,
    )


def _settled_alone(one: _Try, c: Configuration, *, usual: bool) -> ModelRow:
    """The row by an estimate of its own, which settles more than the format: one GPU of several, experts on the host."""
    answer = estimate(c)
    memory, capacity = answer.memory, answer.capacity
    return ModelRow(
        model=c.model,
        weights_format=one.weights_format,
        usual=usual,
        verdict=answer.verdict,
        configuration=answer.configuration,
        needed=memory.needed if memory else None,
        limit=memory.limit if memory else None,
        max_context_tokens=capacity.max_context_tokens if capacity else None,
        max_context_fits_tokens=capacity.max_context_fits_tokens if capacity else None,
        speed=answer.speed,
        why=None if answer.verdict in WORKS else answer.reasons[0],
    )
