"""What one step of one copy reads and computes: weights, distinct experts, cache, states, operations (formulas §7.1, §7.2).

Everything here is counted, nothing is calibrated. PURE.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from typing import Any

from calculator.estimation.cache import state_bytes
from calculator.estimation.configuration import Configuration
from calculator.estimation.engines import rules_of
from calculator.estimation.numbers import ceil_div, least, most
from calculator.estimation.placement import Stage, expert_layers_end, stages
from calculator.estimation.weights import WeightLayout, weight_layout
from calculator.estimation.weights.layout import LayerShare
from catalog.architecture import AttentionWork, CacheEntry
from catalog.architecture.mlp import MoeMlp


def distinct_experts(experts: Any, per_token: Any, tokens: Any) -> Any:
    """Expected distinct experts that `tokens` tokens choose together, with uniform routing: E·(1 − (1 − k/E)^B) [1].

    >>> round(distinct_experts(896, 16, 32), 2)
    392.62
    """
    return experts * (1 - (1 - per_token / experts) ** tokens)


@dataclass(frozen=True, slots=True)
class LayerReads:
    """Layers that attend alike. layers: how many. weighted: the same, each counted as many times as its card is slower
    than the reference card. entry_bytes, index_bytes: of one entry on one rank [B]."""

    work: AttentionWork
    layers: float
    weighted: float
    entry_bytes: float
    index_bytes: float


@dataclass(frozen=True, eq=False)
class Reads:
    """What one copy of the model reads and computes on this machine, as functions of context and tokens.

    Stages run one after the other, so bytes are summed over them; tensor ranks run side by side, so bytes are those of
    the fullest rank. Bytes on a card slower than the reference card count as many times more.
    """

    configuration: Configuration
    given_layout: WeightLayout | None = None
    """The weights of a measured file, where its size is known better than any rule."""

    @cached_property
    def layout(self) -> WeightLayout:
        if self.given_layout is not None:
            return self.given_layout
        return weight_layout(self.configuration.model, self.configuration.weights_format)

    @cached_property
    def stages(self) -> tuple[Stage, ...]:
        plan = self.configuration.plan
        return stages(self.configuration.model.architecture, plan.layers_per_stage, plan.host_layers)

    # --- weights ------------------------------------------------------------------------------------------------------

    def _slower(self, stage: Stage) -> float:
        """How many times slower the memory of the stage's card is than that of the reference card [1]."""
        c = self.configuration
        if not c.cards:
            return 1.0
        own, reference = c.cards[stage.index].bandwidth_bytes_per_s, c.accelerator.bandwidth_bytes_per_s
        return reference / own if own and reference else 1.0

    @cached_property
    def _expert_share(self) -> Fraction:
        """Routed experts on the fullest rank, as a share of all: whole ones with expert parallelism, else 1 ÷ TP."""
        plan, experts = self.configuration.plan, self.configuration.model.architecture.experts
        if plan.ep == 1 or not experts or plan.tp % plan.ep:
            return Fraction(1, plan.tp)
        return Fraction(ceil_div(experts, plan.ep), experts) / max(1, plan.tp // plan.ep)

    def _split(self, share: LayerShare) -> tuple[float, float]:
        """(what every token reads, routed experts) of some layers on one rank [B]."""
        plan = self.configuration.plan
        whole = share.per_rank(plan.tp, attention=plan.attention_ranks, expert_share=self._expert_share)
        experts = float(share.experts * self._expert_share)
        return whole - experts, experts

    @property
    def head_bytes(self) -> int:
        """The head and the final norm, wherever they stand; the embedding's table where it is the head [B]."""
        c = self.configuration
        tied = self.layout.tied and c.model.architecture.output_head
        return self.layout.final_bytes + (self.layout.embedding_bytes if tied else self.layout.head_bytes)

    @cached_property
    def _weights(self) -> tuple[float, float, float, float]:
        """(fixed, experts) on the GPUs, (fixed, experts) in host memory [B]."""
        plan, architecture = self.configuration.plan, self.configuration.model.architecture
        fixed = experts = host_fixed = host_experts = 0.0
        until = expert_layers_end(architecture, plan.host_expert_layers) if plan.host_expert_layers else 0
        for stage in self.stages:
            own, routed = self._split(self.layout.span(stage.first, stage.layers))
            moved = 0.0
            if until > stage.first:
                count = min(stage.layers, until - stage.first)
                moved = self._split(self.layout.span(stage.first, count))[1]
            fixed += own * self._slower(stage)
            experts += (routed - moved) * self._slower(stage)
            host_experts += moved * plan.tp
        if plan.host_layers:
            share = self.layout.span(0, plan.host_layers)
            host_fixed += share.total - share.experts
            host_experts += share.experts
        if plan.output_on_host:
            host_fixed += self.head_bytes
        else:
            fixed += self.head_bytes / plan.attention_ranks * self._slower(self.stages[-1])
        return fixed, experts, host_fixed, host_experts

    @property
    def fixed_bytes(self) -> float:
        """Weights on the GPUs that every step reads, whatever its batch [B]."""
        return self._weights[0]

    @property
    def expert_bytes(self) -> float:
        """All routed experts on the GPUs [B]."""
        return self._weights[1]

    @property
    def host_fixed_bytes(self) -> float:
        """Weights in host memory that every step reads [B]."""
        return self._weights[2]

    @property
    def host_expert_bytes(self) -> float:
        """Routed experts in host memory [B]."""
        return self._weights[3]

    @cached_property
    def routed_share(self) -> float:
        """Share of the routed experts that one token multiplies: k ÷ E, 0 for a dense model [1]."""
        active = total = 0
        for count, tensor in self.configuration.model.architecture.text_tensors():
            if tensor.family == "expert":
                active += count * tensor.active_parameters
                total += count * tensor.parameters
        return active / total if total else 0.0

    def touched(self, tokens: Any) -> Any:
        """Share of the routed experts that `tokens` tokens touch together; 0 for a dense model [1]."""
        return 1 - (1 - self.routed_share) ** tokens if self.routed_share else 0.0 * tokens

    # --- layers -------------------------------------------------------------------------------------------------------

    @cached_property
    def layer_kinds(self) -> tuple[int, int, int, int]:
        """Layers with a dense MLP or none, and with experts; among both those with a recurrent state, and those whose
        cache is a latent or compressed [1]."""
        architecture = self.configuration.model.architecture
        moe = recurrent = latent = 0
        for index, layers in Counter(architecture.sequence).items():
            block = architecture.blocks[index]
            moe += layers * isinstance(block.mlp, MoeMlp)
            recurrent += layers * any(work.token_flops for work in block.mixer.attention())
            latent += layers * any(entry.kind != "gqa" for entry in block.mixer.caches())
        return architecture.layer_count - moe, moe, recurrent, latent

    @cached_property
    def host_crossings(self) -> int:
        """Times a token's hidden vector goes between GPU and host in one step [1]."""
        plan = self.configuration.plan
        experts = 2 * plan.host_expert_layers
        return experts + (1 if plan.host_layers or plan.output_on_host else 0)

    # --- cache --------------------------------------------------------------------------------------------------------

    def _entry_bytes(self, entry: CacheEntry) -> tuple[float, float]:
        """(entry, index key) of one layer on one rank [B]: KV heads are divided until each rank has one."""
        c = self.configuration
        each, index = rules_of(c.engine.family).entry_layout(c, entry)
        heads = entry.kv_heads or 1
        own = ceil_div(heads, c.plan.attention_ranks) / heads
        return each * own / c.plan.dcp, float(index)

    def _attention_of(self, first: int, count: int) -> Counter[AttentionWork]:
        architecture = self.configuration.model.architecture
        out: Counter[AttentionWork] = Counter()
        for index, layers in Counter(architecture.sequence[first : first + count]).items():
            for work in architecture.blocks[index].mixer.attention():
                out[work] += layers
        return out

    def _layer_reads(self, spans: Iterator[tuple[int, int, float]]) -> tuple[LayerReads, ...]:
        layers: Counter[AttentionWork] = Counter()
        weighted: dict[AttentionWork, float] = {}
        for first, count, slower in spans:
            for work, number in self._attention_of(first, count).items():
                layers[work] += number
                weighted[work] = weighted.get(work, 0.0) + number * slower
        out = []
        for work, number in layers.items():
            entry, index = self._entry_bytes(work.entry) if work.entry else (0.0, 0.0)
            out.append(LayerReads(work, number, weighted[work], entry, index if work.index_flops else 0.0))
        return tuple(out)

    @cached_property
    def attention(self) -> tuple[LayerReads, ...]:
        """Attention of the layers on the GPUs."""
        return self._layer_reads((s.first, s.layers, self._slower(s)) for s in self.stages)

    @cached_property
    def host_attention(self) -> tuple[LayerReads, ...]:
        """Attention of the layers in host memory."""
        return self._layer_reads(iter([(0, self.configuration.plan.host_layers, 1.0)]))

    def cache_bytes(self, tokens: Any, *, host: bool = False) -> Any:
        """Cached entries and index keys that one request's token reads at `tokens` tokens, on one rank [B]."""
        total: Any = 0.0 * tokens
        for group in self.host_attention if host else self.attention:
            work = group.work
            if work.entry is None:
                continue
            total = total + group.weighted * group.entry_bytes * _attended(work, tokens)
            total = total + group.weighted * group.index_bytes * tokens / work.entry.index_pool
        return total

    @cached_property
    def state_bytes(self) -> float:
        """Recurrent states of one request on one rank, read and written: twice their size [B]."""
        c = self.configuration
        rules = rules_of(c.engine.family)
        total = 0.0
        for stage in self.stages:
            for state, layers in stage.states:
                size = state_bytes(state, *rules.state_widths(c, state), c.plan.attention_ranks)
                total += 2.0 * size * layers * self._slower(stage)
        return total

    # --- operations ---------------------------------------------------------------------------------------------------

    @cached_property
    def body_flops(self) -> float:
        """Multiplications and additions with the weights of all layers for one token: 2·Na without the head [FLOP]."""
        architecture = self.configuration.model.architecture
        tensors = architecture.text_tensors()
        skipped = ("embedding", "head", "vector", "lookup")
        return 2.0 * sum(n * t.active_parameters for n, t in tensors if t.family not in skipped)

    @cached_property
    def head_flops(self) -> float:
        """The head for one token [FLOP]."""
        architecture = self.configuration.model.architecture
        if not architecture.output_head:
            return 0.0
        return 2.0 * architecture.vocabulary_size * architecture.hidden_size

    def attention_flops(self, tokens: Any) -> Any:
        """Attention of one new token at `tokens` tokens of context, all layers [FLOP]."""
        total: Any = 0.0 * tokens
        for group in (*self.attention, *self.host_attention):
            work = group.work
            total = total + group.layers * work.token_flops
            total = total + group.layers * work.decode_flops * _attended(work, tokens)
            if work.entry is not None and work.index_flops:
                total = total + group.layers * work.index_flops * tokens / work.entry.index_pool
        return total

    def prompt_attention_flops(self, prompt: Any, before: Any = 0) -> Any:
        """Attention of a prompt of `prompt` tokens after `before` cached ones, causal, all layers [FLOP]."""
        total: Any = 0.0 * prompt
        for group in (*self.attention, *self.host_attention):
            work = group.work
            total = total + group.layers * work.token_flops * prompt
            total = total + group.layers * work.prefill_flops * _attended_sum(work, prompt, before)
            if work.entry is not None and work.index_flops:
                keys = (prompt * before + prompt * prompt / 2) / work.entry.index_pool
                total = total + group.layers * work.index_flops * keys
        return total


def _limit(work: AttentionWork) -> tuple[float, float]:
    """(tokens per entry, most entries attended to) of a kind of attention."""
    entry = work.entry
    pool = entry.pool if entry else 1
    bounds = [n for n in (entry.window if entry else None, work.selected) if n is not None]
    return float(pool), float(min(bounds)) if bounds else float("inf")


def _attended(work: AttentionWork, tokens: Any) -> Any:
    """Entries that a token attends to at `tokens` tokens of context [1]."""
    pool, bound = _limit(work)
    return least(tokens / pool, bound)


def _attended_sum(work: AttentionWork, prompt: Any, before: Any) -> Any:
    """Entries attended to, summed over the tokens of a prompt: a ramp up to the limit, then a plateau [1]."""
    pool, bound = _limit(work)
    if bound == float("inf"):
        return (prompt * before + prompt * prompt / 2) / pool
    start, end = least(before / pool, bound), least((before + prompt) / pool, bound)
    flat = prompt - (end - start) * pool
    return (end * end - start * start) / 2 * pool + most(flat, 0.0) * bound
