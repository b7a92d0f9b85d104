"""Transformers (transformers serve): weights, cache, a small workspace (formulas §2.3, §4.1, §4.6). PURE."""

from __future__ import annotations

from typing import Any

from calculator.estimation.configuration import Configuration
from calculator.estimation.engines.shared import (
    FLOAT_STATE,
    acceptance_refusals,
    layer_split_refusals,
    nothing_beyond,
    plain_block_bytes,
    plain_layout,
    plain_tokens,
    process_terms,
    state_terms,
    token_terms,
    vision_terms,
    whole_device,
    window_cells,
)
from calculator.estimation.engines.vllm import tensor_refusals as heads_refusals
from calculator.estimation.placement import Stage, layer_split
from calculator.estimation.terms import Limit, Reason, Term
from calculator.estimation.uncertainty import around, constant_term, exact
from catalog.architecture import CacheEntry, StateEntry
from catalog.records import MIB

KIB = 1024

beyond_budget = nothing_beyond
pool_block_bytes = plain_block_bytes
printed_tokens = plain_tokens

VOCABULARY_STEP = 1


def embedding_on_host(configuration: Configuration) -> bool:
    return False


def deal_layers(layer_count: int, stages_count: int) -> tuple[int, ...]:
    return layer_split(layer_count, stages_count)


def refusals(configuration: Configuration) -> tuple[Reason, ...]:
    c = configuration
    out = acceptance_refusals(c) + layer_split_refusals(c)
    return tuple(out + (heads_refusals(c, c.plan.tp) if c.plan.tp > 1 else []))


def tensor_refusals(configuration: Configuration, tp: int) -> list[Reason]:
    return heads_refusals(configuration, tp)


def limit(configuration: Configuration) -> Limit | None:
    return whole_device(configuration)


def occupied(configuration: Configuration, needed_bytes: int, memory_limit: Limit) -> int:
    return needed_bytes


def occupied_refusal(configuration: Configuration, occupied_bytes: int, memory_limit: Limit) -> Reason | None:
    return None


def host_bytes(configuration: Configuration, tokens: int, users: int) -> int:
    return 0


def entry_layout(configuration: Configuration, entry: CacheEntry) -> tuple[int, int]:
    return plain_layout(configuration, entry, 1)


def state_widths(configuration: Configuration, entry: StateEntry) -> tuple[int, int]:
    return FLOAT_STATE


def stage_cache(configuration: Configuration, stage: Stage, tokens: Any, users: Any) -> list[Term]:
    """Cache and state of all requests on one GPU [B]: exactly the tokens, or the window."""
    c = configuration
    cached = token_terms(c, stage, tokens, users, window_cells, plain_layout)
    return [*cached, *state_terms(c, stage, users)]


def stage_overhead(configuration: Configuration, stage: Stage, tokens: Any, users: Any) -> list[Term]:
    """Workspace, what AWQ's kernels keep of a prompt, the second copy of a tied head beside FP8, the context [B]."""
    c = configuration
    out = [constant_term("workspace", c.constants["workspace"], MIB), *process_terms(c)]
    if _native_or(c, "awq"):
        grown = c.constants["awq_prompt"]
        factors = {"tokens": tokens, "kib": grown.value, "cases": grown.cases or 0}
        out.append(around("awq_prompt", tokens * int(grown.value * KIB), grown, factors))
    architecture = c.model.architecture
    if stage.is_last and architecture.tied_embeddings and _native_or(c, "fp8"):
        rows = architecture.vocabulary_size
        named = {"vocabulary": rows, "hidden": architecture.hidden_size}
        out.append(exact("head_copy", 2 * rows * architecture.hidden_size, named, "§4.6", "rule"))
    return [*out, *vision_terms(c, stage)]


def _native_or(c: Configuration, kind: str) -> bool:
    """Whether the weights are of this kind, also as the model's own format."""
    name = (c.model.native_format or "") if c.weights_format.id == "native" else c.weights_format.id
    return name.startswith(kind)
