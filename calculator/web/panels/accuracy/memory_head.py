"""The head of the record of memory: the error of what a GPU holds, and what that stands on."""

from __future__ import annotations

from collections.abc import Sequence

from calculator.accuracy.report import Comparison, Group, Report, summary
from calculator.web import figures
from calculator.web.panels.accuracy.record import CHECK, Selection, left_out, whole_gpus
from calculator.web.panels.accuracy.written import coverage_words, size_of_error, whole_percent
from calculator.web.panels.shapes import Sentence
from calculator.web.panels.spans import joined, sentence
from calculator.web.wording import accuracy as words

PROMISED = (0.86, 0.95)
"""Shares of observations that 90 % ranges may hold without being called too narrow or too wide."""


def headline_words(checked: Sequence[Comparison]) -> str:
    """The error of what a GPU holds in all, on logs never used for fitting."""
    wholes = whole_gpus(checked) or list(checked)
    if not wholes:
        return str(words.NO_HEADLINE)
    group = summary(wholes, {})
    return words.HEADLINE.format(
        count=group.measurements,
        logs=figures.whole(group.measurements),
        median=size_of_error(group.median_abs_error),
        p90=size_of_error(group.p90_abs_error),
    )


def ground_of(report: Report, checked: Sequence[Comparison]) -> list[Sentence]:
    """What the headline means, what is fitted, what the ranges held, what was left out."""
    if not checked:
        return []
    return [
        joined(sentence(_subject(checked)), sentence(_exact(checked))),
        joined(sentence(_ranges(checked)), sentence(_left_out(report))),
    ]


def _subject(checked: Sequence[Comparison]) -> str:
    wholes = whole_gpus(checked)
    if not wholes:
        return ""
    seen = [item.observed for item in wholes]
    return words.HEADLINE_SUBJECT.format(
        smallest=figures.size(min(seen), "gib"),
        largest=figures.size(max(seen), "gib"),
        engines=figures.whole(len({item.measurement.engine for item in wholes})),
    )


def _exact(checked: Sequence[Comparison]) -> str:
    group = summary([item for item in checked if item.exact], {})
    if not group.n:
        return ""
    return words.EXACT_SENTENCE.format(share=whole_percent(group.exact_share), count=figures.whole(group.n))


def _ranges(checked: Sequence[Comparison]) -> str:
    group = summary([item for item in checked if not item.exact], {})
    if group.coverage_90 is None or group.coverage_error is None:
        return ""
    said = words.RANGES_SENTENCE.format(
        held=figures.whole(round(group.coverage_90 * group.judged)),
        judged=figures.whole(group.judged),
        share=coverage_words(group.coverage_90, group.coverage_error),
    )
    return f"{said} {promise_words(group)}".rstrip()


def promise_words(group: Group) -> str:
    """Whether ranges hold fewer or more than they promise; nothing when they hold what they say."""
    if group.coverage_90 is None or group.coverage_error is None:
        return ""
    low, high = PROMISED
    if group.coverage_90 + group.coverage_error < low:
        return str(words.TOO_FEW)
    return str(words.TOO_MANY) if group.coverage_90 - group.coverage_error > high else ""


def _left_out(report: Report) -> str:
    everything = Selection()
    left = len(left_out(report, everything))
    if not left:
        return str(words.NONE_LEFT_OUT)
    compared = {item.measurement.id for item in report.worst if item.measurement.split == CHECK}
    return words.SOME_LEFT_OUT.format(
        count=left, left=figures.whole(left), cases=figures.whole(left + len(compared))
    )
