"""Integer helpers that take numbers or NumPy arrays and return the same kind."""

from __future__ import annotations

import math
from typing import Any

import numpy as np


def ceil_div(value: Any, step: int) -> Any:
    """⌈value ÷ step⌉ in integers."""
    return -(-value // step)


def round_up(value: Any, step: int) -> Any:
    """value rounded up to a multiple of step: ⌈x⌉ₙ of formulas §0."""
    return -(-value // step) * step


def least(first: Any, second: Any) -> Any:
    """The smaller of two values, element by element for arrays."""
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return np.minimum(first, second)
    return min(second, first)


def ceil(value: Any) -> Any:
    """⌈value⌉ of a number or of each element."""
    return np.ceil(value) if isinstance(value, np.ndarray) else math.ceil(value)


def root(value: Any) -> Any:
    """√value of a number or of each element."""
    return np.sqrt(value) if isinstance(value, np.ndarray) else math.sqrt(value)


def most(first: Any, second: Any) -> Any:
    """The larger of two values, element by element for arrays."""
    if isinstance(first, np.ndarray) or isinstance(second, np.ndarray):
        return np.maximum(first, second)
    return max(second, first)
