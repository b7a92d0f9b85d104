"""Named machines and clusters."""

from __future__ import annotations

from collections.abc import Iterator

from django.db import models

from catalog.models.accelerators import Accelerator
from catalog.models.row import CatalogRow, positive
from catalog.models.unusual import Usual, unusual

USUAL = (
    Usual("power_max_w", "kind", 2.0, "W", per="count", each="accelerator"),
    Usual("host_ram_gb", "kind", 4.0, "GB", per="count", each="accelerator"),
    Usual("host_ram_bandwidth_gb_s", "kind", 2.0, "GB/s"),
)
"""An editor confirms a figure outside."""


class System(CatalogRow):
    """`count` accelerators of one kind, in `nodes` nodes of `node_size`. Link rates are one direction per device."""

    entries = "systems"
    REQUIRED = {
        "id": "slug",
        "name": "name",
        "kind": "kind",
        "accelerator_id": "accelerator_id",
        "count": "count",
        "node_size": "node_size",
        "nodes": "nodes",
        "host_ram_gb": "host_ram_gb",
        "power_max_w": "power_max_w",
        "how": "how",
        "sources": "sources",
    }
    OPTIONAL = {
        column: column
        for column in (
            "name_zh",
            "scale_up_domain",
            "interconnect_inside",
            "interconnect_between",
            "host_ram_bandwidth_gb_s",
            "power_kind",
            "price_usd",
            "accelerator_override",
            "note",
        )
    }

    name_zh = models.CharField("name in Chinese", max_length=200, blank=True)
    kind = models.CharField(max_length=12, choices=Accelerator.Kind)
    accelerator = models.ForeignKey(Accelerator, models.PROTECT, to_field="slug", related_name="systems")
    count = models.PositiveIntegerField(help_text="Accelerators in all nodes.")
    node_size = models.PositiveIntegerField(help_text="Accelerators in one node.")
    nodes = models.PositiveIntegerField(default=1)
    scale_up_domain = models.PositiveIntegerField(
        null=True, blank=True, help_text="Accelerators in one fast domain; 1: PCIe only."
    )
    interconnect_inside = models.JSONField(
        null=True, blank=True, help_text="{kind, gb_s_one_direction, per}: the link inside the domain."
    )
    interconnect_between = models.JSONField(
        null=True, blank=True, help_text="{kind, gb_s_one_direction_per_gpu}: the link between nodes."
    )
    host_ram_gb = models.FloatField("host memory [GB]", null=True, blank=True)
    host_ram_bandwidth_gb_s = models.FloatField("host memory bandwidth [GB/s]", null=True, blank=True)
    power_max_w = models.FloatField("maximum power [W]", null=True, blank=True)
    power_kind = models.CharField(max_length=40, blank=True, help_text="datasheet, derived, from memory …")
    price_usd = models.JSONField(
        "price [USD]", null=True, blank=True, help_text="{value, range, as_of, source, kind} or a rule."
    )
    accelerator_override = models.JSONField(
        null=True, blank=True, help_text="Figures that differ from the loose accelerator's."
    )
    how = models.CharField(max_length=40, help_text="buy, rent, buy or rent, build, used.")

    class Meta(CatalogRow.Meta):
        verbose_name = "system"
        constraints = [
            positive(column, "system")
            for column in (
                "count",
                "node_size",
                "nodes",
                "host_ram_gb",
                "host_ram_bandwidth_gb_s",
                "power_max_w",
            )
        ]

    def own_faults(self) -> Iterator[tuple[str, str]]:
        if self.count and self.scale_up_domain and self.scale_up_domain > self.count:
            sentence = f"The machine has {self.count} accelerators, fewer than {self.scale_up_domain}."
            yield "scale_up_domain", sentence

    def doubts(self) -> Iterator[tuple[str, str]]:
        yield from unusual(self, USUAL)
