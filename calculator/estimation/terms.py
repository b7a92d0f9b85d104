"""The answer in numbers: terms with their interval and origin, reasons, and the Estimate that holds them all.

No sentence is written here: a `Term` or `Reason` carries a code and its factors, and calculator/web/wording.py makes the
words. PURE.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal, NamedTuple

from calculator.estimation.configuration import Configuration

Basis = Literal["exact", "published", "rule", "calibrated", "market"]
Verdict = Literal["fits", "tight", "offload", "does_not_fit", "unsupported"]
Factor = int | float | str

PART_ORDER = (
    "weights",
    "kv_cache",
    "index_cache",
    "recurrent_state",
    "activations",
    "graphs",
    "communication",
    "context",
    "vision",
    "draft",
)
"""Every part of memory, in the order of drawing and of the API."""


class Interval(NamedTuple):
    """A value with its central 90 % interval; low = high = value when it is exact.

    Named tuples where thousands are made for one answer: a frozen dataclass takes three times as long to make.
    """

    value: float
    low: float
    high: float

    @property
    def exact(self) -> bool:
        return self.low == self.value == self.high


@dataclass(frozen=True, slots=True)
class Reason:
    """Why a verdict is what it is, or why something was chosen: a code and what its wording needs."""

    code: str
    factors: Mapping[str, Factor]


class Term(NamedTuple):
    """One term of the sum on the fullest GPU [B], with its 90 % interval.

    factors: the multiplication that gave it, by name. source: the section or file that it comes from.
    """

    code: str
    value: int
    low: float
    high: float
    basis: Basis
    factors: Mapping[str, Factor]
    source: str = ""


@dataclass(frozen=True, slots=True)
class Part:
    """One part of memory: on the fullest GPU with interval, and summed over all GPUs [B].

    terms: what it is made of, largest first; a part of one term repeats it.
    """

    name: str
    total_bytes: int
    per_gpu_bytes: int
    low_bytes: float
    high_bytes: float
    basis: Basis
    terms: tuple[Term, ...]


@dataclass(frozen=True, slots=True)
class GpuLoad:
    """`gpus` devices that hold the same: one pipeline stage or one share of a layer split [B]."""

    stage: int
    gpus: int
    first_layer: int
    layers: int
    needed_bytes: Interval
    parts: Mapping[str, int]


@dataclass(frozen=True, slots=True)
class Limit:
    """What the engine may take of one device [B]: the base of headroom, utilisation and verdict.

    usable: with the platform's interval. physical_bytes: all of it, as the driver reports. margin_bytes: what must stay
    free for an outright `fits` (llama.cpp keeps 1024 MiB). rule: the reason of the limit, in a code.
    """

    usable: Interval
    physical_bytes: int
    margin_bytes: int
    rule: Reason


@dataclass(frozen=True, slots=True)
class Memory:
    """The memory of one configuration [B].

    needed: the value on the fullest GPU; low and high are the largest of any GPU, for a less full one may be less sure.
    occupied_bytes: what nvidia-smi will show.
    """

    parts: tuple[Part, ...]
    needed: Interval
    total_bytes: int
    occupied_bytes: int
    limit: Limit
    host_bytes: int
    gpus: tuple[GpuLoad, ...]
    fullest: int

    @property
    def headroom_bytes(self) -> int:
        """Usable minus needed on the fullest GPU; negative when it is short [B]."""
        return int(self.limit.usable.value - self.needed.value)

    @property
    def utilisation(self) -> float:
        """Needed ÷ usable on the fullest GPU [1]."""
        return self.needed.value / self.limit.usable.value if self.limit.usable.value else float("inf")


@dataclass(frozen=True, slots=True)
class CacheGroup:
    """Layers that cache alike: what they add per token or per request on one unsharded copy [B].

    kind: gqa, mla, window, chunk, index, state kinds … window_tokens: cells kept at most, None for all.
    """

    kind: str
    layers: int
    bytes_per_token: int
    bytes_per_request: int
    window_tokens: int | None
    factors: Mapping[str, Factor]


@dataclass(frozen=True, slots=True)
class Cache:
    """The cache of one request on one unsharded copy [B].

    bytes_per_token: of all layers that grow without a window, index keys included. state_bytes_per_request: fixed
    states without the engine's padding. bytes_per_request: what the engine reserves for `context_tokens`, rounding
    included.
    """

    bytes_per_token: int
    index_bytes_per_token: int
    state_bytes_per_request: int
    bytes_per_request: int
    groups: tuple[CacheGroup, ...]


@dataclass(frozen=True, slots=True)
class Capacity:
    """Largest values whose verdict is `fits` or `tight` (max_*), and `fits` (max_*_fits); 0 when not even 1 fits."""

    max_context_tokens: int
    max_users: int
    max_context_fits_tokens: int
    max_users_fits: int


BoundBy = Literal["weights", "cache", "compute", "interconnect", "host memory", "overhead"]
"""What a decode step spends most of its time on."""

BOUNDS: tuple[BoundBy, ...] = ("weights", "cache", "compute", "interconnect", "host memory", "overhead")


@dataclass(frozen=True, slots=True)
class Speed:
    """The speed of one configuration, each figure with its central 90 % interval (formulas §7.5).

    decode_tokens_per_s_per_user: what one user sees, prompts of the others included. decode_tokens_per_s_total: the pure
    decode rate of all users, no prompts inside. served_output_tokens_per_s: generated tokens of all users, prompts
    included. prefill_tokens_per_s: one prompt on an idle machine. request_s: a whole request. decoding_users: those that
    decode at a time, the others wait. step_ms: a decode step by what it is spent on. cases: measured rows behind the
    interval. prompt_share: share of the time that prompts are read. The figures of a prompt are None where the device's compute rate is unknown.
    """

    decode_tokens_per_s_per_user: Interval
    decode_tokens_per_s_total: Interval
    served_output_tokens_per_s: Interval | None
    prefill_tokens_per_s: Interval | None
    ttft_ms: Interval | None
    tpot_ms: Interval
    request_s: Interval | None
    bound_by: BoundBy
    decoding_users: float
    step_ms: Mapping[BoundBy, float]
    cases: int | None
    prompt_share: float = 0.0


@dataclass(frozen=True, slots=True)
class Energy:
    """Power under this load, and energy per generated token, of the machine itself (formulas §9).

    watts: all devices with their share of the host. joules_per_output_token: watts ÷ served output rate, without PUE.
    watts_per_gpu: one device. watts_low, watts_high bound the central 90 %.
    """

    watts: float
    watts_low: float
    watts_high: float
    watts_per_gpu: float
    idle_watts: float | None
    joules_per_output_token: Interval


@dataclass(frozen=True, slots=True)
class Speculation:
    """What multi-token prediction or a draft model may gain; never part of the default figures (formulas §7.6).

    tokens_per_step: expected accepted tokens of a step. ceiling: the gain if verifying cost nothing more than a step
    reads. gain: measured gains, with their range. decode_tokens_per_s_per_user: with the gain.
    """

    drafted_tokens: int
    acceptance: float
    tokens_per_step: float
    ceiling: float
    gain: Interval
    decode_tokens_per_s_per_user: Interval


@dataclass(frozen=True, slots=True)
class Estimate:
    """The answer to one Configuration. memory, cache and capacity are None where they cannot be computed, speed and energy
    also where it does not fit or a figure of the device is missing (speed_reasons says which)."""

    configuration: Configuration
    verdict: Verdict
    reasons: tuple[Reason, ...]
    memory: Memory | None
    cache: Cache | None
    capacity: Capacity | None
    speed: Speed | None = None
    energy: Energy | None = None
    speed_reasons: tuple[Reason, ...] = ()


@dataclass(frozen=True, slots=True)
class MemoryCurve:
    """Needed bytes of the fullest GPU against context, one line per cache type, and where each meets the limit."""

    cache_type: str
    context_tokens: tuple[int, ...]
    needed_bytes: tuple[int, ...]
    low_bytes: tuple[int, ...]
    high_bytes: tuple[int, ...]
    max_context_tokens: int
