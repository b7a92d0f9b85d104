from datetime import timedelta
from typing import Any

from django.contrib import admin
from django.db.models import Q, QuerySet
from django.http import HttpRequest
from django.utils import timezone

from catalog.admin.entries import EntryAdmin
from catalog.admin.filters import ByCondition
from catalog.models import Accelerator


class Missing(ByCondition):
    title = "missing figure"
    parameter_name = "missing"
    conditions = {
        "bandwidth": ("memory bandwidth", Q(bandwidth_gb_s__isnull=True)),
        "driver_total": (
            "total memory from a driver",
            Q(kind__in=("consumer", "workstation", "datacenter"), cuda_total_mib=None, reported_mib=None),
        ),
        "power": ("board power", Q(tdp_w__isnull=True)),
        "price": ("launch price", Q(msrp_usd__isnull=True)),
    }


class StreetPrice(admin.SimpleListFilter):
    """Prices age faster than data sheets; the day of each stands in its entry."""

    title = "street price"
    parameter_name = "street"
    days = (30, 90, 180)

    def lookups(self, request: HttpRequest, model_admin: Any) -> list[tuple[str, str]]:
        older = [(str(days), f"older than {days} days") for days in self.days]
        return [*older, ("none", "none")]

    def queryset(self, request: HttpRequest, queryset: QuerySet[Any]) -> QuerySet[Any]:
        if self.value() == "none":
            return queryset.filter(street_usd__isnull=True)
        if (value := self.value() or "") in map(str, self.days):
            before = timezone.localdate() - timedelta(days=int(value))
            return queryset.filter(street_usd__as_of__lt=before.isoformat())
        return queryset


@admin.register(Accelerator)
class AcceleratorAdmin(EntryAdmin):
    effect = "gpu"
    columns = (
        "name",
        "slug",
        "vendor",
        "kind",
        "memory_gb",
        "usable_total_mib",
        "bandwidth_gb_s",
        "tdp_w",
        "msrp_usd",
        "launch",
    )
    own_filters = ("kind", "vendor", Missing, StreetPrice, "memory_type", "family")
    search_fields = ("slug", "name", "vendor", "family", "architecture")
    groups = (
        (
            None,
            {
                "fields": [
                    "slug",
                    "name",
                    "vendor",
                    "family",
                    ("kind", "form"),
                    ("architecture", "compute_capability"),
                    ("launch", "exists"),
                ]
            },
        ),
        (
            "Memory",
            {
                "fields": [
                    ("memory_gb", "memory_type"),
                    "reported_mib",
                    "cuda_total_mib",
                    "usable_total_mib",
                    "usable_total_kind",
                    "max_usable_fraction",
                ],
                "description": "Arithmetic reckons with the usable total; the marketing size is only a name. Machines with "
                "shared memory have the fraction instead.",
            },
        ),
        (
            "Rates and power",
            {"fields": ["bandwidth_gb_s", "dense_tflops", "tdp_w", "idle_w", "load_w_measured"]},
        ),
        ("Links", {"fields": ["interconnect", "pcie", "gpus_per_node", "scale_up_domain"]}),
        ("Prices", {"fields": ["msrp_usd", "street_usd"]}),
    )
