"""The arithmetic: one Configuration in, one Estimate out. PURE: no Django, no database, no files, no clock."""

from calculator.estimation.capacity import memory_curves
from calculator.estimation.estimate import estimate

__all__ = ["estimate", "memory_curves"]
