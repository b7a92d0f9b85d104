"""A whole file: what it would change, in words, and the import itself. All or nothing."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from typing import Any

from django.conf import settings
from django.db import transaction
from django.db.models import QuerySet

from catalog.changes import Change
from catalog.importers.dump import dump_json
from catalog.models import CatalogRow
from catalog.models.history import recording, without_records
from catalog.models.version import bump, without_bumps
from catalog.transfer.resource import column_names, key_columns, resource_for
from catalog.transfer.upload import FORMATS, UploadError, read_table

NEW, CHANGED, SAME, REFUSED = "new", "changed", "unchanged", "refused"


@dataclass(frozen=True, slots=True)
class RowReport:
    """What one row of a file does. where: how a person finds the row in the file."""

    where: str
    id: str
    kind: str
    changes: list[Change] = field(default_factory=list)
    sentences: list[tuple[str, str]] = field(default_factory=list)
    doubts: list[tuple[str, str]] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Report:
    """What a file does, row by row. done: it is saved; else nothing is."""

    rows: list[RowReport]
    done: bool = False

    def of(self, kind: str) -> list[RowReport]:
        """The rows of one kind."""
        return [row for row in self.rows if row.kind == kind]

    @property
    def refused(self) -> list[RowReport]:
        return self.of(REFUSED)

    @property
    def writes(self) -> int:
        return len(self.of(NEW)) + len(self.of(CHANGED))

    @property
    def doubts(self) -> int:
        return sum(len(row.doubts) for row in self.rows)

    def counts(self) -> list[tuple[int, str]]:
        """How many rows of each kind, those that there are."""
        return [(len(self.of(kind)), kind) for kind in (NEW, CHANGED, SAME, REFUSED) if self.of(kind)]


def preview(table: type[CatalogRow], kind: str, text: str, *, may_publish: bool) -> Report:
    """What importing the file would do. Nothing is kept of the trial."""
    with transaction.atomic(), without_bumps(), without_records():
        report = _import(table, kind, text, may_publish=may_publish, dry_run=True)
        transaction.set_rollback(True)
    return report


def run(
    table: type[CatalogRow], kind: str, text: str, *, may_publish: bool, user: Any, reason: str
) -> Report:
    """Import the file, unless one of its rows is refused."""
    with transaction.atomic():
        report = preview(table, kind, text, may_publish=may_publish)
        if report.refused:
            return report
        with recording(user, reason), without_bumps():
            report = _import(table, kind, text, may_publish=may_publish, dry_run=False)
        if report.writes:
            bump()
    return Report(report.rows, done=not report.refused)


def _import(table: type[CatalogRow], kind: str, text: str, *, may_publish: bool, dry_run: bool) -> Report:
    columns = column_names(table)
    dataset = read_table(kind, text, columns, most_rows=settings.CATALOG_IMPORT_MOST_ROWS)
    ids = _ids(kind, dataset["id"])
    resource = resource_for(table)(may_publish=may_publish)
    result = resource.import_data(dataset, dry_run=dry_run, raise_errors=False, use_transactions=True)
    told = {row.number: row.error for row in result.invalid_rows}
    broken = {row.number: row.errors[0].error for row in result.error_rows}
    reports = []
    for number, identity in enumerate(ids, 1):
        where = place(kind, number)
        if number in told:
            reports.append(RowReport(where, identity, REFUSED, sentences=_sentences(table, told[number])))
        elif number in broken:
            error = broken[number]
            sentence = f"This row cannot be read ({type(error).__name__}: {error})."
            reports.append(RowReport(where, identity, REFUSED, sentences=[("", sentence)]))
        else:
            found = resource.found.get(number, [])
            new = result.rows[number - 1].is_new()
            what = NEW if new else CHANGED if found else SAME
            reports.append(RowReport(where, identity, what, found, doubts=resource.doubts.get(number, [])))
    return Report(reports)


def _ids(kind: str, cells: list[Any]) -> list[str]:
    """Which row each line is about, each once."""
    first: dict[str, str] = {}
    for number, cell in enumerate(cells, 1):
        where = place(kind, number)
        identity = cell.strip() if isinstance(cell, str) else ""
        if not identity:
            raise UploadError(f"{where} has no id, so it cannot be said which row it is about.")
        if identity in first:
            raise UploadError(f"{where} is about {identity}, as {first[identity]} is. One row each.")
        first[identity] = where
    return list(first)


def place(kind: str, number: int) -> str:
    """Where a row stands: as a spreadsheet counts, the head being row 1; in JSON, which object of the list."""
    return f"Row {number + 1}" if kind == "csv" else f"Entry {number}"


def _sentences(table: type[CatalogRow], error: Any) -> list[tuple[str, str]]:
    """(name in the file's head, sentence) for everything that is wrong with a row."""
    keys = {column.removesuffix("_id"): key for key, column in key_columns(table).items()}
    keys |= {column: key for key, column in key_columns(table).items()}
    return [
        ("" if name == "__all__" else keys.get(name, name), text)
        for name, texts in error.message_dict.items()
        for text in texts
    ]


def export(table: type[CatalogRow], kind: str, rows: QuerySet[Any] | None = None) -> str:
    """The table, or some of its rows, as the text of a file; importing it again changes nothing."""
    if kind not in FORMATS:
        raise UploadError(f"There are {' and '.join(FORMATS)}.")
    dataset = resource_for(table)().export(rows, native=kind == "json")
    if kind == "json":
        return dump_json(dataset.dict)
    text = io.StringIO(newline="")
    writer = csv.writer(text)
    writer.writerow(dataset.headers)
    writer.writerows(dataset)
    return text.getvalue()
