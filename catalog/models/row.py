"""What all tables of the catalogue share: the entry of a data file in columns, and back without loss."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Mapping
from decimal import Decimal
from functools import cache
from typing import Any, ClassVar, Self, TypeVar

from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.core.validators import RegexValidator
from django.db import models, transaction
from django.utils import timezone

from catalog.models.drafts import Drafted
from catalog.models.history import RowHistory
from catalog.models.shapes import faults
from catalog.models.version import bump

Entry = dict[str, Any]
"""One item of a data file: the single shape of what ships, what a row holds and what the records are made from."""

ENTRY_SHAPE = 1
"""Raise it when `to_entry` starts to write an unchanged row differently (a key renamed, a default moved): digests of
before say nothing then, and `edited_at` alone tells whether an admin changed a row."""

FROM_MEMORY = "from memory"
"""Kind of a source that nobody could look up; pages and lists show it as unverified."""

recorder = RowHistory()

RowType = TypeVar("RowType", bound=models.Model)

slug_rule = RegexValidator(
    r"^[a-z0-9][a-z0-9._-]*$",
    "Use lower-case letters, digits, dots and hyphens, for instance llama-3.1-8b-instruct.",
)
date_rule = RegexValidator(
    r"^20\d\d(-\d\d(-\d\d)?)?$", "Write a date as 2026-11-30, a month as 2026-11, a year as 2026."
)


_AS_WRITTEN = frozenset({str, int, bool, type(None)})
"""Types whose values stand in a data file as they are: most values, so they are passed by without a call."""


def plain(value: Any) -> Any:
    """A column's value as a data file writes it: 8 rather than 8.0, numbers rather than Decimal."""
    if type(value) in _AS_WRITTEN:
        return value
    if isinstance(value, dict):
        return {key: item if type(item) in _AS_WRITTEN else plain(item) for key, item in value.items()}
    if isinstance(value, list):
        return [item if type(item) in _AS_WRITTEN else plain(item) for item in value]
    if isinstance(value, Decimal):
        value = float(value)
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return value


def digest(entry: Entry) -> str:
    """The same for equal entries, whatever the order of their keys."""
    text = json.dumps(plain(entry), sort_keys=True, ensure_ascii=False, separators=(",", ":"))
    return f"{ENTRY_SHAPE}:{hashlib.sha256(text.encode()).hexdigest()}"


class CatalogQuerySet(models.QuerySet[RowType]):
    """Writes to many rows at once raise the catalogue's version too; Django sends no signal for them."""

    def update(self, **changes: Any) -> int:
        with transaction.atomic(using=self.db):
            count = super().update(**changes)
            bump()
        return count

    update.alters_data = True  # type: ignore[attr-defined]

    def delete(self) -> tuple[int, dict[str, int]]:
        with transaction.atomic(using=self.db):
            result = super().delete()
            bump()
        return result

    delete.alters_data = True  # type: ignore[attr-defined]
    delete.queryset_only = True  # type: ignore[attr-defined]

    def bulk_create(self, objs: Any, *args: Any, **kwargs: Any) -> list[Any]:
        with transaction.atomic(using=self.db):
            rows = super().bulk_create(objs, *args, **kwargs)
            bump()
        return rows


class CatalogManager(models.Manager[RowType]):
    def get_queryset(self) -> CatalogQuerySet[RowType]:
        return CatalogQuerySet(self.model, using=self._db)


class Versioned(models.Model):
    """Saving or deleting a row raises the catalogue's version in the same transaction."""

    objects = CatalogManager()

    class Meta:
        abstract = True

    def save(self, *args: Any, **kwargs: Any) -> None:
        with transaction.atomic():
            super().save(*args, **kwargs)
            bump()

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        with transaction.atomic():
            result = super().delete(*args, **kwargs)
            bump()
        return result


