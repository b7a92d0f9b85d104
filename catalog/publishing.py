"""What editors save and publishers show: the one way by which forms, imports and actions write a row."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from datetime import date
from typing import Any

from django.core.exceptions import ValidationError

from catalog.models import CatalogRow
from catalog.models.drafts import Drafted, Part, Status
from catalog.models.history import recording
from catalog.models.row import recorder
from catalog.models.version import bump, without_bumps
from catalog.transfer import parts


@dataclass(frozen=True, slots=True)
class Refused:
    """A row that cannot be published as it is, and why."""

    row: CatalogRow
    why: str


def save_edit(row: CatalogRow, *, may_publish: bool, aside: bool = False) -> bool:
    """Save the figures of a form or an import. Returns whether they wait for a publisher.

    What is new is a draft. A draft is changed as it is; changes of a published row are shown at once when a publisher
    makes them, and else wait. aside: a publisher lets them wait too.
    """
    stored = type(row).objects.filter(pk=row.pk).first() if row.pk else None
    if stored is None:
        if not may_publish:
            row.status = Status.DRAFT
        row.save()
        return row.waits
    if not may_publish:
        row.status, row.retired = stored.status, stored.retired
    if stored.published and (aside or not may_publish):
        row.propose(stored)
        return bool(stored.proposed)
    row.proposed = {}
    row.save()
    return row.waits


def publish(rows: Iterable[CatalogRow], user: Any, reason: str) -> tuple[list[CatalogRow], list[Refused]]:
    """Show what waits of these rows. A row whose figures are wrong, or that needs an unpublished one, stays as it is."""
    done: list[CatalogRow] = []
    left = [row for row in rows if row.waits or _draft_parts(row)]
    with recording(user, reason), without_bumps():
        while left:
            refused = []
            before = len(done)
            for row in left:
                why = _publish(row)
                if why:
                    refused.append(Refused(row, why))
                else:
                    done.append(row)
            left = [item.row for item in refused]
            if len(done) == before:  # none of them waits for another one of them
                break
        else:
            refused = []
    if done:
        bump()
    return done, refused


def _publish(row: CatalogRow) -> str:
    fresh = type(row).complete().get(pk=row.pk)
    fresh.take_proposed()
    if needed := unpublished(fresh):
        return f"it needs {', '.join(map(str, needed))}, to be published first."
    try:
        fresh.full_clean()
    except ValidationError as error:
        return " ".join(error.messages)
    recorder.write_before(fresh)
    _draft_parts(fresh, publish=True)
    getattr(fresh, "_prefetched_objects_cache", {}).clear()  # drafts of parts are among what was read
    fresh.status, fresh.proposed = Status.PUBLISHED, {}
    fresh.save()
    return ""


def unpublished(row: CatalogRow) -> list[CatalogRow]:
    """The rows that this one points to and that are drafts."""
    keys = [field.name for field in row._meta.concrete_fields if field.is_relation]  # noqa: SLF001
    targets = [getattr(row, name) for name in keys]
    return [target for target in targets if isinstance(target, Drafted) and not target.published]  # type: ignore[misc]


def _draft_parts(row: CatalogRow, *, publish: bool = False) -> int:
    """How many drafts of files and checkpoints a row has; publish: show them."""
    count = 0
    for relation in row._meta.related_objects:  # noqa: SLF001
        if issubclass(relation.related_model, Part):
            drafts = relation.related_model.objects.filter(  # type: ignore[attr-defined]
                **{relation.field.name: row.pk, "status": Status.DRAFT}
            )
            count += drafts.update(status=Status.PUBLISHED) if publish else drafts.count()
    return count


def discard(rows: Iterable[CatalogRow], user: Any, reason: str) -> list[CatalogRow]:
    """Drop the changes that wait; what is published stays as it is."""
    done = [row for row in rows if row.proposed]
    with recording(user, reason), without_bumps():
        for row in done:
            row.proposed = {}
            row.save()
    if done:
        bump()
    return done


NO_FIGURES = ("status", "retired", "checked", "proposed")
"""What a record holds beside figures; restoring leaves it as it is."""


def restore(row: CatalogRow, record: Any, user: Any, reason: str) -> None:
    """Give a row the figures of one of its records back, with its files and checkpoints; raises ValidationError."""
    fresh = type(row).objects.get(pk=row.pk)
    for column in fresh.figures():
        setattr(fresh, column, getattr(record.instance, column))
    fresh.full_clean()
    with recording(user, reason), without_bumps():
        fresh.proposed = {}
        fresh.save()
        for key, items in record.parts.items():
            parts.save(fresh, key, items, may_publish=True)
    bump()


def set_retired(rows: Sequence[CatalogRow], user: Any, reason: str, *, retired: bool) -> list[CatalogRow]:
    """Leave rows out of the calculator, or bring them back. Returns those that were not so before."""
    done = [row for row in rows if row.retired != retired]
    with recording(user, reason), without_bumps():
        for row in done:
            row.retired = retired
            row.save()
    if done:
        bump()
    return done


def checked(rows: Sequence[CatalogRow], today: date, user: Any, reason: str) -> None:
    """Remember that the figures of these rows were compared with their sources today."""
    with recording(user, reason), without_bumps():
        for row in rows:
            row.as_of = today
            row.save()
    if rows:
        bump()
