"""LM Studio: llama.cpp with `--swa-full`, and MLX for MLX files on Macs (formulas §3.3). PURE."""

from __future__ import annotations

from typing import Any

from calculator.estimation.configuration import Configuration
from calculator.estimation.engines import llamacpp, mlx
from calculator.estimation.engines.interface import EngineRules
from calculator.estimation.engines.shared import (
    keys_layout,
    nothing_beyond,
    plain_block_bytes,
    plain_tokens,
    state_terms,
    token_terms,
)
from calculator.estimation.numbers import round_up
from calculator.estimation.placement import Stage
from calculator.estimation.terms import Limit, Reason, Term
from catalog.architecture import CacheEntry, StateEntry

deal_layers = llamacpp.deal_layers

beyond_budget = nothing_beyond
pool_block_bytes = plain_block_bytes
printed_tokens = plain_tokens

VOCABULARY_STEP = 1


def _inner(c: Configuration) -> EngineRules:
    """The engine inside that loads the file."""
    return mlx if c.weights_format.family == "mlx" else llamacpp


def refusals(configuration: Configuration) -> tuple[Reason, ...]:
    """What the engine inside refuses."""
    return _inner(configuration).refusals(configuration)


def tensor_refusals(configuration: Configuration, tp: int) -> list[Reason]:
    return []


def limit(configuration: Configuration) -> Limit | None:
    return _inner(configuration).limit(configuration)


def stage_cache(configuration: Configuration, stage: Stage, tokens: Any, users: Any) -> list[Term]:
    """Cache and state on one GPU [B]: with `--swa-full` a window holds the whole context."""
    c = configuration
    if _inner(c) is mlx:
        return mlx.stage_cache(c, stage, tokens, users)

    def cells(entry: CacheEntry, held: Any) -> Any:
        return round_up(held, llamacpp.CELL_STEP)

    cached = token_terms(c, stage, tokens, users, cells, keys_layout)
    return [*cached, *state_terms(c, stage, users, llamacpp.STATE_WIDTHS)]


def stage_overhead(configuration: Configuration, stage: Stage, tokens: Any, users: Any) -> list[Term]:
    return _inner(configuration).stage_overhead(configuration, stage, tokens, users)


def occupied(configuration: Configuration, needed_bytes: int, memory_limit: Limit) -> int:
    return needed_bytes


def occupied_refusal(configuration: Configuration, occupied_bytes: int, memory_limit: Limit) -> Reason | None:
    return None


def host_bytes(configuration: Configuration, tokens: int, users: int) -> int:
    return _inner(configuration).host_bytes(configuration, tokens, users)


def entry_layout(configuration: Configuration, entry: CacheEntry) -> tuple[int, int]:
    return _inner(configuration).entry_layout(configuration, entry)


def state_widths(configuration: Configuration, entry: StateEntry) -> tuple[int, int]:
    return _inner(configuration).state_widths(configuration, entry)


def embedding_on_host(configuration: Configuration) -> bool:
    return _inner(configuration).embedding_on_host(configuration)
