"""The sum of memory: terms per GPU of every stage, parts, the fullest GPU (formulas §4.7, §5.2). PURE."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

from calculator.estimation.configuration import Configuration
from calculator.estimation.engines import rules_of
from calculator.estimation.engines.interface import EngineRules
from calculator.estimation.numbers import ceil_div, most, round_up
from calculator.estimation.placement import Stage, stages
from calculator.estimation.terms import PART_ORDER, Basis, GpuLoad, Interval, Limit, Memory, Part, Term
from calculator.estimation.uncertainty import total
from calculator.estimation.weights import WeightLayout, weight_layout

PART_OF = {
    "weights": "weights",
    "weights_unmeasured": "weights",
    "kv_gqa": "kv_cache",
    "kv_mla": "kv_cache",
    "kv_window": "kv_cache",
    "kv_chunk": "kv_cache",
    "index_keys": "index_cache",
    "state_gdn": "recurrent_state",
    "state_kda": "recurrent_state",
    "state_mamba2": "recurrent_state",
    "state_shortconv": "recurrent_state",
    "activation_sampler": "activations",
    "activation_layers": "activations",
    "activation_moe": "activations",
    "activation_residuals": "activations",
    "compute_llamacpp": "activations",
    "split_buffers": "activations",
    "graphs_capture": "graphs",
    "non_torch": "communication",
    "context_process": "context",
    "vision_encoder": "vision",
    "vision_graph": "vision",
}
"""The part of memory that each term belongs to."""

_BASIS_RANK: tuple[Basis, ...] = ("exact", "published", "rule", "calibrated", "market")


@dataclass(frozen=True, eq=False)
class Sum:
    """The memory of one configuration as a function of context and users."""

    configuration: Configuration

    @cached_property
    def layout(self) -> WeightLayout:
        return weight_layout(self.configuration.model, self.configuration.weights_format)

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        return stages(self.configuration.model.architecture, self.configuration.plan.layers_per_stage)

    @cached_property
    def rules(self) -> EngineRules:
        return rules_of(self.configuration.engine.family)

    @cached_property
    def limit(self) -> Limit | None:
        return self.rules.limit(self.configuration)

    @property
    def least_weights(self) -> float:
        """Weights that no GPU of the plan can have less than, on average: the layers over all GPUs [B]."""
        layers = self.layout.span(0, len(self.layout.layers)).total
        return layers / self.configuration.plan.gpus

    @cached_property
    def weight_terms(self) -> tuple[tuple[Term, ...], ...]:
        """The weights on one GPU of each stage: they do not change with context or users."""
        return tuple(tuple(self._weights(stage)) for stage in self.stages)

    def _weights(self, stage: Stage) -> list[Term]:
        c, layout, tp = self.configuration, self.layout, self.configuration.plan.tp
        share = layout.span(stage.first, stage.layers)
        own = share.per_rank(tp)
        embedding, head = self._tables(stage)
        value = own + embedding + head
        shuffled = c.model.architecture.order_assumed and len(self.stages) > 1
        spread = layout.spread + (1 / max(1, stage.layers) if shuffled else 0.0)
        factors = {
            "layers": stage.layers,
            "first": stage.first + 1,
            "last": stage.first + stage.layers,
            "layers_bytes": own,
            "sharded_bytes": share.total - share.replicated,
            "replicated_bytes": share.replicated,
            "embedding_bytes": embedding,
            "head_bytes": head,
            "ranks": tp,
            "bits_per_weight": layout.bits_per_weight,
            "text_bytes": layout.text_bytes,
        }
        basis: Basis = "published" if layout.basis == "published" else "rule"
        out = [
            Term("weights", value, value * (1 - spread), value * (1 + spread), basis, factors, layout.source)
        ]
        if not c.measured:
            extra = c.constants["weights_unmeasured"]
            high = value * extra.high
            out.append(Term("weights_unmeasured", 0, 0, high, "rule", {"share": extra.high}, extra.source))
        return out

    def _tables(self, stage: Stage) -> tuple[int, int]:
        """Embedding with its lookup tables, and head with the final norm, on one GPU of the stage [B]."""
        layout, tp = self.layout, self.configuration.plan.tp
        vocabulary = self.configuration.model.architecture.vocabulary_size
        padded = round_up(vocabulary, self.rules.VOCABULARY_STEP)

        def rank(size: int) -> int:
            return int(ceil_div(size * padded // vocabulary, tp))

        on_host = self.rules.embedding_on_host(self.configuration)
        embedding = rank(layout.embedding_bytes) + ceil_div(layout.lookup_bytes, tp)
        first = embedding if stage.is_first and not on_host else 0
        last = 0
        if stage.is_last:
            last = layout.final_bytes + rank(layout.head_bytes)
            if (
                layout.tied
                and self.configuration.model.architecture.output_head
                and (on_host or not stage.is_first)
            ):
                last += rank(layout.embedding_bytes)
        return first, last

    @cached_property
    def candidates(self) -> tuple[int, ...]:
        """Stages that can be the fullest: of those that grow alike, the one with the most weights."""
        best: dict[object, int] = {}
        for stage in self.stages:
            key = (
                frozenset(stage.caches),
                frozenset(stage.states),
                stage.is_last,
                stage.moe,
                stage.widest,
                stage.is_first,
            )
            weights = self.weight_terms[stage.index][0].value
            if key not in best or weights > self.weight_terms[best[key]][0].value:
                best[key] = stage.index
        return tuple(best.values())

    def terms(self, stage: Stage, tokens: Any, users: Any) -> list[Term]:
        """All terms on one GPU of a stage."""
        c = self.configuration
        out = list(self.weight_terms[stage.index])
        if c.model.task == "generate":
            out += self.rules.stage_cache(c, stage, tokens, users)
        return out + self.rules.stage_overhead(c, stage, tokens, users)

    def fullest(self, tokens: Any, users: Any) -> Interval:
        """Needed on the fullest GPU [B]; tokens or users may be an array."""
        value: Any = 0
        low: Any = 0.0
        high: Any = 0.0
        for index in self.candidates:
            needed = total(self.terms(self.stages[index], tokens, users))
            value, low, high = most(value, needed.value), most(low, needed.low), most(high, needed.high)
        return Interval(value, low, high)


def memory_of(sum_: Sum) -> Memory | None:
    """The memory of the configuration's own context and users, part by part; None without a memory figure of the
    device."""
    c, limit = sum_.configuration, sum_.limit
    if limit is None:
        return None
    tokens, users = c.workload.context_tokens, c.workload.users
    per_stage = [sum_.terms(stage, tokens, users) for stage in sum_.stages]
    needed = [total(terms) for terms in per_stage]
    fullest = max(range(len(needed)), key=lambda index: (needed[index].value, -index))
    gpus_alike = c.plan.tp * c.plan.dp
    loads = tuple(
        _load(stage, gpus_alike, n, terms)
        for stage, n, terms in zip(sum_.stages, needed, per_stage, strict=True)
    )
    parts = tuple(_parts(per_stage, fullest, gpus_alike))
    value = int(needed[fullest].value)
    host = sum_.rules.host_bytes(c, tokens, users)
    if sum_.rules.embedding_on_host(c):
        host += sum_.layout.embedding_bytes + sum_.layout.lookup_bytes
    return Memory(
        parts=parts,
        needed=Interval(value, max(n.low for n in needed), max(n.high for n in needed)),
        total_bytes=sum(part.total_bytes for part in parts),
        occupied_bytes=sum_.rules.occupied(c, value, limit),
        limit=limit,
        host_bytes=host,
        gpus=loads,
        fullest=fullest,
    )


def _load(stage: Stage, gpus: int, needed: Interval, terms: Sequence[Term]) -> GpuLoad:
    parts: dict[str, int] = {}
    for term in terms:
        name = PART_OF[term.code]
        parts[name] = parts.get(name, 0) + term.value
    return GpuLoad(stage.index, gpus, stage.first, stage.layers, needed, parts)


def _parts(per_stage: list[list[Term]], fullest: int, gpus_alike: int) -> list[Part]:
    """Parts in the order of drawing: on the fullest GPU with interval, and summed over all GPUs."""
    sums: dict[str, int] = {}
    for terms in per_stage:
        for term in terms:
            sums[PART_OF[term.code]] = sums.get(PART_OF[term.code], 0) + term.value * gpus_alike
    out = []
    for name in PART_ORDER:
        own = [term for term in per_stage[fullest] if PART_OF[term.code] == name]
        if name not in sums:
            continue
        interval = total(own)
        basis: Basis = max((term.basis for term in own), key=_BASIS_RANK.index) if own else "exact"
        ordered = tuple(sorted(own, key=lambda term: -term.value))
        out.append(Part(name, sums[name], int(interval.value), interval.low, interval.high, basis, ordered))
    return out
