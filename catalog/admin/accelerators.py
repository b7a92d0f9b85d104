from django.contrib import admin
from django.db.models import Q

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


@admin.register(Accelerator)
class AcceleratorAdmin(EntryAdmin):
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
    own_filters = ("kind", "vendor", Missing, "memory_type", "family")
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