class CatalogRow(Drafted, Versioned):
    """One thing that exists, with the figures people search and edit in columns and the rest in `facts`.

    REQUIRED keys are in every entry (null when not known); OPTIONAL ones only when they differ from the column's
    default. Both map the entry's key to the column.
    """

    retirable: ClassVar[bool] = True
    entries: ClassVar[str]
    """Name of the kind in the mapping of entries that a snapshot is built from."""
    REQUIRED: ClassVar[Mapping[str, str]]
    OPTIONAL: ClassVar[Mapping[str, str]] = {}

    class Origin(models.TextChoices):
        SHIPPED = "shipped", "shipped with the program"
        ADMIN = "admin", "added here"

    slug = models.CharField(
        "id",
        max_length=120,
        unique=True,
        validators=[slug_rule],
        help_text="Links and measured cases point to it, so it never changes.",
    )
    name = models.CharField(max_length=200)
    sources = models.JSONField(
        default=list,
        blank=True,
        help_text="Where each figure comes from: a list of {what, where, kind}. Kinds: measured, datasheet, config file, "
        "documentation, derived, source code, from memory.",
    )
    note = models.TextField(blank=True)
    facts = models.JSONField(
        "further facts",
        default=dict,
        blank=True,
        help_text="Everything that has no column of its own, as in the data files.",
    )
    origin = models.CharField(max_length=8, choices=Origin, default=Origin.ADMIN, editable=False)
    shipped_digest = models.CharField(max_length=80, blank=True, editable=False)
    edited_at = models.DateTimeField(
        "edited here",
        null=True,
        blank=True,
        editable=False,
        help_text="A shipped row that was changed here; load_catalog leaves it as it is.",
    )
    retired = models.BooleanField(
        default=False,
        help_text="Left out of the calculator and kept here, so that load_catalog does not bring it back.",
    )

    history = recorder

    class Meta:
        abstract = True
        ordering = ["slug"]
        default_permissions = ("add", "change", "delete", "view", "publish")

    def __str__(self) -> str:
        return self.name

    @classmethod
    def complete(cls) -> models.QuerySet[Self]:
        """All rows in the order of loading, with what `to_entry` reads, in a fixed number of queries."""
        return models.QuerySet(cls).order_by("pk")

    @classmethod
    def default_of(cls, column: str) -> Any:
        """What the column holds when an entry leaves its key out."""
        field = cls._meta.get_field(column)
        assert isinstance(field, models.Field)
        return field.get_default()

    def own_entry(self) -> Entry:
        """What the columns of this table hold, as an item of a data file."""
        entry: Entry = {key: plain(getattr(self, column)) for key, column in self.REQUIRED.items()}
        for key, column, default in _optional(type(self)):
            value = getattr(self, column)
            if value != default:
                entry[key] = plain(value)
        return entry | plain(self.facts)

    def to_entry(self) -> Entry:
        """The row as an item of a data file: what is published, with all that belongs to it."""
        return self.own_entry()

    def draft_entry(self) -> Entry:
        """The row as it will be once everything that waits is published."""
        return (self.with_proposed() if self.proposed else self).own_entry()

    def parts(self) -> dict[str, Any]:
        """Rows of other tables that belong to this one, drafts among them, for the history."""
        return {}

    def own_state(self) -> dict[str, Any]:
        """What an edit can change here, for comparing."""
        waiting = {"proposed": self.proposed} if self.proposed else {}
        day = self.as_of.isoformat() if self.as_of else None
        return self.own_entry() | {"status": self.status, "retired": self.retired, "checked": day} | waiting

    def state(self) -> dict[str, Any]:
        """own_state with the parts."""
        return self.own_state() | self.parts()

    @classmethod
    def key(cls, entry: Entry) -> str:
        """The slug of the row that holds the entry."""
        return str(entry["id"])

    @classmethod
    def from_entry(cls, entry: Entry) -> Self:
        """An unsaved row that holds the entry."""
        row = cls()
        row.take(entry)
        return row

    def take(self, entry: Entry) -> None:
        """Put an entry's figures into this row; what the entry leaves out goes back to its default."""
        columns = {**self.REQUIRED, **self.OPTIONAL}
        for key, column in columns.items():
            setattr(self, column, entry.get(key, self.default_of(column)))
        self.facts = {key: value for key, value in entry.items() if key not in columns}

    @classmethod
    def normal(cls, entry: Entry) -> Entry:
        """The entry as a row gives it back: a null or a default that may be left out is left out."""
        return cls.from_entry(entry).to_entry()

    def differs_from_shipped(self) -> bool:
        """An admin changed this row since it was loaded. Always true for a row that was made here."""
        if self.shipped_digest.startswith(f"{ENTRY_SHAPE}:"):
            return digest(self.to_entry()) != self.shipped_digest
        return self.edited_at is not None or not self.shipped_digest

    def note_edit(self) -> None:
        """Remember when a shipped row was changed here; forget it when the row is as shipped again."""
        if self.shipped_digest:
            self.edited_at = timezone.now() if self.differs_from_shipped() else None

    def save(self, *args: Any, **kwargs: Any) -> None:
        with transaction.atomic():
            if self.pk:
                self.note_edit()
                recorder.write_before(self)
            super().save(*args, **kwargs)

    def doubts(self) -> Iterable[tuple[str, str]]:
        """(field, sentence) for what is possible but unusual, so that an editor confirms it. It may ask the database."""
        return ()

    @property
    def unverified(self) -> list[Entry]:
        """The sources that are only remembered."""
        return [source for source in self.sources or () if source.get("kind") == FROM_MEMORY]

    def clean(self) -> None:
        super().clean()
        if self.shipped_digest and not self.published:
            raise ValidationError({"status": "A shipped row is no draft. Retire it to leave it out."})
        if not isinstance(self.facts, dict):
            raise ValidationError({"facts": 'Write an object: {"key": value}.'})
        columns = {**self.REQUIRED, **self.OPTIONAL}
        if taken := sorted(set(self.facts) & set(columns)):
            raise ValidationError({"facts": f"{', '.join(taken)} has a field of its own; take it out here."})
        raise_faults(self, columns, faults(self.entries, self.entry_to_check()), self.own_faults())

    def entry_to_check(self) -> Entry:
        """The entry as a data file would hold it."""
        return self.to_entry()

    def own_faults(self) -> Iterable[tuple[str, str]]:
        """(field, sentence) for what only this table can say."""
        return ()


