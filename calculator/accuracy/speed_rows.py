"""Rows of the published case files of speed as measurements: the form that the catalogue keeps.

PURE: rows are plain objects, read by whoever calls. What the catalogue does not know is passed on as written.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from calculator.accuracy.speed_cases import OUTPUT_TOKENS
from calculator.scenario import Scenario, text_of
from catalog.records import GIB, Conditions, LanguageModel, Measurement, Observation
from catalog.snapshot import Snapshot

Row = Mapping[str, Any]

CACHE_TYPES = {"f16": "bf16", "bf16": "bf16", "fp8": "fp8", "q8_0": "q8_0", "q8": "q8_0"}
"""Cache types as the rows write them; `default`, none and others are the engine's 16 bits."""

BACKENDS = {"CUDA": "cuda", "ROCm": "rocm", "Vulkan": "vulkan", "SYCL": "sycl", "Metal": "metal", "CPU": "cpu", "XPU": "sycl"}  # fmt: skip
"""Back ends as the rows write them; a mixture is the device's usual one."""

FIELDS: Mapping[str, tuple[str, str, float]] = {
    "decode": ("decode_tok_s_per_user", "tokens/s", 1.0),
    "prefill": ("prefill_tok_s", "tokens/s", 1.0),
    "throughput": ("total_output_tok_s", "tokens/s", 1.0),
    "ttft": ("ttft_ms", "s", 1e-3),
    "tpot": ("tpot_ms", "s", 1e-3),
}
"""Figures of a row: its field, our unit, and what one of the field's units is in ours."""

OTHER = "other:"
"""Begins the name of an engine that is none of ours."""


def speed_of(row: Row, snapshot: Snapshot) -> Measurement:
    """A row of a case file as a measurement: the form that the catalogue keeps."""
    model = snapshot.models.get(str(row.get("model_id")))
    return Measurement(
        id=str(row["id"]),
        task="speed",
        split=str(row.get("split", "check")),
        group=str(row["group"]),
        engine=str(row["engine"]).removeprefix(OTHER).lower(),
        engine_version=row.get("engine_version") or "",
        model=str(row["model"]),
        model_id=row.get("model_id"),
        attention=attention_of(model) if model else "unknown",
        weights_format=row.get("format") or "",
        device=_device(row),
        scenario=scenario_of(row, snapshot),
        observed=tuple(_observations(row)),
        comparable=bool(row.get("comparable")),
        compare=_compare(row),
        why_not=tuple(row.get("why_not") or ()),
        source=str(row.get("source") or ""),
        date=row.get("as_of"),
        confidence=row.get("confidence") or "medium",
        note=row.get("notes") or "",
        conditions=_conditions(row),
    )


def speeds_of(rows: Iterable[Any], snapshot: Snapshot) -> tuple[Measurement, ...]:
    """The rows of a case file; raises ValueError with a sentence for one that cannot be read."""
    found = []
    for number, row in enumerate(rows, 1):
        try:
            found.append(speed_of(row, snapshot))
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            name = row.get("id", "without id") if isinstance(row, Mapping) else "no object"
            raise ValueError(f"row {number} ({name}) cannot be read: {error!r}") from error
    return tuple(found)


def scenario_of(row: Row, snapshot: Snapshot) -> dict[str, str]:
    """The parameters of the question that a row answers, as text; empty when the row leaves open what ran on what."""
    known = row.get("model_id") and row.get("accelerator_id") and row.get("gpus") and row.get("format")
    if not known or row["engine"].startswith(OTHER):
        return {}
    written = str(row["format"])
    query = _query(row, format_of(written, snapshot) or written)
    given = {name: text_of(value) for name, value in Scenario(**query).changed()}
    return {"model": query["model"], "gpu": query["gpu"], **given}


def attention_of(model: LanguageModel) -> str:
    """The kind of attention as measurements are grouped by: of the mixers, the one that shapes the cache."""
    kinds = model.architecture.kinds
    if "csa" in kinds:
        return "compressed"
    if kinds & RECURRENT:
        return "hybrid"
    if "mla" in kinds:
        return "mla"
    mixers = [block.mixer for block in model.architecture.blocks]
    return "sliding_window" if any(getattr(mixer, "window", None) for mixer in mixers) else "gqa"


RECURRENT = frozenset({"gated_deltanet", "kda", "lightning", "mamba1", "mamba2", "shortconv", "parallel"})


