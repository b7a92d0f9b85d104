"""What is fitted of the speed model, from where it starts, and how far classes of devices may differ. PURE.

A constant is the product of a factor common to a pool of engines and factors of the back end, the kind of device and its
architecture. Each factor is drawn to 1, so that a class with few measurements stays near its relatives.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

POOLS: Mapping[str, str] = {
    "llama.cpp": "local",
    "mlx": "mlx",
    "exllama": "exllama",
    "vllm": "server",
    "sglang": "server",
    "tensorrt-llm": "server",
}
"""Engines whose constants are fitted together, by the family that their constants belong to."""


OLD_BUILDS: Mapping[str, str] = {"llama.cpp": "b3100"}
"""Families of engines whose builds before this one launched their kernels and multiplied prompts otherwise: CUDA graphs,
fused attention and the integer kernels for quantized prompts came about then."""


@dataclass(frozen=True, slots=True)
class Prior:
    """start: the value before any measurement, in the unit of the constant. spread: how far the pool's own factor may lie
    from 1, class_spread: the factor of each class, both in logarithms. depth: 0 the pool alone, 1 back end, 2 kind of
    device, 3 architecture, 4 the engine beside them. most: the largest value that is physical. ages: old
    builds (`OLD_BUILDS`) have a factor of their own."""

    start: float
    spread: float
    class_spread: float
    depth: int
    unit: str = "share"
    most: float = float("inf")
    ages: bool = False


COMMON: Mapping[str, Prior] = {
    "speed_weights": Prior(0.85, 0.06, 0.2, 3, most=0.97),
    "speed_weights_float": Prior(1.0, 0.05, 0.1, 2),
    "speed_weights_k": Prior(0.97, 0.08, 0.06, 2),
    "speed_weights_low_bits": Prior(0.93, 0.05, 0.05, 1),
    "speed_weights_fp4": Prior(0.9, 0.15, 0.2, 2),
    "speed_experts": Prior(0.9, 0.15, 0.2, 3),
    "speed_experts_fp4": Prior(0.8, 0.3, 0.4, 2),
    "speed_cache": Prior(0.6, 0.3, 0.3, 3, most=1.0),
    "speed_cache_plain": Prior(0.35, 0.3, 0.3, 2, most=1.0),
    "speed_attention": Prior(0.06, 0.7, 0.5, 3, most=1.0),
    "speed_attention_plain": Prior(0.5, 0.5, 0.3, 2, most=1.0),
    "speed_layer": Prior(70.0, 0.5, 0.35, 3, "µs", ages=True),
    "speed_layer_moe": Prior(1.3, 0.4, 0.4, 3, "factor"),
    "speed_layer_recurrent": Prior(40.0, 0.7, 0.4, 2, "µs"),
    "speed_layer_latent": Prior(30.0, 0.7, 0.4, 2, "µs"),
    "speed_layer_tensor": Prior(20.0, 0.7, 0.4, 3, "µs"),
    "speed_step": Prior(100.0, 0.7, 0.3, 2, "µs"),
    "speed_request": Prior(8.0, 0.7, 0.4, 2, "µs"),
    "speed_hop": Prior(0.01, 0.7, 0.7, 2),
    "speed_compute": Prior(0.3, 0.4, 0.35, 3, most=1.0),
    "speed_compute_fp16": Prior(1.0, 0.2, 0.25, 2, "factor"),
    "speed_compute_int8": Prior(1.0, 0.2, 0.25, 2, "factor", ages=True),
    "speed_compute_fp8": Prior(1.0, 0.2, 0.25, 2, "factor"),
    "speed_compute_fp4": Prior(0.6, 0.3, 0.25, 2, "factor"),
    "speed_compute_moe": Prior(0.6, 0.3, 0.3, 3, "factor"),
    "speed_prompt_attention": Prior(0.2, 0.5, 0.4, 3, most=1.0),
    "speed_prompt_attention_plain": Prior(0.12, 0.5, 0.4, 2, most=1.0),
    "speed_prompt_layer": Prior(80.0, 0.3, 0.2, 2, "µs"),
    "speed_prompt_base": Prior(5000.0, 0.7, 0.5, 2, "µs"),
    "speed_prompt_queue": Prior(0.6, 0.4, 0.3, 2, most=1.0),
    "speed_prompt_wave": Prior(0.2, 0.5, 0.4, 2, most=1.0),
    "speed_prompt_pipeline": Prior(0.8, 0.15, 0.1, 1, "exponent", most=1.0),
    "speed_interference": Prior(1.0, 0.2, 0.2, 2, "factor"),
}

SERVER: Mapping[str, Prior] = {
    "speed_cache": replace(COMMON["speed_cache"], start=0.7, spread=0.2),
    "speed_attention": replace(COMMON["speed_attention"], start=0.3),
    "speed_prompt_base": Prior(50_000.0, 0.5, 0.4, 4, "µs"),
    "speed_layer": replace(COMMON["speed_layer"], depth=4),
}

PRIORS: Mapping[str, Mapping[str, Prior]] = {
    pool: {**COMMON, **(SERVER if pool == "server" else {})} for pool in dict.fromkeys(POOLS.values())
}
"""The priors of every constant by pool."""
