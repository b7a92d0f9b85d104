"""llama.cpp (llama-server), as we launch it: `-np R` always explicit, all layers on GPUs (formulas §3.3, §4.1, §4.5). PURE."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

from calculator.estimation.cache import (
    RULE_STATES,
    STATE_CODES,
    entry_bytes,
    index_bytes,
    index_spread,
    state_bytes,
    state_most,
)
from calculator.estimation.configuration import Configuration
from calculator.estimation.devices import physical_bytes, usable_memory
from calculator.estimation.engines.acceptance import cache_types, device_refusal, format_refusal
from calculator.estimation.engines.encoder_cache import encoder_terms
from calculator.estimation.engines.shared import nothing_beyond, plain_block_bytes, plain_tokens
from calculator.estimation.numbers import ceil_div, least, most, round_up
from calculator.estimation.placement import Stage, layer_split
from calculator.estimation.terms import Basis, Limit, Reason, Term
from calculator.estimation.uncertainty import constant_term, exact
from catalog.architecture import CacheEntry, StateEntry
from catalog.records import GIB, MIB, normal_class

CELL_STEP = 256
"""Cells of a stream are rounded up to a multiple of this (ggml-org/llama.cpp:src/llama-kv-cache.cpp)."""

beyond_budget = nothing_beyond
pool_block_bytes = plain_block_bytes
printed_tokens = plain_tokens

VOCABULARY_STEP = 1
"""Embedding and head are held as they are in the file."""

STATE_WIDTHS = (4, 4)
"""Recurrent state and convolution tail are both F32 [B]."""

COMPRESSED_SPREAD = 1.25
"""Compressed attention: no load was measured and no layout is documented."""

LONG_CELLS = 32_768
"""Cells from which a mask of its own lies beside the logits of every row."""

_BUFFERS = "§4.5"


def embedding_on_host(configuration: Configuration) -> bool:
    """The input embedding stays in host memory, also at full offload; a CPU machine has but one memory."""
    return configuration.accelerator.kind != "cpu"


def deal_layers(layer_count: int, stages_count: int) -> tuple[int, ...]:
    return layer_split(layer_count, stages_count)


def refusals(configuration: Configuration) -> tuple[Reason, ...]:
    """What llama.cpp refuses: too many devices or requests, cache types that its kernels do not have."""
    c, rules = configuration, configuration.engine.rules
    out: list[Reason] = []
    name = c.engine.name
    if refused := device_refusal(c.engine, c.accelerator, c.backend):
        out.append(refused)
    if refused := format_refusal(c.engine, c.weights_format, c.accelerator, c.model):
        out.append(refused)
    if c.workload.users > rules["max_sequences"]:
        out.append(
            Reason(
                "too_many_requests",
                {"engine": name, "users": c.workload.users, "limit": rules["max_sequences"]},
            )
        )
    out += _plan_refusals(configuration)
    if c.cache_type not in cache_types(c.engine, c.model, c.accelerator):
        out.append(Reason("cache_type_not_in_engine", {"engine": name, "cache_type": c.cache_type}))
    elif c.cache_type not in ("bf16", "f32"):
        out += _quantized_cache_refusals(configuration)
    return tuple(out)


def _no_groups(c: Configuration) -> Reason | None:
    """llama.cpp spreads layers or tensors; it has no groups of experts, requests or cells."""
    factors = {"engine": c.engine.name}
    if c.plan.ep > 1:
        return Reason("no_expert_parallel", factors)
    if c.plan.adp > 1:
        return Reason("no_attention_groups", factors)
    if c.plan.tp > 1 and c.plan.pp > 1:
        return Reason("tensor_or_layer_split", {**factors, "tp": c.plan.tp, "pp": c.plan.pp})
    return Reason("no_context_parallel", factors) if c.plan.dcp > 1 else None


def _plan_refusals(c: Configuration) -> list[Reason]:
    rules, name, plan = c.engine.rules, c.engine.name, c.plan
    if group := _no_groups(c):
        return [group]
    if plan.gpus != c.count and not (plan.gpus == 1 and rules.get("one_gpu_first")):
        return [Reason("plan_does_not_multiply", {"tp": plan.tp, "pp": plan.pp, "gpus": c.count})]
    if plan.split == "tensor":
        limit = rules.get("max_gpus_tensor_split")
        if limit is None:
            return [Reason("no_tensor_split", {"engine": name})]
        if plan.tp > limit:
            return [Reason("too_many_gpus_tensor_split", {"engine": name, "gpus": plan.tp, "limit": limit})]
        unsupported = {normal_class(item) for item in rules.get("tensor_split_unsupported", ())}
        if normal_class(c.model.class_name) in unsupported:
            return [Reason("tensor_split_unsupported", {"engine": name, "class_name": c.model.class_name})]
        if c.cache_type not in rules.get("tensor_split_cache_types", ("bf16",)):
            return [Reason("tensor_split_cache_type", {"engine": name, "cache_type": c.cache_type})]
        return []
    if plan.pp > rules["max_gpus_layer_split"]:
        limit = rules["max_gpus_layer_split"]
        return [Reason("too_many_gpus_layer_split", {"engine": name, "gpus": plan.pp, "limit": limit})]
    if plan.pp > c.model.architecture.layer_count:
        layers = c.model.architecture.layer_count
        return [Reason("more_stages_than_layers", {"engine": name, "pp": plan.pp, "layers": layers})]
    return []


def _quantized_cache_refusals(c: Configuration) -> list[Reason]:
    if not c.knobs.flash_attention:
        return [Reason("cache_needs_flash_attention", {"cache_type": c.cache_type})]
    block = c.engine.rules.get("cache_block", 32)
    for architecture_block in c.model.architecture.blocks:
        for entry in architecture_block.mixer.caches():
            for row in (entry.key_elements, entry.value_elements):
                if row % block:
                    factors = {"cache_type": c.cache_type, "row": row, "block": block}
                    return [Reason("cache_row_not_divisible", factors)]
    return []


def tensor_refusals(configuration: Configuration, tp: int) -> list[Reason]:
    """Tensor split is never proposed; its refusals stand with the plan's."""
    return []


