"""The curves of memory against context: the present cache type and the ones a visitor would compare it with."""

from __future__ import annotations

from calculator.estimation import memory_curves
from calculator.estimation.terms import MemoryCurve
from calculator.resolve import cache_types_for
from calculator.web.answer import Answer

MOST_CURVES = 3
POINTS = 25
USUAL = ("bf16", "fp8", "q8_0", "q4_0", "mlx-8bit", "mlx-4bit")
"""Compared first, in the order of the curves, so that a curve keeps its colour when another type is chosen."""


def curves_of(answer: Answer) -> tuple[MemoryCurve, ...]:
    """One curve for each of up to three cache types, the present one always among them."""
    configuration = answer.estimate.configuration
    offered = cache_types_for(answer.resolved)
    chosen = [cache_type for cache_type in USUAL if cache_type in offered][:MOST_CURVES]
    if configuration.cache_type not in chosen:
        chosen = [*chosen[: MOST_CURVES - 1], configuration.cache_type]
    return memory_curves(configuration, tuple(chosen), points=POINTS)
