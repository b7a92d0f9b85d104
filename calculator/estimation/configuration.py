"""One configuration: what a Scenario means once the catalogue was asked and every `auto` was settled.

Memory, speed, power and price all read this one object. PURE.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from dataclasses import field as default
from functools import cached_property
from typing import TYPE_CHECKING, Any, Literal

from catalog.records import Accelerator, Constant, Engine, LanguageModel, PublishedFile, System, WeightsFormat

if TYPE_CHECKING:
    from calculator.estimation.economics.inputs import Money

Split = Literal["single", "tensor", "layer"]


@dataclass(frozen=True, slots=True)
class Choice:
    """Something that was settled for the visitor: which field, which value, and why (a code for the wording)."""

    field: str
    value: str | int
    code: str
    factors: Mapping[str, int | float | str] = default(default_factory=dict)


@dataclass(frozen=True, slots=True)
class Plan:
    """How the model is laid over the GPUs: tensor parallel × pipeline (or layer split) × whole replicas.

    tp: devices that share one stage. adp: attention data parallel groups among them. ep: ranks that routed experts are
    spread over, 1 without expert parallelism. dcp: ways that a request's cache is divided among tensor ranks.

    layers_per_stage: layers of each stage in order. split: `single` for one GPU, `tensor` when tp > 1 or pp across
    nodes, `layer` for llama.cpp's layer split.
    """

    split: Split = "single"
    tp: int = 1
    pp: int = 1
    ep: int = 1
    adp: int = 1
    dcp: int = 1
    dp: int = 1
    nodes: int = 1
    gpus_per_node: int = 1
    layers_per_stage: tuple[int, ...] = ()
    host_layers: int = 0
    output_on_host: bool = False
    host_expert_layers: int = 0

    @property
    def layers_on_host(self) -> bool:
        """Whole layers, or the head, stay in host memory."""
        return self.host_layers > 0 or self.output_on_host

    @property
    def gpus(self) -> int:
        """Devices the plan takes: tensor width × stages × whole replicas."""
        return self.tp * self.pp * self.dp

    @property
    def attention_ranks(self) -> int:
        """Ways that attention is divided: with attention data parallelism each group holds it for its own requests."""
        return max(1, self.tp // self.adp)

    @property
    def request_groups(self) -> int:
        """Groups that requests are spread over: replicas × attention data parallel groups."""
        return self.dp * self.adp


@dataclass(frozen=True, slots=True)
class Workload:
    """What is asked of the machine: tokens held per request, requests at once, lengths of prompt and answer [tokens]."""

    context_tokens: int
    users: int
    prompt_tokens: int
    output_tokens: int
    prefix_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Knobs:
    """The engine's settings, resolved: never None where the engine has the knob.

    memory_share: share of the device that a server may take. max_sequences: most requests at once the server prepares
    for, None for the users in question (the command prints it). batched_tokens: most tokens of one forward pass. micro_batch: llama.cpp's n_ubatch. longest_request: the
    server's longest request, None for the context in question [tokens]. drafted_tokens: speculative tokens per step of
    the model's own multi-token prediction, 0 without speculation.
    """

    memory_share: float = 0.92
    max_sequences: int | None = None
    batched_tokens: int = 2048
    micro_batch: int = 512
    flash_attention: bool = True
    eager: bool = False
    longest_request: int | None = None
    vision: bool = False
    drafted_tokens: int = 0


@dataclass(frozen=True, slots=True)
class Platform:
    """The operating system around the engine and what it leaves. wired_gb, vgm_gb: limits the owner has set."""

    os: str = "linux"
    display: bool = False
    wired_gb: float | None = None
    vgm_gb: float | None = None


@dataclass(frozen=True, slots=True)
class Offload:
    """What may stay in host memory. kind: none, auto, layers, experts. gpu_layers, host_expert_layers: as asked, None for
    as many on the GPU as fit. ram_bytes: the host's memory, None where it is not looked at.
    ram_bandwidth_bytes_per_s: its theoretical bandwidth, None for the usual one of the machine."""

    kind: str = "none"
    gpu_layers: int | None = None
    host_expert_layers: int | None = None
    ram_bytes: int | None = None
    ram_bandwidth_bytes_per_s: float | None = None


class Machine(tuple[object, ...]):  # noqa: SLOT001 - the hash is kept beside the tuple
    """Everything of a configuration but its workload, as a key: its hash is worked out once, for many look-ups."""

    @cached_property
    def _hash(self) -> int:
        return super().__hash__()

    def __hash__(self) -> int:
        return self._hash


@dataclass(frozen=True, eq=False)
class Configuration:
    """Everything the arithmetic needs, as records and plain values; made by calculator/resolve.py.

    cards: one accelerator per stage when they are unequal (the plan's order), else empty. constants: calibrated numbers by name for this engine and version. widened: the engine version lies outside the
    versions they were measured on (formulas §10: widths × 1.5). link: the connection asked for (estimation/links.py). measured: a load of this model class was measured on
    this engine. file: an exact published file of this model in this format. money: prices and hours of this machine.
    """

    model: LanguageModel
    accelerator: Accelerator
    count: int
    engine: Engine
    engine_version: str
    backend: str
    weights_format: WeightsFormat
    cache_type: str
    plan: Plan
    workload: Workload
    knobs: Knobs
    platform: Platform
    constants: Mapping[str, Constant]
    cards: tuple[Accelerator, ...] = ()
    offload: Offload = Offload()
    link: str = "auto"
    file: PublishedFile | None = None
    system: System | None = None
    system_count: int = 0
    measured: bool = True
    class_listed: bool = True
    widened: bool = False
    measured_versions: tuple[str, str] = ("", "")
    choices: tuple[Choice, ...] = ()
    money: Money | None = None

    @cached_property
    def machine(self) -> Machine:
        """Everything but the workload: configurations that agree in it need the same for the same context and users."""
        return Machine(
            (
                self.model,
                self.accelerator,
                self.count,
                self.engine,
                self.engine_version,
                self.backend,
                self.weights_format,
                self.cache_type,
                self.plan,
                self.knobs,
                self.platform,
                self.cards,
                self.offload,
                self.link,
                self.system,
            )
        )

    def with_(self, **fields: Any) -> Configuration:
        """`dataclasses.replace`, in a fifth of the time: for searches that make many of them."""
        moved = object.__new__(Configuration)
        moved.__dict__.update(self.__dict__)
        moved.__dict__.pop("machine", None)
        moved.__dict__.update(fields)
        return moved

    def at(self, workload: Workload) -> Configuration:
        """The same machine with another workload."""
        moved = object.__new__(Configuration)
        moved.__dict__.update(self.__dict__)
        moved.__dict__["workload"] = workload
        return moved

    def one_copy(self) -> Configuration:
        """The same on one unsharded device: what one request costs on one copy."""
        if self.plan.gpus == 1:
            return self
        layers = (self.model.architecture.layer_count,)
        return replace(self, count=1, plan=Plan(layers_per_stage=layers))


@dataclass(frozen=True, slots=True)
class Keyed:
    """A configuration compared by `key` alone: for functions that remember what only the key decides."""

    key: tuple[object, ...]
    configuration: Configuration = default(compare=False)
