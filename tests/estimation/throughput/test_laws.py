"""The laws of speed (methodology §11), over machines and workloads that hypothesis draws."""

from dataclasses import replace

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calculator.estimation.throughput import speed_of
from calculator.estimation.throughput.decode import floor_s, step_s
from calculator.estimation.throughput.load import load_of
from calculator.estimation.throughput.prefill import prompt_floor_s, prompt_s
from calculator.estimation.throughput.rates import rates_of
from calculator.estimation.throughput.serving import serve
from catalog.records import Link
from tests.estimation.asking import ask

MACHINES = [
    {"model": "llama-3.1-8b-instruct", "gpu": "rtx-4090"},
    {"model": "gpt-oss-120b", "gpu": "dgx-spark"},
    {"model": "gemma-3-27b-it", "gpu": "rtx-3090", "n": 2},
    {"model": "qwen3.6-35b-a3b", "gpu": "ryzen-ai-max-395-128", "backend": "vulkan"},
    {"model": "llama-3.3-70b-instruct", "gpu": "h100-sxm", "n": 4, "quant": "fp8"},
    {"model": "llama-3.3-70b-instruct", "gpu": "l40s", "n": 4, "quant": "awq-int4"},
    {"model": "deepseek-v3", "gpu": "h200-sxm", "n": 8},
    {"model": "deepseek-v3", "gpu": "h200-sxm", "n": 8, "ep": 8, "adp": 8},
    {"model": "kimi-k3", "gpu": "h100-sxm", "n": 32},
    {"model": "qwen3-30b-a3b", "gpu": "mac-m4-max-64", "engine": "mlx"},
    {"model": "mixtral-8x7b-instruct-v0.1", "gpu": "a100-sxm-80", "n": 2, "dp": 1},
    {"model": "gpt-oss-120b", "gpu": "rtx-4090", "offload": "experts"},
    {"model": "llama-3.3-70b-instruct", "gpu": "rtx-4090", "offload": "layers"},
]
machines = st.sampled_from(MACHINES)
users = st.integers(1, 600)
lengths = st.integers(1, 60_000)
laws = settings(max_examples=60, deadline=None)


def asked(machine, **more):
    """The configuration as it is estimated: offload settled, whatever the verdict."""
    return ask(**{**machine, **more}).estimate.configuration


def with_bandwidth(c, factor):
    device = c.accelerator
    faster = replace(device, bandwidth_bytes_per_s=device.bandwidth_bytes_per_s * factor)
    return replace(c, accelerator=faster)


def over_pcie(c):
    return c.plan.tp > 1 and load_of(c).links.latency_s > 0


@laws
@given(machines, users, lengths, st.floats(1.01, 4.0))
def test_more_bandwidth_is_never_slower(machine, number, context, factor):
    c = asked(machine)
    load, rates = load_of(c, context_tokens=context), rates_of(c)
    faster = replace(load, bandwidth_bytes_per_s=load.bandwidth_bytes_per_s * factor)
    assert step_s(faster, rates, float(number)) <= step_s(load, rates, float(number))
    if load.flops_per_s:
        assert prompt_s(faster, rates) <= prompt_s(load, rates)


@laws
@given(st.sampled_from([m for m in MACHINES if m.get("n", 1) > 1]), users, st.floats(1.1, 8.0))
def test_a_faster_link_is_never_slower(machine, number, factor):
    c = asked(machine)
    link = c.accelerator.link or Link("a link", 10e9)
    slow = replace(c, accelerator=replace(c.accelerator, link=link))
    fast = replace(link, bandwidth_bytes_per_s=link.bandwidth_bytes_per_s * factor)
    quick = replace(c, accelerator=replace(c.accelerator, link=fast))
    before, after = (serve(load_of(own), rates_of(c), float(number)) for own in (slow, quick))
    assert after.tpot_s <= before.tpot_s * (1 + 1e-9)
    assert after.ttft_s <= before.ttft_s * (1 + 1e-9)


@laws
@given(machines, users, st.floats(0.3, 0.99))
def test_fewer_bytes_are_never_slower_within_a_kernel_class(machine, number, share):
    c = asked(machine)
    load, rates = load_of(c), rates_of(c)
    smaller = replace(load, fixed_bytes=load.fixed_bytes * share, expert_bytes=load.expert_bytes * share)
    assert step_s(smaller, rates, float(number)) <= step_s(load, rates, float(number))
    assert prompt_s(smaller, rates) <= prompt_s(load, rates)


