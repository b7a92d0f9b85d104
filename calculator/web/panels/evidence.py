"""Where an interval leads: the record of accuracy, at the engine and the figure that stand behind it."""

from __future__ import annotations

from collections.abc import Mapping

from calculator.estimation.terms import Part
from calculator.web.answer import Answer

SUM = "parts"
"""The record's figure for what a GPU holds in all."""

COMPARED: Mapping[str, str] = {
    "weights": "weights",
    "kv_cache": "kv_cache",
    "index_cache": "kv_cache",
    "recurrent_state": "recurrent_state",
    "activations": "activations",
    "graphs": "graphs",
    "communication": "communication",
    "context": "total",
    "vision": "weights",
    "draft": "weights",
}
"""Parts of memory by the figure of a log that shows them."""

BY_TERM: Mapping[str, str] = {"compute_llamacpp": "compute_buffer"}
"""Terms that a log prints under a name of its own."""


def evidence_href(answer: Answer, figure: str = SUM) -> str:
    """The record of an engine's figure, in the units that the visitor reads."""
    units = "&units=gb" if answer.units == "gb" else ""
    return f"/accuracy/?engine={answer.configuration.engine.id}&part={figure}{units}"


def speed_evidence_href(answer: Answer, figure: str) -> str:
    """The record of an engine's speed. figure: decode, decode_many, throughput, prefill, ttft."""
    return f"/accuracy/?kind=speed&engine={answer.configuration.engine.id}&part={figure}"


def part_evidence(answer: Answer, part: Part) -> str:
    """The record of what the logs show of a part."""
    named = next((BY_TERM[term.code] for term in part.terms if term.code in BY_TERM), "")
    return evidence_href(answer, named or COMPARED[part.name])
