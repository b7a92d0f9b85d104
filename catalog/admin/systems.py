from django.contrib import admin
from django.db.models import Q

from catalog.admin.entries import EntryAdmin
from catalog.admin.filters import ByCondition
from catalog.models import System


class Missing(ByCondition):
    title = "missing figure"
    parameter_name = "missing"
    conditions = {
        "host_ram": ("host memory", Q(host_ram_gb__isnull=True)),
        "host_bandwidth": ("host memory bandwidth", Q(host_ram_bandwidth_gb_s__isnull=True)),
        "power": ("power", Q(power_max_w__isnull=True)),
        "price": ("price", Q(price_usd__isnull=True)),
    }


@admin.register(System)
class SystemAdmin(EntryAdmin):
    effect = "gpu"
    columns = ("name", "slug", "kind", "accelerator", "count", "nodes", "host_ram_gb", "power_max_w", "how")
    own_filters = ("kind", "how", Missing, "power_kind")
    list_select_related = ("accelerator",)
    autocomplete_fields = ("accelerator",)
    search_fields = ("slug", "name", "name_zh", "accelerator__name")
    groups = (
        (None, {"fields": ["slug", "name", "name_zh", "kind", "how"]}),
        (
            "What it is made of",
            {
                "fields": [
                    "accelerator",
                    ("count", "node_size", "nodes"),
                    "accelerator_override",
                    "host_ram_gb",
                    "host_ram_bandwidth_gb_s",
                ]
            },
        ),
        (
            "Links",
            {
                "fields": ["scale_up_domain", "interconnect_inside", "interconnect_between"],
                "description": "Rates are GB/s in one direction per accelerator.",
            },
        ),
        ("Power and price", {"fields": [("power_max_w", "power_kind"), "price_usd"]}),
    )
