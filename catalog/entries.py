"""From catalogue entries (JSON objects, as in the files and as the database gives them) to records.

The only place where units are converted: MiB → bytes, GB/s → B/s, TFLOPS → FLOP/s. PURE: no Django, no files.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import fields
from typing import Any

from catalog.architecture import Architecture
from catalog.records import (
    GIB,
    MIB,
    Accelerator,
    Checkpoint,
    CheckpointFile,
    Conditions,
    Constant,
    CountLadder,
    Engine,
    LanguageModel,
    Link,
    Measurement,
    Observation,
    PublishedFile,
    Source,
    System,
    WeightsFormat,
    normal_class,
)

Entry = Mapping[str, Any]

GIGA, TERA = 10**9, 10**12

_CLASS_LISTS = (
    "text",
    "multimodal",
    "multimodal_projector",
    "all",
    "autodeploy_only",
    "causal_lm",
    "image_text_to_text",
    "safetensors_import",
)
"""The lists of an engine's `architectures` that hold names of model classes."""


def _facts(entry: Entry, record: type[Any], *converted: str) -> dict[str, Any]:
    """What an entry says beyond the fields of its record, for display; `converted` went into fields of other names."""
    taken = {field.name for field in fields(record)} | set(converted)
    return {key: value for key, value in entry.items() if key not in taken}


def _sources(entry: Entry) -> tuple[Source, ...]:
    return tuple(Source(row["what"], row["where"], row["kind"]) for row in entry.get("sources", ()))


def _mib(entry: Entry, key: str) -> int | None:
    value = entry.get(key)
    return None if value is None else round(value * MIB)


def _per_second(value: float | None, unit: int) -> float | None:
    return None if value is None else value * unit


def file_record(entry: Entry) -> PublishedFile:
    """A published file; `weights_format` is empty where the published name is no format of the catalogue."""
    return PublishedFile(
        weights_format=entry["weights_format"] or "",
        size_bytes=entry["bytes"],
        exact=entry["exact"],
        repo=entry["repo"],
        precision=entry["precision"],
        source=entry["source"],
        kind=entry["kind"],
        format_as_published=entry["format_as_published"],
        includes=entry.get("includes", ""),
    )


def checkpoint_record(entry: Entry) -> Checkpoint:
    """A published checkpoint with the files that are known of it."""
    return Checkpoint(
        weights_format=entry["weights_format"],
        repo=entry["repo"],
        publisher=entry["publisher"],
        publisher_kind=entry["publisher_kind"],
        engines=tuple(entry["engines"]),
        size_bytes=entry.get("bytes"),
        precision=entry.get("precision"),
        sources=tuple(entry["sources"]),
        recipe=entry.get("recipe", ""),
        hardware=entry.get("hardware", ""),
        formats=tuple(entry.get("formats", ())),
        file_pattern=entry.get("file_pattern", ""),
        file_pattern_split=entry.get("file_pattern_split", ""),
        parts=entry.get("parts", {}),
        files=tuple(_checkpoint_file(row) for row in entry.get("files", ())),
    )


def _checkpoint_file(entry: Entry) -> CheckpointFile:
    return CheckpointFile(
        weights_format=entry["weights_format"],
        file=entry.get("file"),
        parts=entry.get("parts"),
        size_bytes=entry.get("bytes"),
        precision=entry.get("precision"),
        source=entry["source"],
        note=entry.get("note", ""),
    )