@cache
def _optional(table: type[CatalogRow]) -> tuple[tuple[str, str, Any], ...]:
    """(key, column, default) of what an entry may leave out; asked of every row, so it is worked out once."""
    return tuple((key, column, table.default_of(column)) for key, column in table.OPTIONAL.items())


def raise_faults(
    row: models.Model,
    columns: Mapping[str, str],
    by_key: Iterable[tuple[str, str]],
    by_field: Iterable[tuple[str, str]] = (),
) -> None:
    """Raise each fault beside its field. The table's own sentence is the better one; of an empty field, Django has
    said already that it is needed."""
    own: dict[str, list[str]] = {}
    for name, sentence in by_field:
        own.setdefault(name, []).append(sentence)
    errors: dict[str, list[str]] = {}
    for key, sentence in by_key:
        if not key:
            errors.setdefault(NON_FIELD_ERRORS, []).append(sentence)
        elif key not in columns:
            errors.setdefault("facts", []).append(f"{key}: {sentence}")
        elif getattr(row, columns[key]) not in (None, ""):
            field = row._meta.get_field(columns[key])  # noqa: SLF001 - Django's public name for it
            errors.setdefault(field.name, []).append(sentence)
    if errors | own:
        raise ValidationError(errors | own)


def positive(column: str, table: str) -> models.CheckConstraint:
    """The column is above zero or not known."""
    return models.CheckConstraint(
        condition=models.Q(**{f"{column}__gt": 0}) | models.Q(**{f"{column}__isnull": True}),
        name=f"catalog_{table}_{column}_above_zero",
        violation_error_message=f"{column} must be above zero; leave it empty when it is not known.",
    )


def not_negative(column: str, table: str) -> models.CheckConstraint:
    """The column is zero or more, or not known."""
    return models.CheckConstraint(
        condition=models.Q(**{f"{column}__gte": 0}) | models.Q(**{f"{column}__isnull": True}),
        name=f"catalog_{table}_{column}_not_negative",
        violation_error_message=f"{column} cannot be negative; leave it empty when it is not known.",
    )
