"""ExLlamaV3 (TabbyAPI): windows as full layers, a reserve for chunks (formulas §3.3, §4.6). PURE."""

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
)
from calculator.estimation.numbers import round_up
from calculator.estimation.placement import Stage, layer_split
from calculator.estimation.terms import Limit, Reason, Term
from calculator.estimation.uncertainty import around, exact
from catalog.architecture import CacheEntry, StateEntry
from catalog.records import MIB

CACHE_STEP = 256
"""The cache is a multiple of so many tokens."""

beyond_budget = nothing_beyond
pool_block_bytes = plain_block_bytes
printed_tokens = plain_tokens

VOCABULARY_STEP = 1


def embedding_on_host(configuration: Configuration) -> bool:
    """The input embedding is kept in host memory (turboderp-org/exllamav3; measured loads: see the accuracy page)."""
    return True


def deal_layers(layer_count: int, stages_count: int) -> tuple[int, ...]:
    return layer_split(layer_count, stages_count)


def refusals(configuration: Configuration) -> tuple[Reason, ...]:
    """Devices, formats, cache types, more cards than a machine has; any number of them may share tensors."""
    return tuple(acceptance_refusals(configuration) + layer_split_refusals(configuration))


def tensor_refusals(configuration: Configuration, tp: int) -> list[Reason]:
    """Uneven shares are allowed."""
    return []


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
    """Cache and state on one GPU [B]: one cache for all requests, windows hold the whole context."""
    c = configuration
    total = round_up(tokens * users, CACHE_STEP)
    cached = token_terms(c, stage, tokens * users, 1, lambda _entry, _tokens: total, plain_layout)
    return [*cached, *state_terms(c, stage, users)]


def stage_overhead(configuration: Configuration, stage: Stage, tokens: Any, users: Any) -> list[Term]:
    """The reserve for chunks, what the cache takes beyond its tokens, the context [B]."""
    c = configuration
    reserve = int(c.engine.rules["server_defaults"]["reserve_mib"])
    out = [exact("chunk_reserve", reserve * MIB, {"mib": reserve}, "§4.6")]
    beyond = c.constants["cache_beyond"]
    cached: Any = sum(
        term.value for term in stage_cache(c, stage, tokens, users) if term.code.startswith("kv_")
    )
    more = cached * beyond.value / 100
    factors = {"percent": beyond.value / 100, "cache_bytes": cached, "cases": beyond.cases or 0}
    size = more.astype("int64") if hasattr(more, "astype") else int(more)
    out.append(around("cache_beyond", size, beyond, factors))
    return [*out, *process_terms(c), *vision_terms(c, stage)]