def model_record(entry: Entry, lab: Entry) -> LanguageModel:
    """A model of `lab` ({"id", "name", "country"}); raises `ArchitectureError` when its layers cannot be a model."""
    return LanguageModel(
        id=entry["id"],
        name=entry["name"],
        family=entry["family"],
        lab=lab["name"],
        lab_country=lab["country"],
        lab_id=lab["id"],
        repo=entry["repo"],
        architecture=Architecture.from_json(entry["architecture"]),
        class_name=entry["class_name"],
        parameters=entry["parameters"],
        text_parameters=entry["text_parameters"],
        active_parameters=entry["active_parameters"],
        active_parameters_derived=entry["active_parameters_derived"],
        max_context_tokens=entry["max_context_tokens"],
        native_format=entry["native_format"],
        native_rest=entry.get("native_rest"),
        native_weight_bytes=entry["native_weight_bytes"],
        native_weight_bytes_kind=entry["native_weight_bytes_kind"],
        license=entry["license"],
        released=entry["released"],
        modalities=tuple(entry["modalities"]),
        task=entry.get("task", "generate"),
        reasoning=entry["reasoning"],
        model_type=entry.get("model_type"),
        computed_as=entry.get("computed_as"),
        engines=tuple(entry["engines"]),
        files=tuple(file_record(row) for row in entry.get("files", ())),
        checkpoints=tuple(checkpoint_record(row) for row in entry.get("checkpoints", ())),
        gguf_repos=tuple(entry.get("gguf_repos", ())),
        sources=_sources(entry),
        note=entry.get("note", ""),
        facts=_facts(entry, LanguageModel),
    )


def ladder_record(entry: Entry) -> CountLadder:
    return CountLadder(
        id=entry["id"],
        counts=tuple(entry["counts"]),
        usual=tuple(entry["usual"]),
        max_in_one_machine=entry["max_in_one_machine"],
        tensor_parallel_counts=tuple(entry["tensor_parallel_counts"]),
        layer_split_counts=tuple(entry["layer_split_counts"]),
        domain=entry.get("domain"),
        rule=entry["rule"],
        nodes_beyond=entry.get("nodes_beyond", ""),
    )


def ladder_of(entry: Entry, ladders: Iterable[Entry]) -> str:
    """The count ladder of an accelerator entry: one that names it, else one of its form, else one of its kind."""
    rows = list(ladders)
    for key, value in (("ids", entry["id"]), ("forms", entry.get("form")), ("kinds", entry["kind"])):
        for row in rows:
            if value in row["applies_to"].get(key, ()):
                return str(row["id"])
    raise ValueError(f"Accelerator {entry['id']}: no count ladder applies to the kind {entry['kind']!r}.")


def _scale_up_link(entry: Entry) -> Link | None:
    """The link between devices, in one direction: a published sum of both directions, or per chip, is halved."""
    link = entry.get("interconnect")
    if not link:
        return None
    share = 1.0 if link["direction"] == "one direction" else 0.5
    return Link(link["kind"], link["gb_s"] * share * GIGA)


def accelerator_record(entry: Entry, ladders: Iterable[Entry]) -> Accelerator:
    """A device; `ladders` are the entries of count-ladders.json."""
    return Accelerator(
        id=entry["id"],
        name=entry["name"],
        vendor=entry["vendor"],
        family=entry["family"],
        kind=entry["kind"],
        architecture=entry["architecture"],
        memory_gb=entry["memory_gb"],
        memory_type=entry["memory_type"],
        reported_bytes=_mib(entry, "reported_mib"),
        process_bytes=_mib(entry, "usable_total_mib"),
        process_kind=entry.get("usable_total_kind"),
        bandwidth_bytes_per_s=_per_second(entry["bandwidth_gb_s"], GIGA),
        dense_flops_per_s={name: _per_second(rate, TERA) for name, rate in entry["dense_tflops"].items()},
        compute_capability=entry.get("compute_capability"),
        form=entry.get("form"),
        max_usable_fraction=entry.get("max_usable_fraction"),
        tdp_w=entry["tdp_w"],
        idle_w=entry.get("idle_w"),
        load_w_measured=entry.get("load_w_measured"),
        link=_scale_up_link(entry),
        pcie=entry.get("pcie"),
        gpus_per_node=entry.get("gpus_per_node", 1),
        scale_up_domain=entry.get("scale_up_domain"),
        ladder=ladder_of(entry, ladders),
        launch=entry.get("launch"),
        msrp_usd=entry.get("msrp_usd"),
        street_usd=entry.get("street_usd"),
        exists=entry.get("exists", True),
        sources=_sources(entry),
        note=entry.get("note", ""),
        facts=_facts(
            entry, Accelerator, "usable_total_mib", "bandwidth_gb_s", "dense_tflops", "interconnect"
        ),
    )


