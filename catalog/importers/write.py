"""Bring the shipped entries into the database without undoing what an admin changed.

A row remembers the digest of the shipped entry it was loaded from. While it still holds that entry, it follows the
files; once an admin changed it, it stays as it is, until the admin takes the shipped figures back. Shipped rows are
retired, not deleted (the admin offers nothing else), so none comes back by itself.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from django.db import transaction
from django.db.models import ProtectedError, RestrictedError

from catalog.models import TABLES, CatalogRow, CatalogVersion, Checkpoint, Entry, LanguageModel, PublishedFile
from catalog.models.drafts import Status
from catalog.models.history import recording, without_records
from catalog.models.row import ENTRY_SHAPE, digest, recorder
from catalog.models.version import bump, without_bumps

Entries = Mapping[str, list[Entry]]


@dataclass
class Outcome:
    """What loading did to one table. kept: rows that an admin changed and the files say otherwise."""

    added: list[str] = field(default_factory=list)
    updated: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    unchanged: int = 0

    @property
    def changes(self) -> int:
        return len(self.added) + len(self.updated) + len(self.removed)


def stamp(data_version: str) -> str:
    """What `CatalogVersion.data_digest` holds after these files were loaded by this program."""
    return f"{ENTRY_SHAPE}:{data_version}"


def load(entries: Entries, data_version: str, updated: date, *, dry_run: bool = False) -> dict[str, Outcome]:
    """All or nothing: every table's rows follow the entries. Returns what was done, by kind of entry."""
    with transaction.atomic():
        with recording(reason=f"load_catalog brought the files {data_version}."), without_bumps():
            outcomes = {
                table.entries: _load_table(table, entries.get(table.entries, []), updated) for table in TABLES
            }
            for table in reversed(TABLES):
                _remove_gone(table, entries.get(table.entries, []), outcomes[table.entries])
        _record(outcomes, data_version, updated)
        transaction.set_rollback(dry_run)
    return outcomes


def restore(rows: Iterable[CatalogRow], entries: Entries) -> tuple[list[CatalogRow], list[CatalogRow]]:
    """Give rows their shipped figures back. Returns those that got them and those that are not shipped."""
    restored: list[CatalogRow] = []
    missing: list[CatalogRow] = []
    shipped = {
        (table.entries, table.key(entry)): entry for table in TABLES for entry in entries[table.entries]
    }
    with transaction.atomic():
        with without_bumps():
            for row in rows:
                if entry := shipped.get((row.entries, row.slug)):
                    _follow(row, entry)
                    restored.append(row)
                else:
                    missing.append(row)
        if restored:
            bump()
    return restored, missing


def _load_table(table: type[CatalogRow], entries: list[Entry], updated: date) -> Outcome:
    outcome = Outcome()
    rows = {row.slug: row for row in table.complete()}
    new = []
    for entry in entries:
        slug, shipped = table.key(entry), digest(table.normal(entry))
        row = rows.get(slug)
        if row is None:
            new.append(entry)
            outcome.added.append(slug)
        elif digest(row.to_entry()) == shipped:
            _adopt(row, shipped)
            outcome.unchanged += 1
        elif row.differs_from_shipped():
            outcome.kept.append(slug)
        else:
            _follow(row, entry, updated)
            outcome.updated.append(slug)
    _add(table, new, updated)
    return outcome


def _adopt(row: CatalogRow, shipped: str) -> None:
    """A row that holds the shipped entry follows the files from now on, however it came to hold it."""
    if row.shipped_digest != shipped or row.edited_at:
        row.origin, row.shipped_digest = CatalogRow.Origin.SHIPPED, shipped
        row.status, row.proposed = Status.PUBLISHED, {}
        with without_records():
            row.save()


def _follow(row: CatalogRow, entry: Entry, updated: date | None = None) -> None:
    """Make the row what the entry says. updated: day of the files that say so; without it an admin takes the
    shipped figures again, and changes that wait go too."""
    recorder.write_before(row)  # its files and checkpoints go first
    if isinstance(row, LanguageModel):
        for table in _CHILDREN.values():
            table.objects.filter(language_model=row).delete()
        _add_children({row.slug: row}, [entry])
    fresh = type(row).objects.get(pk=row.pk)  # the caller's may remember the files of before
    fresh.take(entry)
    fresh.origin, fresh.shipped_digest = CatalogRow.Origin.SHIPPED, digest(fresh.normal(entry))
    if updated:
        fresh.as_of = updated
    else:
        fresh.proposed = {}
    fresh.save()


def _add(table: type[CatalogRow], entries: list[Entry], updated: date) -> None:
    rows = []
    for entry in entries:
        row = table.from_entry(entry)
        row.origin, row.shipped_digest = CatalogRow.Origin.SHIPPED, digest(row.normal(entry))
        row.as_of = updated
        rows.append(row)
    table.objects.bulk_create(rows)
    if table is LanguageModel:
        _add_children({row.slug: row for row in rows}, entries)


_CHILDREN: dict[str, type[PublishedFile | Checkpoint]] = {"files": PublishedFile, "checkpoints": Checkpoint}
"""Rows of a model of their own, by the key of the model's entry."""


def _add_children(models: Mapping[str, CatalogRow], entries: list[Entry]) -> None:
    for key, table in _CHILDREN.items():
        rows: list[Any] = []
        for entry in entries:
            for position, item in enumerate(entry.get(key, ())):
                row = table.from_entry(item, position)
                row.language_model_id = models[entry["id"]].pk
                rows.append(row)
        table.objects.bulk_create(rows)


def _remove_gone(table: type[CatalogRow], entries: list[Entry], outcome: Outcome) -> None:
    """Untouched rows that the files no longer have go; a row that was changed here, or that others need, stays."""
    shipped = {table.key(entry) for entry in entries}
    for row in table.complete().filter(origin=CatalogRow.Origin.SHIPPED).exclude(slug__in=shipped):
        if row.differs_from_shipped():
            outcome.kept.append(row.slug)
            continue
        try:
            with transaction.atomic():
                row.delete()
            outcome.removed.append(row.slug)
        except (ProtectedError, RestrictedError):
            outcome.kept.append(row.slug)


def _record(outcomes: Mapping[str, Outcome], data_version: str, updated: date) -> None:
    """Remember which files these were; raise the version if a figure changed."""
    before = CatalogVersion.current()
    if any(outcome.changes for outcome in outcomes.values()):
        bump(max(updated, before.updated) if before.version else updated)
    CatalogVersion.objects.filter(pk=before.pk).update(data_digest=stamp(data_version))
