"""What one step and one prompt cost in amounts, before any rate: bytes, operations, layers, messages.

A `Load` belongs to one configuration and one workload; every amount may be an array over contexts or configurations. PURE.
"""

from __future__ import annotations

from dataclasses import dataclass
from functools import lru_cache
from typing import Any

from calculator.estimation.configuration import Configuration, Keyed
from calculator.estimation.numbers import least
from calculator.estimation.throughput.communication import Links, links_of
from calculator.estimation.throughput.compute import peak_flops_per_s, sixteen_bit_flops_per_s
from calculator.estimation.throughput.offload import Host, host_of
from calculator.estimation.throughput.reads import Reads

CPU_FLOPS = "speed_cpu_flops"
"""The constant that stands for the compute rate of a processor, which no catalogue gives."""


@dataclass(frozen=True, slots=True)
class Load:
    """One copy of the model under one workload.

    bandwidth_bytes_per_s, flops_per_s, sixteen_bit_flops_per_s: peaks of one device; the rates are None when unknown.
    fixed_bytes, expert_bytes: weights on one rank; routed_share: k ÷ E. cache_bytes, state_bytes: of one request on one
    rank. attention_flops: one new token. body_flops, head_flops: per token. prompt_attention_flops: the whole prompt.
    ranks: tensor-parallel devices; groups: attention data parallel ones among them; copies: replicas; stages: pipeline
    or layer split; interleaved: requests that a step is divided by, as stages work on different ones.
    """

    bandwidth_bytes_per_s: Any
    flops_per_s: Any
    sixteen_bit_flops_per_s: Any
    dense_layers: Any
    moe_layers: Any
    recurrent_layers: Any
    latent_layers: Any
    fixed_bytes: Any
    expert_bytes: Any
    routed_share: Any
    cache_bytes: Any
    state_bytes: Any
    attention_flops: Any
    body_flops: Any
    head_flops: Any
    prompt_tokens: Any
    output_tokens: Any
    prompt_attention_flops: Any
    chunk_tokens: Any
    ranks: Any
    groups: Any
    copies: Any
    stages: Any
    interleaved: Any
    pipelined: Any
    links: Links
    host: Host


@dataclass(frozen=True, eq=False)
class Machine:
    """What a configuration's machine brings to every load, whatever the workload. flops_per_s, sixteen_bit_flops_per_s:
    None when no compute rate is known."""

    reads: Reads
    links: Links
    flops_per_s: float | None
    sixteen_bit_flops_per_s: float | None


def machine_of(c: Configuration, reads: Reads | None = None) -> Machine:
    """The machine of a configuration; `reads` in place of the catalogue's own weights."""
    reads = reads or Reads(c)
    links = links_of(c, reads.layer_kinds[1])
    if c.accelerator.kind == "cpu":
        flops = c.constants[CPU_FLOPS].value
        return Machine(reads, links, flops, flops)
    return Machine(reads, links, peak_flops_per_s(c), sixteen_bit_flops_per_s(c.accelerator))


@lru_cache(maxsize=4096)
def _remembered(machine: Keyed) -> Machine:
    return machine_of(machine.configuration)


def remembered_machine(c: Configuration) -> Machine:
    """The machine with what it has worked out before, while the workload moves."""
    return _remembered(Keyed(c.machine, c))


def load_of(
    c: Configuration,
    *,
    context_tokens: Any = None,
    prompt_tokens: Any = None,
    start_tokens: Any = None,
    machine: Machine | None = None,
) -> Load:
    """The amounts of a configuration at its workload; each length may be given instead, as a number or an array.

    context_tokens: tokens in the cache while decoding, by default the prompt and half of the answer. start_tokens: what
    the cache holds before the prompt (then all of the prompt is new), by default the shared prefix.
    """
    machine = machine or remembered_machine(c)
    reads, work, plan, rules = machine.reads, c.workload, c.plan, c.engine.rules["speed"]
    prompt = work.prompt_tokens if prompt_tokens is None else prompt_tokens
    held = prompt + work.output_tokens / 2 if context_tokens is None else context_tokens
    before = least(work.prefix_tokens, prompt - 1) if start_tokens is None else start_tokens
    new = prompt - before if start_tokens is None else prompt
    dense, moe, recurrent, latent = reads.layer_kinds
    chunk = c.knobs.micro_batch if rules["prompt_chunk"] == "micro_batch" else c.knobs.batched_tokens
    return Load(
        bandwidth_bytes_per_s=c.accelerator.bandwidth_bytes_per_s,
        flops_per_s=machine.flops_per_s,
        sixteen_bit_flops_per_s=machine.sixteen_bit_flops_per_s,
        dense_layers=dense,
        moe_layers=moe,
        recurrent_layers=recurrent,
        latent_layers=latent,
        fixed_bytes=reads.fixed_bytes,
        expert_bytes=reads.expert_bytes,
        routed_share=reads.routed_share,
        cache_bytes=reads.cache_bytes(held),
        state_bytes=reads.state_bytes,
        attention_flops=reads.attention_flops(held),
        body_flops=reads.body_flops,
        head_flops=reads.head_flops,
        prompt_tokens=new,
        output_tokens=work.output_tokens,
        prompt_attention_flops=reads.prompt_attention_flops(new, before),
        chunk_tokens=chunk,
        ranks=plan.tp,
        groups=plan.adp,
        copies=plan.dp,
        stages=plan.pp,
        interleaved=plan.pp if rules["pipelined_decode"] else 1,
        pipelined=1 if rules["pipelined_prompt"] else 0,
        links=machine.links,
        host=host_of(c, reads, held),
    )
