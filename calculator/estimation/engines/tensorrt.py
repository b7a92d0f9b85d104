"""TensorRT-LLM: the cache gets a fraction of what is free after loading (formulas §3.3, §4.1, §4.4). PURE."""

from __future__ import annotations

from typing import Any

from calculator.estimation.cache import entry_bytes, index_key_bytes
from calculator.estimation.configuration import Configuration
from calculator.estimation.devices import process_total
from calculator.estimation.engines import vllm
from calculator.estimation.engines.shared import (
    FLOAT_STATE,
    acceptance_refusals,
    dense,
    nothing_beyond,
    plain_block_bytes,
    plain_tokens,
    plan_refusals,
    process_terms,
    state_terms,
    token_terms,
    vision_terms,
    whole_device,
)
from calculator.estimation.numbers import ceil_div, least
from calculator.estimation.placement import Stage, pipeline_layers
from calculator.estimation.terms import Limit, Reason, Term
from calculator.estimation.uncertainty import around, constant_term, exact
from catalog.architecture import CacheEntry, StateEntry
from catalog.records import GIB, MIB

tensor_refusals = vllm.tensor_refusals

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
    c = configuration
    out = acceptance_refusals(c) + plan_refusals(c)
    if c.plan.attention_ranks > 1:
        out += tensor_refusals(c, c.plan.attention_ranks)
    return tuple(out)


def limit(configuration: Configuration) -> Limit | None:
    """The whole device: what the fraction leaves free is a term of the sum."""
    return whole_device(configuration)


def free_share(c: Configuration) -> float:
    """The fraction of the memory that is free after loading which the cache takes."""
    return c.knobs.memory_share


def occupied(configuration: Configuration, needed_bytes: int, memory_limit: Limit) -> int:
    """The pool takes its fraction of all that loading leaves free, whatever is asked; what it leaves is the rest.

    needed holds the cache and the unused share beside it, so the room above needed is divided alike.
    """
    room = max(0, int(memory_limit.usable.value) - needed_bytes)
    return needed_bytes + int(free_share(configuration) * room)


def occupied_refusal(configuration: Configuration, occupied_bytes: int, memory_limit: Limit) -> Reason | None:
    """A fraction of what is free never takes more than there is."""
    total = process_total(configuration.accelerator, configuration.platform)
    if total is None or configuration.accelerator.unified or occupied_bytes <= total:
        return None
    factors = {"occupied_bytes": occupied_bytes, "total_bytes": total, "largest_share": 0.9}
    return Reason("occupied_over_process", factors)


def host_bytes(configuration: Configuration, tokens: int, users: int) -> int:
    return 0


# --- cache ------------------------------------------------------------------------------------------------------------


def _layout(c: Configuration, entry: CacheEntry, ranks: int) -> tuple[int, int]:
    """Latents as wide as they are, also in 8 bits (576 B); keys of an index in 8 bits."""
    return entry_bytes(dense(entry), c.cache_type, ranks), index_key_bytes(entry, c.cache_type)


def entry_layout(configuration: Configuration, entry: CacheEntry) -> tuple[int, int]:
    return _layout(configuration, entry, 1)


def state_widths(configuration: Configuration, entry: StateEntry) -> tuple[int, int]:
    return FLOAT_STATE


def cells(c: Configuration, entry: CacheEntry, tokens: Any) -> Any:
    """Tokens of whole blocks; a window slides over one block more than it fills."""
    block = int(c.engine.rules.get("block_tokens", 32))
    blocks = ceil_div(tokens, block)
    if entry.window is not None:
        blocks = least(blocks, int(ceil_div(entry.window, block)) + 1)
    return blocks * block


def stage_cache(configuration: Configuration, stage: Stage, tokens: Any, users: Any) -> list[Term]:
    """Cache and state on one GPU, and the share of the free memory that the pool does not take [B]."""
    c, share = configuration, free_share(configuration)
    out = token_terms(c, stage, tokens, users, lambda entry, t: cells(c, entry, t), _layout)
    out += state_terms(c, stage, users)
    cached: Any = sum(term.value for term in out)
    left = cached / share - cached
    unused = left.astype("int64") if hasattr(left, "astype") else int(left)
    return [*out, exact("free_left", unused, {"share": share, "cache_bytes": cached}, "§4.4")]


# --- overhead ---------------------------------------------------------------------------------------------------------


def stage_overhead(configuration: Configuration, stage: Stage, tokens: Any, users: Any) -> list[Term]:
    """The dry run's activations, CUDA graphs, context and NCCL [B]: nobody measured the first two here."""
    c, d = configuration, configuration.model.architecture.hidden_size
    requests, batched = c.knobs.max_sequences or users, c.knobs.batched_tokens
    wide = c.constants["activation_layers_spread"]
    layers = int(2 * batched * (3 * stage.widest / c.plan.tp + 4.25 * d))
    factors = {"batched": batched, "hidden": d, "width": stage.widest, "ranks": c.plan.tp}
    out = [around("activation_layers", layers, wide, factors)]
    if stage.is_last:
        vocabulary = c.model.architecture.vocabulary_size
        named = {"requests": requests, "vocabulary": vocabulary}
        out.append(exact("logits", 4 * requests * vocabulary, named, "§4.2", "rule"))
    if stage.moe:
        out.append(constant_term("activation_moe", c.constants["activation_moe"], GIB))
    if not c.knobs.eager:
        graphs = c.constants["graphs"]
        size = least(requests, int(c.engine.rules.get("largest_capture", 2048)))
        shown = {"size": size, "mib_per_size": graphs.value, "requests": requests, "cases": 0}
        out.append(around("graphs_capture", size * int(graphs.value * MIB), graphs, shown))
    return [*out, *process_terms(c), *vision_terms(c, stage)]
