"""SGLang: a static share of memory for weights and cache pools, whose ratios are fixed (formulas §3.3, §4.1, §4.3). PURE."""

from __future__ import annotations

from typing import Any

from calculator.estimation.configuration import Configuration
from calculator.estimation.devices import physical_bytes, process_total, usable_memory
from calculator.estimation.engines import vllm
from calculator.estimation.engines.shared import (
    FLOAT_STATE,
    acceptance_refusals,
    in_use_bytes,
    nothing_beyond,
    plain_block_bytes,
    plain_tokens,
    plan_refusals,
    process_terms,
    rotary_term,
    server_defaults,
    server_layout,
    state_terms,
    token_terms,
    vision_terms,
    window_cells,
)
from calculator.estimation.numbers import ceil_div, least, most, round_up
from calculator.estimation.placement import Stage, pipeline_layers
from calculator.estimation.terms import Factor, Interval, Limit, Reason, Term
from calculator.estimation.uncertainty import exact
from catalog.architecture import CacheEntry, StateEntry
from catalog.records import MIB, normal_class

tensor_refusals = vllm.tensor_refusals

SPARSE_PAGE_TOKENS = 64
"""Tokens of a page where FlashMLA or sparse attention needs them; else pages are of one token."""

SLOTS_PER_REQUEST = 3
"""State slots that the server keeps for every running request (sgl-project/sglang:mem_cache/kv_cache_configurator.py)."""

LARGE_MIB, LARGE_RESERVE_MIB = 60 * 1024, 10_240
"""Devices above the first reserve at least the second."""

beyond_budget = nothing_beyond
pool_block_bytes = plain_block_bytes
printed_tokens = plain_tokens

VOCABULARY_STEP = 64


def embedding_on_host(configuration: Configuration) -> bool:
    return False


def deal_layers(layer_count: int, stages_count: int) -> tuple[int, ...]:
    return pipeline_layers(layer_count, stages_count)


def refusals(configuration: Configuration) -> tuple[Reason, ...]:
    """Devices, formats, cache types, and sizes that do not divide (formulas §5.1)."""
    c, plan = configuration, configuration.plan
    out = acceptance_refusals(c) + plan_refusals(c)
    if plan.tp * plan.pp % plan.nodes and plan.gpus == c.count:
        factors: dict[str, Factor] = {"engine": c.engine.name, "gpus": plan.tp * plan.pp, "nodes": plan.nodes}
        out.append(Reason("gpus_not_divisible_by_nodes", factors))
    if plan.tp % plan.adp:
        factors = {"engine": c.engine.name, "tp": plan.tp, "adp": plan.adp}
        out.append(Reason("attention_groups_not_divisible", factors))
    elif plan.attention_ranks > 1:
        out += tensor_refusals(c, plan.attention_ranks)
    return tuple(out)


# --- the budget -------------------------------------------------------------------------------------------------------


def decode_sequences(c: Configuration) -> int:
    """The largest batch with a CUDA graph, by memory and tensor size."""
    row = server_defaults(c.engine, c.accelerator)
    usual = int(row.get("decode_sequences", 8))
    return int(row.get("decode_sequences_tp4", usual)) if c.plan.tp >= 4 else usual


def graph_mib(c: Configuration) -> int:
    """What the reserve sets aside for the graphs of decoding [MiB]."""
    return 0 if c.knobs.eager else 2 * decode_sequences(c)


def reserve_mib(c: Configuration, total_mib: float) -> float:
    """What stays beside weights and pools: activations, graphs, communication (formulas §4.3) [MiB]."""
    plan, batch = c.plan, decode_sequences(c)
    out = 512 + 1.5 * max(c.knobs.batched_tokens, 2048) + 1024 * plan.tp * plan.pp / 8 + graph_mib(c)
    if total_mib > LARGE_MIB:
        out = max(out, LARGE_RESERVE_MIB)
    if plan.adp > 1:
        out += 3 * batch * plan.adp + (1.5 * batch * plan.adp if batch > 300 else 0)
    return out


def static_share(c: Configuration, total_bytes: int) -> float:
    """mem_fraction_static: as asked, else what the reserve leaves of the driver's total; less beside an encoder."""
    if c.knobs.memory_share:
        return c.knobs.memory_share
    total_mib = total_bytes / MIB
    share = max(0.0, (total_mib - reserve_mib(c, total_mib)) / total_mib)
    return share * c.constants["vision_static_share"].value if c.knobs.vision and c.model.vision else share


def limit(configuration: Configuration) -> Limit | None:
    """The static share of what is free before loading, beside what is in use by then."""
    c = configuration
    usable, physical = usable_memory(c.accelerator, c.platform), physical_bytes(c.accelerator)
    if usable is None or physical is None:
        return None
    share, before = static_share(c, physical), in_use_bytes(c)
    free = usable[0].value - before
    value = before + share * free
    below, above = share * (usable[0].value - usable[0].low), share * (usable[0].high - usable[0].value)
    factors = {"share": share, "free_bytes": int(free), "before_bytes": int(before)}
    return Limit(Interval(value, value - below, value + above), physical, 0, Reason("static_share", factors))


