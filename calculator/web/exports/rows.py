"""The answer as plain rows for other programs: bytes in full, dots as decimals."""

from __future__ import annotations

from calculator.web.answer import Answer
from calculator.web.panels.memory import explanation
from calculator.web.panels.names import hardware_words

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
