"""Devices that an engine sees as one: graphics cards, Macs, machines with shared memory, plain CPUs."""

from __future__ import annotations

from collections.abc import Iterator

from django.db import models

from catalog.models.row import CatalogRow, date_rule, not_negative, positive
from catalog.models.unusual import Usual, unusual

BANDWIDTH_GB_S = {
    "GDDR5": (80, 500),
    "GDDR5X": (200, 600),
    "GDDR6": (96, 1_200),
    "GDDR6X": (400, 1_200),
    "GDDR7": (200, 2_400),
    "HBM2": (250, 1_400),
    "HBM2e": (400, 4_000),
    "HBM3": (800, 6_500),
    "HBM3e": (1_200, 9_000),
    "HBM4": (2_000, 26_000),
    "LPDDR4X": (20, 500),
    "LPDDR5": (40, 1_000),
    "LPDDR5X": (50, 1_500),
    "DDR4": (15, 450),
    "DDR5": (30, 1_300),
}
"""What one device with such memory can have, from its narrowest to its widest bus, with room to spare: a figure outside
is in the wrong unit or of the wrong device."""

USUAL = (
    Usual("bandwidth_gb_s", "memory_type", 1.25, "GB/s"),
    Usual("memory_gb", "kind", 1.5, "GB"),
    Usual("tdp_w", "kind", 1.5, "W"),
    Usual("msrp_usd", "kind", 3.0, "USD"),
)
"""Narrower than what is possible; an editor confirms a figure outside."""


