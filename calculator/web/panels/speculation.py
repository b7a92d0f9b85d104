"""Whether drafts are asked for and possible, and what they may gain."""

from __future__ import annotations

from calculator.estimation.configuration import Configuration
from calculator.estimation.terms import Estimate, Speculation
from calculator.estimation.throughput import speculated
from calculator.web.answer import Answer

SERVERS = ("vllm", "sglang", "tensorrt-llm")
"""Engine families that draft with the model's own prediction."""


def drafts_possible(c: Configuration) -> bool:
    """Whether the model can draft its own tokens on this engine."""
    return bool(c.model.architecture.extra_parameters("mtp")) and c.engine.family in SERVERS


def speculation_of(estimate: Estimate, acceptance: float | None = None) -> Speculation | None:
    """What the drafted tokens of the question may gain; None without drafts, or without a speed."""
    c = estimate.configuration
    if estimate.speed is None or not drafts_possible(c):
        return None
    return speculated(c, estimate.speed, acceptance=acceptance)


def speculation_for(answer: Answer) -> Speculation | None:
    """The same with the acceptance that the question gives."""
    return speculation_of(answer.estimate, answer.scenario.accept)
