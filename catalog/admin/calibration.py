from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from catalog.admin.entries import EntryAdmin
from catalog.models import Calibration


@admin.register(Calibration)
class CalibrationAdmin(EntryAdmin):
    columns = (
        "name",
        "engine",
        "value",
        "low",
        "high",
        "unit",
        "version_from",
        "version_until",
        "cases",
        "basis",
        "date",
    )
    own_filters = ("engine", "basis", "backend", "device_class")
    search_fields = ("name", "engine", "source")
    groups = (
        (
            "What it is for",
            {"fields": ["engine", "name", ("version_from", "version_until"), ("backend", "device_class")]},
        ),
        (
            "The number",
            {
                "fields": [("value", "unit"), ("low", "high"), "cases", "basis", "source", "date"],
                "description": "Low and high bound the central 90 %. Outside the versions it was measured on, the interval "
                "is widened.",
            },
        ),
    )

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        """What a constant is for is its identity."""
        identity = (
            ["engine", "name", "version_from", "version_until", "backend", "device_class"] if obj else []
        )
        return [*super().get_readonly_fields(request, obj), *identity]
