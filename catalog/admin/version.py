from typing import Any

from django.contrib import admin
from django.http import HttpRequest

from catalog.models import CatalogVersion


@admin.register(CatalogVersion)
class CatalogVersionAdmin(admin.ModelAdmin):
    """Only to look at: every write raises it by itself."""

    list_display = ("version", "updated", "data_digest")

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
