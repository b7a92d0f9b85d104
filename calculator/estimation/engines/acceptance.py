"""What an engine accepts, read from the facts of its row: devices, weights formats, cache types. PURE."""

from __future__ import annotations

import re
from collections.abc import Mapping
from functools import lru_cache
from typing import Any

from calculator.estimation.terms import Reason
from calculator.estimation.weights import has_rule
from catalog.records import Accelerator, Engine, LanguageModel, WeightsFormat, normal_class

_TASK = re.compile(r"(ForCausalLM|ForConditionalGeneration|LMHeadModel|Model)$")


def _matches(row: Mapping[str, Any], accelerator: Accelerator) -> bool:
    """Whether a row of the engine's device or format table speaks of this device."""
    if "vendors" in row and accelerator.vendor not in row["vendors"]:
        return False
    if "kinds" in row and accelerator.kind not in row["kinds"]:
        return False
    if "families" in row and "vendors" in row and accelerator.family not in row["families"]:
        return False
    if "architectures" in row and accelerator.architecture not in row["architectures"]:
        return False
    return not (
        accelerator.kind in row.get("not_kinds", ())
        or accelerator.family in row.get("not_families", ())
        or accelerator.id in row.get("not_ids", ())
    )


def _capable(row: Mapping[str, Any], accelerator: Accelerator) -> bool:
    """Whether the device has the compute capability that the row asks for (only NVIDIA devices have one)."""
    if not accelerator.compute_capability:
        return True
    least, below = row.get("min_compute_capability"), row.get("below_compute_capability")
    has = accelerator.capability
    return (least is None or has >= float(least)) and (below is None or has < float(below))


def backend_for(engine: Engine, accelerator: Accelerator) -> str | None:
    """The backend that the engine uses on this device, None when it does not run there."""
    for row in engine.rules.get("devices", ()):
        if _matches(row, accelerator) and _capable(row, accelerator):
            return str(row["backend"])
    return None


def plugin_for(engine: Engine, accelerator: Accelerator) -> str | None:
    """The package that the engine needs beside it on this device, None when it runs by itself."""
    for row in engine.rules.get("devices", ()):
        if _matches(row, accelerator) and _capable(row, accelerator):
            plugin: str | None = row.get("plugin")
            return plugin
    return None


def device_refusal(engine: Engine, accelerator: Accelerator, backend: str) -> Reason | None:
    """Why the engine does not run on this device with this backend, None when it does."""
    usual = backend_for(engine, accelerator)
    factors: dict[str, Any] = {"engine": engine.name, "device": accelerator.name}
    if usual is None:
        return Reason("engine_not_on_device", factors)
    if backend == usual or backend in engine.rules.get("extra_backends", {}).get(accelerator.vendor, ()):
        return None
    return Reason("backend_not_on_device", {**factors, "backend": backend})


def loads(engine: Engine, model: LanguageModel) -> bool:
    """Whether the engine's list names the model: its class, or its type for an engine that goes by types (MLX)."""
    return engine.lists(model.class_name) or (
        bool(engine.model_types) and model_type(model) in _types(engine)
    )


def most_requests(engine: Engine, model: LanguageModel, cache_type: str) -> int | None:
    """Requests that the engine serves at once, None without a limit: one for some types of model, one with a quantized
    cache where that switches batching off."""
    rules = engine.rules
    if model_type(model) in {normal_class(kind) for kind in rules.get("one_request_types", ())}:
        return 1
    if rules.get("quantized_cache_batches") is False and cache_type != "bf16":
        return 1
    most: int | None = rules.get("max_sequences")
    return most


def model_type(model: LanguageModel) -> str:
    """The config's model type without underscores; where it is not known, the class without its task."""
    name = model.model_type or _TASK.sub("", model.class_name)
    return normal_class(name).replace("-", "")


@lru_cache(maxsize=64)
def _types(engine: Engine) -> frozenset[str]:
    return frozenset(normal_class(name).replace("-", "") for name in engine.model_types)


def format_refusal(
    engine: Engine, weights_format: WeightsFormat, accelerator: Accelerator, model: LanguageModel
) -> Reason | None:
    """Why the engine does not load this format on this device, None when it does."""
    named = [row for row in engine.rules.get("format_families", ()) if _names(row, weights_format)]
    factors: dict[str, Any] = {
        "engine": engine.name,
        "format": weights_format.name,
        "device": accelerator.name,
    }
    if not named:
        return Reason("format_not_in_engine", factors)
    here = [row for row in named if _matches({k: v for k, v in row.items() if k != "families"}, accelerator)]
    if not any(_capable(row, accelerator) for row in here):
        needs = next((row["min_compute_capability"] for row in here if "min_compute_capability" in row), None)
        if needs:
            return Reason(
                "format_needs_capability",
                {**factors, "needs": needs, "has": accelerator.compute_capability or "—"},
            )
        return Reason("format_not_on_device", factors)
    if weights_format.id == "native" and model.native_format is None:
        return Reason("native_unknown", {"model": model.name})
    if not has_rule(model, weights_format):
        code = "published_size_only" if weights_format.family == "gguf" else "not_computed_yet"
        return Reason(code, {"format": weights_format.name, "model": model.name, "what": weights_format.name})
    return None


def _names(row: Mapping[str, Any], weights_format: WeightsFormat) -> bool:
    if weights_format.id in row.get("ids", ()):
        return True
    return "ids" not in row and weights_format.family in row.get("families", ())


def cache_types(engine: Engine, model: LanguageModel, accelerator: Accelerator) -> tuple[str, ...]:
    """The cache types that the engine offers for this model on this device."""
    kinds = model.architecture.kinds
    listed = list(engine.rules.get("cache_types", ("bf16",)))
    if "csa" in kinds:
        listed = list(engine.rules.get("cache_types_mla", listed))
    elif "mla" in kinds:
        indexed = any(entry.sparse for block in model.architecture.blocks for entry in block.mixer.caches())
        name = "cache_types_mla_indexed" if indexed else "cache_types_mla"
        listed = list(engine.rules.get(name, listed))
    needs = engine.rules.get("cache_min_compute_capability", {})
    return tuple(
        cache_type
        for cache_type in listed
        if not accelerator.compute_capability or accelerator.capability >= float(needs.get(cache_type, 0))
    )