def limit(configuration: Configuration) -> Limit | None:
    """All that a process may take; `fits` asks for the 1024 MiB that `--fit` keeps free on each card."""
    usable = usable_memory(configuration.accelerator, configuration.platform)
    physical = physical_bytes(configuration.accelerator)
    if usable is None or physical is None:
        return None
    margin = configuration.engine.rules.get("fit_margin_mib", 1024) * MIB
    return Limit(usable[0], physical, margin, usable[1])


def entry_layout(configuration: Configuration, entry: CacheEntry) -> tuple[int, int]:
    """Bytes of one stored entry and of one index key of a layer; the index key has the type of K."""
    cache_type = configuration.cache_type
    return entry_bytes(_dense(entry), cache_type), index_bytes(entry, cache_type)


@lru_cache(maxsize=1024)
def _dense(entry: CacheEntry) -> CacheEntry:
    """llama.cpp has no packed layouts: the K tensor is as wide as the latent or the compressed entry."""
    if not entry.sparse and entry.kind != "csa":
        return entry
    kind = "mla" if entry.kind == "csa" else entry.kind
    return CacheEntry(kind, entry.key_elements, entry.value_elements, entry.kv_heads)


def state_widths(configuration: Configuration, entry: StateEntry) -> tuple[int, int]:
    return STATE_WIDTHS


def cells(entry: CacheEntry, tokens: Any, micro_batch: int) -> Any:
    """Cells of one stream: all tokens, or the window and a micro-batch, rounded up (formulas §3.3)."""
    stream = round_up(tokens, CELL_STEP)
    if entry.window is None:
        return stream
    return round_up(least(stream, entry.window + micro_batch), CELL_STEP)


def shared_cells(entry: CacheEntry, tokens: Any, slots: int, micro_batch: int) -> Any:
    """Cells of the one pool that all slots share: all tokens, or every slot's window and a micro-batch (formulas §3.3)."""
    pool = round_up(tokens, CELL_STEP)
    if entry.window is None:
        return pool
    return round_up(least(pool, entry.window * slots + micro_batch), CELL_STEP)


def slots_of(configuration: Configuration, users: Any) -> Any:
    """Requests that the server prepares for: a slot each."""
    return configuration.knobs.max_sequences or users


