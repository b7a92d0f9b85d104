"""The lists of models and hardware, built once for each catalogue version and unit."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from functools import partial

from calculator.estimation.devices import physical_bytes
from calculator.web import figures
from calculator.web.answer import Answer
from calculator.web.panels.names import cards_of, cards_words
from calculator.web.panels.per_snapshot import per_snapshot, unmoved
from calculator.web.panels.problems import with_problem
from calculator.web.panels.shapes import PickerField, PickerGroup, PickerOption
from calculator.web.wording.fields import label_of
from calculator.web.wording.speech import gettext as _
from calculator.web.wording.speech import gettext_lazy
from catalog.records import Accelerator, LanguageModel, System
from catalog.snapshot import Snapshot

MIXERS: Mapping[str, str] = {
    "gqa": "GQA",
    "mla": "MLA",
    "csa": "CSA",
    "gated_deltanet": "Gated DeltaNet",
    "kda": "KDA",
    "lightning": "Lightning",
    "mamba1": "Mamba",
    "mamba2": "Mamba-2",
    "shortconv": "ShortConv",
}
"""Kinds of layers by their usual names, for the line of facts."""

DEVICE_KINDS: Mapping[str, object] = {
    "datacenter": gettext_lazy("{vendor} data centre"),
    "workstation": gettext_lazy("{vendor} workstation"),
    "consumer": gettext_lazy("{vendor} consumer"),
    "apple": gettext_lazy("Apple silicon"),
    "apu": gettext_lazy("{vendor} shared memory"),
    "edge": gettext_lazy("{vendor} edge"),
    "cpu": gettext_lazy("CPU only"),
}
SYSTEM_KINDS: Mapping[str, object] = {
    "datacenter": gettext_lazy("Servers"),
    "workstation": gettext_lazy("Workstations"),
    "consumer": gettext_lazy("Desktops"),
    "apple": gettext_lazy("Macs"),
    "apu": gettext_lazy("Shared-memory machines"),
    "edge": gettext_lazy("Edge machines"),
}
_OTHER_MACHINES = gettext_lazy("Machines")
ORDER = ("consumer", "datacenter", "workstation", "apple", "apu", "edge", "cpu")
"""Kinds of devices, what most people look for first."""

FAMILIES = ("GeForce RTX 50", "GeForce RTX 40", "GeForce RTX 30", "GeForce RTX laptop")
"""Families that stand first in their list, in this order; all others follow, the newest first."""

_OTHER = gettext_lazy("Other")
_MIXED = gettext_lazy("Mixed cards")


def model_field(answer: Answer, *, with_groups: bool) -> PickerField:
    """The model picker. A fragment needs no groups."""
    field = with_problem(unmoved(answer, "model", lambda: _unmoved_model(answer)), answer)
    return {**field, "groups": model_groups(answer.snapshot)} if with_groups else field


def _unmoved_model(answer: Answer) -> PickerField:
    model = answer.configuration.model
    return {
        "id": "model",
        "name": "model",
        "label": label_of("model"),
        "value": model.id,
        "chosen_name": model.name,
        "chosen_facts": model_facts(model),
        "groups": [],
        "problem": [],
    }


def hardware_field(answer: Answer, *, with_groups: bool) -> PickerField:
    """The hardware picker: accelerators by vendor and kind, then whole machines."""
    field = with_problem(unmoved(answer, "gpu", lambda: _unmoved_hardware(answer)), answer)
    if not with_groups:
        return field
    groups = hardware_groups(answer.snapshot, answer.units)
    if "," in field["value"]:
        mixed: PickerOption = {
            "value": field["value"],
            "name": field["chosen_name"],
            "columns": field["chosen_facts"],
            "words": "",
        }
        groups = [{"label": str(_MIXED), "options": [mixed]}, *groups]
    return {**field, "groups": groups}


def _unmoved_hardware(answer: Answer) -> PickerField:
    configuration, asked = answer.configuration, answer.scenario.gpu
    if cards := cards_of(asked, answer.snapshot):
        memory = " + ".join(
            _memory_words(card, answer.units)
            if count == 1
            else f"{count} × {_memory_words(card, answer.units)}"
            for card, count in cards
        )
        return {
            "id": "gpu",
            "name": "gpu",
            "label": label_of("gpu"),
            "value": asked,
            "chosen_name": cards_words(asked, answer.snapshot),
            "chosen_facts": memory,
            "groups": [],
            "problem": [],
        }
    system = configuration.system
    name = system.name if system else configuration.accelerator.name
    facts = device_facts(configuration.accelerator, answer.units)
    if system:
        facts = system_facts(system, configuration.accelerator, answer.units)
    return {
        "id": "gpu",
        "name": "gpu",
        "label": label_of("gpu"),
        "value": system.id if system else configuration.accelerator.id,
        "chosen_name": name,
        "chosen_facts": facts,
        "groups": [],
        "problem": [],
    }


# --- models -----------------------------------------------------------------------------------------------------------


def mixer_words(model: LanguageModel) -> str:
    """`MLA + KDA`."""
    return " + ".join(MIXERS[kind] for kind in MIXERS if kind in model.architecture.kinds)


def model_facts(model: LanguageModel) -> str:
    """`Moonshot AI · 2.78T parameters, 104B active · MLA + KDA · 1,048,576 tokens`."""
    size = _("{count} parameters").format(count=figures.parameters(model.parameters))
    if model.architecture.is_moe:
        size += ", " + _("{count} active").format(count=figures.parameters(model.active_parameters))
    pieces = [model.lab, size, mixer_words(model)]
    if model.max_context_tokens:
        pieces.append(_("{count} tokens").format(count=figures.whole(model.max_context_tokens)))
    return " · ".join(piece for piece in pieces if piece)


def _model_option(model: LanguageModel, *, alone: bool = False) -> PickerOption:
    """alone: its lab has no list of its own, so the name of the lab finds it here."""
    columns = [figures.parameters(model.parameters)]
    if model.architecture.is_moe:
        columns.append(_("{count} active").format(count=figures.parameters(model.active_parameters)))
    if model.max_context_tokens:
        columns.append(figures.tokens(model.max_context_tokens, down=True))
    words = [model.family, (model.repo or "").partition("/")[2]]
    if alone:
        words.append(model.lab)
    return {
        "value": model.id,
        "name": model.name,
        "columns": "|".join(columns),
        "words": _words(words, model.name, "" if alone else model.lab, model.id),
    }


def _words(words: Iterable[str], *searched: str) -> str:
    """Search words that what is searched anyway (name, group, id) does not hold already."""
    known = " ".join(searched).lower()
    fresh = dict.fromkeys(word for text in words for word in text.split() if word.lower() not in known)
    return " ".join(fresh)


def _model_groups(snapshot: Snapshot) -> list[PickerGroup]:
    labs: dict[str, list[LanguageModel]] = {}
    for model in snapshot.models.values():
        labs.setdefault(model.lab, []).append(model)
    groups: list[PickerGroup] = [
        {"label": lab, "options": [_model_option(model) for model in sorted(models, key=_newest_first)]}
        for lab, models in sorted(labs.items(), key=lambda item: (-len(item[1]), item[0].lower()))
        if len(models) > 1
    ]
    alone = sorted((models[0] for models in labs.values() if len(models) == 1), key=_newest_first)
    if alone:
        groups.append(
            {"label": str(_OTHER), "options": [_model_option(model, alone=True) for model in alone]}
        )
    return groups


def _newest_first(model: LanguageModel) -> tuple[int, str]:
    return -_day(model.released), model.name.lower()


def _day(date: str | None) -> int:
    """A date as a number of year, month and day, 0 without one; a year alone comes before its months."""
    digits = "".join(character for character in date or "" if character.isdigit())
    return int(digits[:8].ljust(8, "0"))


model_groups = partial(per_snapshot, _model_groups)


# --- hardware ---------------------------------------------------------------------------------------------------------


def _memory_words(device: Accelerator, units: str) -> str:
    memory = physical_bytes(device)
    return figures.size(memory, units) if memory else _("memory not known")


def device_facts(device: Accelerator, units: str) -> str:
    """`79.6 GiB · 3,350 GB/s · FP8 · NVLink 4, 450 GB/s`."""
    pieces = [_memory_words(device, units)]
    if device.bandwidth_bytes_per_s:
        pieces.append(figures.bandwidth(device.bandwidth_bytes_per_s))
    flops = device.dense_flops_per_s
    pieces += [name for kind, name in (("fp4", "FP4"), ("fp8", "FP8")) if flops.get(kind)][:1]
    if device.link and device.link.bandwidth_bytes_per_s:
        pieces.append(f"{device.link.kind}, {figures.bandwidth(device.link.bandwidth_bytes_per_s)}")
    return " · ".join(pieces)


def system_facts(system: System, device: Accelerator, units: str) -> str:
    """`8 × 79.6 GiB · NVLink through NVSwitch`."""
    pieces = [f"{system.count} × {_memory_words(device, units)}"]
    if system.link_inside and system.count > 1:
        pieces.append(system.link_inside.kind)
    return " · ".join(pieces)


def _device_option(device: Accelerator, units: str) -> PickerOption:
    columns = [_memory_words(device, units)]
    if device.bandwidth_bytes_per_s:
        columns.append(figures.bandwidth(device.bandwidth_bytes_per_s))
    return {
        "value": device.id,
        "name": device.name,
        "columns": "|".join(columns),
        "words": _words([device.family, device.architecture, device.vendor], device.name, device.id),
    }


def _system_option(system: System, device: Accelerator, units: str) -> PickerOption:
    return {
        "value": system.id,
        "name": system.name,
        "columns": f"{system.count} × {_memory_words(device, units)}",
        "words": _words([device.name, system.name_zh], system.name, system.id),
    }


def _hardware_groups(snapshot: Snapshot, units: str) -> list[PickerGroup]:
    groups: dict[tuple[int, str], list[PickerOption]] = {}
    for device in sorted(snapshot.accelerators.values(), key=_device_place):
        template = DEVICE_KINDS.get(device.kind, "{vendor}")
        label = str(template).format(vendor=device.vendor)
        at = ORDER.index(device.kind) if device.kind in ORDER else len(ORDER)
        groups.setdefault((at, label), []).append(_device_option(device, units))
    for system in snapshot.systems.values():
        hosts = snapshot.hosts(system.id)
        if hosts:
            label = str(SYSTEM_KINDS.get(system.kind, _OTHER_MACHINES))
            groups.setdefault((len(ORDER) + 1, label), []).append(_system_option(system, hosts[0], units))
    placed = sorted(groups.items(), key=_by_place)
    listed: list[PickerGroup] = [
        {"label": label, "options": options} for (_at, label), options in placed if len(options) > 1
    ]
    alone = [option for _key, options in placed if len(options) == 1 for option in options]
    return [*listed, {"label": str(_OTHER), "options": alone}] if alone else listed


def _device_place(device: Accelerator) -> tuple[bool, int, int, float, str]:
    """By family, then the newest year and the fastest first; what cannot be bought stands last."""
    family = FAMILIES.index(device.family) if device.family in FAMILIES else len(FAMILIES)
    year = 0 if device.family in FAMILIES else _day(device.launch) // 10_000
    return not device.exists, family, -year, -(device.bandwidth_bytes_per_s or 0), device.name


def _by_place(item: tuple[tuple[int, str], list[PickerOption]]) -> tuple[int, bool, int, str]:
    """By kind; NVIDIA's list first in its kind, because it is what most people look for, then the longest."""
    (at, label), options = item
    return at, not label.startswith("NVIDIA"), -len(options), label


hardware_groups = partial(per_snapshot, _hardware_groups)
