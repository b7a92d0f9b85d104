"""The page of the record: the headline is the error, then everything that it stands on."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from calculator.accuracy.report import Report
from calculator.web.panels.accuracy import memory_head, speed_head
from calculator.web.panels.accuracy.cases import cases_panel, left_out_panel
from calculator.web.panels.accuracy.chart import chart_panel
from calculator.web.panels.accuracy.filters import filters_panel, known_values, nothing_panel
from calculator.web.panels.accuracy.record import (
    CHECK,
    FILTERS,
    FIT,
    MEMORY,
    SPEED,
    Misread,
    Selection,
    kind_of,
    record_of,
    selection_of,
    share_of,
)
from calculator.web.panels.accuracy.shapes import AccuracyFrame, AccuracyPage
from calculator.web.panels.accuracy.tables import by_attention, by_engine, by_figure, by_trait
from calculator.web.panels.shapes import Sentence
from calculator.web.panels.spans import text_of_spans
from calculator.web.wording import accuracy as words
from calculator.web.wording.speech import speaking
from catalog.snapshot import Snapshot

LEFT, RIGHT = ("device",), ("users", "architecture", "backend")
"""Traits whose tables stand below the chart, and beside it."""


def accuracy_page(given: Mapping[str, str], snapshot: Snapshot, *, canonical: str) -> AccuracyPage:
    """The context of the page's template for a query."""
    with speaking():
        kind = kind_of(given)
        report = record_of(snapshot, kind, share_of(given))
        selection, misread = selection_of(given, known_values(report, kind, snapshot))
        return _page(report, selection, misread, snapshot, canonical)


def _page(
    report: Report, selection: Selection, misread: tuple[Misread, ...], snapshot: Snapshot, canonical: str
) -> AccuracyPage:
    items = [item for item in report.worst if selection.holds(item)]
    headline, ground = _head(report, selection, snapshot)
    memory, speed = selection.kind == MEMORY, selection.kind == SPEED
    return {
        "frame": _frame(selection, headline, ground, snapshot, canonical),
        "headline": headline,
        "ground": ground,
        "filters": filters_panel(report, items, selection, misread, snapshot),
        "nothing": None if items else nothing_panel(report, selection, snapshot),
        "chart": chart_panel(items, selection, snapshot),
        "by_figure": by_figure(items, selection) if items else None,
        "by_engine": by_engine(items, selection, snapshot) if items else None,
        "by_attention": by_attention(items, selection) if items and memory else None,
        "left": [by_trait(trait, items, selection) for trait in LEFT] if items and speed else [],
        "right": [by_trait(trait, items, selection) for trait in RIGHT] if items and speed else [],
        "cases": cases_panel(items, selection, snapshot) if items else None,
        "left_out": left_out_panel(report, selection, snapshot),
    }


def _head(report: Report, selection: Selection, snapshot: Snapshot) -> tuple[str, list[Sentence]]:
    """The headline and what it stands on, of the runs never used for fitting whatever is looked at."""
    if selection.kind == SPEED:
        whole = record_of(snapshot, SPEED, CHECK) if selection.share == FIT else report
        return speed_head.headline_words(whole.worst), speed_head.ground_of(whole, whole.worst, snapshot)
    checked = [item for item in report.worst if item.measurement.split == CHECK]
    return memory_head.headline_words(checked), memory_head.ground_of(report, checked)


def _frame(
    selection: Selection, headline: str, ground: Sequence[Sentence], snapshot: Snapshot, canonical: str
) -> AccuracyFrame:
    speed = selection.kind == SPEED
    return {
        "title": headline.rstrip("."),
        "description": " ".join([headline, *(text_of_spans(spans) for spans in ground[:1])]),
        "canonical": f"{canonical}?kind={SPEED}" if speed else canonical,
        "catalogue": snapshot.updated[:10],
        "units": "gb" if selection.units == "gb" else "gib",
        "here": selection.link(),
        "gib_href": selection.link(units="gib"),
        "gb_href": selection.link(units="gb"),
        "kinds": [
            {
                "href": Selection(kind=kind, share=selection.share, units=selection.units).link(),
                "name": str(words.KINDS[kind]),
                "here": kind == selection.kind,
            }
            for kind in FILTERS
        ],
        "has_sizes": not speed,
    }