def overridden(accelerator: Entry, override: Entry) -> dict[str, Any]:
    """An accelerator entry as a system builds it in: what the driver reports is not carried over to another memory."""
    memory = ("memory_gb", "reported_mib", "cuda_total_mib", "usable_total_mib", "usable_total_kind")
    kept = {
        key: value for key, value in accelerator.items() if "memory_gb" not in override or key not in memory
    }
    return {"usable_total_mib": None, **kept, **override}


def _system_link(link: Entry | None) -> Link | None:
    if not link:
        return None
    rate = link.get("gb_s_one_direction", link.get("gb_s_one_direction_per_gpu"))
    return Link(link["kind"], _per_second(rate, GIGA))


def system_record(entry: Entry) -> System:
    inside = entry.get("interconnect_inside")
    return System(
        id=entry["id"],
        name=entry["name"],
        kind=entry["kind"],
        accelerator_id=entry["accelerator_id"],
        count=entry["count"],
        node_size=entry["node_size"],
        nodes=entry["nodes"],
        scale_up_domain=entry.get("scale_up_domain"),
        link_inside=_system_link(inside),
        link_between=_system_link(entry.get("interconnect_between")),
        pair_link=_system_link(inside.get("pair_bridge")) if inside else None,
        host_ram_gb=entry["host_ram_gb"],
        host_ram_bandwidth_bytes_per_s=_per_second(entry.get("host_ram_bandwidth_gb_s"), GIGA),
        power_max_w=entry["power_max_w"],
        power_kind=entry.get("power_kind"),
        price_usd=entry.get("price_usd"),
        accelerator_override=entry.get("accelerator_override"),
        name_zh=entry.get("name_zh", ""),
        how=entry["how"],
        sources=_sources(entry),
        note=entry.get("note", ""),
        facts=_facts(entry, System, "host_ram_bandwidth_gb_s"),
    )


def format_record(entry: Entry, aliases: Mapping[str, str]) -> WeightsFormat:
    """A weights format; `aliases` maps other names to ids. hardware and use are English, both languages in `facts`."""
    return WeightsFormat(
        id=entry["id"],
        name=entry["name"],
        family=entry["family"],
        bits_nominal=entry["bits_nominal"],
        bits_file_llama3_8b=entry.get("bits_file_llama3_8b"),
        engines=tuple(entry["engines"]),
        hardware=entry["hardware"]["en"],
        min_compute_capability=entry.get("min_compute_capability"),
        native_compute_capability=entry.get("native_compute_capability"),
        published_only=entry.get("published_only", False),
        dynamic=entry.get("dynamic", False),
        order=entry["order"],
        use=entry["use"]["en"],
        quality=entry["quality"],
        aliases=tuple(alias for alias, target in aliases.items() if target == entry["id"]),
        sources=_sources(entry),
        note=entry.get("note", ""),
        facts=_facts(entry, WeightsFormat) | {"hardware": entry["hardware"], "use": entry["use"]},
    )


def _listed(architectures: Entry, names: Iterable[str]) -> frozenset[str]:
    """Normal names of the classes in those lists; an entry that is a sentence lists nothing."""
    lists = [architectures[name] for name in names if isinstance(architectures.get(name), list)]
    return frozenset(normal_class(name) for row in lists for name in row)


def _without_pipeline(architectures: Entry, classes: frozenset[str]) -> frozenset[str]:
    """Classes that cannot be split into pipeline stages, whichever way round the engine lists them."""
    if "pipeline_parallel" in architectures:
        return classes - _listed(architectures, ("pipeline_parallel",))
    return _listed(architectures, ("no_pipeline_parallel",))


