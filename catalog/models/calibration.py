"""Calibrated constants: numbers that were fitted to measurements, with their spread."""

from __future__ import annotations

from typing import Any

from django.db import models

from catalog.models.row import CatalogRow, Entry, date_rule


class Calibration(CatalogRow):
    """One constant of an engine, for a range of its versions, a class of devices and a backend."""

    entries = "constants"
    REQUIRED = {
        "engine": "engine",
        "name": "name",
        "value": "value",
        "low": "low",
        "high": "high",
        "unit": "unit",
        "version_from": "version_from",
        "version_until": "version_until",
        "device_class": "device_class",
        "backend": "backend",
        "cases": "cases",
        "basis": "basis",
        "source": "source",
        "date": "date",
    }

    sources = None  # one constant, one source
    note = None  # type: ignore[assignment]
    engine = models.CharField(max_length=60, help_text="Id or family of the engine, or any.")
    value = models.FloatField()
    low = models.FloatField(help_text="Lower end of the central 90 %.")
    high = models.FloatField(help_text="Upper end of the central 90 %.")
    unit = models.CharField(max_length=60)
    version_from = models.CharField(  # noqa: DJ001 - null as in the files
        max_length=40, null=True, blank=True, help_text="First engine version it was measured on."
    )
    version_until = models.CharField(  # noqa: DJ001
        max_length=40, null=True, blank=True, help_text="Last engine version it was measured on."
    )
    device_class = models.CharField(max_length=60, null=True, blank=True, help_text="Empty: all.")  # noqa: DJ001
    backend = models.CharField(  # noqa: DJ001
        max_length=20, null=True, blank=True, help_text="cuda, rocm, metal …; empty: all."
    )
    cases = models.PositiveIntegerField(null=True, blank=True, help_text="Measured rows behind it.")
    basis = models.CharField(max_length=40)
    source = models.TextField()
    date = models.CharField(max_length=10, validators=[date_rule])

    class Meta(CatalogRow.Meta):
        verbose_name = "calibrated constant"
        constraints = [
            models.CheckConstraint(
                condition=models.Q(low__lte=models.F("value"), high__gte=models.F("value")),
                name="catalog_calibration_value_inside_interval",
                violation_error_message="The value lies between the low and the high end.",
            )
        ]

    def __str__(self) -> str:
        return f"{self.engine}: {self.name}"

    @classmethod
    def key(cls, entry: Entry) -> str:
        """Files give constants no id: one is named by what it is measured for."""
        parts = (
            entry.get(name)
            for name in ("engine", "name", "backend", "device_class", "version_from", "version_until")
        )
        return "--".join(str(part) if part else "all" for part in parts)

    def take(self, entry: Entry) -> None:
        super().take(entry)
        self.slug = self.key(entry)

    @property
    def unverified(self) -> list[Entry]:
        return []

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.slug = self.key(self.to_entry())
        super().save(*args, **kwargs)
