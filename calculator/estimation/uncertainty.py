"""Central 90 % intervals: how terms get one and how they add up (formulas §10). PURE."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from typing import Any

import numpy as np

from calculator.estimation.terms import Basis, Factor, Interval, Term
from catalog.records import Constant

Z_90 = 1.645
"""Half-width of the central 90 % of a normal distribution in standard deviations."""


def exact(
    code: str, value: Any, factors: Mapping[str, Any], source: str = "", basis: Basis = "exact"
) -> Term:
    """A term without an interval."""
    return Term(code, value, value, value, basis, factors, source)


def around(code: str, value: Any, constant: Constant, factors: Mapping[str, Any]) -> Term:
    """A calibrated term: the constant's relative interval around a value that is proportional to it."""
    low, high = constant.low / constant.value, constant.high / constant.value
    return Term(code, value, value * low, value * high, "calibrated", factors, constant.source)


def constant_term(
    code: str, constant: Constant, unit_bytes: int, factors: Mapping[str, Factor] | None = None
) -> Term:
    """A calibrated constant itself as a term [B]."""
    named = {"value": constant.value, "cases": constant.cases or 0, **(factors or {})}
    return Term(
        code,
        int(constant.value * unit_bytes),
        constant.low * unit_bytes,
        constant.high * unit_bytes,
        "calibrated",
        named,
        constant.source,
    )


def quadrature(figures: Iterable[tuple[float, float, float]]) -> tuple[float, float]:
    """(low, high) of a sum of independent (value, low, high): half-widths add in quadrature on each side."""
    value = below = above = 0.0
    for middle, low, high in figures:
        value += middle
        below += (middle - low) ** 2
        above += (high - middle) ** 2
    return value - math.sqrt(below), value + math.sqrt(above)


def total(terms: Iterable[Term]) -> Interval:
    """The sum of independent terms: values add up, half-widths add in quadrature on each side."""
    value: Any = 0
    below: Any = 0.0
    above: Any = 0.0
    for term in terms:
        value = value + term.value
        if term.basis != "exact":
            below = below + (term.value - term.low) ** 2
            above = above + (term.high - term.value) ** 2
    if isinstance(below, np.ndarray) or isinstance(above, np.ndarray):
        return Interval(value, value - np.sqrt(below), value + np.sqrt(above))
    return Interval(value, value - math.sqrt(below), value + math.sqrt(above))
