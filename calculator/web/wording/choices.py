"""What was chosen for the visitor, and what limits the memory: a sentence for every code."""

from __future__ import annotations

from collections.abc import Mapping

from calculator.estimation.configuration import Choice, Configuration
from calculator.estimation.terms import Limit
from calculator.web.wording.speech import gettext_lazy as _
from calculator.web.wording.text import Template, say_code

CHOICES: Mapping[str, Template] = {
    "engine_by_device_class": _("What most people run on this kind of device."),
    "engine_by_class_listed": _("The first engine that lists this model’s class."),
    "engine_only_built": _("The first engine whose arithmetic is built here."),
    "engine_by_format": _("The first engine that loads this format."),
    "format_by_engine": _("The usual format with this engine."),
    "format_by_engine_native": _("The model’s own, usual with this engine."),
    "format_native_4bit": _("Published in 4 bits already."),
    "format_native_unknown": _("The model’s own is not known: 16 bits are taken."),
    "plan_single": _("One GPU holds all layers."),
    "plan_tensor_in_domain": _("Every layer is split over the GPUs that a fast link joins."),
    "plan_tensor_pipeline": _(
        "Each layer is split over {tp} GPUs; {pp} such groups follow one another as stages of a pipeline."
    ),
    "plan_pipeline": _(
        "A pure pipeline: each of {pp} GPUs holds whole layers, because this number of GPUs cannot split every layer."
    ),
    "plan_layer_split": _("Each GPU holds whole layers, in order."),
    "plan_asked": _("As you asked."),
    "ram_default": _("What many machines have."),
    "ram_of_system": _("What {system} has."),
    "os_default": _("The usual system for this device."),
    "knob_engine_default": _("The engine’s default."),
    "sequences_as_users": _("As many requests as users; the command sets it."),
}

LIMITS: Mapping[str, Template] = {
    "engine_share": _(
        "{engine:engine} may take {share:percent} of the {process_bytes:size} that a process sees"
    ),
    "static_share": _(
        "{engine:engine} may take {share:percent} of the {free_bytes:size} that are free before it loads, beside "
        "{before_bytes:size} in use; activations and graphs have the rest"
    ),
    "process_total": _("all that a process sees of the card"),
    "process_total_by_rule": _("all that a process should see of the card, by rule, not measured"),
    "macos_default": _("macOS {generation} default, {share:percent}"),
    "macos_wired": _("wired limit of {wired_gb} GB"),
    "apu_linux": _("Linux default, {carve_bytes:size} carved out by the BIOS and {gtt_bytes:size} shared"),
    "apu_windows": _("Windows default, with {carve_bytes:size} of graphics memory"),
    "grace_pool": _("one pool with the system"),
    "reserve_4gib": _("{reserve_bytes:size} stay with the system"),
    "windows_reserve": _("Windows keeps {reserve_bytes:size} of the card"),
    "display_reserve": _("the desktop takes {reserve_bytes:size} of the card"),
}

CHOSEN_FOR_YOU = _("chosen for you")
_CHOSEN = _("Chosen by the catalogue.")
_LIMIT = _("what the engine may take")


def choice_words(choice: Choice, units: str) -> str:
    """Why this value was chosen."""
    code = f"{choice.code}_{choice.value}"
    if choice.code == "plan_tensor_pipeline" and choice.factors.get("tp") == 1:
        code = "plan_pipeline"
    code = code if code in CHOICES else choice.code
    return say_code(CHOICES, code, {"value": choice.value, **choice.factors}, units, _CHOSEN)


def why_chosen(configuration: Configuration, field: str, units: str) -> str:
    """Why a field was settled as it is; empty when nothing was chosen."""
    return next(
        (choice_words(choice, units) for choice in configuration.choices if choice.field == field), ""
    )


def limit_words(limit: Limit, engine_id: str, units: str) -> str:
    """The rule that limits the memory, as a phrase: `macOS 26 default, 84%`."""
    return say_code(LIMITS, limit.rule.code, {"engine": engine_id, **limit.rule.factors}, units, _LIMIT)
