from django.contrib import admin

from catalog.admin.entries import EntryAdmin
from catalog.models import CountLadder


@admin.register(CountLadder)
class CountLadderAdmin(EntryAdmin):
    columns = ("slug", "max_in_one_machine", "domain", "rule")
    search_fields = ("slug", "rule")
    groups = (
        (None, {"fields": ["slug", "applies_to", "rule", "nodes_beyond"]}),
        (
            "Counts",
            {
                "fields": [
                    "counts",
                    "usual",
                    "max_in_one_machine",
                    "domain",
                    "tensor_parallel_counts",
                    "layer_split_counts",
                ]
            },
        ),
    )
