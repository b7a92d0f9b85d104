"""Measured speeds beside the estimate: what others have seen on the same devices, with conditions and source."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from calculator.accuracy.beside import Measured, measured_beside
from calculator.accuracy.report import Skipped
from calculator.accuracy.speed_compare import compared
from calculator.estimation.terms import Interval
from calculator.web import figures
from calculator.web.answer import Answer
from calculator.web.panels.names import settled
from calculator.web.panels.speed_shapes import MeasuredRow
from calculator.web.wording.speech import gettext as _
from calculator.web.wording.speech import ngettext
from calculator.web.wording.text import engine_name, format_label
from catalog.records import Measurement
from catalog.snapshot import Snapshot

MOST_EACH = {"decode": 2, "prefill": 1, "throughput": 1, "ttft": 1}
"""Results of each figure that are shown."""


@dataclass(frozen=True, slots=True)
class Beside:
    """A row and what the charts need of it: figure, value, tokens held, users."""

    row: MeasuredRow
    figure: str
    value: float
    held_tokens: int | None
    users: int | None


def measured_rows(answer: Answer) -> list[Beside]:
    """The results nearest to the question, figure by figure; nothing where nobody measured it."""
    c = settled(answer)
    return [
        _beside(measured, answer)
        for figure, most in MOST_EACH.items()
        if figure != "throughput" or c.workload.users > 1
        for measured in measured_beside(c, answer.snapshot, figure, most)
        if figure != "throughput" or (measured.users or 1) > 1
    ]


def _beside(measured: Measured, answer: Answer) -> Beside:
    return Beside(
        {
            "value": _value(measured),
            "estimate": _estimate(measured, answer.snapshot),
            "conditions": _conditions(measured, answer.snapshot),
            "caveat": _caveat(measured),
            "source": f"{measured.source}, {measured.date}" if measured.date else measured.source,
            "href": measured.url or "",
        },
        measured.figure,
        measured.value,
        _held(measured),
        measured.users,
    )


def _held(measured: Measured) -> int | None:
    """Tokens in the cache while decoding, in the middle of the answer where its length is known."""
    before = measured.depth_tokens if measured.depth_tokens is not None else measured.prompt_tokens
    if before is None and measured.output_tokens is None:
        return None
    return (before or 0) + (measured.output_tokens or 0) // 2


def _value(measured: Measured) -> str:
    if measured.figure == "ttft":
        return _("first token after {time}").format(time=figures.duration(1e3 * measured.value))
    rate = f"{figures.rate(measured.value)}{figures.NO_BREAK}tok/s"
    words = {
        "decode": _("{rate} decode"),
        "prefill": _("{rate} prefill"),
        "throughput": _("{rate} of all users"),
    }
    return words[measured.figure].format(rate=rate)


def _conditions(measured: Measured, snapshot: Snapshot) -> str:
    """`GPT-OSS-120B MXFP4 · llama.cpp b6989 · 1 user · after 4,096 tokens`."""
    pieces = [f"{measured.model} {format_label(measured.format)}".strip()]
    pieces.append(f"{engine_name(measured.engine)} {measured.engine_version}".strip())
    if measured.users is not None:
        pieces.append(
            ngettext("{count} user", "{count} users", measured.users).format(
                count=figures.whole(measured.users)
            )
        )
    pieces += _lengths(measured)
    if _runs(snapshot)[measured.id].scenario.get("fa") == "0":
        pieces.append(_("without flash attention"))
    return " · ".join(pieces)


def _lengths(measured: Measured) -> list[str]:
    """What was in the cache before, or the prompt, and how much was written."""
    out = []
    if measured.figure == "decode" and measured.depth_tokens is not None:
        if measured.depth_tokens:
            out.append(_("after {tokens} tokens").format(tokens=figures.whole(measured.depth_tokens)))
    elif measured.prompt_tokens:
        out.append(_("prompt of {tokens}").format(tokens=figures.whole(measured.prompt_tokens)))
    if measured.output_tokens and measured.figure != "prefill":
        out.append(_("answer of {tokens}").format(tokens=figures.whole(measured.output_tokens)))
    return out


@lru_cache(maxsize=2)
def _runs(snapshot: Snapshot) -> Mapping[str, Measurement]:
    return {run.id: run for run in snapshot.measurements if run.task == "speed"}


@lru_cache(maxsize=1024)
def _there(snapshot: Snapshot, run_id: str, figure: str) -> Interval | None:
    """The same figure calculated for the conditions of the run; None where they leave too much open."""
    found = compared(snapshot, _runs(snapshot)[run_id])
    if isinstance(found, Skipped):
        return None
    return next((Interval(c.predicted, c.low, c.high) for c in found if c.observed_part == figure), None)


def _estimate(measured: Measured, snapshot: Snapshot) -> str:
    """What is calculated for the run itself, with its range."""
    there = _there(snapshot, measured.id, measured.figure)
    if there is None:
        return ""
    value, ends = figures.rate(there.value), figures.rate_range(there.low, there.high)
    if measured.figure == "ttft":
        value = figures.duration(1e3 * there.value)
        ends = figures.duration_range(1e3 * there.low, 1e3 * there.high, 1e3 * there.value)
    return _("The estimate there is {value}, 90% {range}.").format(value=value, range=ends)


def _caveat(measured: Measured) -> str:
    """Where it differs from the question, or why no calculation can be held against it."""
    pieces = []
    if not measured.same_model:
        pieces.append(_("a model of the same shape"))
    if not measured.same_format:
        pieces.append(_("another format of its family"))
    return ", ".join([*pieces, *measured.caveats])
