"""Rows of the published case files as questions: which scenario a measured run answers. PURE.

A row says what ran; `scenario_of` says it in the parameters of a permalink. What the catalogue does not know (a format, a
cache type) is passed on as written, so that asking it names the gap instead of hiding it.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Collection, Iterable, Mapping
from typing import Any

from catalog.records import Measurement, Observation
from catalog.snapshot import Snapshot

Row = Mapping[str, Any]
Query = dict[str, str]

BUILDS = frozenset({"llama.cpp"})
"""Engines whose versions are build numbers; other numbers in what a source wrote are a wrapper's."""

EVERY_LAYER = "10000"
SHARES_CONTEXT = frozenset({"ollama"})
"""Engines that are told the context of one request, and start the server with it times the slots."""

SLOTS = ("llama.cpp", "ollama", "lm-studio")
"""Engines whose rows state all cells together and the slots that share them."""

RELEASES: Mapping[str, tuple[tuple[str, str], ...]] = {
    "llama.cpp": (
        ("2024-03", "b2400"),
        ("2024-05", "b2900"),
        ("2025-02", "b4700"),
        ("2025-05", "b5300"),
        ("2025-08", "b6100"),
        ("2025-09", "b6500"),
        ("2025-11", "b7000"),
        ("2026-02", "b8000"),
        ("2026-04", "b8900"),
        ("2026-05", "b9272"),
        ("2026-06", "b9603"),
        ("2026-09", "b10809"),
    ),
    "vllm": (
        ("2025-07", "0.10"),
        ("2025-09", "0.10"),
        ("2025-11", "0.11"),
        ("2025-12", "0.12"),
        ("2026-03", "0.17"),
        ("2026-05", "0.21"),
        ("2026-06", "0.22"),
        ("2026-07", "0.25"),
        ("2026-08", "0.26"),
        ("2026-09", "0.31"),
    ),
    "mlx": (("2025-03", "0.22"), ("2026-02", "0.30")),
    "ollama": (("2024-07", "0.2"), ("2025-10", "0.12"), ("2026-04", "0.20"), ("2026-05", "0.30")),
    "sglang": (("2025-01", "0.4"), ("2025-03", "0.4"), ("2025-07", "0.4"), ("2025-11", "0.5")),
}
"""Versions of the months that rows name instead of one, read off the rows that name both."""

STAND_INS: tuple[tuple[str, str], ...] = (
    (r"4070 Ti \+ RTX 3090 Ti", "rtx-4070-ti:1,rtx-3090-ti:1"),
    (r"RTX 3080$", "rtx-3080-10"),
    (r"ROCm|gfx|AMD", "w7900"),
    (r"M2 Ultra|Metal|Apple", "mac-m2-ultra-192"),
    (r"XPU", "arc-pro-b60"),
    (r"GB200", "gb200"),
    (r"H200", "h200-sxm"),
    (r"48 GB", "l40s"),
    (r"32 GB", "rtx-5090"),
    (r"A10G|22 GB", "a10"),
    (r"24 GB", "rtx-4090"),
    (r"12 GB", "rtx-3060-12"),
    (r"\b8 GB", "rtx-4060"),
    (r"\b6 GB", "rtx-3050-6"),
)
"""A device of the class that a source names without its name; for parts that hang on the class alone."""

USUAL_DEVICE: Mapping[str, str] = {"mlx": "mac-m2-ultra-192"}
"""The device of rows that name none, where it is not a data-centre GPU."""

_LINK_FREE = {"default": "bf16", "f16": "bf16", "fp16": "bf16", "fp8_ds_mla": "fp8"}
_FORMATS = (
    (re.compile(r"exl([23])-(\d+(?:\.\d+)?)"), r"exl\1-\2bpw"),
    (re.compile(r"ct-int4"), "w4a16"),
    (re.compile(r"mlx-bf16"), "bf16"),
)
_GGUF_ONLY = {"mxfp4": "mxfp4_moe"}


def scenario_of(row: Row, vision_models: Collection[str] = ()) -> Query:
    """The parameters of the question that a case row answers, as text; empty when its model is not in the catalogue.

    vision_models: ids of models whose vision tower servers load unless told not to.
    """
    if not row.get("model_id"):
        return {}
    engine = row["engine"]
    query: Query = {"model": row["model_id"], **_hardware(row), "engine": engine}
    if version := version_of(engine, row.get("engine_version") or "", row.get("as_of")):
        query["engine_version"] = version
    if name := _format(row):
        query["quant"] = name
    if kind := row.get("kv_cache_type"):
        query["kv"] = str(_LINK_FREE.get(kind, kind))
    query |= _READERS.get(engine, _process)(row)
    query |= _plan(row)
    if drafted := re.search(r"MTP with (\d+) draft tokens|1 \+ (\d+) draft tokens", _texts(row)):
        query["mtp"] = str(drafted.group(1) or drafted.group(2))
    elif "speculative decoding on (MTP)" in _texts(row):
        query["mtp"] = "1"
    if "LM Studio" in (row.get("engine_version") or ""):
        query["engine"] = "lm-studio"
        query.pop("engine_version", None)
    if engine in _SERVERS and row["model_id"] in vision_models:
        query["vision"] = "1"
    return {name: value for name, value in query.items() if DEFAULT.get(name) != value}


