"""The sheet of one model as JSON (contract of /api/v1/models/{id})."""

from __future__ import annotations

from collections import Counter
from typing import Any

from calculator.estimation.devices import physical_bytes
from calculator.estimation.sheet import CacheRow, Sheet, sheet_of
from calculator.planner.counts import SHEET_CONTEXT_TOKENS, SheetCount, gpus_needed
from calculator.resolve import resolve
from calculator.scenario import Scenario
from calculator.web.answer import permalink
from calculator.web.wording.reasons import reason_words
from catalog.records import (
    GIB,
    Checkpoint,
    Conditions,
    LanguageModel,
    Measurement,
    Observation,
    PublishedFile,
    Source,
)
from catalog.snapshot import Snapshot

SHEET_HARDWARE = {"gpu": "h100-sxm", "engine": "vllm"}
"""The sheet's cache and state stand in this engine's layout; the device changes nothing in them."""

_PLACES = 6


def gib(size_bytes: float) -> float:
    """Bytes in GiB, with more digits than anything is known to."""
    return round(size_bytes / GIB, _PLACES)


def sheet_json(model: LanguageModel, snapshot: Snapshot) -> dict[str, Any]:
    """Everything that follows from the model alone, with sources."""
    scenario = Scenario(model=model.id, **SHEET_HARDWARE)
    sheet = sheet_of(resolve(scenario, snapshot).configuration, snapshot.formats.values())
    return {
        **_about(model),
        "weights_gib": _weights(model, sheet),
        "kv_cache_gib_per_request": [_row(row) for row in sheet.rows],
        "recurrent_state_gib_per_request": gib(sheet.state_bytes),
        "recurrent_state_bytes_per_request": sheet.state_bytes,
        "gpus_needed": _gpus_needed(model, snapshot),
        "gguf_files": [_file(file) for file in model.files],
        "checkpoints": [_checkpoint(checkpoint) for checkpoint in model.checkpoints],
        "runs_with": runs_with(model, snapshot),
        "verified": _verified(model, snapshot),
        "sources": [source_json(source) for source in model.sources],
        "updated": snapshot.updated,
    }


def _about(model: LanguageModel) -> dict[str, Any]:
    architecture = model.architecture
    layers = Counter(architecture.blocks[index].mixer.KIND for index in architecture.sequence)
    return {
        "id": model.id,
        "name": model.name,
        "repo": model.repo,
        "lab": {"name": model.lab, "country": model.lab_country},
        "family": model.family,
        "released": model.released,
        "license": model.license,
        "modalities": list(model.modalities),
        "task": model.task,
        "parameters": model.parameters,
        "text_parameters": model.text_parameters,
        "active_parameters": model.active_parameters,
        "max_context": model.max_context_tokens,
        "native_format": model.native_format,
        "architecture": {
            "class": model.class_name,
            "layers": architecture.layer_count,
            "layers_by_kind": dict(layers),
            **architecture.to_json(),
        },
        "page": None,
        "calculator": permalink(Scenario(model=model.id)),
        "note": model.note,
    }


def _weights(model: LanguageModel, sheet: Sheet) -> dict[str, Any]:
    built = {
        size.weights_format.id: {
            "gib": gib(size.size_bytes),
            "bytes": size.size_bytes,
            "bits_per_weight": round(size.bits_per_weight, 4),
            "basis": size.basis,
            "source": size.source,
        }
        for size in sheet.built
    }
    nominal = {
        name: gib(sheet.nominal[name])
        for name in ("native", "bf16", "fp8", "q4_k_m")
        if name in sheet.nominal
    }
    return {"nominal": nominal, "nominal_native_kind": model.native_weight_bytes_kind, "built": built}


