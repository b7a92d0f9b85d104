"""The time of one decode step (formulas §7.1). Every argument may be an array. PURE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from calculator.estimation.numbers import most
from calculator.estimation.throughput.load import Load
from calculator.estimation.throughput.offload import decode_host_s
from calculator.estimation.throughput.rates import Rates


@dataclass(frozen=True, slots=True)
class Step:
    """The parts of a decode step [s]."""

    overhead_s: Any
    weights_s: Any
    cache_s: Any
    compute_s: Any
    link_s: Any
    host_s: Any

    @property
    def total_s(self) -> Any:
        return self.overhead_s + self.weights_s + self.cache_s + self.compute_s + self.link_s + self.host_s


def touched_share(routed_share: Any, tokens: Any) -> Any:
    """Share of the routed experts that some tokens touch together: 1 − (1 − k/E)^B, 0 for a dense model [1]."""
    return 1.0 - (1.0 - routed_share) ** tokens


def own_requests(load: Load, users: Any) -> Any:
    """Requests in one step of one copy: users over replicas, and over stages that work on different ones [1]."""
    return most(users / load.copies / load.interleaved, least_requests(users))


def least_requests(users: Any) -> Any:
    """A step has a whole request at least [1]."""
    return users * 0 + 1.0


def layers_s(load: Load, rates: Rates) -> Any:
    """The fixed cost of all layers in a step [s]."""
    own = load.dense_layers * rates.dense_layer_s + load.moe_layers * rates.moe_layer_s
    tensor = (load.ranks > 1) * (load.dense_layers + load.moe_layers) * rates.tensor_layer_s
    special = load.recurrent_layers * rates.recurrent_layer_s + load.latent_layers * rates.latent_layer_s
    return own + special + tensor


def decode_step(load: Load, rates: Rates, users: Any) -> Step:
    """A step in which `users` requests each get a token, without prompts inside."""
    requests = own_requests(load, users)
    touched = touched_share(load.routed_share, requests)
    slowed = 1.0 + rates.hop * (load.stages / load.interleaved - 1.0)
    bandwidth = load.bandwidth_bytes_per_s
    experts = load.expert_bytes * touched / rates.experts
    weights = (load.fixed_bytes + experts) / (rates.weights * bandwidth)
    cached = requests / load.groups * (load.cache_bytes + load.state_bytes) / (rates.cache * bandwidth)
    compute = 0.0 * requests
    attention = 0.0 * requests
    if load.flops_per_s is not None:
        each = (load.body_flops + load.head_flops) / load.ranks
        compute = requests * each / (rates.compute * load.flops_per_s)
        attention = (
            requests * load.attention_flops / (load.ranks * rates.attention * load.sixteen_bit_flops_per_s)
        )
    return Step(
        overhead_s=(layers_s(load, rates) + rates.step_s + (requests - 1.0) * rates.request_s) * slowed,
        weights_s=weights * slowed,
        cache_s=(cached + attention) * slowed,
        compute_s=compute * slowed,
        link_s=load.links.latency_s + requests * load.links.token_s,
        host_s=decode_host_s(load.host, touched, requests),
    )


def floor_s(load: Load, users: Any) -> Any:
    """No step is shorter than its bytes at the peak bandwidth, nor than its operations at the peak rate [s]."""
    requests = own_requests(load, users)
    touched = touched_share(load.routed_share, requests)
    read = load.fixed_bytes + load.expert_bytes * touched + requests / load.groups * load.cache_bytes
    floor = read / load.bandwidth_bytes_per_s
    if load.flops_per_s is not None:
        each = (load.body_flops + load.head_flops) / load.ranks
        floor = most(floor, requests * each / load.flops_per_s)
    return floor


def step_s(load: Load, rates: Rates, users: Any) -> Any:
    """The time of a decode step, never below the physical floor [s]."""
    return most(decode_step(load, rates, users).total_s, floor_s(load, users))
