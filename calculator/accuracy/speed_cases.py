"""Measured speeds as questions: a row of a published speed measurement becomes the Scenario that it answers.

PURE: rows are plain objects of the published schema (docs of the accuracy page), read by whoever calls.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from calculator.resolve import resolve
from calculator.scenario import Problem, Scenario
from catalog.snapshot import Snapshot

Row = Mapping[str, Any]

CACHE_TYPES = {"f16": "bf16", "bf16": "bf16", "fp8": "fp8", "q8_0": "q8_0", "q8": "q8_0"}
"""Cache types as the rows write them; `default`, none and others are the engine's 16 bits."""

ENGINES = {"exllama": "exllama"}
"""Engines that the rows name otherwise than the catalogue does."""

BACKENDS = {"CUDA": "cuda", "ROCm": "rocm", "Vulkan": "vulkan", "SYCL": "sycl", "Metal": "metal", "CPU": "cpu", "XPU": "sycl"}  # fmt: skip
"""Back ends as the rows write them; a mixture is the device's usual one."""

FIGURES = ("decode", "prefill", "throughput", "ttft")
"""Figures of a row that can be compared, as the rows name them."""


@dataclass(frozen=True, slots=True)
class SpeedCase:
    """One measured row, as a question and its observed figures.

    observed: tokens/s for decode (of one user), prefill and throughput, seconds for ttft and tpot. context_tokens: what
    one request holds while it decodes, on average. start_tokens: what the cache holds before the measured prompt. batch:
    requests in one forward pass, tokens of all of them in the prefill figure. weights_bytes: size of the file where the
    source gives it.
    """

    id: str
    group: str
    group_class: str
    split: str
    scenario: Scenario
    observed: Mapping[str, float]
    users: int
    prompt_tokens: int
    output_tokens: int
    context_tokens: float
    start_tokens: int
    weights_bytes: int | None
    host_bandwidth_bytes_per_s: float | None
    dense: bool
    source: str
    as_of: str
    note: str


@dataclass(frozen=True, slots=True)
class SkippedCase:
    """A row that cannot be asked, and why (a code)."""

    id: str
    split: str
    reason: str
    detail: str = ""


def read_case(row: Row, snapshot: Snapshot) -> SpeedCase | SkippedCase:
    """The question and the observed figures of a row, or why it cannot be asked.

    Rows that the source's readers found not comparable are skipped with their own reason.
    """
    identity, split = str(row["id"]), str(row.get("split", "check"))
    if not row.get("comparable"):
        return SkippedCase(identity, split, "not_comparable", "; ".join(row.get("why_not") or ()))
    if row.get("model_id") not in snapshot.models:
        return SkippedCase(identity, split, "model_not_in_catalogue", str(row.get("model")))
    format_id = format_of(str(row.get("format")), snapshot)
    if format_id is None:
        return SkippedCase(identity, split, "format_not_in_catalogue", str(row.get("format")))
    if snapshot.hosts(str(row.get("accelerator_id"))) is None:
        return SkippedCase(identity, split, "device_not_in_catalogue", str(row.get("gpu")))
    if row["engine"] not in snapshot.engines:
        return SkippedCase(identity, split, "engine_not_in_catalogue", str(row["engine"]))
    scenario = Scenario(**_query(row, format_id))
    resolved = resolve(scenario, snapshot)
    if bad := _refused(resolved.problems):
        return SkippedCase(identity, split, "not_askable", bad)
    observed = _observed(row)
    if not observed:
        return SkippedCase(identity, split, "nothing_to_compare")
    return _case(row, scenario, observed)


def format_of(written: str, snapshot: Snapshot) -> str | None:
    """The catalogue's id of a weights format, None when it has none: `exl3-4.0` is `exl3-4.0bpw`."""
    for name in (written, f"{written}bpw", {"ct-int4": "w4a16"}.get(written, written)):
        if found := snapshot.weights_format(name):
            return found.id
    return None


def _refused(problems: tuple[Problem, ...]) -> str:
    """Fields that the resolver could not take as they were given; a context above the maximum is computed all the same."""
    kept = ("context_above_maximum", "lengths_above_context")
    return ", ".join(f"{p.field}: {p.code}" for p in problems if p.code not in kept)


def _query(row: Row, format_id: str) -> dict[str, Any]:
    """The parameters of the Scenario, by the contract's names."""
    prompt, output = _lengths(row)
    query: dict[str, Any] = {
        "model": row["model_id"],
        "gpu": row["accelerator_id"],
        "n": row["gpus"],
        "engine": ENGINES.get(row["engine"], row["engine"]),
        "engine_version": _version(row),
        "backend": BACKENDS.get(str(row.get("backend"))),
        "quant": format_id,
        "kv": CACHE_TYPES.get(str(row.get("kv_cache_type")), "bf16"),
        "ctx": max(1, _held(row) + output),
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
    return max(1, round(prompt)), max(1, round(row.get("output_tokens") or 128))


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


def _observed(row: Row) -> dict[str, float]:
    """The figures that the row allows to compare, in tokens/s and seconds."""
    compare, out = row.get("compare") or (), {}
    fields = {
        "decode": ("decode_tok_s_per_user", 1.0),
        "prefill": ("prefill_tok_s", 1.0),
        "throughput": ("total_output_tok_s", 1.0),
        "ttft": ("ttft_ms", 1e-3),
    }
    for figure, (name, unit) in fields.items():
        if figure in compare and row.get(name):
            out[figure] = row[name] * unit
    if "decode" in compare and "decode" not in out and row.get("tpot_ms"):
        out["decode"] = 1e3 / row["tpot_ms"]
    return out


def _case(row: Row, scenario: Scenario, observed: dict[str, float]) -> SpeedCase:
    derived = row.get("derived") or {}
    prompt, output = _lengths(row)
    host = derived.get("host_bandwidth_gb_s")
    size = row.get("weights_gib")
    return SpeedCase(
        id=str(row["id"]),
        group=str(row["group"]),
        group_class=str(row["class"]),
        split=str(row["split"]),
        scenario=scenario,
        observed=observed,
        users=row.get("concurrency") or 1,
        prompt_tokens=prompt,
        output_tokens=output,
        context_tokens=(row.get("context_depth") or 0) + output / 2,
        start_tokens=derived.get("prefill_start_depth") or 0,
        weights_bytes=round(size * 2**30) if size else None,
        host_bandwidth_bytes_per_s=host * 1e9 if host else None,
        dense="| dense" in str(row["class"]),
        source=str(row.get("source") or ""),
        as_of=str(row.get("as_of") or ""),
        note=str(row.get("notes") or ""),
    )
