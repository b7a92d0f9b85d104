"""What exists, as frozen records: models, accelerators, systems, weights formats, engines, constants.

PURE: no Django, no database, no files. Units stand in the names; bytes are integers; GiB = 2**30 bytes, GB = 10**9 bytes.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from catalog.architecture import Architecture

GIB = 2**30
MIB = 2**20


@dataclass(frozen=True, slots=True)
class Source:
    """Where a figure comes from. kind: measured, datasheet, config file, documentation, derived, source code,
    or from memory (unverified; pages say so)."""

    what: str
    where: str
    kind: str


@dataclass(frozen=True, slots=True)
class PublishedFile:
    """A published GGUF file: `exact` bytes are an input of the arithmetic, rounded ones only a check."""

    weights_format: str
    size_bytes: int
    exact: bool
    repo: str | None
    precision: str
    source: str
    kind: str
    format_as_published: str = ""
    includes: str = ""


@dataclass(frozen=True, slots=True)
class CheckpointFile:
    """One GGUF type in a repository: `file` is its name (the first of `parts`), size_bytes None where nobody printed it."""

    weights_format: str
    file: str | None
    parts: int | None
    size_bytes: int | None
    precision: str | None
    source: str
    note: str = ""


@dataclass(frozen=True, slots=True)
class Checkpoint:
    """A published repository with the model in a format. weights_format: `gguf` for a repository of several types.

    publisher_kind: lab, hardware vendor or community. engines: those that load it. recipe: what the publisher's name adds
    to the format. formats, file_pattern: what a GGUF repository is known to hold.
    """

    weights_format: str
    repo: str
    publisher: str
    publisher_kind: str
    engines: tuple[str, ...]
    size_bytes: int | None
    precision: str | None
    sources: tuple[str, ...]
    recipe: str = ""
    hardware: str = ""
    formats: tuple[str, ...] = ()
    file_pattern: str = ""
    file_pattern_split: str = ""
    parts: Mapping[str, int] = field(default_factory=dict)
    files: tuple[CheckpointFile, ...] = ()


@dataclass(frozen=True, eq=False)
class LanguageModel:
    """One model. `parameters` and `active_parameters` are the published figures for display; arithmetic starts from
    `architecture`. native_rest: `fp8` where a natively 4-bit checkpoint keeps its other linear layers in FP8. computed_as: the nearest listed relative when no engine lists the model's class."""

    id: str
    name: str
    family: str
    lab: str
    lab_country: str
    repo: str
    architecture: Architecture
    class_name: str
    parameters: int
    text_parameters: int
    active_parameters: int
    active_parameters_derived: int
    max_context_tokens: int | None
    native_format: str | None
    native_rest: str | None = None
    native_weight_bytes: int | None = None
    native_weight_bytes_kind: str | None = None
    license: str | None = None
    released: str | None = None
    modalities: tuple[str, ...] = ("text",)
    task: str = "generate"
    reasoning: bool | None = None
    model_type: str | None = None
    computed_as: str | None = None
    engines: tuple[str, ...] = ()
    files: tuple[PublishedFile, ...] = ()
    checkpoints: tuple[Checkpoint, ...] = ()
    gguf_repos: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    note: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """Further facts for display (basis of the counts, notes, dates), as in the catalogue entry."""
    lab_id: str = ""

    @property
    def vision(self) -> bool:
        """Takes images: an encoder that is loaded on request."""
        return self.architecture.extra_parameters("vision") > 0


@dataclass(frozen=True, slots=True)
class Link:
    """A connection between devices. bandwidth_bytes_per_s: one direction, per device."""

    kind: str
    bandwidth_bytes_per_s: float | None


