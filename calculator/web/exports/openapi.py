"""What the OpenAPI description says of answers: their shapes, and every error as RFC 9457 problem details."""

from __future__ import annotations

from typing import Any

from calculator.web.exports.offers import OFFERS

PROBLEM = "application/problem+json"

_TEXT = {"type": "string"}
_COUNT = {"type": "integer"}
_MAYBE_COUNT = {"type": ["integer", "null"]}
_TEXTS = {"type": "array", "items": _TEXT}


def _object(required: tuple[str, ...], **properties: Any) -> dict[str, Any]:
    return {"type": "object", "required": list(required), "properties": properties}


_INTERVAL = _object(("value", "low", "high"), value=_COUNT, low=_COUNT, high=_COUNT)
_NUMBER = {"type": "number"}
_MEASURE = _object(("value", "low", "high"), value=_NUMBER, low=_NUMBER, high=_NUMBER)
_MAYBE_MEASURE = {**_MEASURE, "type": ["object", "null"]}
_VERDICT = {"enum": ["fits", "tight", "offload", "does_not_fit", "unsupported"]}
_PROBLEMS = {
    "type": "array",
    "description": "Values that were not taken as given, each with what is used instead.",
    "items": _object(
        ("field", "code", "given", "used", "message"), field=_TEXT, code=_TEXT, given=_TEXT, message=_TEXT
    ),
}
_SPEED = {
    "type": ["object", "null"],
    "description": "Each figure with its central 90 % interval; null when nothing runs, and `reasons` says why. Figures "
    "of a prompt are null where no compute rate of the device is known.",
    "required": ["decode_tokens_per_s_per_user", "decode_tokens_per_s_total", "tpot_ms", "bound_by"],
    "properties": {
        "decode_tokens_per_s_per_user": {**_MEASURE, "description": "What one user sees."},
        "decode_tokens_per_s_total": {**_MEASURE, "description": "All users, no prompts inside."},
        "served_output_tokens_per_s": {**_MAYBE_MEASURE, "description": "All users, prompts included."},
        "prefill_tokens_per_s": _MAYBE_MEASURE,
        "ttft_ms": _MAYBE_MEASURE,
        "tpot_ms": _MEASURE,
        "request_s": _MAYBE_MEASURE,
        "bound_by": {"enum": ["weights", "cache", "compute", "interconnect", "host memory", "overhead"]},
    },
}
_ENERGY = {
    "type": ["object", "null"],
    "description": "Power of the machine under this load, and energy of a generated token.",
    "required": ["watts", "joules_per_output_token"],
    "properties": {"watts": _NUMBER, "joules_per_output_token": _MEASURE},
}
_COST = {
    "type": ["object", "null"],
    "description": "What a million tokens cost on this machine at its own speed [USD]; null where it does not run or a "
    "price is missing, and `reasons` says which.",
    "required": [
        "source",
        "usd_per_hour",
        "usd_per_million_output",
        "usd_per_million_input",
        "usd_per_million_blended",
    ],
    "properties": {
        "source": {"enum": ["rent", "own"]},
        "usd_per_hour": {**_NUMBER, "description": "All machines, for one paid hour."},
        "usd_per_month": _MEASURE,
        "utilisation": {**_NUMBER, "description": "Busy share of the paid hours."},
        "usd_per_million_input": _MEASURE,
        "usd_per_million_cached": _NUMBER,
        "usd_per_million_output": _MEASURE,
        "usd_per_million_blended": _MEASURE,
        "remarks": _TEXTS,
    },
}

