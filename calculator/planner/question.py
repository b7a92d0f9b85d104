"""What the planner leaves open of a question, and the verdicts that it sorts by. PURE."""

from __future__ import annotations

from calculator.estimation.terms import Verdict
from calculator.scenario import DEFAULTS, Scenario

WORKS: tuple[Verdict, ...] = ("fits", "tight", "offload")
"""Verdicts of what runs."""

RANK: tuple[Verdict, ...] = ("fits", "tight", "offload", "does_not_fit", "unsupported")
"""Verdicts in the order of lists."""

MOVING = ("ctx", "users", "prompt", "output", "prefix")
"""Parameters that a settled question leaves open: its workload."""


def on_devices_alone(scenario: Scenario) -> Scenario:
    """The question with everything on the devices and the plan left to the engine: another count needs another plan, and
    offload is a way out of its own."""
    return scenario.replace(tp=None, pp=None, split="auto", offload="none", ngl=None, ncmoe=None)


def without_workload(scenario: Scenario) -> Scenario:
    """The question with the default workload, unless a setting of the engine follows context or users."""
    if scenario.maxlen is not None or scenario.seqs is not None:
        return scenario
    return scenario.replace(**{name: DEFAULTS[name] for name in MOVING})


def unmoved(scenario: Scenario) -> Scenario:
    """The question without hardware and workload: one `Settling` answers all that agree in it."""
    return without_workload(on_devices_alone(scenario)).replace(gpu=DEFAULTS["gpu"], n=1)