def occupied(configuration: Configuration, needed_bytes: int, memory_limit: Limit) -> int:
    """The pools fill the static share whatever is asked; the graphs come out of the reserve."""
    return int(memory_limit.usable.value) + graph_mib(configuration) * MIB


def occupied_refusal(configuration: Configuration, occupied_bytes: int, memory_limit: Limit) -> Reason | None:
    """More is taken than the process can see. Names the largest share that works."""
    c = configuration
    total = process_total(c.accelerator, c.platform)
    if total is None or c.accelerator.unified or occupied_bytes <= total:
        return None
    before = in_use_bytes(c)
    largest = int((total - before - graph_mib(c) * MIB) / (total - before) * 100) / 100
    factors = {"occupied_bytes": occupied_bytes, "total_bytes": total, "largest_share": largest}
    return Reason("occupied_over_process", factors)


def host_bytes(configuration: Configuration, tokens: int, users: int) -> int:
    return 0


# --- cache ------------------------------------------------------------------------------------------------------------


def entry_layout(configuration: Configuration, entry: CacheEntry) -> tuple[int, int]:
    return server_layout(configuration, entry, 1)


def state_widths(configuration: Configuration, entry: StateEntry) -> tuple[int, int]:
    """State FP32, convolution tail in 16 bits, whatever the model."""
    return FLOAT_STATE


def window_ratio(c: Configuration) -> float:
    """Tokens of the window pool per token of the full pool (`swa_full_tokens_ratio`)."""
    ratios = c.engine.rules.get("window_pool_ratio", {})
    by_class = {normal_class(name): value for name, value in ratios.get("classes", {}).items()}
    return float(by_class.get(normal_class(c.model.class_name), ratios.get("default", 0.8)))


def pages(entry: CacheEntry, tokens: Any) -> Any:
    """Tokens of one request in whole pages."""
    return round_up(tokens, SPARSE_PAGE_TOKENS if entry.sparse else 1)


def stage_cache(configuration: Configuration, stage: Stage, tokens: Any, users: Any) -> list[Term]:
    """Cache and state on one GPU, and what the fixed ratios of the pools add to them [B]."""
    c = configuration
    out = token_terms(
        c, stage, tokens, users, lambda entry, t: window_cells(entry, pages(entry, t)), server_layout
    )
    out += _window_pool(c, stage, tokens, users)
    cached: Any = sum(term.value for term in out)
    states = state_terms(c, stage, users, slots=SLOTS_PER_REQUEST)
    if not states:
        return out
    ratio = float(c.engine.rules.get("state_pool_ratio", 0.9))
    kept: Any = sum(term.value for term in states)
    if not stage.caches:
        return states
    factors = {"ratio": ratio, "cache_bytes": cached, "state_bytes": kept}
    beside_cache = _whole(most(0, ratio * cached - kept))
    beside_states = _whole(most(0, kept / ratio - cached))
    return [
        *out,
        exact("pool_cache_share", beside_states, factors, "§3.3"),
        *states,
        exact("pool_state_share", beside_cache, factors, "§3.3"),
    ]


def _whole(value: Any) -> Any:
    """Bytes as whole numbers, also in arrays."""
    return value.astype("int64") if hasattr(value, "astype") else int(value)


def _window_pool(c: Configuration, stage: Stage, tokens: Any, users: Any) -> list[Term]:
    """The window layers' pool has a fixed ratio to the pool of the others: what it holds beyond the windows, or what the
    others hold beyond the context so that the windows find room."""
    full = [(entry, layers) for entry, layers in stage.caches if entry.window is None]
    windows = [(entry, layers) for entry, layers in stage.caches if entry.window is not None]
    if not windows:
        return []
    ratio, ranks = window_ratio(c), c.plan.attention_ranks
    widest = max(entry.window or 0 for entry, _ in windows)
    asked = most(tokens, _whole(least(tokens, widest) / ratio))
    extra: Any = 0
    if full:
        for entry, layers in full:
            extra = extra + layers * server_layout(c, entry, ranks)[0] * ceil_div(asked - tokens, entry.pool)
        for entry, layers in windows:
            beyond = most(0, _whole(ratio * asked) - window_cells(entry, tokens))
            extra = extra + layers * server_layout(c, entry, ranks)[0] * beyond
    factors = {"ratio": ratio, "tokens": tokens, "users": users}
    return [exact("pool_window_share", extra * users, factors, "§3.3")] if full else []


# --- overhead ---------------------------------------------------------------------------------------------------------


def stage_overhead(configuration: Configuration, stage: Stage, tokens: Any, users: Any) -> list[Term]:
    """What else lies in the static share, and what was in use before: activations and graphs are in the reserve [B]."""
    c = configuration
    requests = c.knobs.max_sequences or users
    longest = c.knobs.longest_request or tokens
    factors = {"requests": requests, "tokens": longest}
    table = exact("request_table", 4 * requests * longest, factors, "§4.3")
    return [table, *rotary_term(c), *process_terms(c), *vision_terms(c, stage)]
