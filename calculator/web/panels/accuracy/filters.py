"""What can be chosen on the page of the record, and what is said when nothing is left."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace

from calculator.accuracy.report import KEYS, Comparison, Report
from calculator.web import figures
from calculator.web.panels.accuracy.record import CHECK, FILTERS, FIT, SPEED, Misread, Selection, left_out
from calculator.web.panels.accuracy.shapes import Filter, Filters, Nothing
from calculator.web.panels.shapes import Choice, Sentence, Span
from calculator.web.panels.spans import HOLE, filled, link, plain
from calculator.web.wording import accuracy as words
from calculator.web.wording import accuracy_speed as speed
from calculator.web.wording.problems import shown_text
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
    own = speed if selection.kind == SPEED else words
    named = speed.SHOWN_RUNS if selection.kind == SPEED else words.SHOWN_LOGS
    return {
        "share": {
            "id": "share",
            "label": _("Logs"),
            "value": selection.share,
            "choices": [{"value": name, "label": str(text)} for name, text in words.SHARES.items()],
        },
        "lists": [
            _list(name, _label(name), getattr(selection, name), _choices(name, report, selection, snapshot))
            for name in FILTERS[selection.kind]
        ],
        "hidden": _hidden(selection),
        "words": words.SHOWN.format(
            figures=words.SHOWN_FIGURES.format(count=len(items), number=figures.whole(len(items))),
            logs=named.format(count=len(logs), number=figures.whole(len(logs))),
        ),
        "left_out": own.LEFT_OUT_HERE.format(count=left, left=figures.whole(left)) if left else "",
        "clear_href": selection.without_filters() if selection.chosen else "",
        "problems": [words.MISREAD[item.field].format(given=shown_text(item.given)) for item in misread],
        "flatters": str(own.FLATTERS) if selection.share == FIT else "",
    }


def _hidden(selection: Selection) -> list[tuple[str, str]]:
    """What the form keeps besides its lists."""
    kept = [("kind", selection.kind)] if selection.kind == SPEED else []
    return [*kept, *([("units", "gb")] if selection.units == "gb" else [])]


def _label(name: str) -> str:
    own = {"engine": _("Engine"), "part": _("Figure"), "attention": _("Attention")}
    return own.get(name) or str(speed.LABELS[name])


def _list(name: str, label: str, value: str, choices: list[Choice]) -> Filter:
    return {
        "id": name,
        "label": label,
        "value": value,
        "choices": [{"value": "", "label": _("all")}, *choices],
    }


def _choice(value: str, name: str, seen: set[str]) -> Choice:
    return {"value": value, "label": name if value in seen else _("{name} (no data)").format(name=name)}


def value_name(filter_: str, value: str) -> str:
    """The name of a value of a filter."""
    if filter_ == "engine":
        return engine_name(value)
    if filter_ == "part":
        return words.figure_name(value)
    return words.attention_name(value) if filter_ == "attention" else speed.trait_name(filter_, value)


def known_values(report: Report, selection_kind: str, snapshot: Snapshot) -> dict[str, list[str]]:
    """The values of each filter in the order of the lists: those that have names, then those of logs alone."""
    first: dict[str, list[str]] = {
        "engine": list(snapshot.engines),
        "part": list(words.FIGURES_OF[selection_kind]),
        "attention": list(words.ATTENTION),
        **{trait: list(names) for trait, names in speed.TRAITS.items()},
    }
    return {
        name: list(dict.fromkeys([*first[name], *sorted(_seen(name, report))]))
        for name in FILTERS[selection_kind]
    }


def _seen(name: str, report: Report) -> set[str]:
    return {KEYS[name](item) for item in report.worst}


def _choices(name: str, report: Report, selection: Selection, snapshot: Snapshot) -> list[Choice]:
    seen = _seen(name, report)
    known = known_values(report, selection.kind, snapshot)[name]
    return [_choice(value, value_name(name, value), seen) for value in known]


def nothing_panel(report: Report, selection: Selection, snapshot: Snapshot) -> Nothing:
    """What is missing, and the nearest choices that show something."""
    own = speed if selection.kind == SPEED else words
    if not report.worst:
        return {"sentence": str(own.NOTHING_AT_ALL), "ways": []}
    ways = _ways(report, selection, snapshot)
    spans: Sentence = []
    for way in ways:
        spans += [plain(" · "), way]
    return {
        "sentence": own.NOTHING.format(what=_chosen(selection)),
        "ways": filled(_("What there is: {links}").format(links=HOLE), spans[1:]) if ways else [],
    }


def _chosen(selection: Selection) -> str:
    order = ("part", "engine", "attention", *speed.TRAITS)
    chosen = sorted(selection.chosen.items(), key=lambda pair: order.index(pair[0]))
    pieces = [value_name(name, value) for name, value in chosen]
    return ", ".join([*pieces, str(words.SHARES[selection.share]).lower()])


_WAYS: Mapping[str, Callable[[], str]] = {
    "engine": lambda: _("all engines"),
    "part": lambda: _("all figures"),
    "attention": lambda: _("all kinds of attention"),
    "device": lambda: _("all devices"),
    "backend": lambda: _("all back ends"),
    "architecture": lambda: _("all models"),
    "users": lambda: _("any number of users"),
}
"""What a page without one filter shows."""


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
    changes += [(_WAYS[name](), {name: ""}) for name in selection.chosen]
    changes.append((str(words.SHARES[other]).lower(), {"share": other}))
    changes.append((_("everything"), dict.fromkeys(FILTERS[selection.kind], "")))
    tried = [(name, replace(selection, **change)) for name, change in changes]  # type: ignore[arg-type]
    return [
        link(name, changed.link())
        for name, changed in tried
        if any(changed.holds(item) for item in report.worst)
    ]
