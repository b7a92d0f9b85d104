"""Errors by figure, by engine and by kind of attention."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Sequence

from calculator.accuracy.report import KEYS, Comparison, Group, groups, summary
from calculator.estimation.terms import Reason
from calculator.web import figures
from calculator.web.panels.accuracy.record import Selection
from calculator.web.panels.accuracy.shapes import GroupRow, GroupTable
from calculator.web.panels.accuracy.written import coverage_words, signed, size_of_error, whole_percent
from calculator.web.wording import accuracy_speed as speed
from calculator.web.wording.accuracy import (
    ATTENTION,
    EXACT_NOTE,
    FIGURES_OF,
    NEWER,
    NEWEST,
    NO_DATA,
    NOTES,
    RANGED_NOTE,
    attention_name,
    figure_name,
)
from calculator.web.wording.reasons import reason_words
from calculator.web.wording.speech import gettext as _
from calculator.web.wording.text import engine_name
from catalog.records import Engine
from catalog.snapshot import Snapshot, measured_on, version_key

_VERSION = re.compile(r"(?:\w+ )?v?(?P<number>b?\d+(?:\.\d+)*)")


def by_figure(items: Sequence[Comparison], selection: Selection) -> GroupTable:
    """A row for each compared figure; two where some of it is exact and some has a range."""
    order = list(FIGURES_OF[selection.kind])
    found = {group.by["part"] for group in groups(items, ("part",))}
    names = sorted(found, key=lambda part: (order.index(part) if part in order else len(order), part))
    rows = [row for part in names for row in _figure_rows(part, items, selection)]
    missing = [] if selection.part else [figure_name(part) for part in order if part not in found]
    return {
        "id": "by-figure",
        "title": _("By figure"),
        "first_head": _("Figure"),
        "rows": rows,
        "missing": _missing(missing),
        "remarks": [],
    }


def _figure_rows(part: str, items: Sequence[Comparison], selection: Selection) -> list[GroupRow]:
    own = [item for item in items if item.part == part]
    kinds = [[item for item in own if not item.exact], [item for item in own if item.exact]]
    both = all(kinds)
    rows = []
    for exact, kind in enumerate(kinds):
        if not kind:
            continue
        note = (
            str((RANGED_NOTE, EXACT_NOTE)[exact])
            if both
            else str(NOTES.get(part) or speed.NOTES.get(part, ""))
        )
        anchor = f"figure-{part}{'-exact' if both and exact else ''}"
        rows.append(
            _row(anchor, figure_name(part), selection.link("by-figure", part=part), summary(kind, {}), note)
        )
    return rows


def by_engine(items: Sequence[Comparison], selection: Selection, snapshot: Snapshot) -> GroupTable:
    """A row for each engine with a log, and the names of those without."""
    rows = _pooled(
        items,
        "engine",
        lambda name: (f"engine-{name}", engine_name(name), selection.link("by-engine", engine=name)),
    )
    seen = {item.measurement.engine for item in items}
    missing = [] if selection.engine else [engine_name(name) for name in snapshot.engines if name not in seen]
    return {
        "id": "by-engine",
        "title": _("By engine"),
        "first_head": _("Engine"),
        "rows": rows,
        "missing": _missing(missing),
        "remarks": _versions(sorted(seen), items, snapshot),
    }


def by_attention(items: Sequence[Comparison], selection: Selection) -> GroupTable:
    """A row for each kind of attention with a log."""
    rows = _pooled(
        items,
        "attention",
        lambda kind: (
            f"attention-{kind}",
            attention_name(kind),
            selection.link("by-attention", attention=kind),
        ),
    )
    seen = {item.measurement.attention for item in items}
    missing = [
        attention_name(kind)
        for kind in ATTENTION
        if kind not in seen and kind != "unknown" and not selection.attention
    ]
    return {
        "id": "by-attention",
        "title": _("By kind of attention"),
        "first_head": _("Attention"),
        "rows": rows,
        "missing": _missing(missing),
        "remarks": [],
    }


def by_trait(trait: str, items: Sequence[Comparison], selection: Selection) -> GroupTable:
    """A row for each value of a trait that some run has, in the order of their names; of speed alone."""
    rows = _pooled(
        items,
        trait,
        lambda value: (
            f"{trait}-{value.replace('+', '')}",
            speed.trait_name(trait, value),
            selection.link(f"by-{trait}", **{trait: value}),
        ),
    )
    order = [speed.trait_name(trait, value) for value in speed.TRAITS[trait]]
    seen = {row["name"] for row in rows}
    unseen = [] if getattr(selection, trait) else [name for name in order if name not in seen]
    return {
        "id": f"by-{trait}",
        "title": str(speed.TITLES[trait]),
        "first_head": str(speed.LABELS[trait]),
        "rows": sorted(
            rows, key=lambda row: order.index(row["name"]) if row["name"] in order else len(order)
        ),
        "missing": _missing(unseen),
        "remarks": [],
    }


def _pooled(
    items: Sequence[Comparison], key: str, named: Callable[[str], tuple[str, str, str]]
) -> list[GroupRow]:
    """Rows over all figures: the errors of those with a range alone, since exact ones would flatter them."""
    rows = []
    for group in groups(items, (key,)):
        value = group.by[key]
        own = [item for item in items if KEYS[key](item) == value]
        ranged = [item for item in own if not item.exact]
        exact = [item for item in own if item.exact]
        anchor, name, href = named(value)
        note = ""
        if exact and ranged:
            note = _("exact figures: {share} of {count} agree").format(
                share=whole_percent(_agree(exact)), count=figures.whole(len(exact))
            )
        rows.append(_row(anchor, name, href, summary(ranged or exact, {}), note))
    return rows


def _agree(items: Sequence[Comparison]) -> float:
    return sum(item.within_print for item in items) / len(items)


def _row(anchor: str, name: str, href: str, group: Group, note: str) -> GroupRow:
    return {
        "id": anchor,
        "name": name,
        "href": href,
        "note": note,
        "logs": figures.whole(group.measurements),
        "figures": figures.whole(group.n),
        "median": size_of_error(group.median_abs_error),
        "p90": size_of_error(group.p90_abs_error),
        "bias": signed(group.bias),
        "held": held_words(group),
        "of": _of_words(group),
    }


def held_words(group: Group) -> str:
    """`91% ± 4` of the ranges hold the observed figure; `exact in 97%` where there is no range."""
    if group.coverage_90 is None or group.coverage_error is None:
        return _("exact in {share}").format(share=whole_percent(group.exact_share))
    return coverage_words(group.coverage_90, group.coverage_error)


def _of_words(group: Group) -> str:
    whole = group.judged or group.n
    share = group.exact_share if group.coverage_90 is None else group.coverage_90
    return _("{held} of {judged}").format(
        held=figures.whole(round(share * whole)), judged=figures.whole(whole)
    )


def _missing(names: Iterable[str]) -> str:
    listed = ", ".join(names)
    return NO_DATA.format(names=listed) if listed else ""


def _versions(engines: Iterable[str], items: Sequence[Comparison], snapshot: Snapshot) -> list[str]:
    """What to know where an engine is computed at a version that no log shows."""
    remarks, newer = [], []
    for name in engines:
        engine = snapshot.engines.get(name)
        version = _number(engine.version) if engine else ""
        if engine is None or not version:
            continue
        newest = max(
            (_newest(item) for item in items if item.measurement.engine == name), key=version_key, default=""
        )
        if version_key(newest) and version_key(version)[:2] > version_key(newest)[:2]:
            newer.append(NEWER.format(engine=engine_name(name), newest=_number(newest), version=version))
        if items[0].measurement.task == "memory" and (outside := _outside(engine, snapshot)):
            low, high = outside
            factors = {"engine": engine.name, "version": version, "low": low, "high": high}
            code = "version_outside_measured" if low else "version_outside_measured_until"
            remarks.append(reason_words(Reason(code, factors), "gib"))
    if newer:
        remarks.append(NEWEST.format(engines="; ".join(newer)))
    return remarks


def _newest(item: Comparison) -> str:
    return item.measurement.scenario.get("engine_version", "")


def _number(version: str) -> str:
    """The version's number alone: 0.33.0, b11434; nothing where it is named by a branch."""
    found = _VERSION.match(version)
    return found["number"] if found else ""


def _outside(engine: Engine, snapshot: Snapshot) -> tuple[str, str] | None:
    """The versions that an engine's constants were measured on, when the catalogue's version is none of them."""
    constants, outside = snapshot.constants_for(engine.family, engine.version)
    if not outside:
        return None
    rows = [row for row in constants.values() if not measured_on(row, engine.version)]
    return rows[0].version_from or "", rows[0].version_until or ""