DEFAULT: Mapping[str, str] = {"n": "1", "kv": "bf16", "users": "1"}


def _hardware(row: Row) -> Query:
    count = _gpus(row)
    backend = _backend(row)
    written = row.get("gpu") or ""
    usual = USUAL_DEVICE.get(row["engine"], "h100-sxm")
    alike = (stand_in for rule, stand_in in STAND_INS if re.search(rule, written))
    gpu = str(row.get("accelerator_id") or next(alike, usual))
    query = {"gpu": gpu, "n": str(count)} if ":" not in gpu else {"gpu": gpu}
    return query | ({"backend": backend} if backend else {})


def _gpus(row: Row) -> int:
    plan = row.get("plan") or {}
    product = 1
    for name in ("tp", "pp", "dp"):
        product *= plan.get(name) or 1
    return int(max(plan.get("layer_split") or 1, product, row.get("gpus") or 1))


def _backend(row: Row) -> str:
    """Vulkan where the log's devices are Vulkan's; else the engine's usual one."""
    devices = {str(item.get("device")) for item in row.get("observed", ())}
    if any(name.startswith("Vulkan") for name in devices):
        return "vulkan"
    return ""


def version_of(engine: str, written: str, as_of: str | None = None) -> str:
    """An engine's version as it can be compared, from how a source writes it; empty when it says none.

    >>> version_of("vllm", "0.11.2.dev690"), version_of("llama.cpp", "b9849 (Vulkan), 2026-09")
    ('0.11.2', 'b9849')
    """
    if build := re.search(r"\bb(\d{3,5})\b|version (\d{4,5})", written):
        return f"b{build.group(1) or build.group(2)}"
    if engine not in BUILDS:
        named = re.search(r"(?:mlx-lm|exllamav\d|transformers|tensorrt-llm) (\d+\.\d+(?:\.\d+)?)", written)
        plain = named or re.search(r"(?<![\d.])(\d+\.\d+(?:\.\d+)?)", written)
        if plain:
            return plain.group(1)
    month = re.search(r"20\d\d-\d\d", written) or re.search(r"20\d\d(-\d\d)?", written)
    when = "2025-05" if "spring 2025" in written else (month.group(0) if month else as_of or "")
    return _released(engine, when)


def _released(engine: str, month: str) -> str:
    """The version of a month (year-month, or a year whose first quarter is meant): the newest one that is not later."""
    if not month:
        return ""
    wanted = month[:7] if len(month) > 4 else f"{month}-03"
    known = RELEASES.get(engine, ())
    before = [version for when, version in known if when <= wanted]
    return before[-1] if before else (known[0][1] if known else "")


def _format(row: Row) -> str:
    written = row.get("format") or ""
    for rule, name in _FORMATS:
        if rule.fullmatch(written):
            return rule.sub(name, written)
    return _GGUF_ONLY.get(written, written) if row["engine"] in SLOTS else written


def _server(row: Row) -> Query:
    """vLLM and its like: one longest request, the sequences and tokens that the server prepares for."""
    extra = row.get("extra") or {}
    query: Query = {"seqs": str(row["parallel"]) if row.get("parallel") else "engine"}
    if context := row.get("context"):
        query["ctx"] = str(context)
    if batched := row.get("batched_tokens"):
        query["batched"] = str(batched)
    share = row.get("gpu_memory_utilization") or next(
        (extra[name] for name in _SHARES if name in extra), None
    )
    if share:
        query["util"] = str(share)
    if extra.get("enforce_eager"):
        query["eager"] = "1"
    if ways := extra.get("decode_context_parallel"):
        query["dcp"] = str(ways)
    return query


_SHARES = ("gpu_memory_utilization", "mem_fraction_static", "free_gpu_memory_fraction")


def _slots(row: Row) -> Query:
    """llama.cpp and what starts it: all cells together, slots that share them, micro-batch, flash attention."""
    slots, context = row.get("parallel") or 1, row.get("context")
    query: Query = {"seqs": str(slots)} if slots > 1 else {}
    if row["engine"] in SHARES_CONTEXT and slots > 1:
        query, context = {"users": str(slots)}, (context or 0) // slots
    if context:
        query["ctx"] = str(context)
    if micro := row.get("ubatch"):
        query["ubatch"] = str(micro)
    if row.get("flash_attention") is not None:
        query["fa"] = "1" if row["flash_attention"] else "0"
    if row.get("gpu_layers") is not None:
        query["ngl"] = str(row["gpu_layers"])
    elif _mostly_on_host(row):
        query |= {"offload": "experts", "ncmoe": EVERY_LAYER}
    return query


