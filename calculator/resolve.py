"""From the question to one Configuration: ids, `auto`, and every default that depends on model, device or engine.

The only place that settles them; each thing settled is a `Choice` with its reason. Never raises: what cannot be taken is
a `Problem` and the nearest valid value. PURE (takes a Snapshot).
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from operator import attrgetter
from typing import Any
from weakref import WeakKeyDictionary

from calculator.estimation.cache import ELEMENT_BYTES, PER_HEAD_BYTES
from calculator.estimation.configuration import (
    Choice,
    Configuration,
    Knobs,
    Offload,
    Plan,
    Platform,
    Workload,
)
from calculator.estimation.devices import default_os
from calculator.estimation.engines import is_built
from calculator.estimation.engines.acceptance import backend_for, cache_types, format_refusal, loads
from calculator.estimation.engines.shared import server_defaults
from calculator.estimation.links import AUTO, FAST, NETWORKS, SLOTS, fast_link_of, pcie_bytes_per_s
from calculator.estimation.plans import AskedPlan, Hardware, choose_plan
from calculator.estimation.weights import published_file
from calculator.pricing import Priced, priced
from calculator.scenario import DEFAULTS, Problem, Scenario, Value, parse_number
from catalog.records import Accelerator, Constant, Engine, LanguageModel, System, WeightsFormat
from catalog.snapshot import Snapshot, engine_at, measured_on, version_key

MOST_DEVICES = 4096
MOST_CARDS = 256
NAMED_CARDS = 5
"""How many unknown cards of a list are named one by one, each with near names."""
GIGABYTE = 10**9
MOST_MACHINES = 8192
"""Machines that are kept settled; beyond it all are forgotten."""

WORKLOAD = ("ctx", "users", "prompt", "output")
"""Parameters that say what is asked of a machine, not what it is."""

WIDENED = 1.5
"""Factor on the width of constants measured on other engine versions (formulas §10)."""

USUAL_PROMPT, USUAL_OUTPUT = 4096, 512
"""Tokens of prompt and answer where the context has room for them (contract of `prompt`, `output`)."""

SERVERS = ("vllm", "sglang", "tensorrt-llm", "llama.cpp")
LOCAL = ("llama.cpp", "vllm", "mlx")
"""Engines that `auto` tries, in order: data-centre devices, all others (contract of `engine`)."""


@dataclass(frozen=True, slots=True)
class Resolved:
    """The question with valid values, what it means, and what could not be taken as given."""

    scenario: Scenario
    configuration: Configuration
    problems: tuple[Problem, ...]
    priced: Priced


class _Settling:
    """Collects what was chosen and what was wrong while one question is resolved."""

    def __init__(self, scenario: Scenario, snapshot: Snapshot) -> None:
        self.asked = scenario
        self.snapshot = snapshot
        self.choices: list[Choice] = []
        self.problems: list[Problem] = []
        self.used: dict[str, Value] = {}

    def problem(self, field: str, given: object, used: Value, code: str, **factors: Any) -> None:
        self.problems.append(Problem(field, str(given), used, code, tuple(factors.items())))
        self.used[field] = used

    def chose(self, field: str, value: str | int, code: str, **factors: Any) -> None:
        self.choices.append(Choice(field, value, code, factors))


@dataclass(frozen=True, slots=True)
class _Settled:
    """What a question means whatever its workload: the machine, what is used instead of what was given, and why."""

    configuration: Configuration
    used: Mapping[str, Value]
    problems: tuple[Problem, ...]
    priced: Priced


_settled: WeakKeyDictionary[Snapshot, dict[tuple[Value, ...], _Settled]] = WeakKeyDictionary()

_machine_of = attrgetter(*(name for name in DEFAULTS if name not in WORKLOAD))
_NO_WORKLOAD: Mapping[str, Value] = {"ctx": 1, "users": 1, "prompt": None, "output": None}


def resolve(scenario: Scenario, snapshot: Snapshot) -> Resolved:
    """What a question means. The defaults' model, device and engines must be in the snapshot.

    A moving slider changes the workload alone: the machine around it is settled once. Where the visitor fixed a limit that
    context or users must keep to, all is settled anew.
    """
    if scenario.maxlen is not None or scenario.seqs is not None:
        settled = _settle(scenario, snapshot)
        configuration, problems = settled.configuration, settled.problems
    else:
        settled = _machine(scenario, snapshot)
        settling = _Settling(scenario, snapshot)
        configuration = settled.configuration.at(_workload(settling, settled.configuration.model))
        problems = (*settled.problems, *settling.problems)
    used = scenario.replace(**settled.used) if settled.used else scenario
    return Resolved(used, configuration, problems, settled.priced)


def _machine(scenario: Scenario, snapshot: Snapshot) -> _Settled:
    """What the question's values beside the workload mean, settled once for each snapshot."""
    known = _settled.setdefault(snapshot, {})
    key = _machine_of(scenario)
    found = known.get(key)
    if found is None:
        if len(known) >= MOST_MACHINES:
            known.clear()
        found = known[key] = _settle(scenario.replace(**_NO_WORKLOAD), snapshot)
    return found


