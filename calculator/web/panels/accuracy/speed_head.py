"""The head of the record of speed: the error of what one user sees, and what that stands on."""

from __future__ import annotations

from collections.abc import Sequence

from calculator.accuracy.report import Comparison, Report, summary
from calculator.accuracy.speed_left_out import left_out_of
from calculator.web import figures
from calculator.web.panels.accuracy.memory_head import promise_words
from calculator.web.panels.accuracy.record import SPEED, Selection, left_out
from calculator.web.panels.accuracy.written import coverage_words, size_of_error
from calculator.web.panels.shapes import Sentence
from calculator.web.panels.spans import joined, sentence
from calculator.web.wording import accuracy_speed as words
from catalog.snapshot import Snapshot

ONE_USER = "decode"
"""The figure of the headline."""

ALSO = ("decode_many", "prefill", "ttft")
"""Figures whose error stands below the headline."""


def headline_words(checked: Sequence[Comparison]) -> str:
    """The error of the speed that one user sees, on runs never used for fitting."""
    own = [item for item in checked if item.part == ONE_USER]
    if not own:
        return str(words.NO_HEADLINE)
    group = summary(own, {})
    return words.HEADLINE.format(
        count=group.measurements,
        runs=figures.whole(group.measurements),
        median=size_of_error(group.median_abs_error),
        p90=size_of_error(group.p90_abs_error),
    )


def ground_of(report: Report, checked: Sequence[Comparison], snapshot: Snapshot) -> list[Sentence]:
    """What the headline means, the other figures, what the ranges held, models not seen, what was left out."""
    if not checked:
        return []
    return [
        joined(sentence(_subject(checked)), sentence(_others(checked))),
        joined(sentence(_ranges(checked)), sentence(_left_out(report))),
        *([sentence(said)] if (said := _unseen(snapshot)) else []),
    ]


def _subject(checked: Sequence[Comparison]) -> str:
    own = [item for item in checked if item.part == ONE_USER]
    if not own:
        return ""
    seen = [item.observed for item in own]
    engines = len({item.measurement.engine for item in own})
    return words.SUBJECT.format(
        count=engines,
        slowest=figures.number(min(seen)),
        fastest=figures.number(max(seen)),
        engines=figures.whole(engines),
    )


def _others(checked: Sequence[Comparison]) -> str:
    said = []
    for part in ALSO:
        if own := [item for item in checked if item.part == part]:
            error = size_of_error(summary(own, {}).median_abs_error)
            said.append(words.OTHER[part].format(median=error))
    return words.OTHERS.format(figures=", ".join(said)) if said else ""


def _ranges(checked: Sequence[Comparison]) -> str:
    group = summary(checked, {})
    if group.coverage_90 is None or group.coverage_error is None:
        return ""
    said = words.RANGES.format(
        held=figures.whole(round(group.coverage_90 * group.judged)),
        judged=figures.whole(group.judged),
        share=coverage_words(group.coverage_90, group.coverage_error),
    )
    return f"{said} {promise_words(group)}".rstrip()


def _unseen(snapshot: Snapshot) -> str:
    """The error for a model that the fit had not seen."""
    kept = left_out_of(snapshot).get(ONE_USER)
    if kept is None:
        return ""
    return words.LEFT_OUT_IN_TURN.format(median=size_of_error(kept.value), p90=size_of_error(kept.high))


def _left_out(report: Report) -> str:
    left = len(left_out(report, Selection(kind=SPEED)))
    if not left:
        return str(words.NONE_LEFT_OUT)
    return words.SOME_LEFT_OUT.format(
        count=left, left=figures.whole(left), cases=figures.whole(left + report.compared)
    )
