"""vLLM: a budget taken at start, paged caches, hybrid pools (formulas §3.3, §4.1, §4.2). PURE."""

from __future__ import annotations

from functools import lru_cache
from typing import Any

import numpy as np

from calculator.estimation.configuration import Configuration
from calculator.estimation.devices import physical_bytes, process_total, usable_memory
from calculator.estimation.engines import vllm_cache
from calculator.estimation.engines.acceptance import cache_types, device_refusal, format_refusal
from calculator.estimation.engines.shared import rotary_term
from calculator.estimation.numbers import ceil_div, least, most
from calculator.estimation.placement import Stage, pipeline_layers, stages
from calculator.estimation.terms import Interval, Limit, Reason, Term
from calculator.estimation.uncertainty import around, constant_term, exact
from catalog.architecture.csa import Csa
from catalog.architecture.gqa import Gqa
from catalog.architecture.kinds import Parallel
from catalog.architecture.linear_attention import GatedDeltaNet, Kda, Lightning
from catalog.architecture.mla import Mla
from catalog.architecture.mlp import DenseMlp, MoeMlp
from catalog.architecture.state_space import Mamba1, Mamba2
from catalog.records import GIB, MIB, normal_class

Pages = vllm_cache.Pages
entry_layout = vllm_cache.entry_layout
pages_of = vllm_cache.pages_of
pool_block_bytes = vllm_cache.pool_block_bytes
printed_tokens = vllm_cache.printed_tokens
stage_cache = vllm_cache.stage_cache
state_widths = vllm_cache.state_widths

VOCABULARY_STEP = 64
"""Embedding and head are padded to a multiple of this many tokens (vllm-project/vllm:vocab_parallel_embedding.py)."""


def embedding_on_host(configuration: Configuration) -> bool:
    return False


# --- what it refuses -------------------------------------------------------------------------------------------------


def deal_layers(layer_count: int, stages_count: int) -> tuple[int, ...]:
    return pipeline_layers(layer_count, stages_count)


def refusals(configuration: Configuration) -> tuple[Reason, ...]:
    """What vLLM refuses: devices, formats, cache types, and sizes that do not divide (formulas §5.1)."""
    c, name = configuration, configuration.engine.name
    out: list[Reason] = []
    if refused := device_refusal(c.engine, c.accelerator, c.backend):
        out.append(refused)
    if refused := format_refusal(c.engine, c.weights_format, c.accelerator, c.model):
        out.append(refused)
    if c.cache_type not in cache_types(c.engine, c.model, c.accelerator):
        out.append(Reason("cache_type_not_in_engine", {"engine": name, "cache_type": c.cache_type}))
    plan = c.plan
    if plan.gpus != c.count:
        out.append(Reason("plan_does_not_multiply", {"tp": plan.tp, "pp": plan.pp, "gpus": c.count}))
    out += _pipeline_refusals(c) + _group_refusals(c)
    if plan.attention_ranks > 1:
        out += tensor_refusals(c, plan.attention_ranks)
    return tuple(out)


def _group_refusals(c: Configuration) -> list[Reason]:
    """Attention groups must divide the GPUs of a stage; the cache of a request is divided only as far as heads allow
    (formulas §5.1): MLA by any divisor of TP, KV heads only once they are repeated."""
    plan, engine = c.plan, c.engine.name
    if plan.tp % plan.adp:
        return [Reason("attention_groups_not_divisible", {"engine": engine, "tp": plan.tp, "adp": plan.adp})]
    if plan.dcp == 1:
        return []
    ways = plan.attention_ranks
    allowed = ways % plan.dcp == 0
    for block in c.model.architecture.blocks:
        if isinstance(block.mixer, Gqa):
            g = block.mixer.kv_heads
            allowed = (
                allowed and ways > g and plan.dcp <= ways // g and (block.mixer.heads // g) % plan.dcp == 0
            )
    if allowed:
        return []
    return [Reason("context_groups_not_divisible", {"engine": engine, "tp": ways, "dcp": plan.dcp})]


def _pipeline_refusals(c: Configuration) -> list[Reason]:
    if c.plan.pp == 1:
        return []
    layers = c.model.architecture.layer_count
    if c.plan.pp > layers:
        return [
            Reason("more_stages_than_layers", {"engine": c.engine.name, "pp": c.plan.pp, "layers": layers})
        ]
    if normal_class(c.model.class_name) in c.engine.without_pipeline:
        return [Reason("no_pipeline", {"engine": c.engine.name, "class_name": c.model.class_name})]
    return []