SCHEMAS: dict[str, Any] = {
    "Problem": {
        **_object(
            ("type", "title", "status", "detail"),
            type=_TEXT,
            title=_TEXT,
            status=_COUNT,
            detail={**_TEXT, "description": "A sentence that a person can act on."},
            field={**_TEXT, "description": "The parameter that caused it."},
            given={**_TEXT, "description": "The bad value, shortened."},
            allowed={
                "description": "What it may be: a list of values, or the bounds and the unit of a number."
            },
            nearest={"description": "The nearest valid value."},
            near={**_TEXTS, "description": "Ids like the one that does not exist."},
            errors={
                "type": "array",
                "items": {"type": "object"},
                "description": "All of them, when several.",
            },
        ),
        "description": "Problem details (RFC 9457).",
    },
    "Estimate": _object(
        (
            "scenario",
            "problems",
            "permalink",
            "catalog",
            "verdict",
            "reasons",
            "plan",
            "memory",
            "cache",
            "capacity",
        ),
        scenario={"type": "object"},
        problems=_PROBLEMS,
        permalink=_TEXT,
        catalog=_object(("version", "updated"), version=_TEXT, updated=_TEXT),
        verdict=_VERDICT,
        reasons=_TEXTS,
        plan={"type": "object"},
        memory={
            "type": ["object", "null"],
            "properties": {
                "total_bytes": _COUNT,
                "per_gpu_bytes": _INTERVAL,
                "usable_per_gpu_bytes": _COUNT,
                "headroom_per_gpu_bytes": _COUNT,
                "host_bytes": _COUNT,
                "parts": {
                    "type": "array",
                    "items": {"type": "object", "required": ["name", "bytes", "basis"]},
                },
            },
        },
        cache={"type": ["object", "null"]},
        capacity={
            "type": ["object", "null"],
            "properties": {
                "max_context_tokens": _MAYBE_COUNT,
                "max_users": _MAYBE_COUNT,
                "max_context_fits_tokens": _MAYBE_COUNT,
                "max_users_fits": _MAYBE_COUNT,
            },
        },
        speed=_SPEED,
        energy=_ENERGY,
        cost=_COST,
    ),
    "Tco": _object(
        ("scenario", "problems", "permalink", "catalog", "verdict", "prices", "cost", "ownership", "reasons"),
        scenario={"type": "object"},
        problems=_PROBLEMS,
        permalink=_TEXT,
        catalog=_object(("version", "updated"), version=_TEXT, updated=_TEXT),
        verdict=_VERDICT,
        prices={
            "type": "object",
            "description": "The rows of the catalogue that the money was computed from, each with its day and age.",
        },
        cost=_COST,
        cost_reasons=_TEXTS,
        energy={"type": ["object", "null"]},
        ownership={"type": ["object", "null"]},
        comparison={"type": ["object", "null"]},
        reasons=_TEXTS,
    ),
    "Hardware": _object(
        (
            "scenario",
            "problems",
            "catalog",
            "recommendations",
            "minimum_memory",
            "recommended_memory",
            "nearest",
            "items",
        ),
        scenario={"type": "object"},
        problems=_PROBLEMS,
        catalog=_object(("version", "updated"), version=_TEXT, updated=_TEXT),
        recommendations={
            "type": "array",
            "items": _object(
                ("code", "rule", "id", "name", "units", "gpus", "permalink"),
                code=_TEXT,
                rule=_TEXT,
                id=_TEXT,
                units=_COUNT,
                gpus=_COUNT,
            ),
        },
        minimum_memory={"type": ["object", "null"]},
        recommended_memory={"type": ["object", "null"]},
        nearest={"type": ["object", "null"], "description": "What comes closest where nothing works."},
        items={
            "type": "array",
            "description": "Every device and system in its smallest count that fits, or in the largest that was tried.",
            "items": _object(
                (
                    "id",
                    "name",
                    "kind",
                    "vendor",
                    "units",
                    "gpus",
                    "verdict",
                    "plan",
                    "memory",
                    "capacity",
                    "speed",
                    "why",
                ),
                id=_TEXT,
                kind=_TEXT,
                vendor=_TEXT,
                units=_COUNT,
                gpus=_COUNT,
                tight_units={
                    **_MAYBE_COUNT,
                    "description": "A smaller count that is tight, beside one that fits.",
                },
                verdict=_VERDICT,
                plan={"type": "object"},
                memory={"type": ["object", "null"]},
                capacity={"type": ["object", "null"]},
                speed=_SPEED,
                why={"type": ["string", "null"]},
            ),
        },
    ),
    "Sweep": _object(
        ("over", "scenario", "problems", "permalink", "catalog", "items"),
        over=_TEXT,
        scenario={"type": "object"},
        problems=_PROBLEMS,
        permalink=_TEXT,
        catalog=_object(("version", "updated"), version=_TEXT, updated=_TEXT),
        items={
            "type": "array",
            "items": _object(
                ("value", "permalink", "verdict", "reasons", "memory", "speed", "energy"),
                value=_COUNT,
                permalink=_TEXT,
                verdict=_VERDICT,
                reasons=_TEXTS,
                memory={
                    "type": ["object", "null"],
                    "properties": {"total_bytes": _COUNT, "per_gpu_bytes": _INTERVAL},
                },
                speed=_SPEED,
                energy=_ENERGY,
            ),
        },
    ),
    "List": _object(
        ("items",), items={"type": "array", "items": _object(("id", "href"), id=_TEXT, href=_TEXT)}
    ),
    "Entry": _object(("id",), id=_TEXT),
    "Offers": OFFERS,
    "Health": _object(
        ("version", "updated", "counts", "findings"),
        version=_TEXT,
        updated=_TEXT,
        counts={"type": "object", "additionalProperties": _COUNT},
        findings={
            "type": "array",
            "items": _object(
                ("code", "label", "error", "count", "items"), code=_TEXT, label=_TEXT, count=_COUNT
            ),
        },
    ),
}

_NOT_FOUND = "Nothing has this id; `near` names some that are like it."
_NOT_UNDERSTOOD = (
    "A value cannot be understood: the field, what was given, what is allowed and the nearest valid value."
)


def _shape_of(path: str) -> str:
    if path.endswith("/estimate"):
        return "Estimate"
    if path.endswith("/tco"):
        return "Tco"
    if path.endswith("/hardware"):
        return "Hardware"
    if path.endswith("/sweep"):
        return "Sweep"
    if path.endswith("/health/catalog"):
        return "Health"
    if path.endswith("/offers"):
        return "Offers"
    return "Entry" if "{" in path else "List"


def _answer(description: str, shape: str, content_type: str) -> dict[str, Any]:
    reference = {"$ref": f"#/components/schemas/{shape}"}
    return {"description": description, "content": {content_type: {"schema": reference}}}


def document_answers(schema: dict[str, Any]) -> None:
    """Put the shapes of answers and errors into a description that names operations and parameters only."""
    schema["components"]["schemas"].update(SCHEMAS)
    for path, operations in schema["paths"].items():
        shape = _shape_of(path)
        for operation in operations.values():
            answers: dict[str, Any] = {"200": _answer("OK", shape, "application/json")}
            if shape in ("Estimate", "Sweep", "Tco", "Hardware", "Entry", "Offers"):
                answers["404"] = _answer(_NOT_FOUND, "Problem", PROBLEM)
            if shape in ("Estimate", "Sweep", "Tco", "Hardware", "Offers"):
                answers["422"] = _answer(_NOT_UNDERSTOOD, "Problem", PROBLEM)
            operation["responses"] = answers