@dataclass(frozen=True, eq=False)
class Accelerator:
    """One device that an engine sees as one: a GPU, a Mac, an APU, a CPU machine.

    memory_gb is the marketing size, never used in arithmetic for discrete cards. reported_bytes: total of the driver
    tool; process_bytes: total that a process sees (measured, or by rule: process_kind).
    """

    id: str
    name: str
    vendor: str
    family: str
    kind: str
    architecture: str
    memory_gb: int
    memory_type: str
    reported_bytes: int | None
    process_bytes: int | None
    process_kind: str | None
    bandwidth_bytes_per_s: float | None
    dense_flops_per_s: Mapping[str, float | None]
    compute_capability: str | None = None
    form: str | None = None
    max_usable_fraction: float | None = None
    tdp_w: float | None = None
    idle_w: float | None = None
    load_w_measured: float | None = None
    link: Link | None = None
    pcie: str | None = None
    gpus_per_node: int = 1
    scale_up_domain: int | None = None
    ladder: str = "consumer"
    launch: str | None = None
    msrp_usd: float | None = None
    street_usd: Mapping[str, Any] | None = None
    exists: bool = True
    sources: tuple[Source, ...] = ()
    note: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)

    @property
    def unified(self) -> bool:
        """Shares its memory with the CPU: the limit goes by platform, not by the card."""
        return self.kind in ("apple", "apu", "edge", "cpu")

    @property
    def device_classes(self) -> tuple[str, ...]:
        """Classes of devices that it belongs to, the narrowest first: `nvidia-consumer-ada`, `nvidia-consumer`, `nvidia`.

        A Mac belongs to its chip and its generation: `apple-m3-max`, `apple-m3`, `apple`.
        """
        vendor, own = _class_name(self.vendor), _class_name(self.architecture)
        if self.kind == "apple":
            names = (f"{vendor}-{own}", _class_name(self.family), vendor)
        else:
            names = (f"{self.device_class}-{own}", self.device_class, vendor)
        return tuple(dict.fromkeys(names))

    @property
    def device_class(self) -> str:
        """Vendor and kind, as measurements are grouped: nvidia-datacenter, amd-apu …; Apple and CPUs by kind alone."""
        if self.kind in ("apple", "cpu"):
            return self.kind
        return f"{self.vendor.lower().replace(' ', '-')}-{self.kind}"

    @property
    def capability(self) -> float:
        """CUDA compute capability as a number, 0 where it does not apply."""
        return float(self.compute_capability) if self.compute_capability else 0.0


def _class_name(name: str) -> str:
    """A vendor, family or architecture as a part of a class's name: `RDNA 3.5` → `rdna-3.5`."""
    return name.lower().replace(" ", "-")


@dataclass(frozen=True, eq=False)
class System:
    """A named machine or cluster: `count` devices of one kind in `nodes` nodes of `node_size`."""

    id: str
    name: str
    kind: str
    accelerator_id: str
    count: int
    node_size: int
    nodes: int
    scale_up_domain: int | None
    link_inside: Link | None
    link_between: Link | None
    host_ram_gb: float | None = None
    host_ram_bandwidth_bytes_per_s: float | None = None
    power_max_w: float | None = None
    power_kind: str | None = None
    price_usd: Mapping[str, Any] | None = None
    accelerator_override: Mapping[str, Any] | None = None
    name_zh: str = ""
    how: str = ""
    sources: tuple[Source, ...] = ()
    note: str = ""
    pair_link: Link | None = None
    """A bridge between pairs of devices, beside `link_inside` (RTX 3090)."""
    facts: Mapping[str, Any] = field(default_factory=dict)


@dataclass(frozen=True, slots=True)
class CountLadder:
    """In which counts a kind of device is really used. domain: devices that reach each other at the inside speed."""

    id: str
    counts: tuple[int, ...]
    usual: tuple[int, ...]
    max_in_one_machine: int
    tensor_parallel_counts: tuple[int, ...]
    layer_split_counts: tuple[int, ...]
    domain: int | None
    rule: str
    nodes_beyond: str


