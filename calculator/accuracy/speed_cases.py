"""Measured speeds as questions: a run of the catalogue, or a row of a published case file, and the Scenario it answers.

PURE: rows are plain objects of the published schema, read by whoever calls.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import Any

from calculator.resolve import resolve
from calculator.scenario import Problem, Scenario, parse, text_of
from catalog.records import Conditions, LanguageModel, Measurement, Observation
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

GAPS = frozenset({"context_above_maximum", "lengths_above_context"})
"""Problems that a run may have: it was measured all the same."""

OUTPUT_TOKENS = 128
"""Length of the answer where a source does not say it [tokens]: llama-bench's."""


@dataclass(frozen=True, slots=True)
class SpeedCase:
    """One measured run, as a question and its observed figures.

    observed: tokens/s for decode (of one user), prefill and throughput, seconds for ttft and tpot. context_tokens: what
    one request holds while it decodes, on average. start_tokens: what the cache holds before the measured prompt. batch:
    requests in one forward pass, tokens of all of them in the prefill figure. weights_bytes: size of the file where the
    source gives it.
    """

    id: str
    group: str
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


@dataclass(frozen=True, slots=True)
class SkippedCase:
    """A run that cannot be asked, and why (a code; of runs that are not comparable, the source's own words)."""

    id: str
    split: str
    reason: str


def read_case(run: Measurement, snapshot: Snapshot) -> SpeedCase | SkippedCase:
    """The question and the observed figures of a run, or why it cannot be asked."""
    if not run.comparable:
        return SkippedCase(run.id, run.split, run.why_not[0] if run.why_not else "not_comparable")
    if reason := _missing(run, snapshot):
        return SkippedCase(run.id, run.split, reason)
    scenario, unreadable = parse(run.scenario)
    if _refused((*unreadable, *resolve(scenario, snapshot).problems)):
        return SkippedCase(run.id, run.split, "not_askable")
    observed = {o.part: o.amount for o in run.observed if o.part in run.compare}
    if not observed:
        return SkippedCase(run.id, run.split, "no_part_to_compare")
    return _case(run, scenario, observed)


def _missing(run: Measurement, snapshot: Snapshot) -> str:
    """What of the question the catalogue does not have (a code), empty when it has all of it."""
    asked = run.scenario
    if asked.get("model") not in snapshot.models:
        return "model_not_in_catalogue"
    if asked.get("engine") not in snapshot.engines:
        return "engine_not_in_catalogue"
    if snapshot.weights_format(asked.get("quant", "")) is None:
        return "format_not_in_catalogue"
    return "" if snapshot.hosts(asked.get("gpu", "")) else "device_not_in_catalogue"


def _refused(problems: Iterable[Problem]) -> bool:
    """Something of the question could not be taken as it was given."""
    return any(problem.code not in GAPS for problem in problems)


def _case(run: Measurement, scenario: Scenario, observed: Mapping[str, float]) -> SpeedCase:
    given = run.conditions or Conditions()
    output = scenario.output or OUTPUT_TOKENS
    return SpeedCase(
        id=run.id,
        group=run.group,
        split=run.split,
        scenario=scenario,
        observed=observed,
        users=given.users or 1,
        prompt_tokens=scenario.prompt or 1,
        output_tokens=output,
        context_tokens=(given.depth_tokens or 0) + output / 2,
        start_tokens=given.start_tokens or 0,
        weights_bytes=given.weights_bytes,
        host_bandwidth_bytes_per_s=given.host_bandwidth_bytes_per_s,
    )


# --- rows of case files -----------------------------------------------------------------------------------------------


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
        compare=tuple(row.get("compare") or ()),
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


def _conditions(row: Row) -> Conditions:
    derived = row.get("derived") or {}
    size, host = row.get("weights_gib"), derived.get("host_bandwidth_gb_s")
    return Conditions(
        users=row.get("concurrency"),
        prompt_tokens=row.get("prompt_tokens"),
        output_tokens=row.get("output_tokens"),
        depth_tokens=row.get("context_depth"),
        start_tokens=derived.get("prefill_start_depth"),
        weights_bytes=round(size * 2**30) if size else None,
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
