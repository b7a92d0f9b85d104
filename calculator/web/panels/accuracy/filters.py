"""What can be chosen on the page of the record, and what is said when nothing is left."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

from calculator.accuracy.report import Comparison, Report
from calculator.web import figures
from calculator.web.panels.accuracy.record import CHECK, FIT, Misread, Selection, left_out
from calculator.web.panels.accuracy.shapes import Filter, Filters, Nothing
from calculator.web.panels.shapes import Choice, Sentence, Span
from calculator.web.panels.spans import HOLE, filled, link, plain
from calculator.web.wording import accuracy as words
from calculator.web.wording.speech import gettext as _
from calculator.web.wording.text import engine_name
from catalog.snapshot import Snapshot


def filters_panel(
    report: Report,
    items: Sequence[Comparison],
    selection: Selection,
    misread: Sequence[Misread],
    snapshot: Snapshot,
) -> Filters:
    """The form with the present choices, and how much they leave."""
    logs = {item.measurement.id for item in items}
    left = len(left_out(report, selection))
    return {
        "share": {
            "id": "share",
            "label": _("Logs"),
            "value": selection.share,
            "choices": [{"value": name, "label": str(text)} for name, text in words.SHARES.items()],
        },
        "lists": [
            _list("engine", _("Engine"), selection.engine, _engines(report, snapshot)),
            _list("part", _("Figure"), selection.part, _figures(report)),
            _list("attention", _("Attention"), selection.attention, _kinds(report)),
        ],
        "hidden": [("units", "gb")] if selection.units == "gb" else [],
        "words": words.SHOWN.format(
            figures=words.SHOWN_FIGURES.format(count=len(items), number=figures.whole(len(items))),
            logs=words.SHOWN_LOGS.format(count=len(logs), number=figures.whole(len(logs))),
        ),
        "left_out": words.LEFT_OUT_HERE.format(count=left, left=figures.whole(left)) if left else "",
        "clear_href": _clear(selection),
        "problems": [words.MISREAD[item.field].format(given=item.given) for item in misread],
        "flatters": str(words.FLATTERS) if selection.share == FIT else "",
    }


def _clear(selection: Selection) -> str:
    chosen = (selection.engine, selection.part, selection.attention)
    return selection.link(engine="", part="", attention="", every=False) if any(chosen) else ""


def _list(name: str, label: str, value: str, choices: list[Choice]) -> Filter:
    return {
        "id": name,
        "label": label,
        "value": value,
        "choices": [{"value": "", "label": _("all")}, *choices],
    }


def _choice(value: str, name: str, seen: set[str]) -> Choice:
    return {"value": value, "label": name if value in seen else _("{name} (no data)").format(name=name)}


def _engines(report: Report, snapshot: Snapshot) -> list[Choice]:
    seen = {item.measurement.engine for item in report.worst}
    return [
        _choice(name, engine_name(name), seen) for name in dict.fromkeys([*snapshot.engines, *sorted(seen)])
    ]


def _figures(report: Report) -> list[Choice]:
    seen = {item.part for item in report.worst}
    return [
        _choice(part, words.figure_name(part), seen)
        for part in dict.fromkeys([*words.FIGURES, *sorted(seen)])
    ]


def _kinds(report: Report) -> list[Choice]:
    seen = {item.measurement.attention for item in report.worst}
    kinds = dict.fromkeys([*words.ATTENTION, *sorted(seen)])
    return [_choice(kind, words.attention_name(kind), seen) for kind in kinds]


def nothing_panel(report: Report, selection: Selection, snapshot: Snapshot) -> Nothing:
    """What is missing, and the nearest choices that show something."""
    if not report.worst:
        return {"sentence": str(words.NOTHING_AT_ALL), "ways": []}
    ways = _ways(report, selection, snapshot)
    spans: Sentence = []
    for way in ways:
        spans += [plain(" · "), way]
    return {
        "sentence": words.NOTHING.format(what=_chosen(selection)),
        "ways": filled(_("What there is: {links}").format(links=HOLE), spans[1:]) if ways else [],
    }


def _chosen(selection: Selection) -> str:
    pieces = [
        words.figure_name(selection.part) if selection.part else "",
        engine_name(selection.engine) if selection.engine else "",
        words.attention_name(selection.attention) if selection.attention else "",
        str(words.SHARES[selection.share]).lower(),
    ]
    return ", ".join(piece for piece in pieces if piece)


def _ways(report: Report, selection: Selection, snapshot: Snapshot) -> list[Span]:
    """Links that change one choice and show something; first the engine whose constants this one takes."""
    changes: list[tuple[str, dict[str, str]]] = []
    engine = snapshot.engines.get(selection.engine)
    lender = str(engine.rules.get("constants_from", "")) if engine else ""
    if lender:
        name = _("{lender}, whose constants {engine} takes").format(
            lender=engine_name(lender), engine=engine_name(selection.engine)
        )
        changes.append((name, {"engine": lender}))
    other = CHECK if selection.share == FIT else FIT
    if selection.engine:
        changes.append((_("all engines"), {"engine": ""}))
    if selection.part:
        changes.append((_("all figures"), {"part": ""}))
    if selection.attention:
        changes.append((_("all kinds of attention"), {"attention": ""}))
    changes.append((str(words.SHARES[other]).lower(), {"share": other}))
    changes.append((_("everything"), {"engine": "", "part": "", "attention": ""}))
    tried = [(name, replace(selection, **change)) for name, change in changes]  # type: ignore[arg-type]
    return [
        link(name, changed.link())
        for name, changed in tried
        if any(changed.holds(item) for item in report.worst)
    ]
