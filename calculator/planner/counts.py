"""The smallest count of a device that holds the model, by trying the engine's ladder (formulas §5.3)."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from calculator.estimation import estimate, least_gpus, verdict_of
from calculator.estimation.configuration import Configuration, Plan, Workload
from calculator.estimation.engines.acceptance import format_refusal
from calculator.estimation.terms import Factor, Reason
from calculator.resolve import resolve
from calculator.scenario import Scenario
from catalog.records import Accelerator
from catalog.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class CountAnswer:
    """The smallest counts whose verdict is `fits` and `tight` (a smaller one), None where none is; and what was tried."""

    fits: int | None
    tight: int | None
    tried: tuple[int, ...]


def counts_to_try(configuration: Configuration) -> tuple[int, ...]:
    """The counts that the engine's row proposes for this kind of device: inside one machine, then whole nodes."""
    counts = configuration.engine.rules.get("counts", {})
    inside = sorted({1, *(counts.get("layer") or counts.get("tensor", ()))})
    if configuration.accelerator.kind != "datacenter":
        return tuple(inside)
    rack = counts.get("rack")
    domain = configuration.accelerator.scale_up_domain
    if rack and domain:
        step = int(rack["step"])
        return tuple(sorted({*inside, *range(step, min(domain, int(rack["domain"])) + 1, step)}))
    nodes = counts.get("nodes_of_8", ())
    return tuple(inside) + tuple(8 * node for node in nodes if 8 * node > max(inside))


@dataclass(frozen=True, slots=True)
class Rung:
    """One count of a device, of what `gpu` names and of GPUs, with the plan that suits it."""

    units: int
    gpus: int
    configuration: Configuration


def ladder_of(scenario: Scenario, snapshot: Snapshot) -> tuple[Rung, ...]:
    """The counts that are tried for a question, smallest first; the same for every context and number of users.

    Plans that the visitor fixed (tp, pp, split) are left to the engine's own choice: another count needs another plan.
    """
    free = scenario.replace(tp=None, pp=None, split="auto")
    found = snapshot.hosts(scenario.gpu)
    base = resolve(free, snapshot).configuration
    per_unit = found[1] if found else 1
    units = sorted({-(-count // per_unit) for count in counts_to_try(base)})
    return tuple(
        Rung(count, count * per_unit, resolve(free.replace(n=count), snapshot).configuration)
        for count in units
    )


def smallest_of(ladder: Sequence[Rung], workload: Workload) -> CountAnswer:
    """The smallest count whose verdict for a workload is `fits`, and a smaller `tight` one beside it."""
    tight, tried = None, []
    least = least_gpus(ladder[0].configuration)
    for rung in ladder:
        tried.append(rung.gpus)
        if rung.gpus < least:
            continue
        verdict = verdict_of(rung.configuration.at(workload))
        if verdict == "fits":
            return CountAnswer(rung.units, tight, tuple(tried))
        if verdict == "tight" and tight is None:
            tight = rung.units
    return CountAnswer(None, tight, tuple(tried))


def smallest_counts(scenario: Scenario, snapshot: Snapshot) -> CountAnswer:
    """The smallest counts on the scenario's device, as `smallest_of` finds them on its ladder."""
    ladder = ladder_of(scenario, snapshot)
    return smallest_of(ladder, ladder[0].configuration.workload)


SHEET_DEVICES = (
    "rtx-4090",
    "rtx-5090",
    "rtx-pro-6000",
    "h100-sxm",
    "h200-sxm",
    "b200",
    "mac-m5-max-128",
    "dgx-spark",
    "ryzen-ai-max-395-128",
)
SHEET_FORMATS = ("native", "bf16", "fp8", "q4_k_m")
SHEET_CONTEXT_TOKENS = 8192


@dataclass(frozen=True, slots=True)
class SheetCount:
    """How many of a device hold the model in a format: the count that fits, a smaller tight one, engine and plan, and the
    reason where none fits."""

    weights_format: str
    engine: str
    fits: int | None
    tight: int | None
    plan: Plan | None
    why: Reason


@dataclass(frozen=True, slots=True)
class SheetDevice:
    """One device of the sheet with its counts by format."""

    accelerator: Accelerator
    counts: tuple[SheetCount, ...]


def sheet_scenario(model_id: str, gpu: str, weights_format: str) -> Scenario:
    """The question behind a count of the sheet: one request of 8,192 tokens, 16-bit cache, engine by device."""
    return Scenario(model=model_id, gpu=gpu, quant=weights_format, ctx=SHEET_CONTEXT_TOKENS)


def gpus_needed(model_id: str, snapshot: Snapshot) -> tuple[SheetDevice, ...]:
    """The smallest counts of the sheet's devices in the sheet's formats (formulas §5.3)."""
    out = []
    for gpu in SHEET_DEVICES:
        found = snapshot.hosts(gpu)
        if found is not None:
            counts = tuple(_sheet_count(model_id, gpu, name, snapshot) for name in SHEET_FORMATS)
            out.append(SheetDevice(found[0], counts))
    return tuple(out)


def _sheet_count(model_id: str, gpu: str, weights_format: str, snapshot: Snapshot) -> SheetCount:
    scenario = sheet_scenario(model_id, gpu, _loaded_as(model_id, gpu, weights_format, snapshot))
    base = resolve(scenario, snapshot).configuration
    answer = smallest_counts(scenario, snapshot)
    if answer.fits is not None:
        settled = resolve(scenario.replace(n=answer.fits), snapshot).configuration
        why = Reason("count_fits", {"gpus": answer.fits, "engine": base.engine.name})
        return SheetCount(weights_format, base.engine.id, answer.fits, answer.tight, settled.plan, why)
    return SheetCount(weights_format, base.engine.id, None, answer.tight, None, _no_count(base, answer))


def _loaded_as(model_id: str, gpu: str, weights_format: str, snapshot: Snapshot) -> str:
    """The format in which the device's engine loads the native checkpoint: itself, or its GGUF without loss."""
    if weights_format != "native":
        return weights_format
    c = resolve(Scenario(model=model_id, gpu=gpu, ctx=SHEET_CONTEXT_TOKENS), snapshot).configuration
    if format_refusal(c.engine, snapshot.formats["native"], c.accelerator, c.model) is None:
        return weights_format
    lossless = {"bf16": "bf16", "fp16": "f16", **c.engine.rules.get("default_format_for_native", {})}
    return str(lossless.get(c.model.native_format, weights_format))


def _no_count(base: Configuration, answer: CountAnswer) -> Reason:
    """Why no count of the ladder fits: a refusal of the engine, or more devices than it joins."""
    largest, least = max(answer.tried), least_gpus(base)
    if least > largest:
        factors: dict[str, Factor] = {
            "engine": base.engine.name,
            "largest": largest,
            "least": least,
            "device": base.accelerator.name,
        }
        return Reason("more_devices_than_engine_joins", factors)
    alone = estimate(base, capacity=False, speed=False)
    if alone.verdict == "unsupported" and alone.reasons:
        return alone.reasons[0]
    return Reason(
        "no_count_fits", {"engine": base.engine.name, "largest": largest, "device": base.accelerator.name}
    )
