"""How fast this device really goes under this engine: each rate is a product of calibrated constants (formulas §7).

The constants come with the Configuration; which of them apply depends on the weights format, flash attention and the
rate that the engine's kernels compute at. PURE.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import lru_cache
from typing import Any

from calculator.estimation.configuration import Configuration, Keyed
from calculator.estimation.throughput.compute import compute_rate
from catalog.records import Constant, WeightsFormat

LOW_BITS = 4.0
"""GGUF types below so many bits have slower kernels (Q3_K, IQ3 …)."""

FOUR_BIT_FLOATS = ("nvfp4",)
"""Formats whose kernels unpack block scales of 16 elements."""

PLAIN_IN_A_MIX = ("ud-q8_k_xl",)
"""A publisher's mix that is named after K types and holds plain blocks of 8 bits."""

MICRO = 1e-6


@dataclass(frozen=True, slots=True)
class Rates:
    """What a device reaches under an engine. Every field may be an array over configurations.

    weights, cache: share of the peak bandwidth when weights and cache are read. experts: the same for routed experts,
    relative to `weights`. attention: share of the 16-bit rate that decode attention reaches. dense_layer_s, moe_layer_s,
    recurrent_layer_s, latent_layer_s (added for a recurrent mixer, for a latent cache), tensor_layer_s (added with tensor parallelism): fixed cost of a layer
    in a step. step_s, request_s: of a step, of each further request in it. hop: share by which each further device of a
    layer split slows a step. compute: share of the peak compute rate. prompt_attention: share of the 16-bit rate that
    prompt attention reaches. prompt_layer_s: fixed cost of a layer per chunk of a prompt. prompt_base_s: of a prompt.
    prompt_queue: share of the
    modelled wait for other prompts that is seen. prompt_wave: how far requests arrive together instead of evenly, 0 … 1. prompt_pipeline: exponent of the gain from
    stages that work on different chunks. interference: share of the others' prompt work that delays decoding.
    """

    weights: Any
    experts: Any
    cache: Any
    attention: Any
    dense_layer_s: Any
    moe_layer_s: Any
    recurrent_layer_s: Any
    latent_layer_s: Any
    tensor_layer_s: Any
    step_s: Any
    request_s: Any
    hop: Any
    compute: Any
    prompt_attention: Any
    prompt_layer_s: Any
    prompt_base_s: Any
    prompt_queue: Any
    prompt_wave: Any
    prompt_pipeline: Any
    interference: Any


UNITS: Mapping[str, float] = {
    field.name: MICRO if field.name.endswith("_s") else 1.0 for field in fields(Rates)
}
"""Constants of a duration are kept in microseconds."""


def weight_kernels(weights_format: WeightsFormat, *, moe: bool) -> list[str]:
    """What a format's kernels reach beside those of plain 8-bit and 4-bit blocks, as names of factors.

    GGUF's K and IQ types unpack super-blocks of 256 weights with scales of their own, the smaller ones more of it. Of
    a model with experts, NVFP4 holds the experts alone in 4 bits.
    """
    identity, family = weights_format.id, weights_format.family
    if family == "float" or identity in ("mlx-bf16", "mlx-fp16"):
        return ["speed_weights_float"]
    if identity in FOUR_BIT_FLOATS:
        return ["speed_weights_float" if moe else "speed_weights_fp4"]
    if family != "gguf" or identity in PLAIN_IN_A_MIX or not ("_k" in identity or "iq" in identity):
        return []
    low = (weights_format.bits_nominal or 8) < LOW_BITS
    return ["speed_weights_k", "speed_weights_low_bits"] if low else ["speed_weights_k"]


def constant_names(c: Configuration) -> dict[str, tuple[str, ...]]:
    """The calibrated constants whose product is each field of `Rates`, for this configuration."""
    weights = ["speed_weights", *weight_kernels(c.weights_format, moe=c.model.architecture.is_moe)]
    experts = ["speed_experts"]
    if c.weights_format.id in FOUR_BIT_FLOATS:
        experts.append("speed_experts_fp4")
    suffix = "" if c.knobs.flash_attention else "_plain"
    rate = compute_rate(c) or "fp16"
    moe = ("speed_compute_moe",) if c.model.architecture.is_moe else ()
    return {
        "weights": tuple(weights),
        "experts": tuple(experts),
        "cache": (f"speed_cache{suffix}",),
        "attention": (f"speed_attention{suffix}",),
        "dense_layer_s": ("speed_layer",),
        "moe_layer_s": ("speed_layer", "speed_layer_moe"),
        "recurrent_layer_s": ("speed_layer_recurrent",),
        "latent_layer_s": ("speed_layer_latent",),
        "tensor_layer_s": ("speed_layer_tensor",),
        "step_s": ("speed_step",),
        "request_s": ("speed_request",),
        "hop": ("speed_hop",),
        "compute": ("speed_compute", f"speed_compute_{rate}", *moe),
        "prompt_attention": (f"speed_prompt_attention{suffix}",),
        "prompt_layer_s": ("speed_prompt_layer",),
        "prompt_base_s": ("speed_prompt_base",),
        "prompt_queue": ("speed_prompt_queue",),
        "prompt_wave": ("speed_prompt_wave",),
        "prompt_pipeline": ("speed_prompt_pipeline",),
        "interference": ("speed_interference",),
    }


def rates_from(names: Mapping[str, tuple[str, ...]], values: Mapping[str, Any]) -> Rates:
    """The rates for given values of the constants."""
    return Rates(
        **{
            field: math.prod((values[name] for name in own), start=UNITS[field])
            for field, own in names.items()
        }
    )


@lru_cache(maxsize=4096)
def _remembered(machine: Keyed) -> Rates:
    c = machine.configuration
    return rates_from(constant_names(c), _Values(c.constants))


def rates_of(c: Configuration) -> Rates:
    """The rates of a configuration, from its own constants; remembered for its machine."""
    return _remembered(Keyed(c.machine, c))


class _Values(dict[str, float]):
    """The values of constants by name."""

    def __init__(self, constants: Mapping[str, Constant]) -> None:
        super().__init__()
        self._constants = constants

    def __missing__(self, name: str) -> float:
        return self._constants[name].value