def stage_cache(configuration: Configuration, stage: Stage, tokens: Any, users: Any) -> list[Term]:
    """Cache and state on one GPU of the stage [B]: a stream for every request, as `-np` starts it, or one pool for the
    slots of a server that was started without."""
    c, slots = configuration, configuration.knobs.max_sequences
    asked = users
    out: list[Term] = []
    for entry, layers in stage.caches:
        if slots:
            held, users = shared_cells(entry, tokens * asked, slots, c.knobs.micro_batch), 1
        else:
            held = cells(entry, tokens, c.knobs.micro_batch)
        if entry.elements:
            out.append(_attention(c, entry, layers, held, tokens, users))
        if entry.index_elements:
            each, keys = index_bytes(entry, c.cache_type), ceil_div(held, entry.index_pool)
            value, (low, high) = layers * each * keys * users, index_spread(entry)
            named = {"layers": layers, "bytes_per_token_layer": each, "cells": keys, "tokens": tokens, "users": users, "bytes_per_token": layers * each, "pool": entry.index_pool}  # fmt: skip
            basis: Basis = "exact" if low == high and entry.kind != "csa" else "rule"
            out.append(Term("index_keys", value, value * low, value * high, basis, named, "§3.2"))
    out += [_state(c, state, layers, slots_of(c, asked)) for state, layers in stage.states]
    if c.knobs.vision:
        out += encoder_terms(c, stage, CELL_STEP, asked)
    return out


def _attention(c: Configuration, entry: CacheEntry, layers: int, held: Any, tokens: Any, users: Any) -> Term:
    """Keys and values, latents or compressed entries of one kind of layer. How llama.cpp lays out compressed entries is
    not documented: K tensors of their width, with a range."""
    tp = c.plan.attention_ranks
    each = entry_bytes(_dense(entry), c.cache_type, tp)
    if entry.kind == "csa":
        stored = ceil_div(held, entry.pool)
        value = layers * each * stored * users
        named = {"layers": layers, "entry_bytes": each, "entries": stored, "pool": entry.pool, "window": entry.window or 0, "tokens": tokens, "users": users}  # fmt: skip
        code = "kv_raw_window" if entry.window else "kv_compressed"
        return Term(code, value, value * 0.8, value * COMPRESSED_SPREAD, "rule", named, "§3.1")
    code = "kv_window" if entry.window else ("kv_mla" if entry.kind == "mla" else "kv_gqa")
    factors = {
        "layers": layers,
        "elements": entry.elements,
        "bytes_per_token_layer": each,
        "cells": held,
        "tokens": tokens,
        "users": users,
        "window": entry.window or 0,
        "ranks": tp,
        "bytes_per_token": layers * each,
    }
    return exact(code, layers * each * held * users, factors, "§3.3")


def _state(c: Configuration, state: StateEntry, layers: int, users: Any) -> Term:
    """States of all requests: F32 rows, one more per drafted token (formulas §3.3)."""
    tp, copies = c.plan.attention_ranks, 1 + c.knobs.drafted_tokens
    size = state_bytes(state, *STATE_WIDTHS, tp)
    value = layers * size * users * copies
    named = {"layers": layers, "bytes_per_layer": size, "users": users, "state_elements": state.state_elements, "conv_elements": state.conv_elements, "state_width": 4, "conv_width": 4, "ranks": 1 if state.replicated else tp, "kind": state.kind, "copies": copies}  # fmt: skip
    if state.kind not in RULE_STATES:
        return exact(STATE_CODES[state.kind], value, named, "§3.1")
    most = value * state_most(state, *STATE_WIDTHS)
    return Term(STATE_CODES[state.kind], value, 1.0 * value, most, "rule", named, "§3.1")


def _compute_buffer(c: Configuration, stage: Stage, total_cells: Any, users: Any) -> Any:
    """The compute buffer of one card without the copies of a split [B] (formulas §4.5)."""
    micro, d = c.knobs.micro_batch, c.model.architecture.hidden_size
    architecture = c.model.architecture
    every_row = c.engine.rules.get("outputs_reserved", False)
    outputs = micro if every_row else least(micro, slots_of(c, users))
    logits = 4 * outputs * architecture.vocabulary_size + 4 * micro * d
    if c.plan.output_on_host:
        logits = 0
    if c.knobs.flash_attention:
        sparse = any(entry.sparse for entry, _ in stage.caches)
        mask = int(c.constants["compute_sparse_mask"].value) if sparse else 2
        layers = 4 * micro * (3 * stage.widest + 4 * d) + mask * micro * total_cells
    else:
        layers = 4 * micro * (1 + 4 * d + total_cells * (1 + stage.query_heads))
    peak = most(logits, layers)
    if every_row and c.knobs.flash_attention:
        peak = peak + _scratch(stage, total_cells, micro)
    return peak


