"""The record of accuracy as JSON and as lines of text (contract.md: `validate --json`). PURE."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from calculator.accuracy.report import Comparison, Group, Report
from catalog.records import Constant

GROUPED: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "memory": (("engine", "part", "attention"),),
    "speed": (
        ("engine", "device", "architecture", "part"),
        ("engine", "part"),
        ("backend", "part"),
        ("device", "part"),
        ("architecture", "part"),
        ("users", "part"),
    ),
}
"""What the groups of the JSON are by; of speed one cut after the other, each over all comparisons."""

PRINTED: Mapping[str, tuple[tuple[str, ...], ...]] = {
    "memory": (("part",), ("part", "engine")),
    "speed": (
        ("part",),
        ("part", "engine"),
        ("part", "backend"),
        ("part", "device"),
        ("part", "architecture"),
        ("part", "users"),
    ),
}
"""What the lines for a terminal are by."""

WORST = 50
"""Comparisons that are listed with their figures."""


def report_json(report: Report) -> dict[str, Any]:
    """The whole record in the public form; errors are fractions, amounts bytes, tokens or requests."""
    return {
        "kind": report.kind,
        "cases": report.cases,
        "comparable": report.comparable,
        "compared": report.compared,
        "skipped": dict(report.skipped_counts()),
        "parts_skipped": dict(report.parts_skipped_counts()),
        "groups": [group_json(group) for by in GROUPED[report.kind] for group in report.groups(*by)],
        "overall": group_json(report.overall),
        "worst": [comparison_json(item) for item in report.worst[:WORST]],
    }


def group_json(group: Group) -> dict[str, Any]:
    return {
        "by": dict(group.by),
        "n": group.n,
        "median_abs_error": round(group.median_abs_error, 6),
        "p90_abs_error": round(group.p90_abs_error, 6),
        "bias": round(group.bias, 6),
        "coverage_90": None if group.coverage_90 is None else round(group.coverage_90, 4),
        "judged": group.judged,
        "coverage_error": None if group.coverage_error is None else round(group.coverage_error, 4),
        "within_print": round(group.exact_share, 4),
    }


def comparison_json(item: Comparison) -> dict[str, Any]:
    m = item.measurement
    return {
        "id": m.id,
        "engine": m.engine,
        "engine_version": m.engine_version,
        "model": m.model_id or m.model,
        "part": item.part,
        "observed_part": item.observed_part,
        "device": item.device,
        "unit": item.unit,
        "predicted": item.predicted,
        "observed": item.observed,
        "low": item.low,
        "high": item.high,
        "error": round(item.error, 6),
        "basis": item.basis,
        "source": m.source,
    }


def report_lines(report: Report) -> Iterable[str]:
    """The record for a terminal: counts, groups by part and engine, the worst cases."""
    yield (
        f"{report.kind}: {report.cases} cases, {report.comparable} comparable, {report.compared} compared "
        f"in {report.overall.n} figures"
    )
    for reason, count in report.skipped_counts().items():
        yield f"{count:6} left out: {reason}"
    yield ""
    yield _HEAD
    yield _group_line(report.overall)
    for by in PRINTED[report.kind]:
        yield from (_group_line(group) for group in report.groups(*by))
    yield ""
    yield "worst:"
    for item in report.worst[:10]:
        yield f"{item.error:+9.1%}  {item.measurement.id}  {item.part}, {item.measurement.engine} {item.measurement.model}"


_HEAD = f"{'part':16} {'of':20} {'n':>4} {'median':>8} {'p90':>8} {'bias':>8}  in range"


def _group_line(group: Group) -> str:
    covered = "exact" if group.coverage_90 is None else f"{group.coverage_90:.0%} of {group.judged}"
    other = " ".join(value for name, value in group.by.items() if name != "part")
    return (
        f"{group.by.get('part', 'all'):16} {other:20} {group.n:4} {group.median_abs_error:8.2%} "
        f"{group.p90_abs_error:8.2%} {group.bias:+8.2%}  {covered}"
    )


def left_out_json(kept: Mapping[str, Constant]) -> dict[str, Any]:
    """The record of models left out in turn, by part; nothing where none is kept."""
    rows = [
        {"part": part, "n": row.cases, "median_abs_error": row.value, "p90_abs_error": row.high}
        for part, row in kept.items()
    ]
    return {"leave_one_model_out": rows} if rows else {}


def left_out_lines(kept: Mapping[str, Constant]) -> Iterable[str]:
    """The same for a terminal."""
    if kept:
        yield ""
        yield "models that the fit had not seen, each left out in turn (share fit):"
    for part, row in kept.items():
        yield f"{part:16} {'':20} {row.cases:4} {row.value:8.2%} {row.high:8.2%}"
