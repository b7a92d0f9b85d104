"""vLLM's paged caches: blocks, windows, groups, hybrid pages, compressed entries, states (formulas §3.2, §3.3). PURE."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, replace
from functools import lru_cache
from typing import Any

from calculator.estimation.cache import (
    COMPRESSED_PAGE_STEPS,
    RULE_STATES,
    STATE_CODES,
    entry_bytes,
    index_key_bytes,
    index_spread,
    state_bytes,
    state_most,
)
from calculator.estimation.configuration import Configuration, Keyed
from calculator.estimation.engines.encoder_cache import encoder_terms
from calculator.estimation.numbers import ceil_div, least, round_up
from calculator.estimation.placement import Stage
from calculator.estimation.terms import Term
from calculator.estimation.uncertainty import exact
from catalog.architecture import CacheEntry, StateEntry
from catalog.records import normal_class

BLOCK_TOKENS = 16
LATENT_BLOCK_TOKENS = 64
HYBRID_LATENT_STEP = 128
COMPRESSED_BLOCK_TOKENS = 256
"""Tokens of a block of compressed entries; raw entries of the window have blocks of LATENT_BLOCK_TOKENS."""

COMPRESSED_SPREAD = 1.25
"""Compressed entries, windows and compressors share pools in a way that no load was measured on: up to so much more."""

APART = frozenset({"shortconv_beside", "csa_compressor"})
"""States that do not set the size of the pages that attention shares."""


def entry_layout(configuration: Configuration, entry: CacheEntry) -> tuple[int, int]:
    """Bytes of one stored entry and of one index key of a layer; a key beside a latent is always 8-bit."""
    cache_type = configuration.cache_type
    return entry_bytes(entry, cache_type), index_key_bytes(entry, cache_type)


def state_widths(configuration: Configuration, entry: StateEntry) -> tuple[int, int]:
    """Bytes per element of state and convolution tail: KDA and the classes whose config asks for it keep FP32."""
    rules = configuration.engine.rules.get("state_float32", {})
    wide = (
        entry.float32
        or entry.kind in rules.get("kinds", ("kda",))
        or normal_class(configuration.model.class_name)
        in {normal_class(name) for name in rules.get("classes", ())}
    )
    return (4 if wide else 2), 2


@dataclass(frozen=True, slots=True)
class Pages:
    """How one stage's layers share the pool: tokens of a block, bytes of a page per layer, layers per group."""

    block_tokens: int
    page_bytes: int
    group: int
    mixed: bool

    def slots(self, layers: int) -> int:
        """Layer slots that `layers` of one kind take: the last group is padded."""
        return int(ceil_div(layers, self.group)) * self.group if self.mixed else layers


def pages_of(configuration: Configuration, stage: Stage, tp: int) -> Pages:
    """Block size and grouping of a stage (formulas §3.3, mixed types and hybrid page unification)."""
    c = configuration
    return _pages(Keyed((c.model, c.engine, c.cache_type, c.knobs.drafted_tokens), c), stage, tp)


@lru_cache(maxsize=4096)
def _pages(keyed: Keyed, stage: Stage, tp: int) -> Pages:
    c = keyed.configuration
    latent = any(entry.kind == "mla" for entry, _ in stage.caches)
    block = LATENT_BLOCK_TOKENS if latent else int(c.engine.rules.get("block_tokens", BLOCK_TOKENS))
    counts = _layers_of_each_kind(stage)
    mixed = len(counts) > 1
    group = 1
    if mixed:
        group = max(counts) if max(counts) < 1.5 * min(counts) else min(counts)
    sizes = [entry_bytes(entry, c.cache_type, tp) for entry, _ in stage.caches if entry.kind != "csa"]
    drafted = c.knobs.drafted_tokens
    states = [
        state_bytes(state, *state_widths(c, state), tp, drafted)
        for state, _ in stage.states
        if state.kind not in APART
    ]
    if not states:
        return Pages(block, 0, group, mixed)
    if not sizes:
        return Pages(block, max(states), group, mixed)
    per_token = max(sizes)
    step = HYBRID_LATENT_STEP if latent else block
    tokens = step * ceil_div(max(states), step * per_token)
    return Pages(tokens, tokens * per_token, group, mixed)


