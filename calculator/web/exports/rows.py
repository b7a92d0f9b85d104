"""The answer as plain rows for other programs: bytes in full, dots as decimals."""

from __future__ import annotations

from calculator.estimation.terms import Interval
from calculator.estimation.throughput import grounds_of
from calculator.web.answer import Answer
from calculator.web.exports.speed import plain_number
from calculator.web.panels.memory import explanation
from calculator.web.panels.names import hardware_words
from calculator.web.panels.speed_chart import curve_of
from calculator.web.wording.speed import ground_words

HEAD = (
    "model",
    "hardware",
    "question",
    "part",
    "per_gpu_bytes",
    "low_bytes",
    "high_bytes",
    "all_gpus_bytes",
    "basis",
    "explanation",
)


def breakdown_rows(answer: Answer) -> list[tuple[object, ...]]:
    """The parts of memory, then their sum, each with the question it answers; without memory the head alone."""
    memory = answer.estimate.memory
    rows: list[tuple[object, ...]] = [HEAD]
    if memory is None:
        return rows
    configuration = answer.configuration
    hardware = hardware_words(configuration, answer.snapshot)
    asked = (configuration.model.name, hardware, answer.permalink())
    rows += [
        (
            *asked,
            part.name,
            part.per_gpu_bytes,
            round(part.low_bytes),
            round(part.high_bytes),
            part.total_bytes,
            part.basis,
            explanation(part, answer.units),
        )
        for part in memory.parts
    ]
    needed = memory.needed
    rows.append(
        (
            *asked,
            "needed",
            int(needed.value),
            round(needed.low),
            round(needed.high),
            memory.total_bytes,
            "",
            "",
        )
    )
    return rows


SPEED_HEAD = ("model", "hardware", "question", "figure", "value", "low", "high", "bound_by", "explanation")

SPEED_FIGURES = (
    ("decode_tokens_per_s_per_user", "decode"),
    ("decode_tokens_per_s_total", ""),
    ("served_output_tokens_per_s", ""),
    ("tpot_ms", ""),
    ("prefill_tokens_per_s", "prefill"),
    ("ttft_ms", "first_token"),
    ("request_s", "request"),
)
"""Figures of speed, each with the explanation that belongs to it."""


def speed_rows(answer: Answer) -> list[tuple[object, ...]]:
    """The figures of speed with their intervals, then power and energy; without a speed the head alone."""
    estimate = answer.estimate
    speed, energy = estimate.speed, estimate.energy
    out: list[tuple[object, ...]] = [SPEED_HEAD]
    if speed is None:
        return out
    configuration = estimate.configuration
    hardware = hardware_words(configuration, answer.snapshot)
    asked = (configuration.model.name, hardware, answer.permalink())
    grounds = grounds_of(configuration, speed, energy)

    def row(figure: str, interval: Interval, ground: str) -> tuple[object, ...]:
        ends = (plain_number(end) for end in (interval.value, interval.low, interval.high))
        bound = speed.bound_by if ground == "decode" else ""
        return (*asked, figure, *ends, bound, ground_words(grounds.get(ground, ()), answer.units))

    for name, ground in SPEED_FIGURES:
        interval = getattr(speed, name)
        if interval is not None:
            out.append(row(name, interval, ground))
    if energy is not None:
        out.append(row("watts", Interval(energy.watts, energy.watts_low, energy.watts_high), ""))
        out.append(row("joules_per_output_token", energy.joules_per_output_token, "energy"))
    return out


CURVES = {"ctx": "context", "users": "users", "prompt": "prompt"}
"""Curves of speed by the parameter that they go over."""


def curve_rows(answer: Answer, over: str) -> list[tuple[object, ...]]:
    """The points of a curve as the page draws them, with low and high ends; without a speed the head alone."""
    curve = curve_of(answer, CURVES[over])
    if curve is None:
        return [(over, "value", "low", "high")]
    columns = (curve.y, curve.low, curve.high, *curve.more.values())
    rows = zip(curve.x, *columns, strict=True)
    head = (over, *curve.columns)
    return [head, *((x, *(plain_number(value) for value in values)) for x, *values in rows)]
