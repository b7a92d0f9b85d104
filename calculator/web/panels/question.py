"""The question: every field with its choices, what was chosen for the visitor, and what limits it."""

from __future__ import annotations

import zlib

from calculator.resolve import cache_types_for, engines_for, resolve
from calculator.scenario import DEFAULTS, text_of
from calculator.web import figures
from calculator.web.answer import Answer
from calculator.web.panels.advanced import advanced_groups, advanced_summary
from calculator.web.panels.formats import format_field
from calculator.web.panels.names import card_name, cards_of, plan_words, settled, version_words
from calculator.web.panels.per_snapshot import unless_changed, unmoved
from calculator.web.panels.pickers import hardware_field, model_field
from calculator.web.panels.problems import with_problem
from calculator.web.panels.shapes import (
    AdvancedGroup,
    Choice,
    ChoiceGroup,
    CountField,
    QuestionNotes,
    QuestionPanel,
    SegmentedField,
    SelectField,
)
from calculator.web.panels.sliders import context_slider, users_slider
from calculator.web.panels.would_fit import smallest_number
from calculator.web.wording.choices import CHOSEN_FOR_YOU, why_chosen
from calculator.web.wording.fields import label_of
from calculator.web.wording.speech import gettext as _
from calculator.web.wording.speech import ngettext
from calculator.web.wording.text import cache_label, engine_name
from catalog.records import Engine

MOST_SEGMENTS = 4
LONGEST_SEGMENT = 8  # characters; longer labels would not stand side by side

CONTROLS = ("model", "quant", "gpu", "n", "ctx", "users", "kv", "engine")
"""Ids of the fields that are always there; those of Advanced depend on the engine."""

TARGETS = ("ttft", "tpot")
"""Ids of the fields that stand in the section Speed."""

NOT_CARRIED = ("units", "show")
"""What the page itself keeps."""


def question_panel(
    answer: Answer, *, fragment: bool, shown_key: str = "", elsewhere: frozenset[str] = frozenset()
) -> QuestionPanel:
    """All fields. shown_key: the choices that the browser shows already. elsewhere: fields of the question that stand in an
    open section."""
    quant, kv, engine = format_field(answer), _cache_field(answer), _engine_field(answer)
    advanced = advanced_groups(answer)

    def choices_key() -> str:
        looks = (quant["groups"], kv.get("choices") or kv.get("groups"), engine["groups"], advanced)
        return f"{zlib.crc32(repr(looks).encode()):08x}"

    marked = any(field["problem"] for group in advanced for field in group["fields"])
    key = choices_key() if marked else unmoved(answer, "choices_key", choices_key)
    summary = unmoved(answer, "advanced_summary", lambda: advanced_summary(advanced))
    words = tuple(field[name] for field in (quant, engine) for name in ("aside", "note", "help"))
    notes = unless_changed(answer, "notes", (words, summary), lambda: _notes(quant, engine, summary))
    return {
        "model": model_field(answer, with_groups=not fragment),
        "quant": quant,
        "gpu": hardware_field(answer, with_groups=not fragment),
        "n": _count_field(answer),
        "ctx": context_slider(answer),
        "users": users_slider(answer),
        "kv": kv,
        "engine": engine,
        "advanced": advanced,
        "advanced_summary": summary,
        "units": answer.units,
        "reset_href": "/",
        "notes": notes,
        "choices_key": key,
        "send_choices": key != shown_key,
        "carried": _carried(answer, advanced, elsewhere),
    }


def _carried(
    answer: Answer, advanced: list[AdvancedGroup], elsewhere: frozenset[str]
) -> list[tuple[str, str]]:
    """What differs from the defaults and has no field on the page: the form hands it on, whatever is moved."""
    there = _controls(advanced) | elsewhere | frozenset(NOT_CARRIED)
    return [(name, text_of(value)) for name, value in answer.scenario.changed() if name not in there]


def _notes(quant: SelectField, engine: SelectField, summary: str) -> QuestionNotes:
    return {"quant": quant, "engine": engine, "advanced_summary": summary}


def controls_of(panel: QuestionPanel) -> frozenset[str]:
    """Ids of every control that stands on the page."""
    return _controls(panel["advanced"])


def _controls(advanced: list[AdvancedGroup]) -> frozenset[str]:
    return frozenset((*CONTROLS, *TARGETS)) | {field["id"] for group in advanced for field in group["fields"]}


# --- hardware ---------------------------------------------------------------------------------------------------------


def _count_field(answer: Answer) -> CountField:
    field = unmoved(answer, "n", lambda: _unmoved_count(answer))
    note = " · ".join(piece for piece in (field["note"], _fits_from(answer)) if piece)
    moved: CountField = {**field, "note": note}
    return with_problem(moved, answer)


