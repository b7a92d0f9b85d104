"""The arithmetic: one Configuration in, one Estimate out. PURE: no Django, no database, no files, no clock."""

from calculator.estimation.capacity import memory_curves
from calculator.estimation.estimate import estimate, least_gpus, verdict_of

__all__ = ["estimate", "least_gpus", "memory_curves", "verdict_of"]
