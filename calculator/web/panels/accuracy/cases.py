"""The list of cases, worst first, and what was left out."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence

from calculator.accuracy.report import Comparison, Report, Skipped
from calculator.web import figures
from calculator.web.panels.accuracy.record import CSV_PATH, SPEED, Selection, left_out, parts_left_out
from calculator.web.panels.accuracy.shapes import CaseRow, Cases, LeftOut, LeftOutLog, LeftOutRow
from calculator.web.panels.accuracy.written import (
    amount,
    asked_href,
    case_facts,
    case_name,
    range_words,
    short,
    signed,
    source_link,
    unit_words,
)
from calculator.web.wording import accuracy_speed as speed
from calculator.web.wording.accuracy import figure_name, reason_sentence, why_words
from calculator.web.wording.speech import gettext as _
from calculator.web.wording.speech import ngettext
from catalog.records import Measurement
from catalog.snapshot import Snapshot

WORST = 25
"""Rows of the list before the rest is asked for."""

_NOT_IN_ID = re.compile(r"[^\w-]+")


def cases_panel(items: Sequence[Comparison], selection: Selection, snapshot: Snapshot) -> Cases:
    """The worst cases, or all of them; `items` come worst first."""
    shown = items if selection.every else items[:WORST]
    total = figures.whole(len(items))
    rest = len(items) > len(shown)
    return {
        "rows": [case_row(item, selection.units, snapshot) for item in shown],
        "shown": _("{shown} of {total}").format(shown=figures.whole(len(shown)), total=total) if rest else "",
        "more_href": selection.link("every-case", every=True) if rest else "",
        "more_words": _("Show all {total}").format(total=total) if rest else "",
        "csv_href": Selection(kind=selection.kind).link(path=CSV_PATH),
    }


def case_id(item: Comparison) -> str:
    """The anchor of one figure of one log: `case-mem-d14af331-weights-per_gpu`."""
    pieces = (item.measurement.id, item.observed_part if item.part != "parts" else "parts", item.device or "")
    return _NOT_IN_ID.sub("-", "-".join(("case", *(piece for piece in pieces if piece))))


def case_row(item: Comparison, units: str, snapshot: Snapshot) -> CaseRow:
    """One line of the list."""
    log = item.measurement
    name = case_name(log, snapshot)
    return {
        "id": case_id(item),
        "name": name,
        "facts": case_facts(log),
        "part": figure_name(item.part),
        "part_note": _place(item),
        "observed": amount(item.observed, item.unit, units),
        "predicted": amount(item.predicted, item.unit, units),
        "range": range_words(item, units),
        "unit": unit_words(item.unit, units),
        "error": _("as printed") if item.within_print else signed(item.error),
        "outside": "" if item.exact or item.covered else _("outside the range"),
        "why": why_words(item.why) or short(log.note),
        "source": source_link(log.source),
        "asked_href": asked_href(log, units),
        "asked_words": _("Ask it: {name}").format(name=name),
    }


def _place(item: Comparison) -> str:
    """The device or buffer of a log that has several."""
    device = item.device or ""
    return "" if device in ("", "per_gpu") else device.replace(":", ", ").replace("_", " ")


def left_out_panel(report: Report, selection: Selection, snapshot: Snapshot) -> LeftOut:
    """Reasons with their counts and logs, most frequent first: whole logs, then single figures."""
    whole, parts = left_out(report, selection), parts_left_out(report, selection)
    return {
        "sentence": _runs_sentence(len(whole)) if selection.kind == SPEED else _sentence(len(whole)),
        "rows": _by_reason(whole, snapshot),
        "parts_sentence": _parts_sentence(len(parts)) if parts else "",
        "parts_rows": _by_reason(parts, snapshot),
    }


def _runs_sentence(count: int) -> str:
    if not count:
        return str(speed.NO_RUN_LEFT_OUT)
    return speed.RUNS_LEFT_OUT.format(count=count, runs=figures.whole(count))


def _sentence(count: int) -> str:
    if not count:
        return _("No log of this choice was left out.")
    return ngettext(
        "{count} log of this choice is not compared.", "{count} logs of this choice are not compared.", count
    ).format(count=figures.whole(count))


def _parts_sentence(count: int) -> str:
    return ngettext(
        "Of compared logs, {count} figure is not compared.",
        "Of compared logs, {count} figures are not compared.",
        count,
    ).format(count=figures.whole(count))


def _by_reason(skipped: Iterable[Skipped], snapshot: Snapshot) -> list[LeftOutRow]:
    by_reason: dict[str, list[Skipped]] = {}
    for item in skipped:
        by_reason.setdefault(reason_sentence(item.reason), []).append(item)
    ordered = sorted(by_reason.items(), key=lambda entry: (-len(entry[1]), entry[0]))
    return [
        {
            "reason": reason,
            "count": figures.whole(len(items)),
            "logs": [_log(item, item.measurement, snapshot) for item in items],
        }
        for reason, items in ordered
    ]


def _log(item: Skipped, log: Measurement, snapshot: Snapshot) -> LeftOutLog:
    name = case_name(log, snapshot)
    if item.part:
        name = f"{name} · {figure_name(item.part)}"
    return {"id": log.id, "name": name, "source": source_link(log.source)}
