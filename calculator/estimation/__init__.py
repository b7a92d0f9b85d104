"""The arithmetic: one Configuration in, one Estimate out. PURE: no Django, no database, no files, no clock."""

from calculator.estimation.capacity import memory_curves
from calculator.estimation.estimate import estimate, kind_not_computed, verdict_of

__all__ = ["estimate", "kind_not_computed", "memory_curves", "verdict_of"]
