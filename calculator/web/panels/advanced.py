"""The knobs behind Advanced: only those that the engine, the device and the model have."""

from __future__ import annotations

from collections.abc import Mapping

from calculator.estimation.devices import default_os
from calculator.estimation.engines.acceptance import backend_for
from calculator.estimation.engines.shared import server_defaults
from calculator.resolve import USUAL_OUTPUT, USUAL_PROMPT
from calculator.scenario import BY_NAME, DEFAULTS, Value
from calculator.web import figures
from calculator.web.answer import Answer
from calculator.web.panels.links_offered import links_offered
from calculator.web.panels.names import version_words
from calculator.web.panels.per_snapshot import unmoved
from calculator.web.panels.problems import with_problem
from calculator.web.panels.shapes import (
    AdvancedField,
    AdvancedGroup,
    Choice,
    NumberField,
    SelectField,
    ToggleField,
)
from calculator.web.panels.speculation import SERVERS, drafts_possible
from calculator.web.wording.choices import why_chosen
from calculator.web.wording.fields import ADVANCED_GROUPS, label_of
from calculator.web.wording.speech import gettext as _
from calculator.web.wording.speech import gettext_lazy, ngettext
from calculator.web.wording.text import BACKEND_NAMES

ENGINE_KNOBS: Mapping[str, tuple[str, ...]] = {
    "vllm": ("util", "seqs", "batched", "maxlen", "eager"),
    "llama.cpp": ("ubatch", "fa"),
    "ollama": ("ubatch", "fa"),
    "lm-studio": ("ubatch", "fa"),
    "sglang": ("util", "seqs", "batched", "maxlen", "eager"),
    "ktransformers": ("util", "seqs", "batched", "maxlen", "eager"),
    "tensorrt-llm": ("util", "seqs", "batched", "eager"),
    "mlx": ("batched",),
}
"""Knobs of the engine's memory, by engine family."""

HELP: Mapping[str, object] = {
    "util": gettext_lazy("Share of the memory that the server takes."),
    "seqs": gettext_lazy("Requests that the server prepares for."),
    "batched": gettext_lazy("Tokens of one forward pass."),
    "maxlen": gettext_lazy("Longest request that the server accepts."),
    "eager": gettext_lazy("Saves memory, costs speed."),
    "ubatch": gettext_lazy("Tokens computed at once."),
    "display": gettext_lazy("The desktop takes a part of the memory."),
    "wired": gettext_lazy("Set by hand with iogpu.wired_limit_mb."),
    "vgm": gettext_lazy("Set in the BIOS."),
    "vision": gettext_lazy("The encoder is loaded."),
    "link": gettext_lazy("Between the GPUs, or between machines."),
    "ep": gettext_lazy("GPUs that the experts are spread over."),
    "adp": gettext_lazy("Groups that keep attention and cache for their own requests."),
    "dcp": gettext_lazy("GPUs that a request’s cache is divided over."),
    "dp": gettext_lazy("Whole copies of the model."),
    "ngl": gettext_lazy("The output counts as one more."),
    "ncmoe": gettext_lazy("Layers whose experts stay in system RAM, from the first."),
    "ram": gettext_lazy("Whether the part beside the GPU fits there."),
    "ram_bw": gettext_lazy("Theoretical, channels × transfer rate × 8 bytes."),
    "mtp": gettext_lazy("Tokens that the model’s own prediction drafts per step."),
    "accept": gettext_lazy("Share of drafted tokens that are kept, 0 to 1."),
    "prompt": gettext_lazy("Shorter where the context leaves less."),
    "output": gettext_lazy("At most half of the context."),
    "prefix": gettext_lazy("Tokens of the prompt that all requests share: read once."),
}

OFFLOAD_NAMES: Mapping[str, object] = {
    "none": gettext_lazy("nothing"),
    "auto": gettext_lazy("what does not fit"),
    "layers": gettext_lazy("layers"),
    "experts": gettext_lazy("experts"),
}

OS_NAMES: Mapping[str, str] = {
    "linux": "Linux",
    "windows": "Windows",
    "wsl": "WSL 2",
    "macos15": "macOS 15",
    "macos26": "macOS 26",
}


def advanced_groups(answer: Answer) -> list[AdvancedGroup]:
    """Engine memory, parallel plan, offload, the engine's build, operating system, lengths, drafts, images; a group without knobs is
    left out."""
    groups = unmoved(answer, "advanced", lambda: _groups(answer))
    if not answer.problems:
        return groups
    return [
        {"legend": group["legend"], "fields": [with_problem(field, answer) for field in group["fields"]]}
        for group in groups
    ]


