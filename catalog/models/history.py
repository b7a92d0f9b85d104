"""Who changed what, when and why: one record for each row of one act.

Records are copies of the whole row (django-simple-history), with a model's files and checkpoints beside them. A row
that was loaded has no record; the first change writes down what stood there before, so that it can be restored.
Loading writes a record for a row only when the files change one that existed.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db import models, transaction
from django.utils import timezone
from simple_history.models import HistoricalRecords

MOST_REASON = 300
BEFORE = "What stood here before the first change."
CREATED, CHANGED = "+", "~"


@dataclass
class _Act:
    user: Any
    reason: str
    rows: dict[tuple[type, Any], tuple[RowHistory, bool]] = field(default_factory=dict)


_act: ContextVar[_Act | None] = ContextVar("act", default=None)
_silent: ContextVar[bool] = ContextVar("silent", default=False)


@contextmanager
def recording(user: Any = None, reason: str = "") -> Iterator[None]:
    """Everything saved inside is one act: one record for each row that it changed, by this user, for this reason.

    All or nothing, records included. Inside of another act it is a part of that one.
    """
    if _act.get() is not None:
        yield
        return
    act = _Act(user, reason)
    token = _act.set(act)
    try:
        with transaction.atomic():
            yield
            for (table, key), (history, created) in act.rows.items():
                for row in table.complete().filter(pk=key):  # type: ignore[attr-defined]
                    history.write(row, CREATED if created else CHANGED, act)
    finally:
        _act.reset(token)


def give_reason(reason: str) -> None:
    """Say why, once the form that holds the reason was read."""
    if act := _act.get():
        act.reason = reason[:MOST_REASON]


@contextmanager
def without_records() -> Iterator[None]:
    """For writes that change no figure."""
    token = _silent.set(True)
    try:
        yield
    finally:
        _silent.reset(token)


class Beside(models.Model):
    """What a record holds of a row that the row's own columns do not."""

    parts = models.JSONField(default=dict, editable=False)

    class Meta:
        abstract = True


class RowHistory(HistoricalRecords):
    """simple-history's table and signals; when a record is written is decided here."""

    def __init__(self) -> None:
        reason = models.CharField(max_length=MOST_REASON, blank=True, default="")
        super().__init__(inherit=True, bases=(Beside,), history_change_reason_field=reason)

    def post_save(self, instance: Any, created: bool, using: Any = None, **kwargs: Any) -> None:  # noqa: FBT001
        if kwargs.get("raw") or _silent.get():
            return
        if act := _act.get():
            act.rows.setdefault((type(instance), instance.pk), (self, created))
        else:
            self.write(instance, CREATED if created else CHANGED, _Act(None, ""))

    def post_delete(self, instance: Any, using: Any = None, **kwargs: Any) -> None:
        if not _silent.get():
            self._create(instance, "-", _act.get() or _Act(None, ""), timezone.now())

    def write(self, row: Any, kind: str, act: _Act) -> None:
        """A record, unless nothing has changed since the last one."""
        last = row.history.first()
        if kind == CHANGED and last is not None and state(last) == row.state():
            return
        self._create(row, kind, act, timezone.now())

    def write_before(self, row: Any) -> None:
        """The first record of a row that has none: what the database holds before it is changed."""
        if _silent.get() or row.history.exists():
            return
        for stored in type(row).complete().filter(pk=row.pk):
            before = timezone.now() - timedelta(microseconds=1)
            self._create(stored, CREATED, _Act(None, BEFORE), before)

    def _create(self, row: Any, kind: str, act: _Act, when: datetime) -> None:
        columns = {field.attname: getattr(row, field.attname) for field in self.fields_included(row)}
        row.history.model.objects.create(
            history_date=when,
            history_type=kind,
            history_user=act.user,
            history_change_reason=act.reason[:MOST_REASON],
            parts=row.parts() if row.pk else {},
            **columns,
        )


def state(record: Any) -> dict[str, Any]:
    """What a record says, in the shape of `CatalogRow.state`."""
    told: dict[str, Any] = record.instance.own_state()
    return told | record.parts
