"""How fast and at what power: decode, prompts, many users, curves (formulas §7). PURE: one Configuration in, figures out."""

from calculator.estimation.throughput.curves import (
    PromptCurve,
    SpeedCurve,
    UsersCurve,
    most_users_within,
    prompt_curve,
    speed_curve,
    users_curve,
)
from calculator.estimation.throughput.energy import energy_of
from calculator.estimation.throughput.grounds import grounds_of
from calculator.estimation.throughput.speculation import speculated
from calculator.estimation.throughput.speed import missing_for_speed, speed_of

__all__ = [
    "PromptCurve",
    "SpeedCurve",
    "UsersCurve",
    "energy_of",
    "grounds_of",
    "missing_for_speed",
    "most_users_within",
    "prompt_curve",
    "speculated",
    "speed_curve",
    "speed_of",
    "users_curve",
]
