"""Prices: offers of clouds, purchase and API prices, electricity, colocation, assumptions, and who asks them."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone
from django.utils.html import format_html
from django.utils.safestring import SafeString

from catalog.admin.entries import EntryAdmin, Fieldset
from catalog.models import (
    ApiPrice,
    Assumption,
    Colocation,
    DeviceName,
    ElectricityPrice,
    Offer,
    Provider,
    PurchasePrice,
    RefreshRun,
)
from catalog.models.price_row import Priced
from catalog.prices import FRESH_DAYS, STALE_DAYS, price_age
from catalog.sources import source_url


class Age(admin.SimpleListFilter):
    """By how old a price is; dates are texts that begin with the year, so they compare as they stand."""

    title = "age of the price"
    parameter_name = "age"

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        return [
            ("fresh", f"up to {FRESH_DAYS} days"),
            ("ageing", f"{FRESH_DAYS + 1} to {STALE_DAYS} days"),
            ("stale", f"more than {STALE_DAYS} days"),
            ("undated", "without a date"),
        ]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        wanted, today = self.value(), timezone.localdate()
        if wanted not in {name for name, _ in self.lookups(request, None)}:
            return queryset
        dates = queryset.order_by().values_list("dated", flat=True).distinct()
        fitting = [day for day in dates if price_age(day, today).freshness == wanted]
        return queryset.filter(Q(dated__in=fitting) | (Q(dated__isnull=True) if None in fitting else Q()))


class PriceAdmin(EntryAdmin):
    """A table of prices: the date and its age beside every figure, the source to open."""

    priced: ClassVar[tuple[Fieldset, ...]]
    readonly_fields = ("age", "source_link", "status", "as_of", "origin", "edited_at")
    provenance: ClassVar[Fieldset] = (
        "Date and source",
        {
            "fields": [("dated", "age"), "source_link", "source", ("source_kind", "url")],
            "description": f"A price is marked as old after {STALE_DAYS} days, and one without a date always.",
        },
    )

    @property
    def groups(self) -> tuple[Fieldset, ...]:  # type: ignore[override]
        return (*self.priced, self.provenance)

    @admin.display(description="state")
    def state(self, row: Any) -> str:
        told = super().state(row)
        if not getattr(row, "written_by_refresh", False):
            return told
        return told.replace("added here", "refreshed") if "added here" in told else "refreshed"

    @admin.display(description="age")
    def age(self, row: Priced) -> str:
        age = price_age(row.dated or None, timezone.localdate())
        return "no date" if age.days is None else f"{age.days} days, {age.freshness}"

    @admin.display(description="source, to open")
    def source_link(self, row: Priced) -> SafeString | str:
        address = source_url(row.source or "") or row.url
        if not address:
            return row.source or "None yet."
        return format_html('<a href="{}" rel="noreferrer">{}</a>', address, row.source or address)


@admin.register(Provider)
class ProviderAdmin(EntryAdmin):
    columns = ("name", "slug", "url", "gpuhunt_name", "litellm_name")
    groups = (
        (None, {"fields": ["slug", "name", "url"]}),
        (
            "Refreshing",
            {
                "fields": [("gpuhunt_name", "litellm_name")],
                "description": "Under which names refresh_offers finds this provider's prices.",
            },
        ),
    )


@admin.register(DeviceName)
class DeviceNameAdmin(EntryAdmin):
    columns = ("name", "memory_gb", "instance_word", "accelerator")
    list_select_related = ("accelerator",)
    autocomplete_fields = ("accelerator",)
    search_fields = ("slug", "name", "accelerator__name")
    groups = ((None, {"fields": ["slug", ("name", "memory_gb"), "instance_word", "accelerator"]}),)


@admin.register(Offer)
class OfferAdmin(PriceAdmin):
    columns = (
        "size",
        "provider",
        "accelerator",
        "gpus",
        "usd_per_hour",
        "usd_per_gpu_hour",
        "market",
        "dated",
        "age",
    )
    own_filters = (Age, "market", "provider", "source_kind", "currency_uncertain")
    list_select_related = ("provider", "accelerator")
    autocomplete_fields = ("provider", "accelerator")
    search_fields = ("slug", "size", "provider__name", "accelerator__name", "region")
    priced = (
        (None, {"fields": ["slug", ("provider", "size"), ("accelerator", "gpus")]}),
        (
            "Price",
            {
                "fields": [
                    ("usd_per_hour", "market", "commitment_months"),
                    ("billing", "billing_kind", "region"),
                    "currency_uncertain",
                    "earlier",
                ]
            },
        ),
        ("What comes with it", {"fields": [("vcpus", "ram_gb"), ("link", "cluster")]}),
    )

    @admin.display(description="USD per GPU and hour")
    def usd_per_gpu_hour(self, row: Offer) -> str:
        return f"{row.usd_per_hour / row.gpus:.4g}"


@admin.register(PurchasePrice)
class PurchasePriceAdmin(PriceAdmin):
    columns = ("device", "condition", "usd", "low_usd", "high_usd", "dated", "age", "source_kind")
    own_filters = (Age, "condition", "source_kind")
    search_fields = ("slug", "device", "source")
    priced = (
        (None, {"fields": ["slug", ("device", "condition")]}),
        ("Price", {"fields": ["usd", ("low_usd", "high_usd"), "basis"]}),
        (
            "Published in another currency",
            {"fields": [("local_amount", "currency"), ("usd_per_unit", "rate_as_of", "rate_kind")]},
        ),
    )


@admin.register(ApiPrice)
class ApiPriceAdmin(PriceAdmin):
    columns = (
        "api_id",
        "provider",
        "language_model",
        "usd_per_million_input_tokens",
        "usd_per_million_cached_input_tokens",
        "usd_per_million_output_tokens",
        "dated",
        "age",
    )
    own_filters = (Age, "provider", "source_kind")
    list_select_related = ("provider", "language_model")
    autocomplete_fields = ("provider", "language_model")
    search_fields = ("slug", "api_id", "provider__name", "language_model__name")
    priced = (
        (None, {"fields": ["slug", ("provider", "api_id"), "language_model", "context_tokens"]}),
        (
            "Price",
            {
                "fields": [
                    (
                        "usd_per_million_input_tokens",
                        "usd_per_million_cached_input_tokens",
                        "usd_per_million_output_tokens",
                    ),
                    "earlier",
                ]
            },
        ),
    )


@admin.register(ElectricityPrice)
class ElectricityPriceAdmin(PriceAdmin):
    columns = ("name", "region", "customer", "usd_per_kwh", "local_per_kwh", "currency", "dated", "age")
    own_filters = (Age, "customer", "country", "source_kind")
    search_fields = ("slug", "region", "name", "name_zh")
    priced = (
        (None, {"fields": ["slug", ("region", "name", "name_zh"), ("country", "customer")]}),
        ("Price", {"fields": ["usd_per_kwh"]}),
        (
            "Published in another currency",
            {"fields": [("local_per_kwh", "currency"), ("usd_per_unit", "rate_as_of", "rate_kind")]},
        ),
    )


@admin.register(Colocation)
class ColocationAdmin(PriceAdmin):
    columns = ("name", "usd_per_kw_month", "low_usd_per_kw_month", "high_usd_per_kw_month", "dated", "age")
    own_filters = (Age, "source_kind")
    priced = (
        (
            None,
            {
                "fields": [
                    "slug",
                    "name",
                    ("usd_per_kw_month", "low_usd_per_kw_month", "high_usd_per_kw_month"),
                ]
            },
        ),
    )


@admin.register(Assumption)
class AssumptionAdmin(PriceAdmin):
    columns = ("name", "topic", "value", "low", "high", "unit", "dated", "age")
    own_filters = (Age, "topic", "source_kind")
    priced = (
        (
            None,
            {
                "fields": [
                    "slug",
                    ("topic", "name"),
                    ("value", "unit"),
                    ("low", "high"),
                    ("applies_to", "accelerator_slug"),
                ]
            },
        ),
    )


@admin.register(RefreshRun)
class RefreshRunAdmin(admin.ModelAdmin):
    """Only to look at: refresh_offers writes it."""

    list_display = ("at", "what", "provider", "source", "added", "changed", "confirmed", "kept", "names")
    list_filter = ("what", "provider")
    date_hierarchy = "at"

    @admin.display(description="unknown names")
    def names(self, run: RefreshRun) -> str:
        return ", ".join(run.unknown) or "–"

    def has_add_permission(self, request: HttpRequest) -> bool:
        return False

    def has_change_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        return False
