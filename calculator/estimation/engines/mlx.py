"""MLX (mlx_lm.server): buffers that grow, rotating windows, one pool of memory (formulas §3.2, §3.3, §4.6). PURE."""

from __future__ import annotations

from typing import Any

from calculator.estimation.configuration import Configuration
from calculator.estimation.engines.acceptance import model_type
from calculator.estimation.engines.shared import (
    FLOAT_STATE,
    acceptance_refusals,
    nothing_beyond,
    plain_block_bytes,
    plain_layout,
    plain_tokens,
    plan_refusals,
    state_terms,
    token_terms,
    vision_terms,
    whole_device,
    window_cells,
)
from calculator.estimation.engines.vllm import tensor_refusals as heads_refusals
from calculator.estimation.numbers import round_up
from calculator.estimation.placement import Stage, pipeline_layers
from calculator.estimation.terms import Limit, Reason, Term
from calculator.estimation.uncertainty import around
from catalog.architecture import CacheEntry, StateEntry
from catalog.records import normal_class

BUFFER_STEP = 256
"""Buffers grow by so many tokens (ml-explore/mlx-lm:mlx_lm/models/cache.py)."""

CHUNK_TOKENS = 2048
"""Tokens of the prefill chunk that was measured."""

GB = 10**9

beyond_budget = nothing_beyond
pool_block_bytes = plain_block_bytes
printed_tokens = plain_tokens

VOCABULARY_STEP = 1


def embedding_on_host(configuration: Configuration) -> bool:
    return False


def deal_layers(layer_count: int, stages_count: int) -> tuple[int, ...]:
    return pipeline_layers(layer_count, stages_count)


def refusals(configuration: Configuration) -> tuple[Reason, ...]:
    """Devices and formats, quantized caches of several requests, model types without shares (formulas §5.1)."""
    c, name = configuration, configuration.engine.name
    out = acceptance_refusals(c) + plan_refusals(c)
    if c.cache_type.startswith("mlx") and c.workload.users > 1:
        out.append(Reason("quantized_cache_one_request", {"engine": name, "cache_type": c.cache_type}))
    if c.plan.tp > 1:
        out += tensor_refusals(c, c.plan.tp)
    if c.plan.pp > 1 and not _divides(c, "pipeline_models"):
        out.append(Reason("no_pipeline", {"engine": name, "class_name": c.model.class_name}))
    return tuple(out)


def tensor_refusals(configuration: Configuration, tp: int) -> list[Reason]:
    """Model types that MLX cannot divide, and heads that do not divide."""
    c = configuration
    if not _divides(c, "tensor_models"):
        factors = {"engine": c.engine.name, "class_name": c.model.class_name}
        return [Reason("tensor_split_unsupported", factors)]
    return heads_refusals(c, tp)


def _divides(c: Configuration, rule: str) -> bool:
    """Whether the model's type is in a list of the engine's rules; true where there is no list."""
    listed = c.engine.rules.get(rule)
    if listed is None:
        return True
    own = model_type(c.model)
    same = {normal_class(name): module for name, module in c.engine.rules.get("same_modules", {}).items()}
    return normal_class(same.get(own, own)) in {normal_class(name) for name in listed}


def limit(configuration: Configuration) -> Limit | None:
    return whole_device(configuration)


def occupied(configuration: Configuration, needed_bytes: int, memory_limit: Limit) -> int:
    """Memory grows with use; nothing is taken ahead."""
    return needed_bytes


def occupied_refusal(configuration: Configuration, occupied_bytes: int, memory_limit: Limit) -> Reason | None:
    return None


def host_bytes(configuration: Configuration, tokens: int, users: int) -> int:
    return 0


def entry_layout(configuration: Configuration, entry: CacheEntry) -> tuple[int, int]:
    return plain_layout(configuration, entry, 1)


def state_widths(configuration: Configuration, entry: StateEntry) -> tuple[int, int]:
    return FLOAT_STATE


def cells(entry: CacheEntry, tokens: Any) -> Any:
    """Tokens of a buffer: in steps of 256, a rotating cache of exactly the window."""
    return window_cells(entry, round_up(tokens, BUFFER_STEP))


def stage_cache(configuration: Configuration, stage: Stage, tokens: Any, users: Any) -> list[Term]:
    """Cache and state of all requests on one machine [B]."""
    c = configuration
    cached = token_terms(c, stage, tokens, users, cells, plain_layout)
    return [*cached, *state_terms(c, stage, users)]


def stage_overhead(configuration: Configuration, stage: Stage, tokens: Any, users: Any) -> list[Term]:
    """What a chunk of the prompt takes while it is read; nothing else was seen beside weights and cache [B]."""
    c = configuration
    measured, chunk = c.constants["prefill_chunk"], c.knobs.batched_tokens
    factors = {"chunk": chunk, "cases": measured.cases or 0}
    size = int(measured.value * GB * chunk / CHUNK_TOKENS)
    return [around("prefill_chunk", size, measured, factors), *vision_terms(c, stage)]
