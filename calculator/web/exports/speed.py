"""Speed, energy and sweeps as JSON and as rows: the same figures that the page shows, with their intervals."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from calculator.estimation.terms import Energy, Estimate, Interval, Speculation, Speed
from calculator.estimation.throughput import grounds_of
from calculator.planner.sweep import Point, sweep
from calculator.web.answer import Answer, permalink
from calculator.web.panels.latency import most_users_of
from calculator.web.panels.speculation import speculation_for
from calculator.web.wording.reasons import reason_words
from calculator.web.wording.speed import ground_words

FIGURES = (
    "decode_tokens_per_s_per_user",
    "decode_tokens_per_s_total",
    "served_output_tokens_per_s",
    "prefill_tokens_per_s",
    "ttft_ms",
    "tpot_ms",
    "request_s",
)
"""Figures of speed in the order of the contract, each with its interval."""

_DIGITS = 6


def plain_number(value: float) -> float:
    """A figure with six significant digits: more than anything is known to, and the same on every machine."""
    return float(f"{value:.{_DIGITS}g}")


def interval_json(interval: Interval | None) -> dict[str, float] | None:
    """Value and the ends of the central 90 % interval."""
    if interval is None:
        return None
    ends = (("value", interval.value), ("low", interval.low), ("high", interval.high))
    return {name: plain_number(value) for name, value in ends}


def figures_json(speed: Speed) -> dict[str, Any]:
    """The figures and what bounds a decode step."""
    return {**{name: interval_json(getattr(speed, name)) for name in FIGURES}, "bound_by": speed.bound_by}


def speed_json(answer: Answer) -> dict[str, Any] | None:
    """The object `speed` of an answer: figures, what a step is spent on, what drafts may gain, and why."""
    estimate = answer.estimate
    speed = estimate.speed
    if speed is None:
        return None
    grounds = grounds_of(estimate.configuration, speed, estimate.energy)
    speculation = speculation_for(answer)
    return {
        **figures_json(speed),
        "step_ms": {name: plain_number(part) for name, part in speed.step_ms.items()},
        "decoding_users": plain_number(speed.decoding_users),
        "prompt_share": plain_number(speed.prompt_share),
        "measured_cases": speed.cases,
        "most_users_within_targets": most_users_of(answer),
        "speculation": _speculation_json(speculation) if speculation else None,
        "explanations": {
            name: ground_words(found, answer.units) for name, found in grounds.items() if name != "energy"
        },
    }


def _speculation_json(speculation: Speculation) -> dict[str, Any]:
    return {
        "drafted_tokens": speculation.drafted_tokens,
        "acceptance": plain_number(speculation.acceptance),
        "tokens_per_step": plain_number(speculation.tokens_per_step),
        "ceiling": plain_number(speculation.ceiling),
        "gain": interval_json(speculation.gain),
        "decode_tokens_per_s_per_user": interval_json(speculation.decode_tokens_per_s_per_user),
    }


def energy_json(answer: Answer) -> dict[str, Any] | None:
    """The object `energy`: power of the machine under this load [W], and energy of a generated token [J]."""
    estimate = answer.estimate
    energy, speed = estimate.energy, estimate.speed
    if energy is None or speed is None:
        return None
    grounds = grounds_of(estimate.configuration, speed, energy)
    return {
        **_power_json(energy),
        "watts_per_gpu": plain_number(energy.watts_per_gpu),
        "idle_watts": plain_number(energy.idle_watts) if energy.idle_watts is not None else None,
        "explanation": ground_words(grounds.get("energy", ()), answer.units),
    }


def _power_json(energy: Energy) -> dict[str, Any]:
    return {
        "watts": plain_number(energy.watts),
        "watts_low": plain_number(energy.watts_low),
        "watts_high": plain_number(energy.watts_high),
        "joules_per_output_token": interval_json(energy.joules_per_output_token),
    }


def gaps(answer: Answer) -> list[str]:
    """Which figure of the device is missing for its speed or its power."""
    return [reason_words(reason, answer.units) for reason in answer.estimate.speed_reasons]


# --- sweeps -----------------------------------------------------------------------------------------------------------


def points_of(answer: Answer, over: str) -> Iterator[Point]:
    """The answers at every value of one parameter."""
    capacity = answer.estimate.capacity
    return sweep(answer.resolved, over, capacity.max_users if capacity else 0, answer.snapshot)


def point_json(point: Point, units: str) -> dict[str, Any]:
    """Memory, speed and energy at one value; null where there is none, with the reasons."""
    estimate = point.estimate
    memory = estimate.memory
    reasons = (*estimate.reasons, *estimate.speed_reasons)
    return {
        "value": point.value,
        "permalink": permalink(point.scenario),
        "verdict": estimate.verdict,
        "reasons": [reason_words(reason, units) for reason in reasons],
        "memory": _memory_json(estimate) if memory else None,
        "speed": figures_json(estimate.speed) if estimate.speed else None,
        "energy": _power_json(estimate.energy) if estimate.energy else None,
    }


def _memory_json(estimate: Estimate) -> dict[str, Any]:
    memory = estimate.memory
    assert memory is not None
    needed = memory.needed
    return {
        "total_bytes": memory.total_bytes,
        "per_gpu_bytes": {"value": int(needed.value), "low": round(needed.low), "high": round(needed.high)},
        "usable_per_gpu_bytes": int(memory.limit.usable.value),
        "headroom_per_gpu_bytes": memory.headroom_bytes,
        "host_bytes": memory.host_bytes,
    }
