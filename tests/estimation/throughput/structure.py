"""Rates without any calibration, for worked examples that state their own."""

import math

from calculator.estimation.throughput.rates import Rates

FREE = math.inf
"""A share that makes its term vanish."""


def rates(**given: float) -> Rates:
    """Rates with no overhead, no limit but the given ones, and the queue and the waves of requests switched off."""
    neutral = {
        "weights": 1.0,
        "experts": 1.0,
        "cache": 1.0,
        "attention": FREE,
        "dense_layer_s": 0.0,
        "moe_layer_s": 0.0,
        "recurrent_layer_s": 0.0,
        "latent_layer_s": 0.0,
        "tensor_layer_s": 0.0,
        "step_s": 0.0,
        "request_s": 0.0,
        "hop": 0.0,
        "compute": FREE,
        "prompt_attention": FREE,
        "prompt_layer_s": 0.0,
        "prompt_base_s": 0.0,
        "prompt_queue": 0.0,
        "prompt_wave": 0.0,
        "prompt_pipeline": 1.0,
        "interference": 1.0,
    }
    return Rates(**{**neutral, **given})