class Accelerator(CatalogRow):
    """One device. `memory_gb` is the marketing size; arithmetic uses the totals in MiB where they are known."""

    entries = "accelerators"
    REQUIRED = {
        "id": "slug",
        "name": "name",
        "vendor": "vendor",
        "family": "family",
        "kind": "kind",
        "architecture": "architecture",
        "memory_gb": "memory_gb",
        "memory_type": "memory_type",
        "usable_total_mib": "usable_total_mib",
        "bandwidth_gb_s": "bandwidth_gb_s",
        "dense_tflops": "dense_tflops",
        "tdp_w": "tdp_w",
        "sources": "sources",
    }
    OPTIONAL = {
        column: column
        for column in (
            "usable_total_kind",
            "reported_mib",
            "cuda_total_mib",
            "max_usable_fraction",
            "compute_capability",
            "form",
            "interconnect",
            "pcie",
            "gpus_per_node",
            "scale_up_domain",
            "idle_w",
            "load_w_measured",
            "launch",
            "msrp_usd",
            "street_usd",
            "exists",
            "note",
        )
    }

    class Kind(models.TextChoices):
        CONSUMER = "consumer", "consumer card"
        WORKSTATION = "workstation", "workstation card"
        DATACENTER = "datacenter", "data-centre device"
        APPLE = "apple", "Mac"
        APU = "apu", "CPU and GPU with shared memory"
        EDGE = "edge", "edge module"
        CPU = "cpu", "CPU without GPU"

    vendor = models.CharField(max_length=60)
    family = models.CharField(max_length=100, help_text="For grouping.")
    kind = models.CharField(max_length=12, choices=Kind)
    form = models.CharField(max_length=20, blank=True, help_text="laptop, or empty.")
    architecture = models.CharField(max_length=100)
    compute_capability = models.CharField(max_length=8, blank=True, help_text="NVIDIA, for instance 8.9.")

    memory_gb = models.PositiveIntegerField("memory [GB]", help_text="Marketing size of one device.")
    memory_type = models.CharField(max_length=40)
    reported_mib = models.PositiveIntegerField(
        "reported [MiB]", null=True, blank=True, help_text="What the driver's tool shows."
    )
    cuda_total_mib = models.PositiveIntegerField(
        "process total [MiB]",
        null=True,
        blank=True,
        help_text="What a process sees as total on Linux, measured.",
    )
    usable_total_mib = models.PositiveIntegerField(
        "usable total [MiB]",
        null=True,
        blank=True,
        help_text="The total to reckon with on Linux: measured, else by rule. Empty with shared memory.",
    )
    usable_total_kind = models.CharField(
        max_length=100, blank=True, help_text="measured, reported: rule, or fallback: rule."
    )
    max_usable_fraction = models.FloatField(
        null=True, blank=True, help_text="Shared memory: the part that the GPU may take by default, 0 to 1."
    )

    bandwidth_gb_s = models.FloatField(
        "memory bandwidth [GB/s]",
        null=True,
        blank=True,
        help_text="Peak of one device, 10⁹ bytes per second.",
    )
    dense_tflops = models.JSONField(
        "dense TFLOPS", default=dict, help_text="10¹² operations per second without sparsity, by number type."
    )
    tdp_w = models.FloatField("board power [W]", null=True, blank=True)
    idle_w = models.FloatField("idle power [W]", null=True, blank=True)
    load_w_measured = models.FloatField("power in decode [W]", null=True, blank=True, help_text="Measured.")

    interconnect = models.JSONField(
        null=True, blank=True, help_text="Scale-up link of one device: {kind, gb_s, direction}."
    )
    pcie = models.CharField("PCIe", max_length=40, blank=True)
    gpus_per_node = models.PositiveIntegerField(default=1, help_text="Devices in the usual server.")
    scale_up_domain = models.PositiveIntegerField(
        null=True, blank=True, help_text="Devices in one NVLink or xGMI domain, if more than a node."
    )

    launch = models.CharField(max_length=10, blank=True, validators=[date_rule])
    msrp_usd = models.DecimalField(
        "launch price [USD]",
        max_digits=12,
        decimal_places=2,
        null=True,
        blank=True,
        help_text="Of the card; of the machine for Macs and machines with shared memory.",
    )
    street_usd = models.JSONField(
        "street prices [USD]", null=True, blank=True, help_text="new, used, their ranges, as_of, source."
    )
    exists = models.BooleanField(default=True, help_text="Off: never sold, kept for a name that others use.")

    class Meta(CatalogRow.Meta):
        verbose_name = "accelerator"
        constraints = [
            *(
                positive(column, "accelerator")
                for column in (
                    "memory_gb",
                    "reported_mib",
                    "cuda_total_mib",
                    "usable_total_mib",
                    "bandwidth_gb_s",
                    "tdp_w",
                    "gpus_per_node",
                )
            ),
            not_negative("idle_w", "accelerator"),
            not_negative("msrp_usd", "accelerator"),
            models.CheckConstraint(
                condition=models.Q(max_usable_fraction__isnull=True)
                | models.Q(max_usable_fraction__gt=0, max_usable_fraction__lte=1),
                name="catalog_accelerator_fraction_0_to_1",
                violation_error_message="The usable fraction lies above 0 and is at most 1.",
            ),
        ]
        indexes = [models.Index(fields=["kind", "vendor"])]

    def own_faults(self) -> Iterator[tuple[str, str]]:
        if problem := bandwidth_problem(self.memory_type, self.bandwidth_gb_s):
            yield "bandwidth_gb_s", problem
        marketing_mib = 1024 * (self.memory_gb or 0)
        for column in ("reported_mib", "cuda_total_mib", "usable_total_mib"):
            if marketing_mib and (given := getattr(self, column)) and given > marketing_mib:
                yield (
                    column,
                    f"{given:,} MiB are more than {self.memory_gb} GB, which is {marketing_mib:,} MiB.",
                )

    def doubts(self) -> Iterator[tuple[str, str]]:
        yield from unusual(self, USUAL)


def bandwidth_problem(memory_type: str, bandwidth_gb_s: float | None) -> str:
    """A sentence when no device with this memory can have that bandwidth, else nothing."""
    name = (memory_type or "").split()[0].split("-")[0] if memory_type else ""
    if bandwidth_gb_s is None or name not in BANDWIDTH_GB_S:
        return ""
    low, high = BANDWIDTH_GB_S[name]
    if low <= bandwidth_gb_s <= high:
        return ""
    return f"{bandwidth_gb_s:,.10g} GB/s is out of range for {name}: devices have {low:,} to {high:,} GB/s. Is it in GB/s?"
