"""The page of the record: the headline is the error, then everything that it stands on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from calculator.accuracy.report import Comparison, Report, summary
from calculator.web import figures
from calculator.web.panels.accuracy.cases import cases_panel, left_out_panel
from calculator.web.panels.accuracy.chart import chart_panel
from calculator.web.panels.accuracy.filters import filters_panel, nothing_panel
from calculator.web.panels.accuracy.record import (
    CHECK,
    Misread,
    Selection,
    left_out,
    record_of,
    selection_of,
    whole_gpus,
)
from calculator.web.panels.accuracy.shapes import AccuracyFrame, AccuracyPage
from calculator.web.panels.accuracy.tables import by_attention, by_engine, by_figure
from calculator.web.panels.accuracy.written import coverage_words, size_of_error, whole_percent
from calculator.web.panels.shapes import Sentence
from calculator.web.panels.spans import joined, sentence, text_of_spans
from calculator.web.wording import accuracy as words
from calculator.web.wording.speech import speaking
from catalog.snapshot import Snapshot

PROMISED = (0.86, 0.95)
"""Shares of observations that 90 % ranges may hold without being called too narrow or too wide."""


def accuracy_page(given: Mapping[str, str], snapshot: Snapshot, *, canonical: str) -> AccuracyPage:
    """The context of the page's template for a query."""
    with speaking():
        report = record_of(snapshot)
        selection, misread = selection_of(given, known_values(report, snapshot))
        return _page(report, selection, misread, snapshot, canonical)


def known_values(report: Report, snapshot: Snapshot) -> dict[str, list[str]]:
    """The values of each filter, in the order of the lists: the catalogue's engines and those of logs, and so on."""
    engines = [*snapshot.engines, *sorted({item.measurement.engine for item in report.worst})]
    parts = [*words.FIGURES, *sorted({item.part for item in report.worst})]
    kinds = [*words.ATTENTION, *sorted({item.measurement.attention for item in report.worst})]
    return {
        "engine": list(dict.fromkeys(engines)),
        "part": list(dict.fromkeys(parts)),
        "attention": list(dict.fromkeys(kinds)),
    }


def _page(
    report: Report, selection: Selection, misread: tuple[Misread, ...], snapshot: Snapshot, canonical: str
) -> AccuracyPage:
    items = [item for item in report.worst if selection.holds(item)]
    checked = [item for item in report.worst if item.measurement.split == CHECK]
    headline = headline_words(checked)
    ground = _ground(report, checked)
    return {
        "frame": _frame(selection, headline, ground, snapshot, canonical),
        "headline": headline,
        "ground": ground,
        "filters": filters_panel(report, items, selection, misread, snapshot),
        "nothing": None if items else nothing_panel(report, selection, snapshot),
        "chart": chart_panel(items, selection, snapshot),
        "by_figure": by_figure(items, selection) if items else None,
        "by_engine": by_engine(items, selection, snapshot) if items else None,
        "by_attention": by_attention(items, selection) if items else None,
        "cases": cases_panel(items, selection, snapshot) if items else None,
        "left_out": left_out_panel(report, selection, snapshot),
    }


def _frame(
    selection: Selection, headline: str, ground: Sequence[Sentence], snapshot: Snapshot, canonical: str
) -> AccuracyFrame:
    return {
        "title": headline.rstrip("."),
        "description": " ".join([headline, *(text_of_spans(spans) for spans in ground[:1])]),
        "canonical": canonical,
        "catalogue": snapshot.updated[:10],
        "units": "gb" if selection.units == "gb" else "gib",
        "here": selection.link(),
        "gib_href": selection.link(units="gib"),
        "gb_href": selection.link(units="gb"),
    }


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


def _ground(report: Report, checked: Sequence[Comparison]) -> list[Sentence]:
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
    low, high = PROMISED
    if group.coverage_90 + group.coverage_error < low:
        return f"{said} {words.TOO_FEW}"
    return f"{said} {words.TOO_MANY}" if group.coverage_90 - group.coverage_error > high else said


def _left_out(report: Report) -> str:
    everything = Selection()
    left = len(left_out(report, everything))
    if not left:
        return str(words.NONE_LEFT_OUT)
    compared = {item.measurement.id for item in report.worst if item.measurement.split == CHECK}
    return words.SOME_LEFT_OUT.format(
        count=left, left=figures.whole(left), cases=figures.whole(left + len(compared))
    )