def _groups(answer: Answer) -> list[AdvancedGroup]:
    groups: list[tuple[str, list[AdvancedField]]] = [
        (str(ADVANCED_GROUPS["engine"]), _engine_fields(answer)),
        (str(ADVANCED_GROUPS["plan"]), _plan_fields(answer)),
        (str(ADVANCED_GROUPS["offload"]), _offload_fields(answer)),
        (_("Engine build"), _build_fields(answer)),
        (str(ADVANCED_GROUPS["platform"]), _platform_fields(answer)),
        (str(ADVANCED_GROUPS["lengths"]), _length_fields(answer)),
        (str(ADVANCED_GROUPS["speculative"]), _speculative_fields(answer)),
        (_("Images"), [_toggle(answer, "vision")] if answer.configuration.model.vision else []),
    ]
    return [{"legend": legend, "fields": fields} for legend, fields in groups if fields]


def advanced_summary(groups: list[AdvancedGroup]) -> str:
    """`all at the engine’s defaults`, `2 changed`."""
    changed = sum(field["changed"] for group in groups for field in group["fields"])
    if not changed:
        return _("all at the engine’s defaults")
    return ngettext("{count} changed", "{count} changed", changed).format(count=changed)


def _engine_fields(answer: Answer) -> list[AdvancedField]:
    knobs = ENGINE_KNOBS.get(answer.configuration.engine.family, ())
    return [_knob(answer, name) for name in knobs]


def _knob(answer: Answer, name: str) -> AdvancedField:
    if name == "eager":
        return _toggle(answer, name)
    if name == "fa":
        return _select(answer, name, [("", _("on, the default")), ("1", _("on")), ("0", _("off"))])
    return _number(answer, name, _placeholder(answer, name))


def _placeholder(answer: Answer, name: str) -> str:
    """What the knob is while it is left open; in words where it follows another field."""
    engine = answer.configuration.engine
    server = server_defaults(engine, answer.configuration.accelerator)
    follows = {"seqs": _("as the users"), "maxlen": _("as the context")}
    if name in follows:
        return follows[name]
    if name == "util":
        return (
            figures.plain(float(engine.rules["memory_share"]))
            if "memory_share" in engine.rules
            else _("by its own rule")
        )
    own = {"batched": "batched", "ubatch": "micro_batch"}[name]
    return figures.whole(float(server.get(own, 0))) if own in server else ""


def _plan_fields(answer: Answer) -> list[AdvancedField]:
    """How several GPUs share the model."""
    if answer.configuration.count < 2:
        return []
    configuration = answer.configuration
    plan, engine = configuration.plan, configuration.engine
    experts = configuration.model.architecture.is_moe
    splits = [("auto", _("chosen for you")), ("tensor", _("tensors")), ("layer", _("layers"))]
    if experts and engine.family in SERVERS:
        splits.append(("expert", _("tensors and experts")))
    split = _select(answer, "split", splits)
    fields: list[AdvancedField] = [
        {**split, "help": why_chosen(configuration, "split", answer.units)},
        _select(answer, "link", links_offered(configuration)),
    ]
    if "max_gpus_layer_split" not in engine.rules:
        fields += [_number(answer, "tp", str(plan.tp)), _number(answer, "pp", str(plan.pp))]
    if engine.family in SERVERS:
        names = ("ep", "adp", "dcp", "dp") if experts else ("adp", "dcp", "dp")
        fields += [_number(answer, name, str(getattr(plan, name))) for name in names]
    return fields


def _offload_fields(answer: Answer) -> list[AdvancedField]:
    """What may stay in system RAM; nothing for engines that keep all on the GPU."""
    engine, experts = answer.configuration.engine, answer.configuration.model.architecture.is_moe
    able = [kind for kind in engine.rules.get("offload", ()) if kind != "experts" or experts]
    if not able or answer.configuration.accelerator.unified:
        return []
    ram, bandwidth = _number(answer, "ram", _("not compared")), _number(answer, "ram_bw", _("usual"))
    if "experts_on_host" in engine.rules:
        return [ram, bandwidth]
    offers = [(kind, str(OFFLOAD_NAMES[kind])) for kind in ("none", "auto", *able)]
    fields: list[AdvancedField] = [_select(answer, "offload", offers)]
    if "layers" in able:
        fields.append(_number(answer, "ngl", _("as many as fit")))
    if "experts" in able:
        fields.append(_number(answer, "ncmoe", _("as few as fit")))
    return [*fields, ram, bandwidth]


