from typing import Any

from django.contrib import admin

from catalog.admin.entries import EntryAdmin
from catalog.models import Engine


@admin.register(Engine)
class EngineAdmin(EntryAdmin):
    effect = "engine"
    columns = ("name", "slug", "version_read", "licence", "named_only")
    own_filters = ("named_only",)
    groups = (
        (None, {"fields": ["slug", "name", "version", "licence", "os", "named_only"]}),
        (
            "Rules",
            {
                "fields": ["rules"],
                "description": "What the arithmetic of this engine works with. A new key needs code that reads it.",
            },
        ),
        ("Models", {"fields": ["architectures"]}),
    )

    @admin.display(description="version read")
    def version_read(self, engine: Engine) -> Any:
        return engine.version.get("checked") or "–"
