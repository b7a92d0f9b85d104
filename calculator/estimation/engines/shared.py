"""What several engine families have in common: checks of a configuration, cache terms, the context of a process. PURE."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import lru_cache
from typing import Any

from calculator.estimation.cache import (
    RULE_STATES,
    STATE_CODES,
    entry_bytes,
    index_bytes,
    index_key_bytes,
    index_spread,
    state_bytes,
    state_most,
)
from calculator.estimation.configuration import Configuration
from calculator.estimation.devices import physical_bytes, usable_memory
from calculator.estimation.engines.acceptance import cache_types, device_refusal, format_refusal
from calculator.estimation.engines.encoder_cache import encoder_terms
from calculator.estimation.numbers import ceil_div, least
from calculator.estimation.placement import Stage
from calculator.estimation.terms import Limit, Reason, Term
from calculator.estimation.uncertainty import constant_term, exact
from catalog.architecture import Architecture, CacheEntry
from catalog.architecture.gqa import Gqa
from catalog.architecture.kinds import Parallel
from catalog.records import GIB, MIB, Accelerator, Engine, normal_class

COMPRESSED_SPREAD = 1.25
"""Compressed entries share pools in a way that no load was measured on: up to so much more."""

FLOAT_STATE = (4, 2)
"""Recurrent state in FP32, convolution tail in 16 bits [B]."""

# --- what an engine accepts -------------------------------------------------------------------------------------------


def acceptance_refusals(c: Configuration) -> list[Reason]:
    """Device, weights format and cache type, by the rows of the engine's data."""
    out: list[Reason] = []
    name = c.engine.name
    if refused := device_refusal(c.engine, c.accelerator, c.backend):
        out.append(refused)
    if refused := format_refusal(c.engine, c.weights_format, c.accelerator, c.model):
        out.append(refused)
    if c.cache_type not in cache_types(c.engine, c.model, c.accelerator):
        out.append(Reason("cache_type_not_in_engine", {"engine": name, "cache_type": c.cache_type}))
    most = c.engine.rules.get("max_sequences")
    if most and c.workload.users > most:
        factors = {"engine": name, "users": c.workload.users, "limit": most}
        out.append(Reason("too_many_requests", factors))
    return out


def plan_refusals(c: Configuration) -> list[Reason]:
    """Sizes that do not multiply to the devices, more stages than layers, classes without pipeline stages."""
    plan, name = c.plan, c.engine.name
    if plan.gpus != c.count:
        return [Reason("plan_does_not_multiply", {"tp": plan.tp, "pp": plan.pp, "gpus": c.count})]
    layers = c.model.architecture.layer_count
    if plan.pp > layers:
        return [Reason("more_stages_than_layers", {"engine": name, "pp": plan.pp, "layers": layers})]
    if plan.pp > 1 and normal_class(c.model.class_name) in c.engine.without_pipeline:
        return [Reason("no_pipeline", {"engine": name, "class_name": c.model.class_name})]
    return []


def layer_split_refusals(c: Configuration) -> list[Reason]:
    """A split by layers: sizes that do not multiply, more devices than the engine spreads over, more than layers."""
    limit = c.engine.rules.get("max_gpus_layer_split")
    if limit and c.plan.gpus == c.count and c.plan.gpus > limit:
        factors = {"engine": c.engine.name, "gpus": c.plan.gpus, "limit": limit}
        return [Reason("too_many_gpus_layer_split", factors)]
    return plan_refusals(c)


def server_defaults(engine: Engine, accelerator: Accelerator) -> Mapping[str, Any]:
    """The engine's own batch sizes on this device: by memory for servers, one row for the others (formulas §4.2, §4.3)."""
    rows = engine.rules.get("server_defaults", {})
    if isinstance(rows, Mapping):
        return rows
    size = (physical_bytes(accelerator) or accelerator.memory_gb * GIB) / GIB
    for row in rows:
        if size >= row.get("min_memory_gib", 0) and accelerator.id not in row.get("not", ()):
            found: Mapping[str, Any] = row
            return found
    return {}


# --- budgets ----------------------------------------------------------------------------------------------------------


def whole_device(c: Configuration, margin_bytes: int = 0) -> Limit | None:
    """All that a process may take of one device; None when no memory figure is known."""
    usable = usable_memory(c.accelerator, c.platform)
    physical = physical_bytes(c.accelerator)
    if usable is None or physical is None:
        return None
    return Limit(usable[0], physical, margin_bytes, usable[1])