def test_fewer_bits_are_never_slower_in_one_family():
    speeds = [
        speed_of(asked({"model": "llama-3.1-8b-instruct", "gpu": "rtx-4090", "quant": name}))
        for name in ("q8_0", "q6_k", "q5_k_m", "q4_k_m")
    ]
    rates = [speed.decode_tokens_per_s_per_user.value for speed in speeds]
    assert rates == sorted(rates)


@laws
@given(machines, st.integers(1, 300), st.integers(1, 300), st.integers(16, 20_000), st.integers(2, 2000))
def test_more_users_never_raise_the_speed_per_user(machine, number, more, prompt, output):
    c = asked(machine, prompt=prompt, output=output, ctx=32_768)
    load, rates = load_of(c), rates_of(c)
    few, many = serve(load, rates, float(number)), serve(load, rates, float(number + more))
    assert many.tpot_s >= few.tpot_s * (1 - 1e-4)
    assert many.ttft_s >= few.ttft_s * (1 - 1e-4)


@laws
@given(machines, st.integers(1, 300), st.integers(1, 300), lengths)
def test_more_users_never_lower_the_pure_decode_rate(machine, number, more, context):
    c = asked(machine)
    if over_pcie(c):
        return  # the law excepts tensor parallelism over PCIe
    load, rates = load_of(c, context_tokens=context), rates_of(c)
    few = number / step_s(load, rates, float(number))
    many = (number + more) / step_s(load, rates, float(number + more))
    assert many >= few * (1 - 1e-9)


@laws
@given(machines, users, st.integers(1, 20_000), st.integers(1, 2000))
def test_served_output_never_exceeds_the_decode_rate(machine, number, prompt, output):
    c = asked(machine, prompt=prompt, output=output, ctx=32_768)
    served = serve(load_of(c), rates_of(c), float(number))
    assert served.output_tokens_per_s <= served.decode_tokens_per_s * (1 + 1e-3)


@laws
@given(machines, users, st.integers(1, 20_000), st.integers(1, 2000))
def test_no_figure_is_above_the_roofline(machine, number, prompt, output):
    c = asked(machine, prompt=prompt, output=output, ctx=32_768, users=number)
    speed, load = speed_of(c), load_of(c)
    step = floor_s(load, float(number))
    assert speed.decode_tokens_per_s_total.high <= number / step * (1 + 1e-9)
    assert speed.served_output_tokens_per_s.high <= number / step * (1 + 1e-9)
    assert speed.prefill_tokens_per_s.high <= load.prompt_tokens / prompt_floor_s(load) * (1 + 1e-9)
    assert speed.ttft_ms.low / 1e3 >= prompt_floor_s(load) * (1 - 1e-9)


@laws
@given(st.sampled_from(MACHINES[-2:]), st.integers(1, 20_000))
def test_the_first_token_waits_for_what_is_in_host_memory(machine, prompt):
    c = asked(machine, prompt=prompt, output=100, ctx=32_768)
    host = load_of(c).host
    assert host.fixed_bytes + host.expert_bytes > 0
    outside_s = (host.fixed_bytes + host.expert_bytes) / host.link_bytes_per_s
    assert speed_of(c).ttft_ms.low / 1e3 >= outside_s * (1 - 1e-9)


@laws
@given(machines, users, st.integers(1, 100_000), st.integers(1, 100_000))
def test_a_longer_context_is_never_faster(machine, number, context, more):
    c = asked(machine)
    rates = rates_of(c)
    short, long = (load_of(c, context_tokens=n) for n in (context, context + more))
    assert step_s(long, rates, float(number)) >= step_s(short, rates, float(number))


@laws
@given(machines, st.integers(1, 30_000), st.integers(1, 30_000))
def test_a_longer_prompt_never_ends_earlier(machine, prompt, more):
    c = asked(machine)
    rates = rates_of(c)
    short, long = (load_of(c, prompt_tokens=n, start_tokens=0) for n in (prompt, prompt + more))
    assert prompt_s(long, rates) >= prompt_s(short, rates) * (1 - 1e-9)


@pytest.mark.parametrize("machine", MACHINES)
def test_speed_is_there_exactly_where_it_runs(machine):
    for ctx in (1024, 131_072, 4_000_000):
        answer = ask(**machine, ctx=ctx)
        assert (answer.estimate.speed is not None) == (answer.verdict in ("fits", "tight", "offload"))