def _scratch(stage: Stage, total_cells: Any, micro: int) -> Any:
    """What lies beside the logits of every row: 1 KiB per cell for a micro-batch of 512, where experts, states or a long
    context need it (formulas §4.5) [B]."""
    each = total_cells * 1024 * micro // 512
    if stage.moe or stage.states:
        return each
    return each * (total_cells > LONG_CELLS)


def stage_overhead(configuration: Configuration, stage: Stage, tokens: Any, users: Any) -> list[Term]:
    """Compute buffer, input copies of a split, the process's own context on one card [B]."""
    c = configuration
    micro, d = c.knobs.micro_batch, c.model.architecture.hidden_size
    total_cells = round_up(tokens, CELL_STEP) * users
    compute = _compute_buffer(c, stage, total_cells, users)
    plain = not stage.moe and not stage.states and all(entry.kind == "gqa" for entry, _ in stage.caches)
    if any(entry.kind == "mla" for entry, _ in stage.caches) and c.model.architecture.text_parameters > 100e9:
        compute = most(compute, int(c.constants["compute_mla_least"].value * MIB))
    spread = c.constants["compute_dense" if plain else "compute_other"]
    factors = {"micro_batch": micro, "hidden": d, "width": stage.widest, "cells": total_cells, "vocabulary": c.model.architecture.vocabulary_size, "outputs": slots_of(c, users), "flash_attention": int(c.knobs.flash_attention), "cases": spread.cases or 0}  # fmt: skip
    out = [
        Term(
            "compute_llamacpp",
            compute,
            compute * spread.low,
            compute * spread.high,
            "calibrated",
            factors,
            _BUFFERS,
        )
    ]
    if c.plan.gpus > 1:
        copies = 3 * 4 * micro * (d + total_cells) + 4 * micro * d
        named = {"micro_batch": micro, "hidden": d, "cells": total_cells}
        out.append(exact("split_buffers", copies, named, _BUFFERS))
    context = c.constants[_context_name(c)]
    out.append(constant_term("context_process", context, GIB, {"backend": c.backend}))
    if c.knobs.vision and stage.is_first and c.model.vision:
        out += _vision(c)
    return out


def _context_name(c: Configuration) -> str:
    if c.backend == "cuda":
        return "context_cuda_blackwell" if c.accelerator.capability >= 10 else "context_cuda"
    return f"context_{c.backend}" if f"context_{c.backend}" in c.constants else "context_other"


def _vision(c: Configuration) -> list[Term]:
    """The projector file in 16 bits and its graph, on the first card (formulas §4.1)."""
    size = 2 * sum(c.model.architecture.extra_parameters(part) for part in ("vision",))
    weights = exact("vision_encoder", size, {"weights": size // 2}, "§4.1", "rule")
    return [weights, constant_term("vision_graph", c.constants["vision_graph"], GIB)]


def occupied(configuration: Configuration, needed_bytes: int, memory_limit: Limit) -> int:
    """llama.cpp allocates what it needs and nothing ahead."""
    return needed_bytes


def occupied_refusal(configuration: Configuration, occupied_bytes: int, memory_limit: Limit) -> Reason | None:
    return None


def host_bytes(configuration: Configuration, tokens: int, users: int) -> int:
    """Host memory beside the GPUs: output rows and input copies (formulas §4.5); the embedding is added by the sum."""
    c = configuration
    d, vocabulary = c.model.architecture.hidden_size, c.model.architecture.vocabulary_size
    inputs = 4 * c.knobs.micro_batch * (d + round_up(tokens, CELL_STEP) * users)
    return int(4 * vocabulary * slots_of(c, users) + inputs * (3 if c.plan.gpus > 1 else 1))