def in_use_bytes(c: Configuration) -> float:
    """What a PyTorch process holds before it loads anything: its context, and NCCL beside other ranks [B]."""
    nccl = c.constants[_nccl_name(c)].value * MIB if c.plan.tp > 1 else 0.0
    return float(c.constants[_context_name(c)].value * GIB + nccl)


def process_terms(c: Configuration) -> list[Term]:
    """Context and libraries of a PyTorch process, and NCCL's buffers (formulas §4.1)."""
    context = c.constants[_context_name(c)]
    out = [constant_term("context_process", context, GIB, {"backend": c.backend})]
    if c.plan.tp > 1:
        out.append(constant_term("nccl", c.constants[_nccl_name(c)], MIB, {"ranks": c.plan.tp}))
    return out


def _context_name(c: Configuration) -> str:
    return "context_unified" if c.accelerator.kind in ("apple", "cpu") else "context_pytorch"


def _nccl_name(c: Configuration) -> str:
    return "nccl_pair" if c.plan.tp == 2 else "nccl_many"


def vision_terms(c: Configuration, stage: Stage) -> list[Term]:
    """Encoder and projector in 16 bits with their buffers, on the first stage and only where images are used."""
    if not (c.knobs.vision and stage.is_first and c.model.vision):
        return []
    weights = 2 * c.model.architecture.extra_parameters("vision")
    size = ceil_div(weights, c.plan.tp)
    factors = {"weights": weights // 2, "ranks": c.plan.tp}
    encoder = exact("vision_encoder", size, factors, "§4.1", "rule")
    return [encoder, constant_term("vision_graph", c.constants["vision_graph"], GIB)]


def rotary_term(c: Configuration) -> list[Term]:
    """The table of rotary angles for every position of the model's longest context, in 16 bits on every GPU [B]; which
    share of a head rotates is not known, a quarter at least (start-up logs: see the accuracy page)."""
    width, positions = rotary_width(c.model.architecture), c.model.max_context_tokens or 0
    if not width or not positions:
        return []
    value = 2 * width * positions
    return [Term("rotary_table", value, value / 4, value, "rule", {"positions": positions, "width": width})]


@lru_cache(maxsize=1024)
def rotary_width(architecture: Architecture) -> int:
    """The widest head of grouped-query attention, where measured loads show the table; 0 without."""
    widths = [0]
    for block in architecture.blocks:
        mixers = block.mixer.parts if isinstance(block.mixer, Parallel) else (block.mixer,)
        widths += [m.head_dim for m in mixers if isinstance(m, Gqa)]
    return max(widths)


# --- cache ------------------------------------------------------------------------------------------------------------

Cells = Callable[[CacheEntry, Any], Any]
"""Tokens that one request holds of a cache entry, for so many tokens of context."""

Layout = Callable[[Configuration, CacheEntry, int], tuple[int, int]]
"""(cache, index) bytes of one stored entry of one layer on one of so many ranks."""


def dense(entry: CacheEntry) -> CacheEntry:
    """The entry without a packed layout for sparse latents: the latent as wide as it is."""
    return replace(entry, sparse=False) if entry.sparse else entry


def plain_layout(c: Configuration, entry: CacheEntry, ranks: int) -> tuple[int, int]:
    """Cache entries as wide as they are, keys of an index in 16 bits."""
    return entry_bytes(dense(entry), c.cache_type, ranks), 2 * entry.index_elements


def keys_layout(c: Configuration, entry: CacheEntry, ranks: int) -> tuple[int, int]:
    """Cache entries as wide as they are, keys of an index in the type of the keys (llama.cpp)."""
    return entry_bytes(dense(entry), c.cache_type, ranks), index_bytes(entry, c.cache_type)


def server_layout(c: Configuration, entry: CacheEntry, ranks: int) -> tuple[int, int]:
    """Latents packed where the model has an index, whose keys are always in 8 bits (formulas §3.2)."""
    return entry_bytes(entry, c.cache_type, ranks), index_key_bytes(entry, c.cache_type)


def window_cells(entry: CacheEntry, held: Any) -> Any:
    """`held` tokens, or the window where it is shorter."""
    return held if entry.window is None else least(held, entry.window)


def cache_code(entry: CacheEntry) -> str:
    if entry.kind == "mla":
        return "kv_mla"
    if entry.window is None:
        return "kv_gqa"
    return "kv_chunk" if entry.chunked else "kv_window"


def token_terms(
    c: Configuration, stage: Stage, tokens: Any, users: Any, cells: Cells, layout: Layout
) -> list[Term]:
    """What layers keep per token on one GPU: `users` requests of `tokens` tokens, each with its cells [B]."""
    ranks = c.plan.attention_ranks
    out: list[Term] = []
    for entry, layers in stage.caches:
        each, index = layout(c, entry, ranks)
        held = ceil_div(cells(entry, tokens), entry.pool)
        if entry.kind == "csa" and each:
            out.append(_compressed(entry, layers, each, held, tokens, users))
        elif entry.kind != "csa":
            factors = {"layers": layers, "elements": entry.elements, "bytes_per_token_layer": each, "bytes_per_token": layers * each, "cells": held, "tokens": tokens, "users": users, "window": entry.window or 0, "ranks": ranks}  # fmt: skip
            out.append(exact(cache_code(entry), layers * each * held * users, factors, "§3.3"))
        if index:
            keys = ceil_div(cells(replace(entry, window=None), tokens), entry.index_pool)
            out.append(_index(entry, layers, index, keys, tokens, users))
    if c.knobs.vision:
        out += encoder_terms(c, stage, 1, users)
    return out


def _compressed(entry: CacheEntry, layers: int, each: int, held: Any, tokens: Any, users: Any) -> Term:
    """Raw entries of a window, or one entry per so many tokens; how they are paged was measured nowhere."""
    value = layers * each * held * users
    named = {"layers": layers, "entry_bytes": each, "entries": 1, "page_bytes": each, "blocks": held, "pool": entry.pool, "window": entry.window or 0, "tokens": tokens, "users": users}  # fmt: skip
    code = "kv_raw_window" if entry.window else "kv_compressed"
    return Term(code, value, value, value * COMPRESSED_SPREAD, "rule", named, "§3.2")


def _index(entry: CacheEntry, layers: int, each: int, keys: Any, tokens: Any, users: Any) -> Term:
    value = layers * each * keys * users
    named = {"layers": layers, "bytes_per_token_layer": each, "bytes_per_token": layers * each, "cells": keys, "tokens": tokens, "users": users, "pool": entry.index_pool}  # fmt: skip
    low, high = index_spread(entry)
    if low == high:
        return exact("index_keys", value, named, "§3.2")
    return Term("index_keys", value, value * low, value * high, "rule", named, "§3.1")


def state_terms(
    c: Configuration, stage: Stage, users: Any, widths: tuple[int, int] = FLOAT_STATE, slots: int = 1
) -> list[Term]:
    """Fixed states on one GPU, `slots` of them for each request [B]."""
    ranks = c.plan.attention_ranks
    out: list[Term] = []
    for state, layers in stage.states:
        size = state_bytes(state, *widths, ranks)
        value = layers * slots * size * users
        factors = {"layers": layers, "slots": layers * slots, "bytes_per_layer": size, "page_bytes": size, "users": users, "state_elements": state.state_elements, "conv_elements": state.conv_elements, "state_width": widths[0], "conv_width": widths[1], "ranks": 1 if state.replicated else ranks, "kind": state.kind, "copies": 1}  # fmt: skip
        code = STATE_CODES[state.kind]
        if state.kind not in RULE_STATES:
            out.append(exact(code, value, factors, "§3.1"))
            continue
        most = value * state_most(state, *widths)
        out.append(Term(code, value, 1.0 * value, most, "rule", factors, "§3.1"))
    return out


def nothing_beyond(configuration: Configuration, stage: Stage, users: Any) -> list[Term]:
    """The engine's budget counts all that it takes."""
    return []


def plain_block_bytes(c: Configuration, stage: Stage) -> float:
    """What the tokens of one page take in all layers [B]."""
    ranks, page = c.plan.attention_ranks, int(c.engine.rules.get("block_tokens") or 64)
    return float(page * sum(sum(server_layout(c, entry, ranks)) * layers for entry, layers in stage.caches))


def plain_tokens(
    c: Configuration, stage: Stage, pool_bytes: float, request_bytes: float
) -> tuple[float, float]:
    """(tokens that fill a pool of so many bytes on one GPU, each with what every layer keeps of it, tokens of a page)."""
    ranks = c.plan.attention_ranks
    per_token = sum(sum(server_layout(c, entry, ranks)) * layers for entry, layers in stage.caches)
    page = plain_block_bytes(c, stage) / per_token if per_token else 0.0
    return (pool_bytes / per_token if per_token else 0.0), page
