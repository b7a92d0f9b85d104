"""What each figure of speed is made of, as codes with factors for the wording: the multiplication behind it. PURE.

Nothing here is computed anew that a figure rests on: amounts come from the load, times from the speed itself.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from calculator.estimation.configuration import Configuration
from calculator.estimation.terms import Energy, Reason, Speed
from calculator.estimation.throughput.compute import compute_rate
from calculator.estimation.throughput.decode import own_requests, touched_share
from calculator.estimation.throughput.load import Load, load_of
from calculator.estimation.throughput.prefill import chunks_of, prompt_s
from calculator.estimation.throughput.rates import Rates, rates_of

LEAST_MS = 5e-4
"""Parts of a step below half a microsecond are left out of its explanation."""


@dataclass(frozen=True, slots=True)
class _Read:
    """What one step of one copy reads on a rank [B]: weights, cache with states, and both in host memory."""

    requests: float
    weights_bytes: float
    cache_bytes: float
    host_bytes: float


def _read(load: Load, users: float) -> _Read:
    requests = float(own_requests(load, max(users, float(load.copies))))
    touched = touched_share(load.routed_share, requests)
    host = load.host
    return _Read(
        requests=requests,
        weights_bytes=float(load.fixed_bytes + load.expert_bytes * touched),
        cache_bytes=float(requests / load.groups * (load.cache_bytes + load.state_bytes)),
        host_bytes=float(host.fixed_bytes + host.expert_bytes * touched + host.cache_bytes * requests),
    )


def grounds_of(c: Configuration, speed: Speed, energy: Energy | None) -> Mapping[str, tuple[Reason, ...]]:
    """For decode, prefill, first_token, request and energy: what the figure is made of, in reading order.

    A figure that does not exist has no entry.
    """
    load, rates = load_of(c), rates_of(c)
    out = {"decode": _decode(c, speed, load, rates)}
    if speed.ttft_ms and speed.prefill_tokens_per_s and speed.request_s:
        alone_ms = 1e3 * float(prompt_s(load, rates))
        out["prefill"] = _prefill(c, load, alone_ms)
        out["first_token"] = _first_token(c, speed, load, alone_ms)
        more = c.workload.output_tokens - 1
        whole = {"ttft_ms": speed.ttft_ms.value, "more": more, "tpot_ms": speed.tpot_ms.value}
        out["request"] = (Reason("answer_time", {**whole, "request_ms": 1e3 * speed.request_s.value}),)
    if energy and speed.served_output_tokens_per_s:
        out["energy"] = _energy(c, energy, speed.served_output_tokens_per_s.value)
    return out


def _decode(c: Configuration, speed: Speed, load: Load, rates: Rates) -> tuple[Reason, ...]:
    read, ms = _read(load, speed.decoding_users), speed.step_ms
    bandwidth, layers = float(load.bandwidth_bytes_per_s), c.model.architecture.layer_count
    devices = {"ranks": int(load.ranks), "stages": int(load.stages), "bandwidth": bandwidth}
    reached = c.offload.ram_bandwidth_bytes_per_s
    found = (
        (ms["weights"], Reason("step_weights", {"bytes": read.weights_bytes, "share": float(rates.weights), **devices, "ms": ms["weights"]})),
        (ms["cache"], Reason("step_cache" if read.requests == 1 else "step_cache_many", {"bytes": read.cache_bytes, "requests": read.requests, "ms": ms["cache"]})),
        (ms["compute"], Reason("step_compute", {"requests": read.requests, "ms": ms["compute"]})),
        (ms["interconnect"], Reason("step_links", {"ms": ms["interconnect"]})),
        (ms["host memory"], Reason("step_host_asked" if reached else "step_host", {"bytes": read.host_bytes, "bandwidth": float(load.host.reached_bytes_per_s), "ms": ms["host memory"]})),
        (ms["overhead"], Reason("step_overhead", {"layers": layers, "ms": ms["overhead"]})),
    )  # fmt: skip
    parts = tuple(reason for part, reason in found if part >= LEAST_MS)
    step: dict[str, float] = {"step_ms": sum(ms.values()), "tpot_ms": speed.tpot_ms.value}
    rate = speed.decode_tokens_per_s_per_user.value
    if c.workload.users == 1:
        last = Reason("step_one_user", {**step, "rate": rate})
    else:
        users = {"decoding": speed.decoding_users, "users": c.workload.users, "share": speed.prompt_share}
        last = Reason("step_many_users", {**step, **users, "rate": rate})
    return (*parts, last, *_range(c, speed))


def _range(c: Configuration, speed: Speed) -> tuple[Reason, ...]:
    """What the interval rests on: measured rows of this kind, and what widens it."""
    out = [
        Reason("speed_range_measured", {"cases": speed.cases})
        if speed.cases
        else Reason("speed_range_prior", {"engine": c.engine.name})
    ]
    if speed.step_ms["host memory"] >= LEAST_MS:
        out.append(Reason("speed_range_host", {}))
    if speed.step_ms["interconnect"] >= LEAST_MS:
        out.append(Reason("speed_range_links", {}))
    return tuple(out)


def _prefill(c: Configuration, load: Load, alone_ms: float) -> tuple[Reason, ...]:
    """The operations of the prompt against what the devices could do in that time."""
    devices = int(load.ranks * load.stages)
    flops = float(load.body_flops * load.prompt_tokens + load.head_flops + load.prompt_attention_flops)
    peak = devices * float(load.flops_per_s)
    work: dict[str, float | str] = {
        "tokens": float(load.prompt_tokens),
        "flops": flops,
        "ms": alone_ms,
        "gpus": devices,
        "peak": peak,
        "rate": compute_rate(c) or "fp16",
        "share": flops / peak / (alone_ms / 1e3),
    }
    out = [Reason("prompt_operations", work)]
    host_bytes = float(load.host.fixed_bytes + load.host.expert_bytes)
    if host_bytes:
        chunks = int(chunks_of(load))
        factors = {"bytes": host_bytes, "chunks": chunks, "bandwidth": float(load.host.link_bytes_per_s)}
        out.append(Reason("prompt_host_weights", factors))
    return tuple(out)


def _first_token(c: Configuration, speed: Speed, load: Load, alone_ms: float) -> tuple[Reason, ...]:
    assert speed.ttft_ms is not None
    out = [Reason("first_token_alone", {"tokens": float(load.prompt_tokens), "ms": alone_ms})]
    wait = speed.ttft_ms.value - alone_ms
    if c.workload.prefix_tokens:
        out.append(Reason("first_token_prefix", {"prefix": c.workload.prefix_tokens}))
    if c.workload.users > 1 and wait > LEAST_MS:
        out.append(Reason("first_token_wait", {"ms": wait, "users": c.workload.users}))
    return tuple(out)


def _energy(c: Configuration, energy: Energy, rate: float) -> tuple[Reason, ...]:
    each = {"gpus": c.count, "each": energy.watts_per_gpu, "watts": energy.watts}
    limit = {"limit": c.accelerator.tdp_w or 0.0}
    joules = {"watts": energy.watts, "rate": rate, "joules": energy.joules_per_output_token.value}
    known = c.accelerator.load_w_measured
    out = [Reason("power_measured" if known else "power_of_limit", {**each, **limit})]
    if not c.accelerator.unified:
        out.append(Reason("power_host", {"share": energy.watts / (c.count * energy.watts_per_gpu) - 1}))
    return (*out, Reason("energy_per_token", joules))