def _layers_of_each_kind(stage: Stage) -> tuple[int, ...]:
    """Layers of each kind of page. Index keys have pages of their own: layers that differ in owning one are alike.
    Compressed entries and states beside attention have pools of their own."""
    counts: Counter[CacheEntry | StateEntry] = Counter()
    for entry, layers in stage.caches:
        if entry.kind != "csa":
            counts[replace(entry, index_elements=0, index_pool=1)] += layers
    for state, layers in stage.states:
        if state.kind not in APART:
            counts[state] += layers
    return tuple(counts.values())


def stage_cache(configuration: Configuration, stage: Stage, tokens: Any, users: Any) -> list[Term]:
    """Cache and state on one GPU of the stage for all requests, in whole blocks [B]."""
    c, tp = configuration, configuration.plan.attention_ranks
    pages = pages_of(c, stage, tp)
    out: list[Term] = []
    for entry, layers in stage.caches:
        if entry.kind == "csa":
            out += _compressed(c, entry, layers, tokens, users)
        else:
            out.append(_attention(c, entry, layers, pages, tokens, users))
        if entry.index_elements:
            block = COMPRESSED_BLOCK_TOKENS if entry.kind == "csa" else pages.block_tokens
            out.append(_index_keys(c, entry, layers, block, tokens, users))
    out += [_state(c, state, layers, pages, tokens, users) for state, layers in stage.states]
    if c.knobs.vision:
        out += encoder_terms(c, stage, pages.block_tokens, users)
    return out


def _attention(
    c: Configuration, entry: CacheEntry, layers: int, pages: Pages, tokens: Any, users: Any
) -> Term:
    """Keys and values or latents, in blocks; the page is the largest of the pool where states share it."""
    tp = c.plan.attention_ranks
    per_token = entry_bytes(entry, c.cache_type, tp)
    blocks, code = _blocks(c, entry, pages.block_tokens, tokens)
    slots = pages.slots(layers)
    page = pages.page_bytes or per_token * pages.block_tokens
    factors = {
        "layers": layers,
        "slots": slots,
        "elements": entry.elements,
        "bytes_per_token_layer": per_token,
        "bytes_per_token": per_token * layers,
        "block_tokens": pages.block_tokens,
        "blocks": blocks,
        "tokens": tokens,
        "users": users,
        "window": entry.window or 0,
        "ranks": tp,
        "page_bytes": page,
    }
    return exact(code, slots * page * blocks * users, factors, "§3.3")


def _index_keys(
    c: Configuration, entry: CacheEntry, layers: int, block: int, tokens: Any, users: Any
) -> Term:
    """Index keys in pages of their own, one per token or per pool of tokens."""
    each = index_key_bytes(entry, c.cache_type)
    held = ceil_div(block * ceil_div(tokens, block), entry.index_pool)
    value = layers * each * held * users
    low, high = index_spread(entry)
    named = {"layers": layers, "bytes_per_token_layer": each, "bytes_per_token": layers * each, "cells": held, "tokens": tokens, "users": users, "pool": entry.index_pool}  # fmt: skip
    if low == high:
        return exact("index_keys", value, named, "§3.2")
    return Term("index_keys", value, value * low, value * high, "rule", named, "§3.1")


def _compressed(c: Configuration, entry: CacheEntry, layers: int, tokens: Any, users: Any) -> list[Term]:
    """Raw entries of the window, or one entry per so many tokens, in pages rounded up for the kernel's alignment."""
    each = entry_bytes(entry, c.cache_type)
    if not each:
        return []
    block = LATENT_BLOCK_TOKENS if entry.window else COMPRESSED_BLOCK_TOKENS
    held = ceil_div(block, entry.pool)
    page = round_up(held * each, COMPRESSED_PAGE_STEPS.get(each, 1))
    blocks = _blocks(c, entry, block, tokens)[0]
    value = layers * page * blocks * users
    held_alone = least(tokens, entry.window) if entry.window else tokens // entry.pool
    low = 1.0 * layers * each * held_alone * users
    named = {"layers": layers, "entry_bytes": each, "entries": held, "page_bytes": page, "blocks": blocks, "pool": entry.pool, "window": entry.window or 0, "tokens": tokens, "users": users}  # fmt: skip
    code = "kv_raw_window" if entry.window else "kv_compressed"
    return [Term(code, value, low, value * COMPRESSED_SPREAD, "rule", named, "§3.2")]


