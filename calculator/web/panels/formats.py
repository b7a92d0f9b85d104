"""The list of weights formats: by family, with sizes; built once for each model, engine and device."""

from __future__ import annotations

from collections.abc import Mapping

from calculator.estimation.sheet import BuiltSize, built_size
from calculator.estimation.weights import has_rule
from calculator.resolve import Resolved, formats_for, resolve
from calculator.web import figures
from calculator.web.answer import Answer
from calculator.web.panels.names import format_words
from calculator.web.panels.per_snapshot import once, unmoved
from calculator.web.panels.problems import with_problem
from calculator.web.panels.shapes import Choice, ChoiceGroup, SelectField
from calculator.web.wording.choices import CHOSEN_FOR_YOU, why_chosen
from calculator.web.wording.fields import label_of
from calculator.web.wording.speech import gettext_lazy
from catalog.records import LanguageModel, WeightsFormat
from catalog.snapshot import Snapshot

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


def format_sizes(resolved: Resolved, snapshot: Snapshot) -> tuple[BuiltSize, ...]:
    """The formats that the engine loads for this model on this device, by family, with their sizes."""
    c = resolved.configuration

    def make() -> tuple[BuiltSize, ...]:
        offered = sorted(formats_for(resolved, snapshot), key=_family_place)
        return tuple(built_size(c.model, each) for each in offered)

    return once(snapshot, ("format_sizes", c.model, c.engine, c.accelerator), make)


def _family_place(weights_format: WeightsFormat) -> int:
    families = list(FORMAT_FAMILIES)
    return families.index(weights_format.family) if weights_format.family in families else len(families)


def _groups(resolved: Resolved, snapshot: Snapshot, units: str) -> list[ChoiceGroup]:
    """Every format with its size, under the name of its family."""
    c = resolved.configuration

    def make() -> list[ChoiceGroup]:
        groups: dict[str, list[Choice]] = {}
        for size in format_sizes(resolved, snapshot):
            label = str(FORMAT_FAMILIES.get(size.weights_format.family, size.weights_format.family))
            groups.setdefault(label, []).append(_choice(size, c.model, units))
        return [{"label": label, "choices": choices} for label, choices in groups.items()]

    return once(snapshot, ("format_groups", c.model, c.engine, c.accelerator, units), make)


def _choice(size: BuiltSize, model: LanguageModel, units: str) -> Choice:
    name = format_words(size.weights_format, model.native_format)
    return {"value": size.weights_format.id, "label": f"{name} · {figures.size(size.size_bytes, units)}"}


def _sized(model: LanguageModel, weights_format: WeightsFormat, units: str) -> str:
    if not has_rule(model, weights_format):
        return format_words(weights_format, model.native_format)
    return _choice(built_size(model, weights_format), model, units)["label"]


def _usual_format(answer: Answer) -> WeightsFormat:
    """What the engine takes when no format is asked for."""
    if answer.scenario.quant is None:
        return answer.configuration.weights_format
    return resolve(answer.scenario.replace(quant=None), answer.snapshot).configuration.weights_format


def format_field(answer: Answer) -> SelectField:
    """First what would be chosen, then all; a format that this engine does not load is listed while it is asked for."""
    return with_problem(unmoved(answer, "quant", lambda: _field(answer)), answer)


def _field(answer: Answer) -> SelectField:
    chosen, units = answer.scenario.quant, answer.units
    model, weights_format = answer.configuration.model, answer.configuration.weights_format
    groups: list[ChoiceGroup] = [
        {"label": "", "choices": [{"value": "", "label": _sized(model, _usual_format(answer), units)}]},
        *_groups(answer.resolved, answer.snapshot, units),
    ]
    listed = any(choice["value"] == weights_format.id for group in groups for choice in group["choices"])
    if chosen is not None and not listed:
        label = _sized(model, weights_format, units)
        groups[0] = {
            "label": "",
            "choices": [*groups[0]["choices"], {"value": weights_format.id, "label": label}],
        }
    return {
        "widget": "select",
        "id": "quant",
        "name": "quant",
        "label": label_of("quant"),
        "aside": str(CHOSEN_FOR_YOU) if chosen is None else "",
        "value": "" if chosen is None else weights_format.id,
        "groups": groups,
        "note": "",
        "help": why_chosen(answer.configuration, "quant", units) if chosen is None else "",
        "problem": [],
        "changed": chosen is not None,
    }