def _settle(scenario: Scenario, snapshot: Snapshot) -> _Settled:
    settling = _Settling(scenario, snapshot)
    model = _model(settling)
    hardware = _hardware(settling)
    platform = _platform(settling, hardware.accelerator)
    engine, version = _at_version(settling, _engine(settling, model, hardware.accelerator))
    weights_format = _format(settling, model, engine, hardware.accelerator)
    cache_type = scenario.kv if scenario.kv in ELEMENT_BYTES or scenario.kv in PER_HEAD_BYTES else "bf16"
    if cache_type != scenario.kv:
        settling.problem("kv", scenario.kv, cache_type, "not_computed_yet")
    workload = _workload(settling, model)
    knobs = _knobs(settling, engine, hardware.accelerator, workload)
    backend = _backend(settling, engine, hardware.accelerator)
    constants, widened = _constants(snapshot, engine, version, hardware.accelerator, backend)
    configuration = Configuration(
        model=model,
        accelerator=hardware.accelerator,
        count=hardware.count,
        engine=engine,
        engine_version=version or engine.version,
        backend=backend,
        weights_format=weights_format,
        cache_type=cache_type,
        plan=Plan(layers_per_stage=(model.architecture.layer_count,)),
        workload=workload,
        knobs=knobs,
        platform=platform,
        constants=constants,
        cards=_cards(settling, engine, hardware),
        offload=_offload(settling, engine, hardware),
        link=_link(settling, hardware),
        file=published_file(model, weights_format.id),
        system=hardware.system,
        system_count=hardware.units if hardware.system else 0,
        measured=_measured(engine, model),
        class_listed=loads(engine, model),
        widened=bool(widened),
        measured_versions=widened or ("", ""),
    )
    plan, choice = _plan(scenario, configuration, hardware)
    settling.choices.append(choice)
    found = priced(scenario, replace(configuration, plan=plan), snapshot)
    for problem in found.problems:
        settling.problems.append(problem)
        settling.used[problem.field] = problem.used
    configuration = replace(configuration, plan=plan, choices=tuple(settling.choices), money=found.money)
    return _Settled(configuration, settling.used, tuple(settling.problems), found)


def _plan(scenario: Scenario, configuration: Configuration, hardware: Hardware) -> tuple[Plan, Choice]:
    """The plan for settled hardware; experts in host memory where the engine always keeps them there."""
    asked = AskedPlan(
        scenario.split, scenario.tp, scenario.pp, scenario.ep, scenario.adp, scenario.dcp, scenario.dp
    )
    plan, choice = choose_plan(configuration, hardware, asked)
    if configuration.engine.rules.get("experts_on_host"):
        plan = replace(plan, host_expert_layers=configuration.model.architecture.layer_count)
    return plan, choice