def _unmoved_count(answer: Answer) -> CountField:
    """The field as the nodes describe it, without what fits."""
    configuration = answer.configuration
    ladder = answer.snapshot.ladders.get(configuration.accelerator.ladder)
    per_unit = configuration.system.count if configuration.system else 1
    counts = ladder.counts if ladder else (1, 2, 4, 8)
    steps = sorted(
        {max(1, count // per_unit) for count in counts if count >= per_unit or per_unit == 1} | {1}
    )
    return {
        "id": "n",
        "name": "n",
        "label": label_of("n"),
        "value": str(_number_of(answer)),
        "note": _cards_words(answer) or _nodes_words(answer),
        "steps": " ".join(str(step) for step in steps),
        "problem": [],
    }


def _cards_words(answer: Answer) -> str:
    """`the list names 3 cards`: unequal cards have their numbers in the list itself."""
    configuration = answer.configuration
    if not cards_of(answer.scenario.gpu, answer.snapshot):
        return ""
    words = _("the list names {count} cards").format(count=configuration.count)
    if not configuration.cards:
        words += ", " + _("each counted as the {card}").format(card=card_name(configuration.accelerator))
    return words


def _number_of(answer: Answer) -> int:
    """How many of what the hardware field holds: a list of alike cards is one kind of card and its number."""
    asked = answer.scenario.gpu
    alike = (":" in asked or "," in asked) and not cards_of(asked, answer.snapshot)
    return answer.configuration.count if alike else answer.scenario.n


def _nodes_words(answer: Answer) -> str:
    plan, count = answer.configuration.plan, answer.configuration.count
    if count == 1:
        return ""
    if plan.nodes == 1:
        return _("1 node of {size}").format(size=figures.whole(count))
    if plan.nodes * plan.gpus_per_node != count:
        return _("{count} in {nodes} nodes of {size}").format(
            count=figures.whole(count), nodes=figures.whole(plan.nodes), size=plan.gpus_per_node
        )
    return ngettext("{nodes} node of {size}", "{nodes} nodes of {size}", plan.nodes).format(
        nodes=figures.whole(plan.nodes), size=plan.gpus_per_node
    )


def _fits_from(answer: Answer) -> str:
    """The smallest count that fits; nothing where one device is enough or none is known to be."""
    if answer.scenario.n == 1 and answer.estimate.verdict in ("fits", "tight"):
        return ""
    count = smallest_number(answer)
    return _("fits from {count}").format(count=figures.whole(count)) if count else ""


# --- cache type -------------------------------------------------------------------------------------------------------


def _cache_field(answer: Answer) -> SegmentedField | SelectField:
    return with_problem(unmoved(answer, "kv", lambda: _unmoved_cache(answer)), answer)


def _unmoved_cache(answer: Answer) -> SegmentedField | SelectField:
    engine, value = answer.configuration.engine, answer.configuration.cache_type
    offered = cache_types_for(answer.resolved)
    if value not in offered:
        offered = (value, *offered)
    choices: list[Choice] = [{"value": each, "label": cache_label(each, engine)} for each in offered]
    changed = value != DEFAULTS["kv"]
    if len(choices) > MOST_SEGMENTS or any(len(choice["label"]) > LONGEST_SEGMENT for choice in choices):
        return {
            "widget": "select",
            "id": "kv",
            "name": "kv",
            "label": label_of("kv"),
            "aside": "",
            "value": value,
            "groups": [{"label": "", "choices": choices}],
            "note": "",
            "help": "",
            "problem": [],
            "changed": changed,
        }
    return {
        "widget": "segmented",
        "id": "kv",
        "name": "kv",
        "label": label_of("kv"),
        "aside": "",
        "value": value,
        "choices": choices,
        "help": "",
        "problem": [],
        "changed": changed,
    }


# --- engine -----------------------------------------------------------------------------------------------------------


def _engine_label(engine: Engine) -> str:
    version = (
        version_words(engine.version) if engine.version[:1].isdigit() or engine.version[1:2].isdigit() else ""
    )
    return f"{engine_name(engine.id)} {version}".strip()


def _engine_field(answer: Answer) -> SelectField:
    field = unmoved(answer, "engine", lambda: _unmoved_engine(answer))
    moved: SelectField = {**field, "note": plan_words(settled(answer))}
    return with_problem(moved, answer)


def _unmoved_engine(answer: Answer) -> SelectField:
    """Engines that run on this device; those that do not list the model's class stand apart."""
    configuration, chosen = answer.configuration, answer.scenario.engine
    automatic = chosen == DEFAULTS["engine"]
    usual = configuration.engine
    if not automatic:
        usual = resolve(answer.scenario.replace(engine="auto"), answer.snapshot).configuration.engine
    offered = dict(engines_for(answer.resolved, answer.snapshot))
    listed: list[Choice] = [
        {"value": e.id, "label": _engine_label(e)} for e, lists in offered.items() if lists
    ]
    others: list[Choice] = [
        {"value": e.id, "label": _engine_label(e)} for e, lists in offered.items() if not lists
    ]
    if configuration.engine not in offered:
        others.append({"value": configuration.engine.id, "label": _engine_label(configuration.engine)})
    groups: list[ChoiceGroup] = [
        {"label": "", "choices": [{"value": "", "label": _engine_label(usual)}]},
        {"label": _("Supports this model"), "choices": listed},
        {"label": _("Does not list this model"), "choices": others},
    ]
    return {
        "widget": "select",
        "id": "engine",
        "name": "engine",
        "label": label_of("engine"),
        "aside": str(CHOSEN_FOR_YOU) if automatic else "",
        "value": "" if automatic else configuration.engine.id,
        "groups": [group for group in groups if group["choices"]],
        "note": "",
        "help": why_chosen(configuration, "engine", answer.units),
        "problem": [],
        "changed": not automatic,
    }
