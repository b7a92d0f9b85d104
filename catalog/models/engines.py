"""Inference engines at the version that was read."""

from django.db import models

from catalog.models.row import CatalogRow


class Engine(CatalogRow):
    """What an engine runs on, loads and limits. `rules` is what its arithmetic works with; the rest is for reading."""

    entries = "engines"
    REQUIRED = {
        "id": "slug",
        "name": "name",
        "version": "version",
        "licence": "licence",
        "sources": "sources",
    }
    OPTIONAL = {
        "os": "os",
        "rules": "rules",
        "architectures": "architectures",
        "named_only": "named_only",
        "note": "note",
    }

    version = models.JSONField(default=dict, help_text="{checked, date, newest_seen, source}: what was read.")
    licence = models.CharField(max_length=100)
    named_only = models.BooleanField(default=False, help_text="Named in lists, never computed.")
    os = models.JSONField("operating systems", default=list, blank=True)
    rules = models.JSONField(
        default=dict,
        blank=True,
        help_text="Limits, cache types, devices, formats and defaults that the arithmetic of this engine works with.",
    )
    architectures = models.JSONField(
        "model classes", default=dict, blank=True, help_text="Lists of the class names that it loads."
    )

    class Meta(CatalogRow.Meta):
        verbose_name = "engine"