def on_device(
    configuration: Configuration, scenario: Scenario, snapshot: Snapshot, hardware: Hardware
) -> Configuration:
    """A settled configuration on one of the devices in `hardware`, one that its engine treats alike: `resolve` for it
    without asking again what model, engine, format, platform and workload are.

    Settled anew is what depends on the device's memory and class, and on the machine. Count and plan are left to
    `planned`, reasons of choices are left out.
    """
    c, settling = configuration, _Settling(scenario, snapshot)
    version = c.engine_version if _at_version(settling, c.engine)[1] else None
    constants, widened = _constants(snapshot, c.engine, version, hardware.accelerator, c.backend)
    return c.with_(
        accelerator=hardware.accelerator,
        knobs=_knobs(settling, c.engine, hardware.accelerator, c.workload),
        constants=constants,
        cards=(),
        offload=_offload(settling, c.engine, hardware),
        system=hardware.system,
        system_count=hardware.units if hardware.system else 0,
        widened=bool(widened),
        measured_versions=widened or ("", ""),
        choices=(),
        money=None,
    )


def planned(configuration: Configuration, scenario: Scenario, hardware: Hardware) -> Plan:
    """The plan that `resolve` lays over so many of the configuration's device."""
    return _plan(scenario, configuration.with_(count=hardware.count), hardware)[0]


# --- model and hardware -----------------------------------------------------------------------------------------------


def _model(settling: _Settling) -> LanguageModel:
    models, asked = settling.snapshot.models, settling.asked.model
    if found := models.get(asked):
        return found
    used = _default("model", models)
    if asked == "custom":
        settling.problem("model", asked, used, "not_computed_yet")
    else:
        near = ", ".join(settling.snapshot.near_names("model", asked))
        settling.problem("model", asked, used, "unknown_id", near=near, name=models[used].name)
    return models[used]


def _default(field: str, known: Mapping[str, Any]) -> str:
    """The default of a field, or the first that exists where somebody took that one out of the catalogue."""
    used = str(DEFAULTS[field])
    return used if used in known else next(iter(known))


