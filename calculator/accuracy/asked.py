"""One measurement as the arithmetic sees it: its configuration, and the terms of every GPU. PURE (takes a Snapshot)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property

from calculator.estimation.configuration import Configuration, Plan
from calculator.estimation.estimate import verdict_of
from calculator.estimation.memory import PART_OF, Sum, sum_of
from calculator.estimation.offload import settled
from calculator.estimation.terms import Term
from calculator.resolve import resolve
from calculator.scenario import parse
from catalog.records import Measurement
from catalog.snapshot import Snapshot


@dataclass(frozen=True, eq=False)
class Asked:
    """A measurement and the configuration that answers its question. unknown: parameters whose value the catalogue does
    not have (a format, a cache type), so that parts which hang on them cannot be compared."""

    snapshot: Snapshot
    measurement: Measurement
    configuration: Configuration
    unknown: frozenset[str]

    @property
    def tokens(self) -> int:
        return self.configuration.workload.context_tokens

    @property
    def users(self) -> int:
        return self.configuration.workload.users

    @cached_property
    def sum(self) -> Sum:
        return sum_of(self.configuration)

    @cached_property
    def stages(self) -> tuple[tuple[Term, ...], ...]:
        """The terms on one GPU of each stage."""
        return tuple(tuple(self.sum.terms(stage, self.tokens, self.users)) for stage in self.sum.stages)

    def beyond(self) -> Sequence[Term]:
        """What the fullest GPU holds beside the engine's budget."""
        stage = self.sum.stages[self.fullest]
        return self.sum.rules.beyond_budget(self.configuration, stage, self.users)

    @cached_property
    def fullest(self) -> int:
        """The stage whose GPU needs most."""
        return max(range(len(self.stages)), key=lambda i: sum(term.value for term in self.stages[i]))

    @property
    def logged_by_first(self) -> bool:
        """A pipeline whose log is the first worker's: its figures are those of the first stage."""
        return len(self.stages) > 1 and not self.configuration.engine.rules.get("max_gpus_layer_split")

    def on(self, device: str | None) -> tuple[Term, ...]:
        """The terms of the GPU that a log calls so: by its number in a layer split, else the fullest."""
        if device == "per_gpu" and self.logged_by_first:
            return self.stages[0]
        digits = "".join(c for c in device or "" if c.isdigit())
        if len(self.stages) > 1 and device != "per_gpu" and digits:
            return self.stages[min(int(digits), len(self.stages) - 1)]
        return self.stages[self.fullest]

    def whole(self) -> Sequence[Term]:
        """The terms of the whole model on one device, wherever its layers really stood."""
        layers = self.configuration.model.architecture.layer_count
        sum_ = sum_of(replace(self.configuration, count=1, plan=Plan(layers_per_stage=(layers,)), cards=()))
        return sum_.terms(sum_.stages[0], self.tokens, self.users)

    def bytes_per_token(self) -> float:
        """What one more token of one request adds to the cache of one GPU, every layer as if it held all tokens [B]."""
        return float(sum(int(term.factors.get("bytes_per_token", 0)) for term in self.on("per_gpu")))

    def at_version(self, version: str) -> Asked:
        """The same question to another version of the engine."""
        query = {**self.measurement.scenario, "engine_version": version}
        found = ask(self.snapshot, replace(self.measurement, scenario=query))
        assert found is not None, "the question could be asked before"
        return found


def ask(snapshot: Snapshot, item: Measurement) -> Asked | None:
    """The measurement's question, resolved; None when its model is not in the catalogue."""
    if not item.scenario or item.scenario.get("model") not in snapshot.models:
        return None
    scenario, unreadable = parse(item.scenario)
    resolved = resolve(scenario, snapshot)
    if layers := _placed_layers(item, resolved.configuration):
        resolved = resolve(scenario.replace(ngl=layers), snapshot)
    unknown = {p.field for p in unreadable + resolved.problems if p.code in ("not_a_choice", "unknown_id", "not_computed_yet")}  # fmt: skip
    if "quant" not in item.scenario:
        unknown.add("quant")
    configuration = resolved.configuration
    if configuration.offload.kind != "none":
        configuration = settled(configuration, verdict_of)
    return Asked(snapshot, item, configuration, frozenset(unknown))


def _placed_layers(item: Measurement, c: Configuration) -> int | None:
    """`-ngl` of a run whose source gives only how its cache was divided, the head counted where it comes first."""
    seen = {str(o.device).split(":")[0]: o.amount for o in item.observed if o.part == "kv_cache" and o.device}
    if "host" not in seen or len(seen) < 2 or "ngl" in item.scenario or "offload" in item.scenario:
        return None
    on_gpu = sum(amount for device, amount in seen.items() if device != "host")
    layers = round(c.model.architecture.layer_count * on_gpu / (on_gpu + seen["host"]))
    return layers if c.engine.rules.get("output_last") else layers + 1


def in_part(terms: Sequence[Term], *names: str) -> list[Term]:
    """The terms that belong to one of these parts of memory."""
    return [term for term in terms if PART_OF[term.code] in names]
