"""Layers or experts in host memory: what the processor reads and computes, and what crosses the slot (formulas §6.5).

PURE.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from calculator.estimation.configuration import Configuration
from calculator.estimation.throughput.communication import ELEMENT_BYTES, slot_bytes_per_s
from calculator.estimation.throughput.reads import Reads

GIGABYTE = 1e9


@dataclass(frozen=True, slots=True)
class Host:
    """The part of one copy in host memory. fixed_bytes, expert_bytes, cache_bytes: as on the GPU. reached_bytes_per_s: what
    the processor reads. link_bytes_per_s: one direction of the slot. crossing_s: handing a token over and back in a step;
    crossing_bytes: per token."""

    fixed_bytes: Any = 0.0
    expert_bytes: Any = 0.0
    cache_bytes: Any = 0.0
    reached_bytes_per_s: Any = 1.0
    link_bytes_per_s: Any = 1.0
    crossing_s: Any = 0.0
    crossing_bytes: Any = 0.0


NO_HOST = Host()


def ram_bytes_per_s(channels: int, megatransfers_per_s: float) -> float:
    """Theoretical bandwidth of host memory: channels · MT/s · 8 B [B/s].

    >>> ram_bytes_per_s(2, 6000) / 1e9
    96.0
    """
    return channels * megatransfers_per_s * 1e6 * 8


def host_bandwidth_bytes_per_s(c: Configuration) -> float:
    """Theoretical bandwidth of the host's memory: as asked, the machine's, the device's own where memory is shared, else
    the usual of its kind [B/s]."""
    if c.offload.ram_bandwidth_bytes_per_s:
        return c.offload.ram_bandwidth_bytes_per_s
    if c.system and c.system.host_ram_bandwidth_bytes_per_s:
        return c.system.host_ram_bandwidth_bytes_per_s
    if c.accelerator.unified and c.accelerator.bandwidth_bytes_per_s:
        return c.accelerator.bandwidth_bytes_per_s
    kind = "server" if c.accelerator.kind == "datacenter" else "desktop"
    return c.constants[f"speed_ram_{kind}"].value * GIGABYTE


def host_link_bytes_per_s(c: Configuration) -> float:
    """One direction between host memory and the device [B/s]."""
    if c.accelerator.unified and c.accelerator.bandwidth_bytes_per_s:
        return c.accelerator.bandwidth_bytes_per_s
    return slot_bytes_per_s(c)


def host_of(c: Configuration, reads: Reads, context_tokens: Any) -> Host:
    """What is in host memory under this plan; nothing without offload."""
    if not (reads.host_fixed_bytes or reads.host_expert_bytes):
        return NO_HOST
    reached = host_bandwidth_bytes_per_s(c) * c.constants["speed_host"].value
    return Host(
        fixed_bytes=reads.host_fixed_bytes,
        expert_bytes=reads.host_expert_bytes,
        cache_bytes=reads.cache_bytes(context_tokens, host=True),
        reached_bytes_per_s=reached,
        link_bytes_per_s=host_link_bytes_per_s(c),
        crossing_s=reads.host_crossings * c.constants["speed_crossing"].value * 1e-6,
        crossing_bytes=reads.host_crossings * 2 * ELEMENT_BYTES * c.model.architecture.hidden_size,
    )


def decode_host_s(host: Host, touched: Any, requests: Any) -> Any:
    """Time of a decode step outside the GPUs: weights and cache read by the processor, hidden vectors over the slot [s]."""
    read = host.fixed_bytes + host.expert_bytes * touched + host.cache_bytes * requests
    crossing = host.crossing_s + requests * host.crossing_bytes / host.link_bytes_per_s
    return read / host.reached_bytes_per_s + crossing


def prompt_host_s(host: Host, chunks: Any) -> Any:
    """Time that host weights take to be copied to the GPU, once per chunk of a prompt (llama.cpp's op_offload) [s]."""
    return chunks * (host.fixed_bytes + host.expert_bytes) / host.link_bytes_per_s
