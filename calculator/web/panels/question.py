"""The question: every field with its choices, what was chosen for the visitor, and what limits it."""

from __future__ import annotations

import zlib
from collections.abc import Mapping

from django.utils.translation import gettext as _
from django.utils.translation import gettext_lazy, ngettext

from calculator.estimation.sheet import built_size
from calculator.estimation.weights import has_rule
from calculator.resolve import cache_types_for, engines_for, formats_for, resolve
from calculator.scenario import DEFAULTS
from calculator.web import figures
from calculator.web.answer import Answer
from calculator.web.panels.advanced import advanced_groups, advanced_summary
from calculator.web.panels.names import format_words, plan_words, version_words
from calculator.web.panels.pickers import hardware_field, model_field
from calculator.web.panels.problems import field_problem
from calculator.web.panels.shapes import (
    Choice,
    ChoiceGroup,
    CountField,
    QuestionPanel,
    SegmentedField,
    SelectField,
)
from calculator.web.panels.sliders import context_slider, users_slider
from calculator.web.panels.would_fit import smallest_number
from calculator.web.wording.choices import choice_words
from calculator.web.wording.fields import label_of
from calculator.web.wording.text import cache_label, engine_name
from catalog.records import Engine, WeightsFormat

CHOSEN = gettext_lazy("chosen for you")
MOST_SEGMENTS = 5

FORMAT_FAMILIES: Mapping[str, object] = {
    "native": gettext_lazy("As published"),
    "float": gettext_lazy("16 and 32 bits"),
    "fp8": gettext_lazy("8 bits"),
    "int8": gettext_lazy("8 bits"),
    "gguf": "GGUF",
    "mlx": "MLX",
    "awq": gettext_lazy("4 to 8 bits, grouped"),
    "gptq": gettext_lazy("4 to 8 bits, grouped"),
    "w4a16": gettext_lazy("4 to 8 bits, grouped"),
    "w4a8": gettext_lazy("4 to 8 bits, grouped"),
    "fp4": gettext_lazy("4-bit float"),
    "bitsandbytes": "bitsandbytes",
    "exl3": "EXL3",
    "exl2": "EXL2",
}

CONTROLS = ("model", "quant", "gpu", "n", "ctx", "users", "kv", "engine")
"""Ids of the fields that are always there; those of Advanced depend on the engine."""


def question_panel(answer: Answer, *, fragment: bool, shown_key: str = "") -> QuestionPanel:
    """All fields. shown_key: the choices that the browser shows already."""
    quant, kv, engine = _quant_field(answer), _cache_field(answer), _engine_field(answer)
    advanced = advanced_groups(answer)
    looks = (quant["groups"], kv.get("choices") or kv.get("groups"), engine["groups"], advanced)
    key = f"{zlib.crc32(repr(looks).encode()):08x}"
    return {
        "model": model_field(answer, field_problem(answer, "model"), with_groups=not fragment),
        "quant": quant,
        "gpu": hardware_field(answer, field_problem(answer, "gpu"), with_groups=not fragment),
        "n": _count_field(answer),
        "ctx": context_slider(answer, field_problem(answer, "ctx")),
        "users": users_slider(answer, field_problem(answer, "users")),
        "kv": kv,
        "engine": engine,
        "advanced": advanced,
        "advanced_summary": advanced_summary(answer),
        "units": answer.units,
        "reset_href": "/",
        "choices_key": key,
        "send_choices": key != shown_key,
    }


def controls_of(panel: QuestionPanel) -> frozenset[str]:
    """Ids of every control that stands on the page."""
    return frozenset(CONTROLS) | {field["id"] for group in panel["advanced"] for field in group["fields"]}


def _why(answer: Answer, field: str) -> str:
    for choice in answer.configuration.choices:
        if choice.field == field:
            return choice_words(choice, answer.units)
    return ""


# --- weights format ---------------------------------------------------------------------------------------------------


def _sized(answer: Answer, weights_format: WeightsFormat) -> str:
    model = answer.configuration.model
    name = format_words(weights_format, model.native_format)
    if not has_rule(model, weights_format):
        return name
    return f"{name} · {_size_words(answer, weights_format)}"


def _size_words(answer: Answer, weights_format: WeightsFormat) -> str:
    return figures.size(built_size(answer.configuration.model, weights_format).size_bytes, answer.units)


