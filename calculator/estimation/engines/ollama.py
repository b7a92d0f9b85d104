"""Ollama: llama-server as Ollama starts it from 0.30 on, its own runner before (formulas §3.3, §4.1). PURE."""

from __future__ import annotations

from typing import Any

from calculator.estimation.configuration import Configuration
from calculator.estimation.engines import llamacpp
from calculator.estimation.engines.acceptance import most_requests
from calculator.estimation.engines.shared import (
    keys_layout,
    nothing_beyond,
    plain_block_bytes,
    plain_tokens,
    state_terms,
    token_terms,
)
from calculator.estimation.numbers import least, round_up
from calculator.estimation.placement import Stage
from calculator.estimation.terms import Reason, Term
from calculator.estimation.uncertainty import exact
from catalog.architecture import CacheEntry
from catalog.records import GIB, MIB, normal_class

VOCABULARY_STEP = llamacpp.VOCABULARY_STEP
deal_layers = llamacpp.deal_layers
embedding_on_host = llamacpp.embedding_on_host
entry_layout = llamacpp.entry_layout
host_bytes = llamacpp.host_bytes
limit = llamacpp.limit
occupied = llamacpp.occupied
occupied_refusal = llamacpp.occupied_refusal
beyond_budget = nothing_beyond
pool_block_bytes = plain_block_bytes
printed_tokens = plain_tokens
state_widths = llamacpp.state_widths
tensor_refusals = llamacpp.tensor_refusals


def refusals(configuration: Configuration) -> tuple[Reason, ...]:
    """What llama.cpp refuses, and a second request where the scheduler takes one at a time."""
    c, name = configuration, configuration.engine.name
    out = list(llamacpp.refusals(c))
    if c.workload.users > 1 and most_requests(c.engine, c.model, c.cache_type) == 1:
        out.append(Reason("one_request_only", {"engine": name, "model": c.model.name}))
    return tuple(out)


def window_cells(c: Configuration, entry: CacheEntry, total: Any, users: Any) -> Any:
    """Cells of a window layer for all requests: one pool (formulas §3.3).

    From 0.30 on the windows of all requests and a micro-batch, in steps of 256; its own runner before kept 512 more
    than the windows, with a window of its own for some classes.
    """
    window = int(entry.window or 0)
    own = c.engine.rules.get("own_runner")
    if own is None:
        return round_up(least(total, window * users + c.knobs.micro_batch), llamacpp.CELL_STEP)
    by_class = {normal_class(name): tokens for name, tokens in own.get("window_tokens", {}).items()}
    window = int(by_class.get(normal_class(c.model.class_name), window))
    return least(total, window * users + int(own["window_slack"]))


def stage_cache(configuration: Configuration, stage: Stage, tokens: Any, users: Any) -> list[Term]:
    """Cache and state on one GPU [B]: `-c ctx×parallel` cells in one pool, F32 states for each request."""
    c = configuration
    total = round_up(tokens * users, llamacpp.CELL_STEP)

    def cells(entry: CacheEntry, held: Any) -> Any:
        return total if entry.window is None else window_cells(c, entry, total, users)

    cached = token_terms(c, stage, tokens * users, 1, cells, keys_layout)
    return [*cached, *state_terms(c, stage, users, llamacpp.STATE_WIDTHS)]


def stage_overhead(configuration: Configuration, stage: Stage, tokens: Any, users: Any) -> list[Term]:
    """llama.cpp's buffers and context, what the planner keeps free beyond that context, and room for a projector."""
    c = configuration
    out = llamacpp.stage_overhead(c, stage, tokens, users)
    reserve = c.engine.rules["planner_reserve_mib"]["metal" if c.backend == "metal" else "discrete"] * MIB
    context = sum(term.value for term in out if term.code == "context_process")
    if c.accelerator.kind != "cpu" and reserve > context:
        factors = {"reserve_bytes": reserve}
        out.append(exact("planner_reserve", reserve - context, factors, "§4.1"))
    if any(term.code == "vision_encoder" for term in out):
        out.append(exact("projector_room", GIB, {}, "§4.1"))
    return out
