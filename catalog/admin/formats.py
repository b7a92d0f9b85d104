from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from catalog.admin.entries import EntryAdmin
from catalog.models import FormatRules, WeightsFormat


@admin.register(WeightsFormat)
class WeightsFormatAdmin(EntryAdmin):
    effect = "quant"
    columns = (
        "name",
        "slug",
        "family",
        "bits_nominal",
        "bits_file_llama3_8b",
        "published_only",
        "dynamic",
        "order",
    )
    own_filters = ("family", "published_only", "dynamic")
    search_fields = ("slug", "name", "family")
    groups = (
        (None, {"fields": ["slug", "name", "family", "order", ("published_only", "dynamic")]}),
        (
            "Bits per weight",
            {
                "fields": ["bits_nominal", "bits_block", "bits_file_llama3_8b"],
                "description": "Bytes are computed tensor by tensor by the rule of the family, not from these.",
            },
        ),
        (
            "Where it runs",
            {"fields": ["engines", "min_compute_capability", "native_compute_capability", "hardware"]},
        ),
        ("Quality and use", {"fields": ["quality", "use"]}),
    )


@admin.register(FormatRules)
class FormatRulesAdmin(EntryAdmin):
    columns = ("__str__",)
    search_fields = ("slug",)
    groups = ()

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
