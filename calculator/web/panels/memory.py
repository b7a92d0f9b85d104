"""The breakdown: every part with its interval, its share of all GPUs, and why it is what it is."""

from __future__ import annotations

import re
from collections.abc import Set as AbstractSet
from functools import partial

from calculator.estimation.terms import Memory, Part, Reason, Term
from calculator.web import figures
from calculator.web.answer import Answer
from calculator.web.panels.bar import PART_CLASSES
from calculator.web.panels.evidence import evidence_href, part_evidence
from calculator.web.panels.names import card_name, cards_of, gpus_used, settled
from calculator.web.panels.per_snapshot import unless_changed
from calculator.web.panels.shapes import MemoryPanel, MemoryRow, Sentence
from calculator.web.panels.spans import plain, sentence
from calculator.web.wording.cache_terms import STATE_TERMS
from calculator.web.wording.choices import limit_words
from calculator.web.wording.parts import BASES, PART_NAMES
from calculator.web.wording.reasons import is_remark, reason_words
from calculator.web.wording.speech import gettext as _
from calculator.web.wording.speech import ngettext
from calculator.web.wording.terms import term_words
from calculator.web.wording.text import engine_name

_SECTION = re.compile(r"^methodology §[\d.]+(: )?")
_PURPOSE = re.compile(r" giving [^(]*\(")
"""What a list of a source tells beside the figure: left out, `public preset list (2026-10-08; …)` says it."""

LAYER_KINDS = {
    "kv_gqa": "attention",
    "kv_mla": "MLA",
    "kv_window": "window",
    "kv_chunk": "chunk",
}


def memory_panel(answer: Answer, memory: Memory, unfolded: AbstractSet[str] | None = None) -> MemoryPanel:
    """The table, in the order of the bar. unfolded: ids of what is open on the page of a live update, None: tell all."""
    units, several = answer.units, gpus_used(answer) > 1
    places = figures.column_decimals(figures.in_units(memory.needed.value, units))
    total_places = figures.column_decimals(figures.in_units(memory.total_bytes, units)) if several else None
    rows = [
        unless_changed(
            answer,
            ("row", part.name, told),
            (part, places, total_places),
            partial(_row, answer, part, (places, total_places), told=told),
        )
        for part in memory.parts
        if part.total_bytes
        for told in (unfolded is None or f"why-{part.name}" in unfolded,)
    ]
    return {
        "per_gpu_head": _per_gpu_head(answer, memory),
        "total_head": _("All, {unit}").format(unit=figures.unit_name(units)) if several else "",
        "rows": rows,
        "needed": _needed_row(answer, memory, places, total_places),
        "remarks": _remarks(answer, memory),
    }


def _per_gpu_head(answer: Answer, memory: Memory) -> str:
    unit, configuration = figures.unit_name(answer.units), answer.configuration
    if settled(answer).cards:
        card = card_name(settled(answer).cards[memory.fullest])
        return _("On the {card}, {unit}").format(card=card, unit=unit)
    if gpus_used(answer) > 1:
        return _("Per GPU, {unit}").format(unit=unit)
    if configuration.accelerator.kind == "apple":
        return _("In this Mac, {unit}").format(unit=unit)
    if configuration.accelerator.unified:
        return _("In this machine, {unit}").format(unit=unit)
    return _("On this GPU, {unit}").format(unit=unit)


def _cell(size_bytes: float, units: str, column: int) -> str:
    places = figures.cell_decimals(figures.in_units(size_bytes, units), column)
    return figures.bare_size(size_bytes, units, places)


def _range(low: float, value: float, high: float, units: str, places: int) -> str:
    if low == value == high:
        return _("exact")
    return figures.size_range(low, high, units, places)


def _row(answer: Answer, part: Part, columns: tuple[int, int | None], *, told: bool) -> MemoryRow:
    """A row; told: with its explanation."""
    units, (places, total_places) = answer.units, columns
    total = "" if total_places is None else _cell(part.total_bytes, units, total_places)
    own = figures.cell_decimals(figures.in_units(part.per_gpu_bytes, units), places)
    return {
        "id": part.name,
        "part": PART_CLASSES[part.name],
        "name": str(PART_NAMES[part.name]),
        "note": part_note(part, several=gpus_used(answer) > 1),
        "per_gpu": figures.bare_size(part.per_gpu_bytes, units, own),
        "range": _range(part.low_bytes, part.per_gpu_bytes, part.high_bytes, units, own),
        "evidence": part_evidence(answer, part),
        "total": total,
        "folded": not told,
        "why": part_why(part, units) if told else [],
        "exact": _("{count} bytes").format(count=figures.whole(part.per_gpu_bytes)) if told else "",
        "source": _source(part) if told else [],
    }


