"""The record of accuracy as JSON and as lines of text (contract.md: `validate --json`). PURE."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from calculator.accuracy.report import Comparison, Group, Report

BY = ("engine", "part", "attention")
"""What the groups of the JSON are by."""

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
        "groups": [group_json(group) for group in report.groups(*BY)],
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
    yield f"{'part':16} {'engine':14} {'n':>4} {'median':>8} {'p90':>8} {'bias':>8}  in range"
    for group in (report.overall, *report.groups("part"), *report.groups("part", "engine")):
        yield _group_line(group)
    yield ""
    yield "worst:"
    for item in report.worst[:10]:
        yield f"{item.error:+9.1%}  {item.measurement.id}  {item.part}, {item.measurement.engine} {item.measurement.model}"


def _group_line(group: Group) -> str:
    covered = "exact" if group.coverage_90 is None else f"{group.coverage_90:.0%} of {group.judged}"
    name = group.by.get("part", "all")
    return (
        f"{name:16} {group.by.get('engine', ''):14} {group.n:4} {group.median_abs_error:8.2%} "
        f"{group.p90_abs_error:8.2%} {group.bias:+8.2%}  {covered}"
    )