def tensor_refusals(c: Configuration, tp: int) -> list[Reason]:
    """Why the model cannot be divided `tp` ways: query heads, KV heads, state heads, quantized widths."""
    engine = c.engine.name
    for block in c.model.architecture.blocks:
        for mixer in block.mixer.parts if isinstance(block.mixer, Parallel) else (block.mixer,):
            if refused := _mixer_refusals(mixer, engine, tp):
                return refused
        group = _split_group(c)
        for width in _widths(block.mlp):
            if width % tp or (width // tp) % group:
                return [
                    Reason(
                        "width_not_divisible", {"engine": engine, "width": width, "tp": tp, "block": group}
                    )
                ]
    return []


def _mixer_refusals(mixer: object, engine: str, tp: int) -> list[Reason]:
    if isinstance(mixer, (Gqa, Mla, Csa)) and mixer.heads % tp:
        return [Reason("heads_not_divisible", {"engine": engine, "heads": mixer.heads, "tp": tp})]
    if isinstance(mixer, Gqa):
        heads = mixer.kv_heads
        if (heads % tp) if tp <= heads else (tp % heads):
            return [Reason("kv_heads_not_divisible", {"engine": engine, "kv_heads": heads, "tp": tp})]
    for heads in _state_heads(mixer):
        if heads % tp:
            return [Reason("state_heads_not_divisible", {"engine": engine, "heads": heads, "tp": tp})]
    return []


def _state_heads(mixer: object) -> tuple[int, ...]:
    if isinstance(mixer, (GatedDeltaNet, Kda)):
        return (mixer.key_heads, mixer.value_heads)
    if isinstance(mixer, Mamba1):
        return (mixer.inner,)
    return (mixer.heads,) if isinstance(mixer, (Mamba2, Lightning)) else ()


def _widths(mlp: object) -> tuple[int, ...]:
    if isinstance(mlp, DenseMlp):
        return (mlp.intermediate,)
    return (mlp.expert_intermediate,) if isinstance(mlp, MoeMlp) else ()


def _split_group(c: Configuration) -> int:
    """Weights per quantization group along the split axis: a shard must hold whole groups."""
    groups = c.engine.rules.get("quantized_split_groups", {})
    name = c.weights_format.id
    if name == "native":
        return {"fp8": 128, "int4-experts": 32, "mxfp8": 32}.get(c.model.native_format or "", 1)
    return int(groups.get(name, groups.get(name.split("-")[0], 1)))


# --- the budget -------------------------------------------------------------------------------------------------------


def limit(configuration: Configuration) -> Limit | None:
    """U × the process's total memory, never more than the platform leaves (formulas §4.2)."""
    c = configuration
    usable = usable_memory(c.accelerator, c.platform)
    physical = physical_bytes(c.accelerator)
    if usable is None or physical is None:
        return None
    total, rule = usable
    base = process_total(c.accelerator, c.platform) or physical
    share = c.knobs.memory_share
    asked = share * base
    factors = {"share": share, "process_bytes": base}
    if asked <= total.value:
        half = (total.high - total.low) / 2 * share if not c.accelerator.unified else 0.0
        return Limit(
            Interval(asked, asked - half, asked + half), physical, 0, Reason("engine_share", factors)
        )
    return Limit(total, physical, 0, rule)


def occupied(configuration: Configuration, needed_bytes: int, memory_limit: Limit) -> int:
    """What nvidia-smi shows: the budget is taken whole, and the context was in use before it (formulas §4.2)."""
    name = "in_use_one" if configuration.count == 1 else "in_use_many"
    context = configuration.constants[name].value * GIB
    stage = stages(configuration.model.architecture, configuration.plan.layers_per_stage)[0]
    beyond = sum(term.value for term in beyond_budget(configuration, stage, configuration.workload.users))
    return int(memory_limit.usable.value + context + beyond)


def beyond_budget(configuration: Configuration, stage: Stage, users: Any) -> list[Term]:
    """CUDA graphs up to 0.20: captured after the budget was shared out, and beside it (formulas §4.2)."""
    c = configuration
    return [] if c.knobs.eager or c.engine.rules.get("graphs_in_budget", True) else [_graphs(c, stage, users)]


def occupied_refusal(configuration: Configuration, occupied_bytes: int, memory_limit: Limit) -> Reason | None:
    """More is taken than the process can see: out of memory at capture. Names the largest share that works."""
    c = configuration
    total = process_total(c.accelerator, c.platform)
    if total is None or c.accelerator.unified or occupied_bytes <= total:
        return None
    before = occupied_bytes - memory_limit.usable.value
    largest = int((total - before) / total * 100) / 100
    factors = {"occupied_bytes": occupied_bytes, "total_bytes": total, "largest_share": largest}
    return Reason("occupied_over_process", factors)


# --- overhead ---------------------------------------------------------------------------------------------------------


def stage_overhead(configuration: Configuration, stage: Stage, tokens: Any, users: Any) -> list[Term]:
    """Activation peak, graphs and communication on one GPU of the stage [B] (formulas §4.1, §4.2)."""
    c = configuration
    out = _activations(c, stage, users) + rotary_term(c)
    if not c.knobs.eager and c.engine.rules.get("graphs_in_budget", True):
        out.append(_graphs(c, stage, users))
    name = (
        "non_torch_tensor" if c.plan.tp > 1 else ("non_torch_pipeline" if c.plan.pp > 1 else "non_torch_one")
    )
    out.append(constant_term("non_torch", c.constants[name], GIB, {"ranks": c.plan.tp}))
    if c.knobs.vision and stage.is_first and c.model.vision:
        weights = 2 * c.model.architecture.extra_parameters("vision")
        size = ceil_div(weights, c.plan.tp)
        out.append(
            exact("vision_encoder", size, {"weights": weights // 2, "ranks": c.plan.tp}, "§4.1", "rule")
        )
        out.append(constant_term("vision_graph", c.constants["vision_graph"], GIB))
    return out


def _activations(c: Configuration, stage: Stage, users: Any) -> list[Term]:
    """The peak of a forward pass: the sampler's logits or the widest layer, whichever is larger (formulas §4.2)."""
    k, d, vocabulary = c.knobs, c.model.architecture.hidden_size, c.model.architecture.vocabulary_size
    requests, batched = k.max_sequences or users, k.batched_tokens
    per_logit, fixed = c.constants["activation_logit"], c.constants["activation_fixed"]
    fixed_bytes = int(fixed.value * GIB)
    layers = int(2 * batched * (3 * stage.widest / c.plan.tp + 4.25 * d))
    factors = {"requests": requests, "vocabulary": vocabulary, "batched": batched, "hidden": d, "width": stage.widest, "ranks": c.plan.tp, "per_logit": per_logit.value, "fixed_bytes": fixed_bytes, "cases": per_logit.cases or 0}  # fmt: skip
    wide = c.constants["activation_layers_spread"]
    if stage.is_last:
        narrow = c.constants["activation_sampler_spread"]
        sampler = int(per_logit.value) * requests * vocabulary + 2 * batched * d + fixed_bytes
        peak = most(sampler, layers)
        low, high = (
            most(sampler * narrow.low, layers * wide.low),
            most(sampler * narrow.high, layers * wide.high),
        )
        code = "activation_layers" if isinstance(peak, int) and peak == layers else "activation_sampler"
        out = [Term(code, peak, low, high, "calibrated", factors, narrow.source)]
    else:
        out = [around("activation_layers", layers + fixed_bytes, wide, factors)]
    if stage.moe:
        out.append(constant_term("activation_moe", c.constants["activation_moe"], GIB))
    if c.model.architecture.kept_residual_block:
        kept = ceil_div(c.model.architecture.layer_count, c.model.architecture.kept_residual_block)
        named = {"batched": batched, "hidden": d, "kept": kept}
        out.append(
            around("activation_residuals", 2 * batched * d * kept, c.constants["activation_residuals"], named)
        )
    return out


@lru_cache(maxsize=8)
def capture_sizes(most_size: int) -> tuple[int, ...]:
    """{1, 2, 4} ∪ {8, 16, …, 248} ∪ {256, 272, …, most} (vllm-project/vllm:config/vllm.py)."""
    sizes = [1, 2, 4, *range(8, 256, 8), *range(256, most_size + 1, 16)]
    return tuple(size for size in sizes if size <= most_size)


def largest_capture(requests: Any, most_size: int) -> Any:
    """The largest batch size with a CUDA graph: min(2·R, most), down to a size of `capture_sizes`."""
    asked = least(2 * requests, most_size)
    if isinstance(asked, np.ndarray):
        sizes = np.array(capture_sizes(most_size))
        return sizes[np.searchsorted(sizes, asked, side="right") - 1]
    if asked >= 8:
        return asked // 16 * 16 if asked >= 256 else asked // 8 * 8
    return min(4, asked)


def _graphs(c: Configuration, stage: Stage, users: Any) -> Term:
    rules = c.engine.rules.get("largest_capture", {})
    most_size = int(
        rules.get("compute_capability_10" if 10 <= c.accelerator.capability < 11 else "most", 512)
    )
    requests = c.knobs.max_sequences or users
    size = largest_capture(requests, most_size)
    constant = c.constants["graphs_moe" if stage.moe else "graphs_dense"]
    factors = {
        "size": size,
        "mib_per_size": constant.value,
        "requests": requests,
        "cases": constant.cases or 0,
    }
    return around("graphs_capture", size * int(constant.value * MIB), constant, factors)


def host_bytes(configuration: Configuration, tokens: int, users: int) -> int:
    """vLLM keeps nothing of the model in host memory."""
    return 0
