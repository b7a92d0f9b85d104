"""What exists, as JSON: small rows for the lists, every fact for a single device."""

from __future__ import annotations

from typing import Any

from calculator.estimation.devices import physical_bytes
from calculator.estimation.engines import is_built
from calculator.scenario import Scenario
from calculator.web.answer import permalink
from calculator.web.exports.sheet import source_json
from calculator.web.health import findings_of
from catalog.records import Accelerator, Engine, LanguageModel, Link, System, WeightsFormat
from catalog.snapshot import Snapshot


def model_row(model: LanguageModel) -> dict[str, Any]:
    return {
        "id": model.id,
        "name": model.name,
        "lab": model.lab,
        "family": model.family,
        "released": model.released,
        "parameters": model.parameters,
        "active_parameters": model.active_parameters,
        "max_context": model.max_context_tokens,
        "native_format": model.native_format,
        "modalities": list(model.modalities),
        "task": model.task,
        "href": f"/api/v1/models/{model.id}",
    }


def _link_json(link: Link | None) -> dict[str, Any] | None:
    return {"kind": link.kind, "bytes_per_s_one_direction": link.bandwidth_bytes_per_s} if link else None


def accelerator_row(device: Accelerator) -> dict[str, Any]:
    return {
        "id": device.id,
        "name": device.name,
        "vendor": device.vendor,
        "family": device.family,
        "kind": device.kind,
        "memory_gb": device.memory_gb,
        "physical_bytes": physical_bytes(device),
        "process_bytes": device.process_bytes,
        "bandwidth_bytes_per_s": device.bandwidth_bytes_per_s,
        "exists": device.exists,
        "href": f"/api/v1/accelerators/{device.id}",
    }


def accelerator_json(device: Accelerator, snapshot: Snapshot) -> dict[str, Any]:
    """One device with its figures and where they come from."""
    return {
        **accelerator_row(device),
        "architecture": device.architecture,
        "memory_type": device.memory_type,
        "reported_bytes": device.reported_bytes,
        "process_kind": device.process_kind,
        "dense_flops_per_s": dict(device.dense_flops_per_s),
        "compute_capability": device.compute_capability,
        "tdp_w": device.tdp_w,
        "link": _link_json(device.link),
        "pcie": device.pcie,
        "gpus_per_node": device.gpus_per_node,
        "scale_up_domain": device.scale_up_domain,
        "launch": device.launch,
        "msrp_usd": device.msrp_usd,
        "systems": [system.id for system in snapshot.systems.values() if system.accelerator_id == device.id],
        "calculator": permalink(Scenario(gpu=device.id)),
        "sources": [source_json(source) for source in device.sources],
        "note": device.note,
        "updated": snapshot.updated,
    }


def system_row(system: System) -> dict[str, Any]:
    return {
        "id": system.id,
        "name": system.name,
        "kind": system.kind,
        "accelerator": system.accelerator_id,
        "count": system.count,
        "nodes": system.nodes,
        "scale_up_domain": system.scale_up_domain,
        "link_inside": _link_json(system.link_inside),
        "link_between": _link_json(system.link_between),
        "host_ram_gb": system.host_ram_gb,
        "power_max_w": system.power_max_w,
        "note": system.note,
        "href": f"/api/v1/systems/{system.id}",
    }


def system_json(system: System, snapshot: Snapshot) -> dict[str, Any]:
    """One system with the device in it and where its figures come from."""
    device = snapshot.accelerators.get(system.accelerator_id)
    return {
        **system_row(system),
        "device": accelerator_row(device) if device else None,
        "calculator": permalink(Scenario(gpu=system.id)),
        "sources": [source_json(source) for source in system.sources],
        "updated": snapshot.updated,
    }


def engine_row(engine: Engine) -> dict[str, Any]:
    """computed: its arithmetic exists."""
    return {
        "id": engine.id,
        "name": engine.name,
        "version": engine.version,
        "licence": engine.licence,
        "os": list(engine.os),
        "computed": is_built(engine),
        "cache_types": list(engine.rules.get("cache_types", ())),
        "classes": sorted(engine.classes),
        "sources": [source_json(source) for source in engine.sources],
        "href": f"/api/v1/engines/{engine.id}",
    }


def engine_json(engine: Engine, snapshot: Snapshot) -> dict[str, Any]:
    """One engine with the formats of weights that it reads."""
    formats = [each.id for each in snapshot.formats.values() if engine.id in each.engines]
    return {**engine_row(engine), "formats": formats, "updated": snapshot.updated}


def format_row(weights_format: WeightsFormat) -> dict[str, Any]:
    return {
        "id": weights_format.id,
        "name": weights_format.name,
        "family": weights_format.family,
        "aliases": list(weights_format.aliases),
        "bits_nominal": weights_format.bits_nominal,
        "engines": list(weights_format.engines),
        "hardware": weights_format.hardware,
        "min_compute_capability": weights_format.min_compute_capability,
        "use": weights_format.use,
        "note": weights_format.note,
        "sources": [source_json(source) for source in weights_format.sources],
        "href": f"/api/v1/formats/{weights_format.id}",
    }


def format_json(weights_format: WeightsFormat, snapshot: Snapshot) -> dict[str, Any]:
    """One format with the models that are published in it."""
    models = [model.id for model in snapshot.models.values() if model.native_format == weights_format.id]
    return {**format_row(weights_format), "native_of": models, "updated": snapshot.updated}


def health_json(snapshot: Snapshot) -> dict[str, Any]:
    """Which state of the catalogue answers, how much is in it, and what is missing or odd in it, worst first."""
    return {
        "version": snapshot.version,
        "updated": snapshot.updated,
        "counts": {
            "models": len(snapshot.models),
            "accelerators": len(snapshot.accelerators),
            "systems": len(snapshot.systems),
            "formats": len(snapshot.formats),
            "engines": len(snapshot.engines),
            "constants": len(snapshot.constants),
        },
        "findings": [
            {
                "code": group.code,
                "label": group.label,
                "error": group.error,
                "looked_at": group.looked_at,
                "count": len(group.findings),
                "items": [{"kind": each.kind, "id": each.id, "text": each.text} for each in group.findings],
            }
            for group in findings_of(snapshot)
        ],
    }