def _device(row: Row) -> str:
    count = row.get("gpus") or 1
    return f"{count} × {row['gpu']}" if count > 1 else str(row["gpu"])


def _observations(row: Row) -> Iterable[Observation]:
    for part, (field, unit, scale) in FIELDS.items():
        if row.get(field):
            yield Observation(part, None, row[field] * scale, unit, "")


def _compare(row: Row) -> tuple[str, ...]:
    """The figures that the row allows to compare; the time per token where no decode rate is given."""
    named = tuple(row.get("compare") or ())
    only_time = row.get("tpot_ms") and not row.get(FIELDS["decode"][0])
    return tuple("tpot" if part == "decode" and only_time else part for part in named)


def _conditions(row: Row) -> Conditions:
    derived = row.get("derived") or {}
    size, host = row.get("weights_gib"), derived.get("host_bandwidth_gb_s")
    return Conditions(
        users=row.get("concurrency"),
        prompt_tokens=row.get("prompt_tokens"),
        output_tokens=row.get("output_tokens"),
        depth_tokens=row.get("context_depth"),
        start_tokens=derived.get("prefill_start_depth"),
        weights_bytes=round(size * GIB) if size else None,
        host_bandwidth_bytes_per_s=host * 1e9 if host else None,
        speculation=row.get("speculative") or "",
        offload=row.get("offload") or "",
    )


def format_of(written: str, snapshot: Snapshot) -> str | None:
    """The catalogue's id of a weights format, None when it has none: `exl3-4.0` is `exl3-4.0bpw`."""
    for name in (written, f"{written}bpw", {"ct-int4": "w4a16"}.get(written, written)):
        if found := snapshot.weights_format(name):
            return found.id
    return None


def _query(row: Row, format_id: str) -> dict[str, Any]:
    """The parameters of the Scenario, by the contract's names."""
    prompt, output = _lengths(row)
    query: dict[str, Any] = {
        "model": row["model_id"],
        "gpu": row["accelerator_id"],
        "n": row["gpus"],
        "engine": row["engine"],
        "engine_version": _version(row),
        "backend": BACKENDS.get(str(row.get("backend"))),
        "quant": format_id,
        "kv": CACHE_TYPES.get(str(row.get("kv_cache_type")), "bf16"),
        "ctx": max(_held(row), prompt) + output,
        "prompt": prompt,
        "output": output,
        "users": row.get("concurrency") or 1,
    }
    if row.get("flash_attention") is False:
        query["fa"] = "0"
    return query | _plan(row)


BUILDS = {"May 2024": "b2850"}
"""Builds of llama.cpp that a source names by their month."""


def _version(row: Row) -> str | None:
    """The engine's version where it is written as one: llama.cpp's b-numbers, dotted numbers."""
    written = str(row.get("engine_version") or "")
    if written in BUILDS:
        return BUILDS[written]
    if written.startswith("b") and written[1:].isdigit():
        return written
    return written if written[:1].isdigit() and written.count(".") >= 1 else None


def _lengths(row: Row) -> tuple[int, int]:
    """(prompt, answer) in tokens; a row that only times the decode has the prompt of its depth."""
    prompt = row.get("prompt_tokens") or row.get("context_depth") or 1
    return max(1, round(prompt)), max(1, round(row.get("output_tokens") or OUTPUT_TOKENS))


def _held(row: Row) -> int:
    """Tokens of one request before the first is generated."""
    start = (row.get("derived") or {}).get("prefill_start_depth") or 0
    return round(max(row.get("context_depth") or 0, start + (row.get("prompt_tokens") or 0)))


def _plan(row: Row) -> dict[str, Any]:
    """Split and sizes. Attention groups of a source that counts them as replicas stand inside the tensor width here."""
    plan, count = row.get("plan") or {}, row["gpus"]
    kind = plan.get("kind", "single")
    if kind == "layer":
        return {"split": "layer"}
    if kind == "offload":
        return {"offload": "experts", "ncmoe": 10_000}
    if kind == "expert":
        groups = plan.get("dp") or 1
        return {"split": "expert", "tp": count, "pp": 1, "ep": plan.get("ep") or 1, "adp": groups}
    if kind == "tensor":
        return {"split": "tensor", "tp": plan.get("tp") or count, "pp": plan.get("pp") or 1}
    return {}
