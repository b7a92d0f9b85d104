"""Measured runs: the figures as a table, the question as a table, and the source to open."""

from __future__ import annotations

from typing import Any

from django.contrib import admin
from django.db.models import Q
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from catalog.admin.entries import EntryAdmin
from catalog.admin.filters import ByCondition
from catalog.importers.schema_measurements import AMOUNTS
from catalog.models import Measurement
from catalog.sources import source_url


class InCatalogue(ByCondition):
    title = "model in the catalogue"
    parameter_name = "known"
    conditions = {
        "yes": ("yes", Q(model_slug__isnull=False)),
        "no": ("no: the catalogue has none of this architecture", Q(model_slug__isnull=True)),
    }


@admin.register(Measurement)
class MeasurementAdmin(EntryAdmin):
    columns = ("slug", "engine", "engine_version", "model", "device", "split", "comparable", "date")
    own_filters = (
        "task",
        "engine",
        "split",
        "comparable",
        "attention",
        "confidence",
        InCatalogue,
        "engine_version",
    )
    search_fields = (
        "slug",
        "model",
        "model_slug",
        "repo",
        "engine_version",
        "weights_format",
        "device",
        "group",
        "source",
    )
    readonly_fields = (
        "status",
        "as_of",
        "origin",
        "edited_at",
        "observed_table",
        "scenario_table",
        "source_link",
    )
    groups = (
        (
            "What ran",
            {
                "fields": [
                    ("slug", "task"),
                    ("engine", "engine_version"),
                    ("model", "model_slug"),
                    ("repo", "weights_format"),
                    ("attention", "device"),
                ]
            },
        ),
        (
            "The question",
            {
                "fields": ["scenario_table", "scenario"],
                "description": "The parameters of a link of the calculator. A weights format or a cache type that the "
                "calculator does not have is kept as the source has it; what hangs on it is then not compared.",
            },
        ),
        (
            "The figures",
            {
                "fields": ["observed_table", "observed", "conditions"],
                "description": "What was read, never what was calculated. A speed says how it was measured: users, lengths.",
            },
        ),
        (
            "Comparing",
            {
                "fields": [("split", "comparable"), "group", "compare", "why_not"],
                "description": "A comparable run has a model of the catalogue, a question and at least one part to "
                "compare; all others say why not.",
            },
        ),
        ("Source", {"fields": ["source_link", "source", ("date", "confidence")]}),
    )

    @admin.display(description="figures, readable")
    def observed_table(self, row: Measurement) -> SafeString | str:
        lines = [
            (item["part"], item["device"] or "whole model", _amount(item), item.get("printed") or "")
            for item in row.observed or ()
        ]
        return _table(("part", "device", "amount", "as printed"), lines)

    @admin.display(description="question, readable")
    def scenario_table(self, row: Measurement) -> SafeString | str:
        return _table(("parameter", "value"), list((row.scenario or {}).items()))

    @admin.display(description="source, to open")
    def source_link(self, row: Measurement) -> SafeString | str:
        url = source_url(row.source or "")
        if url is None:
            return row.source or "None yet."
        return format_html('<a href="{}" rel="noreferrer">{}</a>', url, row.source)


def _amount(item: dict[str, Any]) -> str:
    name = next(name for name in AMOUNTS if item.get(name) is not None)
    return f"{item[name]:,} {_UNITS.get(name, name)}".strip()


_UNITS = {"ratio": "", "count": "", "tokens_per_s": "tokens/s"}
"""What stands behind an amount, where it is not the name of its key."""


def _table(head: tuple[str, ...], lines: list[tuple[Any, ...]]) -> SafeString | str:
    if not lines:
        return "None yet."
    titles = format_html_join("", "<th>{}</th>", ((title,) for title in head))
    cells = "".join("<td>{}</td>" for _ in head)
    rows = format_html_join("", f"<tr>{cells}</tr>", lines)
    return format_html(
        '<table class="source-table"><thead><tr>{}</tr></thead><tbody>{}</tbody></table>', titles, rows
    )
