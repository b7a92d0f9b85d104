"""The time to read a prompt (formulas §7.3). Every argument may be an array. PURE."""

from __future__ import annotations

from typing import Any

from calculator.estimation.numbers import ceil, least, most
from calculator.estimation.throughput.decode import touched_share
from calculator.estimation.throughput.load import Load
from calculator.estimation.throughput.offload import prompt_host_s
from calculator.estimation.throughput.rates import Rates


def chunks_of(load: Load, prompts: Any = 1) -> Any:
    """Forward passes that `prompts` prompts read together take [1]."""
    return ceil(load.prompt_tokens * prompts / load.chunk_tokens)


def pipeline_gain(load: Load, rates: Rates, chunks: Any) -> Any:
    """How many times faster stages work that take different chunks of one prompt: (n·c/(c + n − 1))^x, 1 for one [1].

    n stages, c chunks, of which the last may be a part of one; the exponent x is calibrated.
    """
    stages = load.stages
    ideal = stages * chunks / (chunks + stages - 1)
    return most(ideal, 1.0) ** (rates.prompt_pipeline * load.pipelined)


def prompt_work_s(load: Load, rates: Rates, prompts: Any = 1) -> Any:
    """The GPU time of `prompts` prompts that are read together, without the base of a request [s].

    Weights are read once per chunk, of the experts those that a chunk touches.
    """
    chunks = chunks_of(load, prompts)
    tokens = load.prompt_tokens * prompts
    touched = touched_share(load.routed_share, least(tokens, load.chunk_tokens))
    read = load.fixed_bytes + load.expert_bytes * touched / rates.experts
    weights = chunks * read / (rates.weights * load.bandwidth_bytes_per_s)
    layers = load.dense_layers + load.moe_layers
    fixed = chunks * layers * rates.prompt_layer_s
    flops = (load.body_flops * tokens + load.head_flops * prompts) / load.ranks
    compute = flops / (rates.compute * load.flops_per_s)
    attention = prompts * load.prompt_attention_flops / load.ranks
    attention = attention / (rates.prompt_attention * load.sixteen_bit_flops_per_s)
    links = tokens * load.links.prompt_token_s
    gain = pipeline_gain(load, rates, most(tokens / load.chunk_tokens, 1.0))
    work = (weights + fixed + compute + attention) / gain + links
    return work + prompt_host_s(load.host, chunks)


def prompt_floor_s(load: Load) -> Any:
    """No prompt is read faster than its operations at the peak rates of all devices allow [s]."""
    flops = load.body_flops * load.prompt_tokens + load.head_flops
    return flops / (load.ranks * load.stages * load.flops_per_s)


def prompt_s(load: Load, rates: Rates, prompts: Any = 1) -> Any:
    """The time from a request on an idle machine to the end of its prompt [s]."""
    return most(rates.prompt_base_s + prompt_work_s(load, rates, prompts), prompts * prompt_floor_s(load))
