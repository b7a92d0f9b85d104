"""The sum of memory: terms per GPU of every stage, parts, the fullest GPU (formulas §4.7, §5.2). PURE."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property, lru_cache
from typing import Any

from calculator.estimation.configuration import Configuration, Keyed
from calculator.estimation.engines import rules_of
from calculator.estimation.engines.interface import EngineRules
from calculator.estimation.engines.shared import server_defaults
from calculator.estimation.numbers import ceil_div, most, round_up
from calculator.estimation.placement import Stage, expert_layers_end, stages
from calculator.estimation.terms import PART_ORDER, Basis, GpuLoad, Interval, Limit, Memory, Part, Term
from calculator.estimation.uncertainty import around, total
from calculator.estimation.weights import WeightLayout, weight_layout
from calculator.estimation.weights.layout import LayerShare

PART_OF = {
    "weights": "weights",
    "weights_unmeasured": "weights",
    "rotary_table": "context",
    "kv_gqa": "kv_cache",
    "kv_mla": "kv_cache",
    "kv_window": "kv_cache",
    "kv_chunk": "kv_cache",
    "kv_cross": "kv_cache",
    "kv_compressed": "kv_cache",
    "kv_raw_window": "kv_cache",
    "index_keys": "index_cache",
    "state_gdn": "recurrent_state",
    "state_kda": "recurrent_state",
    "state_mamba2": "recurrent_state",
    "state_mamba1": "recurrent_state",
    "state_lightning": "recurrent_state",
    "state_compressor": "recurrent_state",
    "state_shortconv": "recurrent_state",
    "activation_sampler": "activations",
    "activation_layers": "activations",
    "activation_moe": "activations",
    "activation_residuals": "activations",
    "compute_llamacpp": "activations",
    "split_buffers": "activations",
    "host_copies": "activations",
    "request_table": "activations",
    "logits": "activations",
    "free_left": "activations",
    "prefill_chunk": "activations",
    "workspace": "activations",
    "awq_prompt": "activations",
    "chunk_reserve": "activations",
    "cache_beyond": "activations",
    "head_copy": "weights",
    "pool_cache_share": "kv_cache",
    "pool_window_share": "kv_cache",
    "pool_state_share": "recurrent_state",
    "nccl": "communication",
    "planner_reserve": "context",
    "projector_room": "vision",
    "graphs_capture": "graphs",
    "non_torch": "communication",
    "context_process": "context",
    "vision_encoder": "vision",
    "vision_graph": "vision",
    "mtp_weights": "draft",
}
"""The part of memory that each term belongs to."""

SIXTEEN_BITS = frozenset({"bf16", "f16", "f32"})
"""Formats that are the parameters as they are: nothing is chosen by a publisher."""

MOST_REQUESTS = 65_536
"""More requests at once than any question asks for."""

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
        plan = self.configuration.plan
        return stages(self.configuration.model.architecture, plan.layers_per_stage, plan.host_layers)

    @cached_property
    def rules(self) -> EngineRules:
        return rules_of(self.configuration.engine.family)

    @cached_property
    def limit(self) -> Limit | None:
        """What the engine may take of the reference card: the configuration's, of unequal ones the smallest."""
        return self.rules.limit(self.configuration)

    def occupied(self, needed_bytes: int, limit: Limit, users: int) -> int:
        """What the device shows as used while so many requests are prepared for [B]."""
        c = self.configuration
        if c.workload.users != users:
            c = c.at(replace(c.workload, users=users))
        return self.rules.occupied(c, needed_bytes, limit)

    def takes_too_much(self, users: int) -> bool:
        """The engine takes more than the device has, whatever the model needs of it."""
        if self.takes_alike is None:
            return self._takes_more(users)
        return self.takes_alike

    @cached_property
    def takes_alike(self) -> bool | None:
        """The same for any number of users, None where it depends on them."""
        one = self._takes_more(1)
        return one if one or not self._takes_more(MOST_REQUESTS) else None

    def _takes_more(self, users: int) -> bool:
        limit = self.limit
        if limit is None:
            return False
        taken = self.occupied(int(limit.usable.value), limit, users)
        return self.rules.occupied_refusal(self.configuration, taken, limit) is not None

    @cached_property
    def least_weights(self) -> float:
        """Weights that no GPU of the plan can have less than, on average: the layers over all GPUs [B]."""
        plan, layers = self.configuration.plan, len(self.layout.layers)
        own = self.layout.span(plan.host_layers, layers - plan.host_layers).total
        own -= sum(self.host_experts(stage) * plan.tp for stage in self.stages)
        return own / plan.gpus

    @cached_property
    def weight_terms(self) -> tuple[tuple[Term, ...], ...]:
        """The weights on one GPU of each stage: they do not change with context or users."""
        return tuple(tuple(self._weights(stage)) for stage in self.stages)

    def _weights(self, stage: Stage) -> list[Term]:
        c, layout, tp = self.configuration, self.layout, self.configuration.plan.tp
        share = layout.span(stage.first, stage.layers)
        own = share.per_rank(tp, attention=c.plan.attention_ranks, expert_share=self._expert_share)
        own -= self.host_experts(stage)
        padding = self._padding(share)
        own += padding
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
            "padding_bytes": padding,
            "embedding_bytes": embedding,
            "head_bytes": head,
            "ranks": tp,
            "bits_per_weight": layout.bits_per_weight,
            "text_bytes": layout.text_bytes,
        }
        basis: Basis = "published" if layout.basis == "published" else "rule"
        low, high = self._loaded_range(spread)
        if basis == "published" and (low, high) != (1, 1):
            basis = "rule"
        out = [Term("weights", value, value * low, value * high, basis, factors, layout.source)]
        if not c.measured:
            extra = c.constants["weights_unmeasured"]
            high = value * extra.high
            out.append(Term("weights_unmeasured", 0, 0, high, "rule", {"share": extra.high}, extra.source))
        if c.knobs.drafted_tokens and stage.is_last and layout.mtp_bytes:
            size = ceil_div(layout.mtp_bytes, tp)
            named = {"weights": c.model.architecture.extra_parameters("mtp"), "ranks": tp}
            low, high = size * (1 - layout.spread), size * (1 + layout.spread)
            out.append(Term("mtp_weights", size, low, high, "rule", named, "§2.0"))
        return out

    @property
    def loaded_as(self) -> str:
        """The constant that bounds what a load takes ÷ the checkpoint by rule: 16 bits, a lab's own or a published
        checkpoint, and a publisher's recipe in 8 or in 4 bits (formulas §10)."""
        c, layout = self.configuration, self.layout
        if c.weights_format.id in SIXTEEN_BITS:
            return "loaded_16bit"
        native = c.weights_format.id == "native" or c.model.native_format == f"{c.weights_format.id}-experts"
        if native or layout.basis == "published":
            return "loaded_native"
        return "loaded_recipe_8bit" if layout.bits_per_weight > 6.5 else "loaded_recipe_4bit"

    def _loaded_range(self, spread: float) -> tuple[float, float]:
        """What a load takes ÷ the bytes of the checkpoint. Loads of a class that none was measured of have a range of
        their own (`weights_unmeasured`); a recipe's range holds what is not known of the checkpoint too."""
        name = self.loaded_as
        loaded = self.configuration.constants.get(name) if self.configuration.measured else None
        if loaded is None:
            return 1 - spread, 1 + spread
        if name.startswith("loaded_recipe"):
            return loaded.low, loaded.high
        return 1 - math.hypot(spread, 1 - loaded.low), 1 + math.hypot(spread, loaded.high - 1)

    @property
    def lookup_on_host(self) -> bool:
        """Tables that are read by row, beside the embedding, stay in host memory."""
        c = self.configuration
        return self.rules.embedding_on_host(c) or bool(c.engine.rules.get("lookup_on_host"))

    @property
    def _expert_share(self) -> Fraction | None:
        """Routed experts on the fullest rank: ⌈E ÷ EP⌉ whole ones, each divided over what tensor ranks are left."""
        plan, experts = self.configuration.plan, self.configuration.model.architecture.experts
        if plan.ep == 1 or not experts or plan.tp % plan.ep:
            return None
        return Fraction(ceil_div(experts, plan.ep), experts) / max(1, plan.tp // plan.ep)

    def _padding(self, share: LayerShare) -> int:
        """What kernels add to the routed experts whose width is no multiple they like (formulas §2.3) [B]."""
        c = self.configuration
        rule = c.engine.rules.get("padded_expert_width")
        width = c.model.architecture.expert_width
        if not rule or not width or stored_experts(c) not in rule["formats"] or width % rule["whole"] == 0:
            return 0
        wide = (
            round_up(width, rule["step"])
            if c.plan.tp == 1
            else round_up(ceil_div(width, c.plan.tp), rule["step"]) * c.plan.tp
        )
        hidden = c.model.architecture.hidden_size
        padded = round_up(hidden, rule["step"]) if c.accelerator.compute_capability not in rule.get("hidden_kept_on", ()) else hidden  # fmt: skip
        extra = Fraction(wide * padded, width * hidden) - 1
        return int(share.experts * (self._expert_share or Fraction(1, c.plan.tp)) * extra)

    def _tables(self, stage: Stage) -> tuple[int, int]:
        """Embedding with its lookup tables, and head with the final norm, on one GPU of the stage [B]."""
        layout, tp = self.layout, self.configuration.plan.attention_ranks
        vocabulary = self.configuration.model.architecture.vocabulary_size
        padded = round_up(vocabulary, self.rules.VOCABULARY_STEP)

        def rank(size: int) -> int:
            return int(ceil_div(size * padded // vocabulary, tp))

        on_host = self.rules.embedding_on_host(self.configuration)
        lookup = 0 if self.lookup_on_host else layout.lookup_bytes
        embedding = rank(layout.embedding_bytes) + ceil_div(lookup, tp)
        first = embedding if stage.is_first and not on_host else 0
        last = 0
        if stage.is_last and not self.configuration.plan.output_on_host:
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
                self.configuration.cards[stage.index] if self.configuration.cards else None,
            )
            weights = self.weight_terms[stage.index][0].value
            if key not in best or weights > self.weight_terms[best[key]][0].value:
                best[key] = stage.index
        return tuple(best.values())

    def terms(self, stage: Stage, tokens: Any, users: Any) -> list[Term]:
        """All terms on one GPU of a stage."""
        c = self.on_card[stage.index]
        own = users if c.plan.request_groups == 1 else ceil_div(users, c.plan.request_groups)
        out = list(self.weight_terms[stage.index])
        if c.model.task == "generate":
            out += self.rules.stage_cache(c, stage, tokens, own)
        out += self.rules.stage_overhead(c, stage, tokens, own)
        if self.host_copy:
            copied = c.constants["host_copies"]
            out.append(around("host_copies", self.host_copy, copied, {"bytes": self.host_copy}))
        return out

    @cached_property
    def on_card(self) -> tuple[Configuration, ...]:
        """The configuration as each stage's own card sees it; unequal cards differ in limits and contexts."""
        c = self.configuration
        if not c.cards:
            return (c,) * len(self.stages)
        return tuple(replace(c, accelerator=card) for card in c.cards)

    @cached_property
    def limits(self) -> tuple[Limit | None, ...]:
        """What the engine may take of each stage's card."""
        if not self.configuration.cards:
            return (self.rules.limit(self.configuration),) * len(self.stages)
        return tuple(self.rules.limit(c) for c in self.on_card)

    def slack(self, index: int) -> int:
        """How much more a stage's card may take than the reference card: 0 when the cards are equal [B]."""
        own, reference = self.limits[index], self.limit
        if own is None or reference is None:
            return 0
        return int(own.usable.value - own.margin_bytes) - int(reference.usable.value - reference.margin_bytes)

    @cached_property
    def host_copy(self) -> int:
        """The largest layer's tensors in host memory: what a GPU may be handed of them at once (formulas §4.5) [B]."""
        plan, layers = self.configuration.plan, self.layout.layers
        if plan.host_expert_layers:
            until = expert_layers_end(self.configuration.model.architecture, plan.host_expert_layers)
            return max(layer.experts for layer in layers[:until])
        return max((layer.total for layer in layers[: plan.host_layers]), default=0)

    def host_experts(self, stage: Stage) -> int:
        """Routed experts of the stage that stay in host memory (`--n-cpu-moe`) [B]."""
        kept = self.configuration.plan.host_expert_layers
        if not kept:
            return 0
        until = expert_layers_end(self.configuration.model.architecture, kept)
        count = max(0, min(stage.first + stage.layers, until) - stage.first)
        share = self._expert_share or Fraction(1, self.configuration.plan.tp)
        return int(self.layout.span(stage.first, count).experts * share)

    def host_bytes(self, tokens: int, users: int) -> int:
        """Host memory: what of the model stays there, and the engine's own buffers [B]."""
        return self.rules.host_bytes(self.configuration, tokens, users) + self.host_weights(tokens, users)

    def host_weights(self, tokens: int, users: int) -> int:
        """What of the model stays in host memory: embedding, experts, whole layers with their cache [B]."""
        c, plan = self.configuration, self.configuration.plan
        host = 0
        if self.rules.embedding_on_host(c):
            host += self.layout.embedding_bytes
        if self.lookup_on_host:
            host += self.layout.lookup_bytes
        if plan.output_on_host:
            host += self.layout.head_bytes + self.layout.final_bytes
        host += sum(self.host_experts(stage) * plan.tp for stage in self.stages)
        if plan.host_layers:
            before = stages(c.model.architecture, (plan.host_layers,))[0]
            host += self.layout.span(0, plan.host_layers).total
            host += sum(term.value for term in self.rules.stage_cache(c, before, tokens, users))
        return host

    def fullest(self, tokens: Any, users: Any) -> Interval:
        """Needed on the fullest GPU [B]; tokens or users may be an array. Of unequal cards, the one with the least room,
        as if it were the reference card."""
        value: Any = 0
        low: Any = 0.0
        high: Any = 0.0
        for index in self.candidates:
            needed, slack = total(self.terms(self.stages[index], tokens, users)), self.slack(index)
            value = most(value, needed.value - slack)
            low, high = most(low, needed.low - slack), most(high, needed.high - slack)
        return Interval(value, low, high)


def stored_experts(c: Configuration) -> str:
    """The format in which the routed experts are stored: that of a native checkpoint, or the format itself."""
    if c.weights_format.id == "native":
        return (c.model.native_format or "").removesuffix("-experts")
    return c.weights_format.id


def needs_alike(configuration: Configuration) -> tuple[Any, ...]:
    """What of a device enters the memory that is needed of it, beside model, format, engine, plan and settings: devices
    that agree in it, and in the calibrated constants, need the same. Its own memory enters the limit alone."""
    device, engine = configuration.accelerator, configuration.engine
    padded = engine.rules.get("padded_expert_width", {}).get("hidden_kept_on", ())
    return (
        device.kind if device.kind in ("apple", "cpu") else "",
        device.capability >= 10,
        10 <= device.capability < 11,
        device.compute_capability in padded,
        id(server_defaults(engine, device)),
    )


@lru_cache(maxsize=4096)
def _prepared(machine: Keyed) -> Sum:
    return Sum(machine.configuration)


def sum_of(configuration: Configuration) -> Sum:
    """The sum for the configuration's machine, with what it has worked out before; its own workload may be another's."""
    return _prepared(Keyed(configuration.machine, configuration))


def memory_of(sum_: Sum, tokens: int, users: int) -> Memory | None:
    """The memory for a context and users, part by part; None without a memory figure of the device."""
    c, limit = sum_.configuration, sum_.limit
    if limit is None:
        return None
    per_stage = [sum_.terms(stage, tokens, users) for stage in sum_.stages]
    needed = [total(terms) for terms in per_stage]
    fullest = max(range(len(needed)), key=lambda index: (needed[index].value - sum_.slack(index), -index))
    limit = sum_.limits[fullest] or limit
    gpus_alike = c.plan.tp * c.plan.dp
    loads = tuple(
        _load(stage, gpus_alike, n, terms)
        for stage, n, terms in zip(sum_.stages, needed, per_stage, strict=True)
    )
    parts = tuple(_parts(per_stage, fullest, gpus_alike))
    value = int(needed[fullest].value)
    host = sum_.host_bytes(tokens, users)
    return Memory(
        parts=parts,
        needed=_fullest_interval(sum_, needed, fullest),
        total_bytes=sum(part.total_bytes for part in parts),
        occupied_bytes=sum_.occupied(value, limit, users),
        limit=limit,
        host_bytes=host,
        gpus=loads,
        fullest=fullest,
    )


def _fullest_interval(sum_: Sum, needed: Sequence[Interval], fullest: int) -> Interval:
    """The fullest GPU's value; the low and high end of whichever GPU reaches furthest against its own card."""
    slack = sum_.slack(fullest)
    shifts = [slack - sum_.slack(index) for index in range(len(needed))]
    low = max(n.low + shift for n, shift in zip(needed, shifts, strict=True))
    high = max(n.high + shift for n, shift in zip(needed, shifts, strict=True))
    return Interval(int(needed[fullest].value), low, high)


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