def _row(row: CacheRow) -> dict[str, Any]:
    return {
        "context": row.context_tokens,
        "bf16": gib(row.bf16_bytes),
        "fp8": gib(row.fp8_bytes),
        "index": gib(row.index_bytes),
        "bf16_bytes": row.bf16_bytes,
        "fp8_bytes": row.fp8_bytes,
        "index_bytes": row.index_bytes,
    }


def _gpus_needed(model: LanguageModel, snapshot: Snapshot) -> dict[str, Any]:
    """The smallest counts that fit, by device and format, with the reason where none does."""
    items = [
        {
            "gpu": device.accelerator.id,
            "name": device.accelerator.name,
            "memory": gib(physical_bytes(device.accelerator) or 0),
            "by_format": {count.weights_format: _count(count) for count in device.counts},
        }
        for device in gpus_needed(model.id, snapshot)
    ]
    return {"scenario": {"ctx": SHEET_CONTEXT_TOKENS, "users": 1, "kv": "bf16"}, "items": items}


def _count(count: SheetCount) -> dict[str, Any]:
    plan = {"tp": count.plan.tp, "pp": count.plan.pp} if count.plan else None
    why = reason_words(count.why, "gib")
    return {"count": count.fits, "tight": count.tight, "engine": count.engine, "plan": plan, "why": why}


def _verified(model: LanguageModel, snapshot: Snapshot) -> list[dict[str, Any]]:
    """Speeds that others have measured of this model and that a calculation can be held against, newest first."""
    runs = [
        run
        for run in snapshot.measurements
        if run.task == "speed" and run.comparable and run.model_id == model.id
    ]
    runs.sort(key=lambda run: run.date or "", reverse=True)
    return [_measured(run, seen) for run in runs for seen in run.observed]


def _measured(run: Measurement, seen: Observation) -> dict[str, Any]:
    given = run.conditions or Conditions()
    return {
        "figure": seen.part,
        "value": seen.amount,
        "unit": seen.unit,
        "device": run.device,
        "gpu": run.scenario.get("gpu"),
        "n": int(run.scenario.get("n", "1")),
        "engine": run.engine,
        "engine_version": run.engine_version or None,
        "format": run.weights_format or None,
        "users": given.users,
        "prompt_tokens": given.prompt_tokens,
        "output_tokens": given.output_tokens,
        "depth_tokens": given.depth_tokens,
        "source": run.source,
        "date": run.date,
    }


def _checkpoint(checkpoint: Checkpoint) -> dict[str, Any]:
    return {
        "format": checkpoint.weights_format,
        "repo": checkpoint.repo,
        "publisher": checkpoint.publisher,
        "publisher_kind": checkpoint.publisher_kind,
        "engines": list(checkpoint.engines),
        "bytes": checkpoint.size_bytes,
        "precision": checkpoint.precision,
        "recipe": checkpoint.recipe or None,
        "hardware": checkpoint.hardware or None,
        "formats": list(checkpoint.formats),
        "file_pattern": checkpoint.file_pattern or None,
        "files": [
            {
                "format": file.weights_format,
                "file": file.file,
                "parts": file.parts,
                "bytes": file.size_bytes,
                "precision": file.precision,
                "source": file.source,
            }
            for file in checkpoint.files
        ],
        "sources": list(checkpoint.sources),
    }


def _file(file: PublishedFile) -> dict[str, Any]:
    return {
        "format": file.weights_format,
        "bytes": file.size_bytes,
        "exact": file.exact,
        "repo": file.repo,
        "includes": file.includes or None,
        "source": file.source,
        "kind": file.kind,
    }


def runs_with(model: LanguageModel, snapshot: Snapshot) -> list[dict[str, Any]]:
    """Engines whose list names the model's class, at the version whose list was read."""
    return [
        {"engine": engine.id, "name": engine.name, "version": engine.version}
        for engine in snapshot.engines.values()
        if engine.lists(model.class_name)
    ]


def source_json(source: Source) -> dict[str, str]:
    return {"what": source.what, "where": source.where, "kind": source.kind}