@dataclass(frozen=True, eq=False)
class WeightsFormat:
    """A format of weights. family: gguf, mlx, float, fp8, … bits_nominal is for labels, never for bytes.

    min_compute_capability: the oldest NVIDIA card that runs it at all; native_compute_capability: from which on it
    computes in the format instead of only storing it.
    """

    id: str
    name: str
    family: str
    bits_nominal: float | None
    bits_file_llama3_8b: float | None
    engines: tuple[str, ...]
    hardware: str
    min_compute_capability: str | None
    published_only: bool
    dynamic: bool
    order: int
    use: str = ""
    quality: Mapping[str, Any] = field(default_factory=dict)
    aliases: tuple[str, ...] = ()
    sources: tuple[Source, ...] = ()
    note: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    native_compute_capability: str | None = None


@dataclass(frozen=True, eq=False)
class Engine:
    """An inference engine at the version that was read. `classes`: model classes it loads, lower case without
    underscores. `rules`: the facts that its file in estimation/engines works with (limits, cache types, ladders)."""

    id: str
    name: str
    version: str
    licence: str
    classes: frozenset[str]
    without_pipeline: frozenset[str]
    family: str
    rules: Mapping[str, Any]
    os: tuple[str, ...] = ()
    note: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    sources: tuple[Source, ...] = ()
    model_types: frozenset[str] = frozenset()
    """The config's model_type names that it loads, for an engine that goes by them instead of classes (MLX)."""
    without_tensor_split: frozenset[str] = frozenset()
    """Classes whose layers it cannot divide over GPUs, written like `classes`."""

    def lists(self, class_name: str) -> bool:
        """True when the engine's list names this model class."""
        return normal_class(class_name) in self.classes


def normal_class(class_name: str) -> str:
    """A model class as engines compare it: without case and underscores."""
    return class_name.replace("_", "").lower()


@dataclass(frozen=True, slots=True)
class Constant:
    """A calibrated number. low and high bound the central 90 %; `cases` measured rows stand behind it.

    versions: the engine versions it was measured on, written by the reader of the source; outside of them the
    arithmetic widens the interval (formulas §10).
    """

    engine: str
    name: str
    value: float
    low: float
    high: float
    unit: str
    version_from: str | None
    version_until: str | None
    device_class: str | None
    backend: str | None
    cases: int | None
    basis: str
    source: str
    date: str


@dataclass(frozen=True, slots=True)
class Observation:
    """One figure of a measurement. part: as the case files name it (weights, kv_cache, compute_buffer …). device: per_gpu,
    CUDA0 …, host, or None for the whole model. amount: bytes, or tokens, requests, a ratio, tokens/s, s, by `unit`.
    printed: figure and unit as the source wrote them, which bound what can be compared."""

    part: str
    device: str | None
    amount: float
    unit: str
    printed: str


@dataclass(frozen=True, slots=True)
class Conditions:
    """How a speed was measured; None and empty text: the source does not say. Lengths are tokens of one request.

    users: requests at the same time. depth_tokens: what the cache holds when the measured decoding begins; start_tokens:
    before the measured prompt. weights_bytes: size of the weights file. speculation, offload: in the source's words.
    """

    users: int | None = None
    prompt_tokens: int | None = None
    output_tokens: int | None = None
    depth_tokens: int | None = None
    start_tokens: int | None = None
    weights_bytes: int | None = None
    host_bandwidth_bytes_per_s: float | None = None
    speculation: str = ""
    offload: str = ""


@dataclass(frozen=True, eq=False)
class Measurement:
    """What somebody measured: the question that it answers, the figures, and where they stand. task: memory or speed;
    a speed has conditions.

    scenario: parameters of the question as in a permalink, empty when the set-up is none that can be asked. split: `fit`
    (constants may be fitted on it) or `check` (never). group: measurements of one model, engine and source stay together
    in one split. compare: the observed parts that a calculation can be held against; why_not: why others, or all, can not.
    """

    id: str
    task: str
    split: str
    group: str
    engine: str
    engine_version: str
    model: str
    model_id: str | None
    attention: str
    weights_format: str
    device: str
    scenario: Mapping[str, str]
    observed: tuple[Observation, ...]
    comparable: bool
    compare: tuple[str, ...]
    why_not: tuple[str, ...]
    source: str
    date: str | None
    confidence: str
    note: str = ""
    conditions: Conditions | None = None
