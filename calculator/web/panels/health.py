"""The page of the catalogue's health: counts on top, then a table for each group, each row linked to where it is edited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TypedDict

from django.urls import reverse

from calculator.web import figures
from calculator.web.health import Finding, Group
from calculator.web.wording.speech import gettext as _
from calculator.web.wording.speech import ngettext
from catalog.models import TABLES
from catalog.snapshot import Snapshot

SHOWN = 100
"""Rows of one table; the CSV file holds all."""


class Row(TypedDict):
    """kind: of what it is, in words. href: where it is edited, empty for the catalogue as a whole."""

    kind: str
    name: str
    href: str
    text: str


class Table(TypedDict):
    """count: how many, written out. more: what is said when the table is cut, else empty. verdict: the chip's colour."""

    code: str
    label: str
    count: str
    looked_at: str
    verdict: str
    rows: list[Row]
    more: str


class HealthPage(TypedDict):
    """sentence: the answer. groups: counts of all groups, those without a finding too. tables: the others."""

    sentence: str
    version: str
    groups: list[Table]
    tables: list[Table]


def addresses() -> dict[tuple[str, str], str]:
    """Where each row is edited, by kind and id."""
    return {
        (table.entries, slug): reverse(f"admin:catalog_{table._meta.model_name}_change", args=[key])  # noqa: SLF001
        for table in TABLES
        for key, slug in table.objects.values_list("pk", "slug")
    }


def health_page(groups: Sequence[Group], snapshot: Snapshot) -> HealthPage:
    """What the template places."""
    hrefs = addresses()
    tables = [_table(group, hrefs) for group in groups]
    errors = sum(len(group.findings) for group in groups if group.error)
    open_ = sum(len(group.findings) for group in groups)
    if errors:
        sentence = ngettext(
            "One row cannot be used as it is.", "{count} rows cannot be used as they are.", errors
        ).format(count=figures.whole(errors))
    else:
        sentence = _("Every row can be used. {count} are worth a look.").format(count=figures.whole(open_))
    version = _("Catalogue {version} of {day}").format(version=snapshot.version, day=snapshot.updated)
    return {
        "sentence": sentence,
        "version": version,
        "groups": tables,
        "tables": [table for table in tables if table["rows"]],
    }


def _table(group: Group, hrefs: dict[tuple[str, str], str]) -> Table:
    count = len(group.findings)
    verdict = "is-fits" if not count else "is-does_not_fit" if group.error else "is-tight"
    looked_at = _("of {count}").format(count=figures.whole(group.looked_at)) if group.looked_at else ""
    more = ""
    if count > SHOWN:
        more = _("{count} more are in the CSV file.").format(count=figures.whole(count - SHOWN))
    return {
        "code": group.code,
        "label": group.label,
        "count": figures.whole(count),
        "looked_at": looked_at,
        "verdict": verdict,
        "rows": [_row(each, hrefs) for each in group.findings[:SHOWN]],
        "more": more,
    }


def _row(finding: Finding, hrefs: dict[tuple[str, str], str]) -> Row:
    return {
        "kind": finding.kind,
        "name": finding.id or _("the whole catalogue"),
        "href": hrefs.get((finding.kind, finding.id), ""),
        "text": finding.text,
    }
