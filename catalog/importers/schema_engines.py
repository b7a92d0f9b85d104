"""The shape of the files of engines: facts for guides are free, the rules that the arithmetic reads are not."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from catalog.importers.schema_fields import (
    Capability,
    Count,
    Fraction,
    FreeForm,
    Head,
    Slug,
    Sources,
    Strict,
    Text,
)

CacheType = Literal[
    "bf16", "fp8", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl", "nvfp4", "q8", "q6", "q4", "int8_per_token_head",
    "fp8_per_token_head", "mlx-8bit", "mlx-4bit",
]  # fmt: skip


class Condition(Strict):
    """Which devices a row is about: all that is given must hold; capabilities only bind NVIDIA devices."""

    vendors: list[Text] | None = None
    kinds: list[Text] | None = None
    not_kinds: list[Text] | None = None
    families: list[Text] | None = None
    not_families: list[Text] | None = None
    architectures: list[Text] | None = None
    not_ids: list[Slug] | None = None
    min_compute_capability: Capability | None = None
    below_compute_capability: Capability | None = None
    note: Text | None = None


class DeviceRow(Condition):
    """Devices that the engine runs on, and the back end there. plugin: only with this package beside the engine."""

    backend: Literal["cuda", "rocm", "vulkan", "metal", "sycl", "cpu", "cann", "musa", "tpu", "hpu"]
    plugin: Text | None = None


class FormatRow(Condition):
    """Weights formats that it loads there, by family of formats or by id (`families` here are families of formats)."""

    ids: list[Slug] | None = None
    native_compute_capability: Capability | None = None


class Rack(Strict):
    step: Count
    domain: Count
    max_tensor: Count


class CountsToTry(Strict):
    """GPUs by kind of split; nodes_of_8: whole nodes, tensor parallel inside and pipeline across."""

    layer: list[Count] | None = None
    tensor: list[Count] | None = None
    nodes_of_8: list[Count] | None = None
    rack: Rack | None = None
    hosts: list[Count] | None = None


class PoolRatio(Strict):
    """Tokens of the window layers' pool per token of the others' pool, for all models and for some classes."""

    default: Fraction
    classes: dict[Text, Fraction] = {}


class OwnRunner(Strict):
    """Cells of a window in a runner that is not llama.cpp's: tokens beside the windows, windows of some classes."""

    window_slack: Count
    window_tokens: dict[Text, Count] = {}


class PaddedWidth(Strict):
    """Experts whose width is no multiple of `whole` are padded to `step`, and so is the hidden size, except on devices of
    the compute capabilities in hidden_kept_on."""

    formats: list[Text]
    whole: Count
    step: Count
    hidden_kept_on: list[Capability] = []


class VersionRules(Strict):
    """Rules that hold instead in versions up to and including `until`."""

    own_runner: OwnRunner | None = None
    graphs_in_budget: bool | None = None
    prints_blocks_over_groups: bool | None = None
    outputs_reserved: bool | None = None
    output_last: bool | None = None
    padded_expert_width: PaddedWidth | None = None


class ByVersion(Strict):
    until: Text
    rules: VersionRules


class ComputeRow(Strict):
    """Formats that the engine multiplies at a rate other than 16 bits: the first of `rates` that the device has."""

    families: list[Text] | None = None
    ids: list[Slug] | None = None
    backends: list[Text] | None = None
    rates: Annotated[list[Literal["int8", "fp8", "fp4"]], Field(min_length=1)]
    note: Text | None = None


class SpeedRules(Strict):
    """How the engine works through a step. prompt_chunk: which of its batch sizes a prompt is cut by. pipelined_decode:
    stages work on different requests at once. pipelined_prompt: stages work on different chunks of a prompt at once."""

    prompt_chunk: Literal["micro_batch", "batched"]
    pipelined_decode: bool
    pipelined_prompt: bool
    compute_rates: list[ComputeRow] = []


class Rules(Strict):
    family: Text
    built: bool
    version_default: Text
    family_version: Text
    classes_from: Slug | None = None
    constants_from: Slug | None = None
    by_version: list[ByVersion] | None = None
    backends: dict[str, Text]
    devices: Annotated[list[DeviceRow], Field(min_length=1)]
    format_families: Annotated[list[FormatRow], Field(min_length=1)]
    cache_types: Annotated[list[CacheType], Field(min_length=1)]
    cache_types_mla: list[CacheType] | None = None
    cache_types_mla_indexed: list[CacheType] | None = None
    cache_fast_types: list[CacheType] | None = None
    cache_min_compute_capability: dict[CacheType, Capability] | None = None
    cache_block: Count | None = None
    counts: CountsToTry
    max_gpus_layer_split: Count | None = None
    max_gpus_tensor_split: Count | None = None
    max_sequences: Count | None = None
    tensor_split_cache_types: list[CacheType] | None = None
    tensor_split_unsupported: list[Text] | None = None
    memory_share: Fraction | None = None
    free_memory_share: Fraction | None = None
    server_defaults: dict[str, Any] | list[dict[str, Any]]
    context_step: Count | None = None
    block_tokens: Count | None = None
    page_tokens: Count | None = None
    fit_margin_mib: Count | None = None
    fit_min_context: Count | None = None
    planner_reserve_mib: dict[str, Count] | None = None
    largest_capture: dict[str, Count] | None = None
    quantized_split_groups: dict[str, Count] | None = None
    offload: list[Text] | None = None
    padded_expert_width: PaddedWidth | None = None
    lookup_on_host: bool | None = None
    default_format: Text | None = None
    default_format_for_native: dict[str, Text] | None = None
    measured_classes: list[Text] | None = None
    state_pages: dict[CacheType, dict[Text, Count]] | None = None
    state_float32: dict[str, list[Text]] | None = None
    quantized_cache_batches: bool | None = None
    window_pool_ratio: PoolRatio | None = None
    state_pool_ratio: Fraction | None = None
    experts_on_host: bool | None = None
    one_gpu_first: bool | None = None
    one_request_types: list[Text] | None = None
    tensor_models: list[Text] | None = None
    pipeline_models: list[Text] | None = None
    same_modules: dict[Text, Text] | None = None
    extra_backends: dict[str, list[Text]] | None = None
    split_gguf_pull: bool | None = None
    speed: SpeedRules | None = None


class EngineEntry(Strict):
    id: Slug
    name: Text
    version: dict[str, str | None]
    licence: Text
    os: list[Text] = []
    named_only: bool = False
    rules: Rules | None = None
    platforms: FreeForm = {}
    weights: list[FreeForm] = []
    weights_by_platform: FreeForm = {}
    weights_source: Text | None = None
    kv_cache: FreeForm = {}
    parallelism: FreeForm = {}
    offload: FreeForm = {}
    sliding_window: Text | None = None
    speculative: FreeForm = {}
    architectures: FreeForm = {}
    defaults: FreeForm = {}
    env: list[Text] = []
    sources: Sources
    note: Text | None = None

    @model_validator(mode="after")
    def has_rules_unless_named_only(self) -> EngineEntry:
        if self.named_only == (self.rules is not None):
            raise ValueError("an engine has rules, or it is named_only")
        return self


class EngineFile(Head):
    kind: Literal["engine"]
    items: Annotated[list[EngineEntry], Field(min_length=1, max_length=1)]
