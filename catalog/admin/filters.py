"""Filters that every list of the catalogue has: where a row comes from and what is unsure about it."""

from collections.abc import Mapping
from datetime import timedelta
from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Q, QuerySet, TextField
from django.db.models.functions import Cast
from django.http import HttpRequest
from django.utils import timezone

from catalog.models.row import FROM_MEMORY

MOST_DAYS = 36_500


class ByCondition(admin.SimpleListFilter):
    """A filter whose choices are named conditions."""

    conditions: ClassVar[Mapping[str, tuple[str, Q]]]

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [(name, label) for name, (label, _) in self.conditions.items()]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if chosen := self.conditions.get(self.value() or ""):
            return queryset.filter(chosen[1])
        return queryset


class Shown(ByCondition):
    title = "draft or published"
    parameter_name = "shown"
    conditions = {
        "published": ("published", Q(status="published")),
        "draft": ("drafts", Q(status="draft")),
        "waiting": ("published, changes wait", Q(status="published") & ~Q(proposed={})),
    }


class Checked(admin.SimpleListFilter):
    """By the day on which the figures were last known to be right."""

    title = "last checked"
    parameter_name = "checked"
    days = (30, 90, 180, 365)

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        older = [(str(days), f"more than {days} days ago") for days in self.days]
        return [*older, ("never", "never")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "never":
            return queryset.filter(as_of__isnull=True)
        if (value := self.value() or "").isdigit():
            before = timezone.localdate() - timedelta(days=min(int(value), MOST_DAYS))
            return queryset.filter(Q(as_of__lt=before) | Q(as_of__isnull=True))
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