def engine_record(entry: Entry) -> Engine:
    """An engine. `rules["classes_from"]` names an engine whose list counts too; the snapshot adds it."""
    architectures, rules = entry.get("architectures", {}), entry.get("rules", {})
    classes = _listed(architectures, _CLASS_LISTS)
    return Engine(
        id=entry["id"],
        name=entry["name"],
        version=entry["version"]["checked"] or "",
        licence=entry["licence"],
        classes=classes,
        without_pipeline=_without_pipeline(architectures, classes),
        model_types=frozenset(architectures.get("model_types", ()))
        | frozenset(architectures.get("remap", ())),
        without_tensor_split=_listed(rules, ("tensor_split_unsupported",)),
        family=rules.get("family", entry["id"]),
        rules=rules,
        os=tuple(entry.get("os", ())),
        note=entry.get("note", ""),
        facts=_facts(entry, Engine) | {"version": entry["version"]},
        sources=_sources(entry),
    )


def constant_record(entry: Entry) -> Constant:
    return Constant(
        engine=entry["engine"],
        name=entry["name"],
        value=entry["value"],
        low=entry["low"],
        high=entry["high"],
        unit=entry["unit"],
        version_from=entry.get("version_from"),
        version_until=entry.get("version_until"),
        device_class=entry.get("device_class"),
        backend=entry.get("backend"),
        cases=entry.get("cases"),
        basis=entry["basis"],
        source=entry["source"],
        date=entry["date"],
    )


_UNITS = {
    "bytes": "bytes",
    "tokens": "tokens",
    "ratio": "ratio",
    "count": "count",
    "tokens_per_s": "tokens/s",
    "ms": "s",
}
"""The unit of an observation by the key of its amount."""
_MILLI = 1e-3
_REQUESTS = "max_concurrency"
"""The part whose ratio is a number of requests: tokens in the pool over tokens of the longest request."""


def _observation(entry: Entry) -> Observation:
    key = next(name for name in _UNITS if entry.get(name) is not None)
    return Observation(
        part=entry["part"],
        device=entry["device"],
        amount=entry[key] * _MILLI if key == "ms" else float(entry[key]),
        unit="requests" if key == "ratio" and entry["part"] == _REQUESTS else _UNITS[key],
        printed=entry.get("printed") or "",
    )


def _conditions(entry: Entry) -> Conditions:
    """How a speed was measured."""
    size = entry.get("weights_gib")
    return Conditions(
        users=entry.get("users"),
        prompt_tokens=entry.get("prompt_tokens"),
        output_tokens=entry.get("output_tokens"),
        depth_tokens=entry.get("depth_tokens"),
        start_tokens=entry.get("start_tokens"),
        weights_bytes=None if size is None else round(size * GIB),
        host_bandwidth_bytes_per_s=_per_second(entry.get("host_gb_s"), GIGA),
        speculation=entry.get("speculation", ""),
        offload=entry.get("offload", ""),
    )


def measurement_record(entry: Entry) -> Measurement:
    """A measurement; what the source does not say is empty text."""
    return Measurement(
        id=entry["id"],
        task=entry["task"],
        split=entry["split"],
        group=entry["group"],
        engine=entry["engine"],
        engine_version=entry["engine_version"] or "",
        model=entry["model"],
        model_id=entry["model_id"],
        attention=entry["attention"],
        weights_format=entry["format"] or "",
        device=entry["device"] or "",
        scenario=entry["scenario"],
        observed=tuple(_observation(item) for item in entry["observed"]),
        comparable=entry["comparable"],
        compare=tuple(entry["compare"]),
        why_not=tuple(entry.get("why_not", ())),
        source=entry["source"],
        date=entry["date"],
        confidence=entry["confidence"],
        note=entry.get("note", ""),
        conditions=_conditions(entry["conditions"]) if entry.get("conditions") is not None else None,
    )