def _hardware(settling: _Settling) -> Hardware:
    """The devices, how many, and how they stand together; a list names unequal cards."""
    asked = settling.asked.gpu
    if ":" in asked or "," in asked:
        return _card_list(settling, asked)
    found = settling.snapshot.hosts(asked) or _default_device(settling, asked)
    accelerator, per_unit, system = found
    units, most = settling.asked.n, max(1, MOST_DEVICES // per_unit)
    if units > most:
        settling.problem("n", units, most, "out_of_range", low=1, high=most, unit="")
        units = most
    return Hardware(accelerator, per_unit * units, system, units)


def _default_device(settling: _Settling, asked: str) -> tuple[Accelerator, int, System | None]:
    """The default device in place of one that does not exist."""
    used = _default("gpu", settling.snapshot.accelerators)
    near = ", ".join(settling.snapshot.near_names("gpu", asked))
    found = settling.snapshot.hosts(used)
    assert found is not None, "a catalogue without a device answers nothing"
    settling.problem("gpu", asked, used, "unknown_id", near=near, name=found[0].name)
    return found


def _card_list(settling: _Settling, asked: str) -> Hardware:
    """A list such as `rtx-3090:2,rtx-3060-12:1`: every card in the order given. What is unknown, and what goes beyond the
    most cards that a list may have, is named and left out."""
    cards: list[Accelerator] = []
    taken: list[str] = []
    wrong: list[tuple[str, str, dict[str, Any]]] = []
    unknown: dict[str, None] = {}
    for item in filter(None, (item.strip() for item in asked.split(","))):
        name, _, number = item.partition(":")
        found = settling.snapshot.hosts(name)
        if found is None:
            unknown.setdefault(name)
            continue
        count, code = _count_in_list(number)
        if code:
            wrong.append((item, code, {"count": count}))
        room = (MOST_CARDS - len(cards)) // found[1]
        if count > room:
            wrong.append((item, "too_many_cards", {"most": MOST_CARDS}))
        if room:
            cards += [found[0]] * (found[1] * min(count, room))
            taken.append(f"{name}:{min(count, room)}")
        if count > room:
            break
    wrong += _unknown_cards(settling.snapshot, list(unknown))
    for given, code, factors in wrong:
        settling.problem("gpu", given, ",".join(taken), code, **factors)
    if not cards:
        accelerator, per_unit, system = _default_device(settling, asked)
        return Hardware(accelerator, per_unit, system, 1)
    smallest = min(cards, key=lambda card: card.process_bytes or card.memory_gb)
    unequal = tuple(cards) if len(set(cards)) > 1 else ()
    return Hardware(smallest, len(cards), None, len(cards), unequal)


def _count_in_list(number: str) -> tuple[int, str]:
    """How many of a card a list asks for, and the code of what is wrong with it; without a number one."""
    if not number:
        return 1, ""
    value = parse_number(number)
    if value is None:
        return 1, "not_a_count"
    count = int(min(max(value, 1), MOST_DEVICES) + 0.5)
    return count, "" if count == value or value > MOST_DEVICES else "count_replaced"


def _unknown_cards(snapshot: Snapshot, names: list[str]) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(given, code, factors) with near names for the first unknown cards of a list; the rest is counted."""
    for name in names[:NAMED_CARDS]:
        yield name, "unknown_id_left_out", {"near": ", ".join(snapshot.near_names("gpu", name))}
    if len(names) > NAMED_CARDS:
        yield names[NAMED_CARDS], "unknown_ids_left_out", {"number": len(names) - NAMED_CARDS}


def _cards(settling: _Settling, engine: Engine, hardware: Hardware) -> tuple[Accelerator, ...]:
    """The cards one by one where the engine gives each its own share; else all count as the smallest."""
    split = settling.asked.split != "tensor" and settling.asked.tp is None and settling.asked.pp is None
    return hardware.cards if split and engine.rules.get("max_gpus_layer_split") else ()


def _offload(settling: _Settling, engine: Engine, hardware: Hardware) -> Offload:
    """What may stay in host memory, and how much the machine has: as given, else the system's own, else the default.

    A given value that equals the default cannot be told from it, so both are compared, and the choice says which it was.
    """
    asked = settling.asked
    kind = asked.offload
    if kind == "none" and asked.ncmoe:
        kind = "experts"
    elif kind == "none" and asked.ngl is not None:
        kind = "layers"
    ram_gb = asked.ram
    if kind != "none" or engine.rules.get("experts_on_host"):
        own = hardware.system.host_ram_gb if hardware.system and ram_gb == DEFAULTS["ram"] else None
        ram_gb = own or ram_gb
        if own and hardware.system:
            settling.chose("ram", int(own), "ram_of_system", system=hardware.system.name)
        elif ram_gb == DEFAULTS["ram"]:
            settling.chose("ram", int(ram_gb), "ram_default")
    bandwidth = asked.ram_bw * GIGABYTE if asked.ram_bw else None
    return Offload(kind, asked.ngl, asked.ncmoe, int(ram_gb * GIGABYTE), bandwidth)


def _link(settling: _Settling, hardware: Hardware) -> str:
    """The connection asked for, where the devices can have it."""
    asked, device = settling.asked.link, hardware.accelerator
    if asked == FAST and fast_link_of(device, hardware.system) is None:
        settling.problem("link", asked, AUTO, "no_fast_link", device=device.name)
        return AUTO
    own = pcie_bytes_per_s(device.pcie)
    if asked in SLOTS and own and SLOTS[asked] > own:
        settling.problem("link", asked, asked, "link_above_slot", device=device.name, slot=device.pcie or "")
    if asked in NETWORKS and hardware.nodes == 1:
        settling.problem("link", asked, asked, "link_unused")
    return asked


def _platform(settling: _Settling, accelerator: Accelerator) -> Platform:
    asked, usual = settling.asked, default_os(accelerator)
    system = asked.os or usual
    if asked.os and (asked.os.startswith("macos") != (accelerator.kind == "apple")):
        settling.problem("os", asked.os, usual, "os_not_on_device", device=accelerator.name)
        system = usual
    elif not asked.os:
        settling.chose("os", system, "os_default", device=accelerator.name)
    return Platform(system, asked.display == "1", asked.wired, asked.vgm)


# --- engine and format ------------------------------------------------------------------------------------------------


def _engine(settling: _Settling, model: LanguageModel, accelerator: Accelerator) -> Engine:
    """The engine asked for, or the first of the device's list that can do it; the class decides, not the sliders."""
    engines, asked = settling.snapshot.engines, settling.asked.engine
    if asked in engines:
        return engines[asked]
    if asked != "auto":
        settling.problem("engine", asked, "auto", "not_computed_yet")
    order = SERVERS if accelerator.kind == "datacenter" else LOCAL
    able = [engines[name] for name in order if name in engines and is_built(engines[name])]
    here = [engine for engine in able if backend_for(engine, accelerator)] or able
    wanted = settling.snapshot.weights_format(settling.asked.quant) if settling.asked.quant else None
    loading = [
        e for e in here if wanted is None or format_refusal(e, wanted, accelerator, model) is None
    ] or here
    if (
        settling.asked.offload in ("layers", "experts")
        or settling.asked.ngl is not None
        or settling.asked.ncmoe
    ):
        loading = [e for e in loading if e.rules.get("offload")] or loading
    relative = settling.snapshot.models.get(model.computed_as or "")
    for candidate in loading:
        if loads(candidate, model) or (relative and loads(candidate, relative)):
            code = "engine_by_device_class" if candidate is here[0] else "engine_by_class_listed"
            if candidate is not here[0] and wanted is not None and loads(here[0], model):
                code = "engine_by_format"
            settling.chose("engine", candidate.id, code, device=accelerator.name, engine=candidate.name)
            return candidate
    settling.chose(
        "engine", loading[0].id, "engine_only_built", device=accelerator.name, engine=loading[0].name
    )
    return loading[0]


def _at_version(settling: _Settling, engine: Engine) -> tuple[Engine, str | None]:
    """The engine with the rules of the version asked for, and that version; None for the one that was read."""
    asked = settling.asked.engine_version
    if asked is None or asked == "auto":
        return engine, None
    if not version_key(asked):
        settling.problem("engine_version", asked, None, "version_unreadable", version=engine.version)
        return engine, None
    return engine_at(engine, asked), asked


def _backend(settling: _Settling, engine: Engine, accelerator: Accelerator) -> str:
    usual = backend_for(engine, accelerator) or str(
        engine.rules.get("backends", {}).get(accelerator.vendor, "cpu")
    )
    return settling.asked.backend or usual


def _measured(engine: Engine, model: LanguageModel) -> bool:
    """Whether a load of this model class was measured on this engine; llama.cpp maps the file as it is."""
    if not loads(engine, model):
        return False
    measured = engine.rules.get("measured_classes")
    return measured is None or model.class_name in measured


def default_format(engine: Engine, model: LanguageModel) -> tuple[str, str]:
    """The weights format an engine takes when none is asked for, and the code of why."""
    native = engine.rules.get("default_format_for_native", {}).get(model.native_format)
    if native:
        return str(native), "format_native_4bit"
    return str(engine.rules.get("default_format", "native")), "format_by_engine"


def _format(
    settling: _Settling, model: LanguageModel, engine: Engine, accelerator: Accelerator
) -> WeightsFormat:
    formats, asked = settling.snapshot.formats, settling.asked.quant
    usual, code = default_format(engine, model)
    if usual == "native" and format_refusal(engine, formats["native"], accelerator, model):
        usual, code = "bf16", "format_native_unknown"
    if asked is None:
        settling.chose("quant", usual, code, engine=engine.name, format=formats[usual].name)
        return formats[usual]
    if found := settling.snapshot.weights_format(asked):
        return found
    near = ", ".join(settling.snapshot.near_names("quant", asked))
    settling.problem("quant", asked, None, "unknown_id", near=near, name=formats[usual].name)
    return formats[usual]


# --- workload and knobs -----------------------------------------------------------------------------------------------


def _workload(settling: _Settling, model: LanguageModel) -> Workload:
    asked = settling.asked
    if model.max_context_tokens and asked.ctx > model.max_context_tokens:
        longest = model.max_context_tokens
        settling.problem(
            "ctx", asked.ctx, asked.ctx, "context_above_maximum", maximum=longest, name=model.name
        )
    workload = workload_of(asked)
    prompt = workload.prompt_tokens
    if asked.prefix >= prompt:
        settling.problem("prefix", asked.prefix, prompt - 1, "prefix_above_prompt", prompt=prompt)
    return workload


def workload_of(scenario: Scenario) -> Workload:
    """What is asked of the machine; lengths that are left open follow from the context."""
    s = scenario
    output = s.output if s.output is not None else max(1, min(USUAL_OUTPUT, s.ctx // 2))
    prompt = s.prompt if s.prompt is not None else max(1, min(USUAL_PROMPT, s.ctx - output))
    return Workload(s.ctx, s.users, prompt, output, min(s.prefix, prompt - 1))


def _knobs(settling: _Settling, engine: Engine, accelerator: Accelerator, workload: Workload) -> Knobs:
    asked, rules = settling.asked, engine.rules
    server = server_defaults(engine, accelerator)
    longest = asked.maxlen
    if longest is not None and longest < workload.context_tokens:
        settling.problem(
            "maxlen", longest, workload.context_tokens, "maxlen_below_context", ctx=workload.context_tokens
        )
        longest = workload.context_tokens
    return Knobs(
        memory_share=asked.util if asked.util is not None else float(rules.get("memory_share", 0.0)),
        max_sequences=_sequences(settling, server, workload.users),
        batched_tokens=asked.batched or int(server.get("batched", 2048)),
        micro_batch=asked.ubatch or int(server.get("micro_batch", 512)),
        flash_attention=asked.fa != "0",
        eager=asked.eager == "1",
        longest_request=longest,
        vision=asked.vision == "1",
        drafted_tokens=asked.mtp,
    )


def _sequences(settling: _Settling, server: Mapping[str, Any], users: int) -> int | None:
    """Most requests the server prepares for: as many as users (the command prints it), the engine's own, or a number."""
    asked = settling.asked.seqs
    own = server.get("sequences", server.get("slots"))
    if asked is None or (asked == "engine" and own is None):
        return None
    number = float(own) if asked == "engine" else parse_number(asked)
    if number is None or not 1 <= number <= 65_536:
        settling.problem("seqs", asked, None, "not_a_number")
        return None
    if number < users:
        settling.problem("seqs", asked, str(users), "sequences_below_users", users=users)
        return users
    return int(number)


@lru_cache(maxsize=4096)
def _constants(
    snapshot: Snapshot, engine: Engine, asked: str | None, accelerator: Accelerator, backend: str
) -> tuple[Mapping[str, Constant], tuple[str, str] | None]:
    """The calibrated constants of an engine on a device, widened where they were measured on other versions; and those
    versions."""
    other = engine.rules.get("constants_from")
    version = str(engine.rules.get("family_version", engine.version))
    if asked and not other:
        version = asked
    family = str(other or engine.family)
    constants, outside = snapshot.constants_for(family, version, accelerator.device_classes, backend)
    if not outside:
        return constants, None
    out, versions = {}, ("", "")
    for name, constant in constants.items():
        if measured_on(constant, version):
            out[name] = constant
            continue
        versions = (constant.version_from or "", constant.version_until or "")
        low = max(0.0, constant.value - WIDENED * (constant.value - constant.low))
        out[name] = replace(
            constant, low=low, high=constant.value + WIDENED * (constant.high - constant.value)
        )
    return out, versions


# --- what else could be chosen ----------------------------------------------------------------------------------------


def formats_for(resolved: Resolved, snapshot: Snapshot) -> tuple[WeightsFormat, ...]:
    """The formats that the engine loads for this model on this device, in the catalogue's order of families."""
    c = resolved.configuration
    return tuple(
        f for f in snapshot.formats.values() if format_refusal(c.engine, f, c.accelerator, c.model) is None
    )


def cache_types_for(resolved: Resolved) -> tuple[str, ...]:
    """The cache types that the engine offers for this model on this device."""
    c = resolved.configuration
    return cache_types(c.engine, c.model, c.accelerator)


def engines_for(resolved: Resolved, snapshot: Snapshot) -> tuple[tuple[Engine, bool], ...]:
    """Every engine that runs on this device, those that `auto` tries first, and whether its list names the model."""
    c = resolved.configuration
    order = SERVERS if c.accelerator.kind == "datacenter" else LOCAL
    out = [(e, loads(e, c.model)) for e in snapshot.engines.values() if backend_for(e, c.accelerator)]
    out.sort(key=lambda pair: order.index(pair[0].id) if pair[0].id in order else len(order))
    return tuple(pair for pair in out if is_built(pair[0]))
