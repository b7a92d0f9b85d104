"""Which state of the catalogue the database holds. Every write raises the number, in the transaction of the write."""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from datetime import date

from django.db import models, router, transaction
from django.utils import timezone

ONLY_ROW = 1

_waiting: ContextVar[bool] = ContextVar("waiting", default=False)


class CatalogVersion(models.Model):
    """One row. Processes compare `version` with that of the snapshot they hold; pages and links quote it."""

    version = models.PositiveBigIntegerField(default=0)
    updated = models.DateField(default=timezone.localdate, help_text="Day of the newest change of a figure.")
    data_digest = models.CharField(
        max_length=80,
        blank=True,
        help_text="Digest of the shipped files that were loaded last: while it stays, there is nothing to load.",
    )

    class Meta:
        verbose_name = "catalogue version"
        constraints = [
            models.CheckConstraint(condition=models.Q(pk=ONLY_ROW), name="catalog_version_is_one_row"),
        ]

    def __str__(self) -> str:
        return f"Catalogue {self.version} of {self.updated}"

    @classmethod
    def current(cls) -> "CatalogVersion":
        """The row, or an unsaved one with version 0 in an empty database."""
        return cls.objects.filter(pk=ONLY_ROW).first() or cls(pk=ONLY_ROW)


def bump(updated: date | None = None) -> None:
    """Raise the version by one; call it in the transaction that writes. updated: today, unless figures are older."""
    if _waiting.get():
        return
    with transaction.atomic(using=router.db_for_write(CatalogVersion)):
        row, _ = CatalogVersion.objects.select_for_update().get_or_create(pk=ONLY_ROW)
        row.version += 1
        row.updated = updated or timezone.localdate()
        row.save()


@contextmanager
def without_bumps() -> Iterator[None]:
    """For a service that writes many rows and raises the version once, by itself."""
    token = _waiting.set(True)
    try:
        yield
    finally:
        _waiting.reset(token)
