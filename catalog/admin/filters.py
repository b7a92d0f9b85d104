"""Filters that every list of the catalogue has: where a row comes from and what is unsure about it."""

from collections.abc import Mapping
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.http import HttpRequest

from catalog.models.row import FROM_MEMORY


class ByCondition(admin.SimpleListFilter):
    """A filter whose choices are named conditions."""

    conditions: ClassVar[Mapping[str, tuple[str, Q]]]

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, label) for name, (label, _) in self.conditions.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if chosen := self.conditions.get(self.value() or ""):
            return queryset.filter(chosen[1])
        return queryset


class Provenance(ByCondition):
    title = "where it comes from"
    parameter_name = "from"
    conditions = {
        "shipped": ("shipped, as it is", Q(origin="shipped", edited_at__isnull=True)),
        "edited": ("shipped, changed here", Q(edited_at__isnull=False)),
        "added": ("added here", Q(origin="admin")),
    }


class Verified(admin.SimpleListFilter):
    """Both databases write JSON as text the same way around a key, so a text search finds the kind of a source."""

    title = "sources"
    parameter_name = "sources"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("memory", "a figure from memory"),
            ("read", "every figure was read somewhere"),
            ("none", "none"),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "none":
            return queryset.filter(sources=[])
        as_text = queryset.alias(sources_text=Cast("sources", TextField()))
        remembered = Q(sources_text__contains=f'"kind": "{FROM_MEMORY}"')
        if self.value() == "memory":
            return as_text.filter(remembered)
        if self.value() == "read":
            return as_text.exclude(remembered).exclude(sources=[])
        return queryset