def _state(c: Configuration, state: StateEntry, layers: int, pages: Pages, tokens: Any, users: Any) -> Term:
    """The states of all requests: a page each, one more per drafted token; compressors also keep the tokens in flight."""
    widths, drafted, tp = state_widths(c, state), c.knobs.drafted_tokens, c.plan.attention_ranks
    size = state_bytes(state, *widths, tp, drafted)
    apart = state.kind in APART
    page, slots = (size, layers) if apart else (max(pages.page_bytes, size), pages.slots(layers))
    kept = 1 if apart else int(c.engine.rules.get("state_pages", {}).get(c.cache_type, {}).get(state.kind, 1))
    value = slots * page * users * (kept + drafted)
    named = {"layers": layers, "slots": slots, "bytes_per_layer": size, "page_bytes": page, "users": users, "state_elements": state.state_elements, "conv_elements": state.conv_elements, "state_width": widths[0], "conv_width": widths[1], "ranks": 1 if state.replicated else tp, "kind": state.kind, "copies": kept + drafted}  # fmt: skip
    if state.kind not in RULE_STATES:
        return exact(STATE_CODES[state.kind], value, named, "§3.3")
    high, in_flight = size * state_most(state, *widths), 0
    if state.row_elements:
        in_flight = layers * state.row_elements * widths[0] * least(tokens, c.knobs.batched_tokens)
    most = 1.0 * slots * max(page, high) * users * (1 + drafted) + in_flight
    return Term(STATE_CODES[state.kind], value, 1.0 * layers * size * users, most, "rule", named, "§3.1")


def _blocks(c: Configuration, entry: CacheEntry, block: int, tokens: Any) -> tuple[Any, str]:
    """Blocks that one request is admitted with, and the code of the term."""
    if entry.window is None:
        own = ceil_div(tokens, c.plan.dcp)
        return ceil_div(own, block), "kv_mla" if entry.kind == "mla" else "kv_gqa"
    in_flight = int(c.constants["window_batches"].value) * c.knobs.batched_tokens
    longest = c.knobs.longest_request or tokens
    if entry.chunked:
        return ceil_div(least(entry.window + in_flight, longest), block), "kv_chunk"
    return ceil_div(least(entry.window - 1 + in_flight, longest), block) + 1, "kv_window"


def pool_block_bytes(c: Configuration, stage: Stage) -> float:
    """One block of every layer of a group, or of every layer where all are alike [B]."""
    pages = pages_of(c, stage, c.plan.attention_ranks)
    sizes = [
        (entry_bytes(e, c.cache_type, c.plan.attention_ranks) * pages.block_tokens, n)
        for e, n in stage.caches
    ]
    if pages.mixed:
        return float(pages.group * (pages.page_bytes or max(size for size, _ in sizes)))
    return float(sum(size * layers for size, layers in sizes))


def printed_tokens(
    c: Configuration, stage: Stage, pool_bytes: float, request_bytes: float
) -> tuple[float, float]:
    """The “GPU KV cache size” that a log prints for a pool of so many bytes on each GPU, and its steps [tokens].

    Layers of one kind: blocks × tokens of a block. Of several kinds, up to 0.20 the blocks of one group over all groups;
    from 0.21 on the longest request times how often it fits (measured logs: see the accuracy page). request_bytes: what
    one request of the longest context takes on this GPU.
    """
    pages, tp = pages_of(c, stage, c.plan.attention_ranks), c.plan.attention_ranks
    compressed = any(entry.kind == "csa" for entry, _ in stage.caches)
    if not pages.mixed and not compressed:
        per_token = sum(entry_bytes(e, c.cache_type, tp) * n for e, n in stage.caches)
        per_token += sum(index_key_bytes(e, c.cache_type) * n for e, n in stage.caches if e.index_elements)
        return pool_bytes * c.plan.dcp / per_token, float(pages.block_tokens * c.plan.dcp)
    if pages.mixed and c.engine.rules.get("prints_blocks_over_groups"):
        groups = sum(pages.slots(n) for n in _layers_of_each_kind(stage)) / pages.group
        return pool_bytes / pool_block_bytes(c, stage) / groups * pages.block_tokens, float(
            pages.block_tokens
        )
    longest = c.knobs.longest_request or c.workload.context_tokens
    each = request_bytes / longest
    return pool_bytes / each, (pool_block_bytes(c, stage) if pages.mixed else 0.0) / each