def _needed_row(answer: Answer, memory: Memory, places: int, total_places: int | None) -> MemoryRow:
    needed, units = memory.needed, answer.units
    return {
        "id": "needed",
        "part": "weights",
        "name": _("Needed"),
        "note": "",
        "per_gpu": figures.bare_size(needed.value, units, places),
        "range": _range(needed.low, needed.value, needed.high, units, places),
        "evidence": evidence_href(answer),
        "total": "" if total_places is None else figures.bare_size(memory.total_bytes, units, total_places),
        "folded": True,
        "why": [],
        "exact": _("{count} bytes").format(count=figures.whole(needed.value)),
        "source": [],
    }


def part_why(part: Part, units: str) -> Sentence:
    """Every term of the part, one sentence each."""
    return sentence(explanation(part, units))


def explanation(part: Part, units: str) -> str:
    """The same as one text, for the API and the terminal."""
    return " ".join(term_words(term, units) for term in part.terms)


def _source(part: Part) -> Sentence:
    places = (_place(term.source) for term in part.terms)
    where = " · ".join(dict.fromkeys(place for place in places if place))
    basis = str(BASES[part.basis])
    return [plain(f"{basis} · {where}" if where else basis)]


def _place(source: str) -> str:
    """What the source is called; nothing for a section of the methodology, which nobody can open yet."""
    bare = "" if source.startswith("§") else _SECTION.sub("", source)
    return _PURPOSE.sub(" (", bare)


def part_note(part: Part, *, several: bool) -> str:
    """What the part consists of, in a few words below its name."""
    pieces = [words for term in part.terms if (words := _term_note(term, several=several))]
    return " · ".join(dict.fromkeys(pieces))


def _term_note(term: Term, *, several: bool) -> str:
    factors = term.factors
    layers = int(factors.get("layers", 0) or 0)
    if term.code in LAYER_KINDS:
        words = ngettext("{layers} {kind} layer", "{layers} {kind} layers", layers).format(
            layers=layers, kind=LAYER_KINDS[term.code]
        )
        if several and term.code == "kv_mla":
            words += " · " + _("same copy on every GPU")
        return words
    if term.code == "index_keys":
        return ngettext("{layers} layer with an index", "{layers} layers with an index", layers).format(
            layers=layers
        )
    if term.code in STATE_TERMS:
        return ngettext("{layers} layer with a state", "{layers} layers with a state", layers).format(
            layers=layers
        )
    if term.code in ("activation_sampler", "activation_layers"):
        return _("{tokens} batched tokens").format(tokens=figures.whole(float(factors.get("batched", 0))))
    if term.code == "compute_llamacpp":
        return _("micro-batch of {tokens} tokens").format(
            tokens=figures.whole(float(factors.get("micro_batch", 0)))
        )
    if term.code == "weights" and several:
        return _weights_note(term)
    return ""


def _weights_note(term: Term) -> str:
    """How the GPUs share the weights."""
    factors = term.factors
    if int(factors["ranks"]) > 1:
        words = _("layers {first} to {last}, split {ranks} ways")
    else:
        words = _("layers {first} to {last}")
    return words.format(**factors)


def _remarks(answer: Answer, memory: Memory) -> list[Sentence]:
    units, said = answer.units, tuple(reason for reason in answer.reasons if is_remark(reason))
    return unless_changed(
        answer, "remarks", (said, memory.limit, memory.host_bytes), lambda: _said(answer, memory, said, units)
    )


def _said(answer: Answer, memory: Memory, said: tuple[Reason, ...], units: str) -> list[Sentence]:
    remarks = [reason_words(reason, units) for reason in said]
    rule = limit_words(memory.limit, answer.configuration.engine.id, units)
    usable = figures.size(memory.limit.usable.value, units)
    remarks.append(_("Usable: {usable}, {rule}.").format(usable=usable, rule=rule))
    configuration = settled(answer)
    if cards_of(answer.scenario.gpu, answer.snapshot) and not configuration.cards:
        named = {"engine": engine_name(configuration.engine.id), "card": card_name(configuration.accelerator)}
        remarks.append(
            _("{engine} gives every card the same share: each counts as the {card}.").format(**named)
        )
    if memory.host_bytes:
        host = figures.size(memory.host_bytes, units)
        remarks.append(_("Beside the GPU, {host} of system RAM are used.").format(host=host))
    return [sentence(text) for text in remarks]