def _length_fields(answer: Answer) -> list[AdvancedField]:
    """Prompt and answer; nothing for models that write none."""
    if answer.configuration.model.task != "generate":
        return []
    usual = {"prompt": figures.whole(USUAL_PROMPT), "output": figures.whole(USUAL_OUTPUT), "prefix": "0"}
    return [_number(answer, name, placeholder) for name, placeholder in usual.items()]


def _speculative_fields(answer: Answer) -> list[AdvancedField]:
    """The model's own drafts, where the engine has them."""
    if not drafts_possible(answer.configuration):
        return []
    usual = answer.configuration.constants.get("speed_mtp_acceptance")
    return [
        _number(answer, "mtp", "0"),
        _number(answer, "accept", figures.plain(usual.value) if usual else ""),
    ]


def _build_fields(answer: Answer) -> list[AdvancedField]:
    """Version and backend of the engine."""
    configuration = answer.configuration
    engine, vendor = configuration.engine, configuration.accelerator.vendor
    placeholder = version_words(engine.version) if _is_version(engine.version) else ""
    fields: list[AdvancedField] = []
    if placeholder:
        fields.append(_number(answer, "engine_version", placeholder))
    usual = backend_for(engine, configuration.accelerator) or configuration.backend
    others = [name for name in engine.rules.get("extra_backends", {}).get(vendor, ()) if name != usual]
    if others or answer.scenario.backend:
        named = [(name, BACKEND_NAMES.get(name, name)) for name in (usual, *others)]
        fields.append(_select(answer, "backend", [("", named[0][1]), *named[1:]]))
    return fields


def _is_version(text: str) -> bool:
    """Whether a version can be typed and compared: 0.33.0, b11434, not a sentence."""
    return " " not in text and any(character.isdigit() for character in text)


def _platform_fields(answer: Answer) -> list[AdvancedField]:
    device = answer.configuration.accelerator
    if device.kind == "datacenter":
        return []
    apple = device.kind == "apple"
    names = [name for name in OS_NAMES if name.startswith("macos") == apple]
    usual = OS_NAMES[default_os(device)]
    fields: list[AdvancedField] = [
        _select(answer, "os", [("", usual), *((name, OS_NAMES[name]) for name in names)])
    ]
    if not device.unified:
        fields.append(_toggle(answer, "display"))
    elif apple:
        fields.append(_number(answer, "wired", ""))
    elif device.kind == "apu" and not device.process_bytes:
        fields.append(_number(answer, "vgm", ""))
    return fields


# --- widgets ----------------------------------------------------------------------------------------------------------


def _value(answer: Answer, name: str) -> Value:
    value: Value = getattr(answer.scenario, name)
    return value


def _changed(answer: Answer, name: str) -> bool:
    return _value(answer, name) != DEFAULTS[name]


def _number(answer: Answer, name: str, placeholder: str) -> NumberField:
    value = _value(answer, name)
    text = "" if value in (None, DEFAULTS[name]) else str(value)
    return {
        "widget": "number",
        "id": name,
        "name": name,
        "label": label_of(name),
        "value": figures.plain(float(value)) if isinstance(value, (int, float)) and text else text,
        "placeholder": placeholder,
        "unit": _(BY_NAME[name].unit) if BY_NAME[name].unit else "",
        "help": str(HELP.get(name, "")),
        "problem": [],
        "changed": _changed(answer, name),
    }


def _toggle(answer: Answer, name: str) -> ToggleField:
    return {
        "widget": "toggle",
        "id": name,
        "name": name,
        "label": label_of(name),
        "on": _value(answer, name) == "1",
        "help": str(HELP.get(name, "")),
        "problem": [],
        "changed": _changed(answer, name),
    }


def _select(answer: Answer, name: str, options: list[tuple[str, str]]) -> SelectField:
    value = _value(answer, name)
    choices: list[Choice] = [{"value": value, "label": label} for value, label in options]
    if value is not None and all(choice["value"] != value for choice in choices):
        choices.append({"value": str(value), "label": str(value)})
    return {
        "widget": "select",
        "id": name,
        "name": name,
        "label": label_of(name),
        "aside": "",
        "value": "" if value is None else str(value),
        "groups": [{"label": "", "choices": choices}],
        "note": "",
        "help": str(HELP.get(name, "")),
        "problem": [],
        "changed": _changed(answer, name),
    }