def _usual_format(answer: Answer) -> WeightsFormat:
    """What the engine takes when no format is asked for."""
    if answer.scenario.quant is None:
        return answer.configuration.weights_format
    return resolve(answer.scenario.replace(quant=None), answer.snapshot).configuration.weights_format


def _quant_field(answer: Answer) -> SelectField:
    """Formats by family with their sizes; first what would be chosen."""
    chosen, weights_format = answer.scenario.quant, answer.configuration.weights_format
    groups: dict[str, list[Choice]] = {"": [{"value": "", "label": _sized(answer, _usual_format(answer))}]}
    offered = tuple(sorted(formats_for(answer.resolved, answer.snapshot), key=_family_place))
    if chosen is not None and weights_format not in offered:
        offered = (weights_format, *offered)
    for each in offered:
        label = str(FORMAT_FAMILIES.get(each.family, each.family))
        groups.setdefault(label, []).append({"value": each.id, "label": _sized(answer, each)})
    known = has_rule(answer.configuration.model, weights_format)
    return {
        "widget": "select",
        "id": "quant",
        "name": "quant",
        "label": label_of("quant"),
        "aside": str(CHOSEN) if chosen is None else "",
        "value": "" if chosen is None else weights_format.id,
        "groups": [{"label": label, "choices": choices} for label, choices in groups.items()],
        "note": _size_words(answer, weights_format) if known else "",
        "help": _why(answer, "quant") if chosen is None else "",
        "problem": field_problem(answer, "quant"),
        "changed": chosen is not None,
    }


def _family_place(weights_format: WeightsFormat) -> int:
    families = list(FORMAT_FAMILIES)
    return families.index(weights_format.family) if weights_format.family in families else len(families)


# --- hardware ---------------------------------------------------------------------------------------------------------


def _count_field(answer: Answer) -> CountField:
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
        "value": str(answer.scenario.n),
        "note": " · ".join(piece for piece in (_nodes_words(answer), _fits_from(answer)) if piece),
        "steps": " ".join(str(step) for step in steps),
        "problem": field_problem(answer, "n"),
    }


def _nodes_words(answer: Answer) -> str:
    plan, count = answer.configuration.plan, answer.configuration.count
    if count == 1:
        return ""
    if plan.nodes == 1:
        return _("1 node of {size}").format(size=count)
    return ngettext("{nodes} node of {size}", "{nodes} nodes of {size}", plan.nodes).format(
        nodes=plan.nodes, size=plan.gpus_per_node
    )


def _fits_from(answer: Answer) -> str:
    """The smallest count that fits; nothing where one device is enough or none is known to be."""
    if answer.scenario.n == 1 and answer.estimate.verdict in ("fits", "tight"):
        return ""
    count = smallest_number(answer)
    return _("fits from {count}").format(count=count) if count else ""


# --- cache type -------------------------------------------------------------------------------------------------------


def _cache_field(answer: Answer) -> SegmentedField | SelectField:
    engine, value = answer.configuration.engine, answer.configuration.cache_type
    offered = cache_types_for(answer.resolved)
    if value not in offered:
        offered = (value, *offered)
    choices: list[Choice] = [{"value": each, "label": cache_label(each, engine)} for each in offered]
    problem, changed = field_problem(answer, "kv"), value != DEFAULTS["kv"]
    if len(choices) > MOST_SEGMENTS:
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
            "problem": problem,
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
        "problem": problem,
        "changed": changed,
    }


# --- engine -----------------------------------------------------------------------------------------------------------


def _engine_label(engine: Engine) -> str:
    version = (
        version_words(engine.version) if engine.version[:1].isdigit() or engine.version[1:2].isdigit() else ""
    )
    return f"{engine_name(engine.id)} {version}".strip()


def _engine_field(answer: Answer) -> SelectField:
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
        "aside": str(CHOSEN) if automatic else "",
        "value": "" if automatic else configuration.engine.id,
        "groups": [group for group in groups if group["choices"]],
        "note": plan_words(configuration),
        "help": " ".join(words for words in (_why(answer, "engine"), _why(answer, "split")) if words),
        "problem": field_problem(answer, "engine"),
        "changed": not automatic,
    }