def _mostly_on_host(row: Row) -> bool:
    """Nearly all weights stand in host memory while every layer runs on GPUs: what moving the experts looks like."""
    sizes: dict[bool, float] = {True: 0.0, False: 0.0}
    for item in row.get("observed", ()):
        if item["part"] == "weights" and item.get("device"):
            sizes[item["device"].startswith("host")] += item.get("bytes") or 0
    return sizes[False] > 0 and sizes[True] > 4 * sizes[False]


def _texts(row: Row) -> str:
    return f"{row.get('notes') or ''} {(row.get('formula') or {}).get('text') or ''}"


def _process(row: Row) -> Query:
    """Engines of one process: the tokens that were really held, and the requests."""
    query: Query = {}
    if context := row.get("context"):
        query["ctx"] = str(context)
    if (users := row.get("parallel") or 1) > 1:
        query["users"] = str(users)
    if batched := row.get("batched_tokens"):
        query["batched"] = str(batched)
    return query


def _plan(row: Row) -> Query:
    """Sizes that a source states, where there is more than one device."""
    plan = row.get("plan") or {}
    if _gpus(row) == 1 or row["engine"] in SLOTS:
        return {}
    if (ranks := plan.get("dp") or 1) > 1 and row["engine"] in _SERVERS:
        # Data-parallel ranks of one server: attention is theirs alone, experts are spread over all of them.
        width = ranks * (plan.get("tp") or 1)
        return {"tp": str(width), "adp": str(ranks), "ep": str(width)}
    return {
        name: str(plan[name])
        for name in ("tp", "pp", "ep", "dp")
        if (plan.get(name) or 0) > (1 if name in ("ep", "dp") else 0)
    }


_SERVERS = ("vllm", "sglang", "tensorrt-llm")
_READERS: Mapping[str, Callable[[Row], Query]] = {
    **dict.fromkeys(_SERVERS, _server),
    **dict.fromkeys(SLOTS, _slots),
}

_UNITS = (("bytes", "bytes"), ("tokens", "tokens"), ("ratio", "requests"), ("count", "count"))


def measurement_of(row: Row, vision_models: Collection[str] = ()) -> Measurement:
    """A case row as a measurement: the form that the catalogue keeps."""
    open_parts = _open_parts(row)
    return Measurement(
        id=row["id"],
        task="memory" if row.get("task", "inference") == "inference" else str(row["task"]),
        split=row["split"],
        group=row["group"],
        engine=row["engine"],
        engine_version=row.get("engine_version") or "",
        model=row.get("model") or "",
        model_id=row.get("model_id"),
        attention=row.get("attention_kind") or "unknown",
        weights_format=row.get("format_as_written") or row.get("format") or "",
        device=_device(row),
        scenario=scenario_of(row, vision_models),
        observed=tuple(_observation(item) for item in row.get("observed", ())),
        comparable=bool(row.get("comparable")),
        compare=tuple(part for part in row.get("compare_parts") or () if part not in open_parts),
        why_not=(*_reasons(row.get("why_not")), *dict.fromkeys(open_parts.values())),
        source=row.get("source") or "",
        date=row.get("as_of"),
        confidence=row.get("confidence") or "medium",
        note=row.get("notes") or "",
    )


def measurements_of(rows: Iterable[Any], snapshot: Snapshot) -> tuple[Measurement, ...]:
    """The rows of a case file that are about running a model (fine-tuning has its own arithmetic).

    Raises ValueError with a sentence for a row that cannot be read.
    """
    seeing = frozenset(model.id for model in snapshot.models.values() if model.vision)
    found = []
    for number, row in enumerate(rows, 1):
        if not isinstance(row, Mapping):
            raise ValueError(f"row {number} is no object")  # noqa: TRY004 - the file is wrong, not the program
        if row.get("task", "inference") != "inference":
            continue
        try:
            found.append(measurement_of(row, seeing))
        except (KeyError, TypeError, AttributeError, ValueError) as error:
            raise ValueError(
                f"row {number} ({row.get('id', 'without id')}) cannot be read: {error!r}"
            ) from error
    return tuple(found)


def _open_parts(row: Row) -> dict[str, str]:
    """Parts that hang on something the row leaves open, with what that is."""
    plan = row.get("plan")
    if plan and plan.get("tp") is None:
        return {"weights": "number of GPUs not stated"}
    return {}


def _reasons(given: Any) -> tuple[str, ...]:
    if not given:
        return ()
    return (given,) if isinstance(given, str) else tuple(given)


def _device(row: Row) -> str:
    name, count = row.get("gpu") or row.get("accelerator_id") or "", _gpus(row)
    return f"{count} × {name}" if count > 1 and name else name


def _observation(item: Row) -> Observation:
    for name, unit in _UNITS:
        if item.get(name) is not None:
            return Observation(
                item["part"], item.get("device"), float(item[name]), unit, item.get("as_printed") or ""
            )
    return Observation(item["part"], item.get("device"), 0.0, "none", item.get("as_printed") or "")
