"""Draft and published: what waits for a publisher stands beside the published figures and reaches no page."""

from __future__ import annotations

import copy
import json
from collections.abc import Mapping
from decimal import Decimal
from typing import Any, ClassVar, Self

from django.db import models


class Status(models.TextChoices):
    """Programs and files write published rows; what is added in the admin begins as a draft."""

    DRAFT = "draft", "draft, not shown"
    PUBLISHED = "published", "published"


def status_field() -> models.CharField:
    """The column that says whether a row is shown."""
    return models.CharField(max_length=9, choices=Status, default=Status.PUBLISHED, db_index=True)


class Drafted(models.Model):
    """A row that is a draft as a whole, or a published one with changes of some columns that wait (`proposed`)."""

    REQUIRED: ClassVar[Mapping[str, str]]
    OPTIONAL: ClassVar[Mapping[str, str]]

    status = status_field()
    proposed = models.JSONField(
        "changes that wait",
        default=dict,
        blank=True,
        editable=False,
        help_text="New values by column, not shown before somebody publishes them.",
    )
    as_of = models.DateField(
        "checked",
        null=True,
        blank=True,
        editable=False,
        help_text="Day on which the figures were last known to be right: of the shipped files, or of a check here.",
    )

    class Meta:
        abstract = True

    @property
    def published(self) -> bool:
        return self.status == Status.PUBLISHED

    @property
    def waits(self) -> bool:
        """Something here is not shown yet."""
        return not self.published or bool(self.proposed)

    @classmethod
    def figures(cls) -> list[str]:
        """The columns that hold what an entry says; the id is not among them, for it never changes."""
        columns = {**cls.REQUIRED, **cls.OPTIONAL}.values()
        return [column for column in [*columns, "facts"] if column != "slug"]

    def propose(self, stored: Self) -> None:
        """Let what this unsaved state changes wait in the stored row, which keeps its published figures."""
        stored.proposed = {
            column: _as_json(getattr(self, column))
            for column in self.figures()
            if _as_json(getattr(self, column)) != _as_json(getattr(stored, column))
        }
        stored.save()

    def take_proposed(self) -> None:
        """Put what waits into the columns, in memory; saving it is publishing it."""
        for column, value in self.proposed.items():
            field = self._meta.get_field(column.removesuffix("_id") if column in _keys(self) else column)
            assert isinstance(field, models.Field)
            setattr(self, column, copy.deepcopy(value) if value is None else field.to_python(value))

    def with_proposed(self) -> Self:
        """A copy as it will be once everything that waits is published."""
        row = copy.copy(self)
        row._state = copy.copy(self._state)  # noqa: SLF001 - a shared one would share loaded relations too
        row.take_proposed()
        return row


class Part(models.Model):
    """A row that belongs to a model and is shown with it; a draft of one waits on its own."""

    status = status_field()

    class Meta:
        abstract = True

    @property
    def published(self) -> bool:
        return self.status == Status.PUBLISHED

    def to_entry(self) -> dict[str, Any]:
        """The part as it stands in the entry of what it belongs to."""
        raise NotImplementedError


def _keys(row: models.Model) -> set[str]:
    """Columns that hold the key of another row."""
    return {field.attname for field in row._meta.concrete_fields if field.is_relation}  # noqa: SLF001


def _as_json(value: Any) -> Any:
    """As JSON gives it back, with money as text, which loses no digit."""
    if isinstance(value, Decimal):
        return str(value.normalize()) if value else "0"
    return json.loads(json.dumps(value))
