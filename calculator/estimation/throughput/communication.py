"""What goes between devices in a step: all-reduces of tensor parallelism, boundaries of stages, experts' all-to-all
(formulas §7.4).

The time of NVLink and xGMI messages of a decode step is part of the calibrated cost of a layer; only slower links are
added there, and every link when a prompt is read. PURE.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from calculator.estimation.configuration import Configuration
from calculator.estimation.links import NETWORKS, PCIE_BYTES_PER_S, SLOTS, fast_link_of, pcie_bytes_per_s
from catalog.records import Link

ELEMENT_BYTES = 2
"""Hidden vectors travel in 16 bits [B]."""


@dataclass(frozen=True, slots=True)
class Links:
    """Messages of one copy. latency_s: fixed time of all messages of a step that the layer's cost does not contain.
    token_s, prompt_token_s: time per token in a decode step and in a prompt."""

    latency_s: Any = 0.0
    token_s: Any = 0.0
    prompt_token_s: Any = 0.0


def ring_all_reduce_s(message_bytes: float, ranks: int, link_bytes_per_s: float) -> float:
    """Time of one all-reduce over a ring without its latency: 2·m·(n − 1)/n ÷ BW [s].

    >>> round(ring_all_reduce_s(2**20, 8, 450e9) * 1e6, 2)
    4.08
    """
    return 2 * message_bytes * (ranks - 1) / ranks / link_bytes_per_s


def all_to_all_s(message_bytes: float, ranks: int, link_bytes_per_s: float) -> float:
    """Time of an all-to-all, all-gather or reduce-scatter without its latency: m·(n − 1)/n ÷ BW [s]."""
    return message_bytes * (ranks - 1) / ranks / link_bytes_per_s


def fast_link(c: Configuration) -> Link | None:
    """The link between the devices of one machine that is faster than the slot, None without one.

    A bridge joins two cards; more of them go through the slot, and all do where a slot is asked for.
    """
    if c.link in SLOTS:
        return None
    link = fast_link_of(c.accelerator, c.system)
    return None if link and "bridge" in link.kind and c.plan.tp > 2 else link


def slot_bytes_per_s(c: Configuration) -> float:
    """One direction of the slots: as asked, never more than the card's own; PCIe 4.0 where neither is known [B/s]."""
    known = [rate for rate in (SLOTS.get(c.link), pcie_bytes_per_s(c.accelerator.pcie)) if rate]
    return min(known, default=PCIE_BYTES_PER_S[4])


def links_of(c: Configuration, moe_layers: int) -> Links:
    """The messages of the configuration's plan; nothing on one device."""
    plan, width = c.plan, c.model.architecture.hidden_size
    if plan.tp == plan.pp == 1:
        return Links()
    latency = token = prompt = 0.0
    layers = c.model.architecture.layer_count
    message = float(width * ELEMENT_BYTES)
    if plan.tp > 1:
        fast = fast_link(c)
        crosses = plan.tp > max(plan.gpus_per_node, (c.system.scale_up_domain or 1) if c.system else 1)
        across = crosses and plan.tp > (c.accelerator.scale_up_domain or 1)
        speed = _speed(c, fast, across=across)
        each = 2 * layers * ring_all_reduce_s(message, plan.tp, speed)
        prompt += each
        if fast is None or across:
            token += each
            name = "speed_message_network" if across else "speed_message_pcie"
            latency += 2 * layers * c.constants[name].value * 1e-6
        if plan.ep > 1:
            experts = _experts_per_token(c)
            shared = 2 * moe_layers * all_to_all_s(experts * message, plan.ep, speed) / plan.tp
            prompt += shared
            token += shared if fast is None or across else 0.0
    if plan.pp > 1:
        speed = _speed(c, fast_link(c), across=plan.nodes > 1)
        name = "speed_message_network" if plan.nodes > 1 else "speed_message_pcie"
        boundary = (plan.pp - 1) * message / speed
        token += boundary
        prompt += boundary
        if c.engine.rules["speed"]["pipelined_decode"]:
            latency += (plan.pp - 1) * c.constants[name].value * 1e-6
    return Links(latency, token, prompt)


def _speed(c: Configuration, fast: Link | None, *, across: bool) -> float:
    """What a link really carries in one direction [B/s]."""
    if across:
        between = c.system.link_between if c.system else None
        if between is None and c.accelerator.unified:
            between = c.accelerator.link
        peak = NETWORKS.get(c.link) or (between.bandwidth_bytes_per_s if between else None)
        peak = peak or c.constants["speed_network_link"].value * 1e9
        return peak * c.constants["speed_link_network"].value
    if fast is not None and fast.bandwidth_bytes_per_s:
        return fast.bandwidth_bytes_per_s * c.constants["speed_link_fast"].value
    return slot_bytes_per_s(c) * c.constants["speed_link_pcie"].value


def _experts_per_token(c: Configuration) -> float:
    """Routed experts that a token goes to [1]."""
    for block in c.model.architecture.blocks:
        chosen = getattr(block.mlp, "experts_per_token", 0)
        if chosen:
            return float(chosen)
    return 0.0
