"""The shape of the files of accelerators (one vendor each), systems (one kind each) and count ladders."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from catalog.importers.schema_fields import (
    BandwidthGbS,
    Capability,
    CatalogueDate,
    Count,
    Fraction,
    Head,
    Kind,
    LinkGbS,
    Mib,
    Positive,
    Slug,
    SourceEntry,
    Sources,
    Strict,
    Text,
    Tflops,
    Usd,
    Watts,
)

DeviceKind = Literal["consumer", "workstation", "datacenter", "apple", "apu", "edge", "cpu"]
Counts = Annotated[list[Count], Field(min_length=1)]


class Rates(Strict):
    """10¹² operations per second without sparsity; None: not supported or not found."""

    fp16: Tflops | None
    bf16: Tflops | None
    fp8: Tflops | None
    fp4: Tflops | None
    int8: Tflops | None
    fp16_acc16: Tflops | None = None
    fp8_acc16: Tflops | None = None
    fp16_vector: Tflops | None = None


class Interconnect(Strict):
    kind: Text
    gb_s: LinkGbS
    direction: Text


class StreetPrice(Strict):
    new: Usd | None
    used: Usd | None
    new_range: list[Usd] | None = None
    used_range: list[Usd] | None = None
    as_of: CatalogueDate
    source: Text
    kind: Kind
    note: Text | None = None


class Processor(Strict):
    cores: Count | None
    channels: Count
    mt_per_s: Count


class AcceleratorEntry(Strict):
    id: Slug
    name: Text
    vendor: Text
    family: Text
    kind: DeviceKind
    form: Literal["laptop"] | None = None
    architecture: Text
    compute_capability: Capability | None = None
    chip: Text | None = None
    gpu_cores: Count | None = None
    cpu: Processor | None = None
    memory_gb: Annotated[int, Field(ge=2, le=4096)]
    memory_type: Text
    reported_mib: Mib | None = None
    cuda_total_mib: Mib | None = None
    usable_total_mib: Mib | None
    usable_total_kind: Text | None = None
    max_usable_fraction: Fraction | None = None
    bandwidth_gb_s: BandwidthGbS | None
    dense_tflops: Rates
    tflops_note: Text | None = None
    tdp_w: Watts | None
    idle_w: Annotated[float, Field(ge=0, le=1000)] | None = None
    load_w_measured: Watts | None = None
    interconnect: Interconnect | None = None
    pcie: Text | None = None
    gpus_per_node: Count = 1
    scale_up_domain: Count | None = None
    launch: CatalogueDate | None = None
    msrp_usd: Usd | None = None
    street_usd: StreetPrice | None = None
    exists: bool = True
    sources: Sources
    note: Text | None = None

    @model_validator(mode="after")
    def memory_is_not_above_the_marketing_size(self) -> AcceleratorEntry:
        """What a process sees is never more than the label in GiB; both may be missing."""
        if self.usable_total_mib and self.usable_total_mib > 1024 * self.memory_gb:
            raise ValueError(
                f"usable_total_mib is {self.usable_total_mib}; {self.memory_gb} GB cannot hold that"
            )
        return self


class AcceleratorFile(Head):
    kind: Literal["accelerators"]
    vendor: Text
    items: list[AcceleratorEntry]


class PairBridge(Strict):
    kind: Text
    gb_s_one_direction: LinkGbS


class InsideLink(Strict):
    kind: Text
    gb_s_one_direction: LinkGbS | None
    per: Text
    note: Text | None = None
    pair_bridge: PairBridge | None = None


class BetweenLink(Strict):
    kind: Text
    gb_s_one_direction_per_gpu: LinkGbS | None


class SystemPrice(Strict):
    value: Usd | None = None
    range: list[Usd] | None = None
    as_of: Text | None = None
    source: Text | None = None
    kind: Kind | None = None
    rule: Text | None = None
    host_usd: Usd | None = None
    host_usd_range: list[Usd] | None = None
    note: Text | None = None


class AcceleratorOverride(Strict):
    memory_gb: Annotated[int, Field(ge=2, le=4096)] | None = None
    bandwidth_gb_s: BandwidthGbS | None = None
    usable_total_mib: Mib | None = None
    usable_total_kind: Text | None = None


class SystemEntry(Strict):
    id: Slug
    name: Text
    name_zh: Text | None = None
    kind: DeviceKind
    accelerator_id: Slug
    count: Count
    node_size: Count
    nodes: Count
    scale_up_domain: Count | None = None
    interconnect_inside: InsideLink | None = None
    interconnect_between: BetweenLink | None = None
    host_ram_gb: Positive | None
    host_ram_bandwidth_gb_s: BandwidthGbS | None = None
    power_max_w: Watts | None
    power_kind: Kind | None = None
    price_usd: SystemPrice | None = None
    accelerator_override: AcceleratorOverride | None = None
    how: Literal["buy", "rent", "buy or rent", "build", "used"]
    sources: Sources
    note: Text | None = None

    @model_validator(mode="after")
    def nodes_add_up(self) -> SystemEntry:
        if self.node_size * self.nodes != self.count:
            raise ValueError(f"{self.nodes} nodes of {self.node_size} are not {self.count}")
        return self


class SystemFile(Head):
    kind: Literal["systems"]
    system_kind: DeviceKind
    items: list[SystemEntry]


class AppliesTo(Strict):
    ids: list[Slug] = []
    forms: list[Text] = []
    kinds: list[DeviceKind] = []


class LadderEntry(Strict):
    id: Annotated[str, Field(pattern=r"^[a-z_]+$")]
    counts: Counts
    usual: Counts
    max_in_one_machine: Count
    domain: Count | None = None
    nodes_beyond: Text | None = None
    rule: Text
    tensor_parallel_counts: Counts
    layer_split_counts: Counts
    applies_to: AppliesTo


class LadderFile(Head):
    kind: Literal["count-ladders"]
    about: Text
    items: list[LadderEntry]
    sources: list[SourceEntry]
