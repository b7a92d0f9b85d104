"""Steps, prompts and many users against the worked examples of the methodology (§6.5, §7)."""

from dataclasses import replace

import numpy as np
import pytest

from calculator.estimation.links import pcie_bytes_per_s
from calculator.estimation.throughput.communication import (
    all_to_all_s,
    fast_link,
    links_of,
    ring_all_reduce_s,
)
from calculator.estimation.throughput.decode import decode_step, floor_s, step_s
from calculator.estimation.throughput.load import load_of
from calculator.estimation.throughput.offload import ram_bytes_per_s
from calculator.estimation.throughput.prefill import chunks_of, pipeline_gain, prompt_s, prompt_work_s
from calculator.estimation.throughput.rates import rates_of
from calculator.estimation.throughput.serving import serve, time_at_prompts_s
from calculator.estimation.throughput.speculation import expected_tokens, gain_ceiling
from tests.estimation.asking import ask
from tests.estimation.throughput.structure import FREE, rates

LLAMA = {"model": "llama-3.1-8b-instruct"}
GEFORCE = rates(weights=0.83, cache=0.65, dense_layer_s=35e-6)
SERVER = rates(weights=0.95, cache=0.95, compute=0.45, dense_layer_s=70e-6)


def load(context_tokens, **query):
    return load_of(ask(**{**LLAMA, **query}).configuration, context_tokens=context_tokens)


@pytest.mark.parametrize(("context", "milliseconds"), [(128, 6.665), (8192, 8.278)])
def test_one_user_on_a_4090_w_7_2(context, milliseconds):
    step = step_s(load(context, gpu="rtx-4090", quant="q4_k_m"), GEFORCE, 1)
    assert step * 1e3 == pytest.approx(milliseconds, abs=0.001)


@pytest.mark.parametrize(("users", "milliseconds"), [(1, 7.074), (64, 14.512), (256, 37.179)])
def test_batches_on_an_h100_w_7_3(users, milliseconds):
    step = step_s(load(2048, gpu="h100-sxm", quant="bf16"), SERVER, users)
    assert step * 1e3 == pytest.approx(milliseconds, abs=0.001)


def test_a_prompt_on_a_4090_w_7_5():
    own = load_of(ask(**LLAMA, quant="q4_k_m").configuration, prompt_tokens=4096, start_tokens=0)
    structure = rates(weights=FREE, compute=0.24, prompt_attention=0.35)
    assert prompt_s(own, structure) * 1e3 == pytest.approx(436.7, abs=0.1)


def test_a_prompt_on_an_h100_w_7_5():
    own = load_of(
        ask(**LLAMA, gpu="h100-sxm", quant="bf16").configuration, prompt_tokens=4096, start_tokens=0
    )
    structure = rates(weights=FREE, compute=0.45, prompt_attention=0.45, prompt_base_s=0.055)
    assert prompt_s(own, structure) * 1e3 == pytest.approx(193.3, abs=0.1)


class TestManyUsersW77b:
    QUERY = {**LLAMA, "gpu": "h100-sxm", "quant": "bf16", "prompt": 2000, "output": 500, "ctx": 4096}

    @staticmethod
    def example():
        """The example counts the head for every token of the prompt, and leaves the weights that it reads out."""
        own = load_of(ask(**TestManyUsersW77b.QUERY).configuration)
        own = replace(own, body_flops=own.body_flops + own.head_flops, head_flops=0.0)
        weights_s = own.fixed_bytes / (0.95 * own.bandwidth_bytes_per_s)
        return own, replace(SERVER, weights=FREE, step_s=weights_s, prompt_base_s=0.055)

    def test_prompts_inside_the_time_per_token(self):
        own, structure = self.example()
        served = serve(own, structure, 32.0)
        assert served.ttft_s * 1e3 == pytest.approx(122.4, abs=0.05)
        assert served.decoding == pytest.approx(31.555, abs=0.001)
        assert served.step_s * 1e3 == pytest.approx(10.944, abs=0.001)
        assert served.tpot_s * 1e3 == pytest.approx(15.199, abs=0.001)
        assert served.output_tokens_per_s == pytest.approx(2076.1, abs=0.1)
        assert served.decode_tokens_per_s == pytest.approx(2883.2, abs=0.2)
        assert served.output_tokens_per_s / 500 == pytest.approx(4.1522, abs=0.0002)

    def test_without_a_prompt_both_rates_are_one(self):
        own = load_of(ask(**self.QUERY).configuration, context_tokens=250)
        assert 32 / step_s(own, SERVER, 32.0) == pytest.approx(3825.6, abs=0.1)


def test_littles_law_holds_exactly():
    own = load_of(ask(**TestManyUsersW77b.QUERY).configuration)
    served = serve(own, rates_of(ask(**TestManyUsersW77b.QUERY).configuration), 32.0)
    assert served.output_tokens_per_s / 500 * served.request_s == pytest.approx(32.0)


def test_a_queue_of_prompts_between_its_limits():
    assert time_at_prompts_s(0.1, 1, 5.0) == pytest.approx(0.1)
    assert time_at_prompts_s(0.1, 8, 1e9) == pytest.approx(0.1)
    assert time_at_prompts_s(0.1, 64, 1e-9) == pytest.approx(6.4)
    assert 0.1 < time_at_prompts_s(0.1, 8, 1.0) < 0.8


def test_all_reduce_of_a_decode_step_w_7_6():
    assert ring_all_reduce_s(2**20, 8, 450e9) * 1e6 == pytest.approx(4.08, abs=0.005)
    assert all_to_all_s(2**20, 8, 450e9) == pytest.approx(ring_all_reduce_s(2**20, 8, 450e9) / 2)


def test_a_cache_over_the_network_w_7_10():
    own = load(8192, gpu="h100-sxm", quant="bf16")
    assert own.cache_bytes / 50e9 * 1e3 == pytest.approx(21.5, abs=0.05)


def test_accepted_tokens_w_7_8_and_w_7_9():
    assert expected_tokens(0.8, 3) == pytest.approx(2.952)
    assert gain_ceiling(expected_tokens(0.8, 3), 3, 1.0, 0.05) == pytest.approx(2.567, abs=0.001)
    assert expected_tokens(0.85, 1) == pytest.approx(1.85)
    assert expected_tokens(1.0, 3) == 4.0


@pytest.mark.parametrize(("channels", "speed", "gb_s"), [(2, 6000, 96), (8, 4800, 307.2), (12, 6400, 614.4)])
def test_ram_bandwidth(channels, speed, gb_s):
    assert ram_bytes_per_s(channels, speed) / 1e9 == pytest.approx(gb_s)


class TestHostMemory:
    @staticmethod
    def host_s(gpu_bytes, host_bytes, ram_gb_s, layers, overhead_s):
        """A step with this much on each side, e 0.83 on 1008 GB/s and 0.27 of the RAM, no cache, nothing crossing."""
        query = {**LLAMA, "quant": "q8_0", "offload": "layers", "ngl": 16, "ram_bw": ram_gb_s}
        own = load_of(ask(**query).estimate.configuration, context_tokens=0)
        host = replace(own.host, fixed_bytes=host_bytes, expert_bytes=0.0, cache_bytes=0.0, crossing_s=0.0)
        host = replace(host, reached_bytes_per_s=0.27 * ram_gb_s * 1e9, crossing_bytes=0.0)
        own = replace(own, fixed_bytes=gpu_bytes, cache_bytes=0.0, dense_layers=layers, host=host)
        return step_s(own, rates(weights=0.83, dense_layer_s=overhead_s), 1)

    @pytest.mark.parametrize(("share", "tokens_per_s"), [(0.5, 6.26), (0.25, 4.27)])
    def test_layers_in_ram_w_6_1(self, share, tokens_per_s):
        whole = 7_974_764_800
        step = self.host_s(share * whole, (1 - share) * whole, 96, 32, 35e-6)
        assert 1 / step == pytest.approx(tokens_per_s, abs=0.005)

    def test_all_on_the_gpu_w_6_1(self):
        assert 1 / self.host_s(7_974_764_800, 0, 96, 32, 35e-6) == pytest.approx(93.9, abs=0.05)

    @pytest.mark.parametrize(("ram_gb_s", "tokens_per_s"), [(96, 12.9), (307.2, 37.1)])
    def test_experts_in_ram_w_6_2(self, ram_gb_s, tokens_per_s):
        step = self.host_s(1_844_921_088, 1_903_564_800, ram_gb_s, 36, 50e-6)
        assert 1 / step == pytest.approx(tokens_per_s, abs=0.05)

    def test_what_is_in_ram_is_counted_for_experts(self):
        query = {"model": "gpt-oss-120b", "gpu": "rtx-4090", "quant": "mxfp4_moe", "offload": "experts"}
        own = load_of(ask(**query, ncmoe=36).estimate.configuration)
        assert own.host.expert_bytes * own.routed_share == pytest.approx(1_903_564_800, rel=0.001)
        assert own.expert_bytes == 0


def test_chunks_and_stages_of_a_prompt():
    two = load_of(ask(**LLAMA, n=4, split="layer", quant="q8_0", prompt=4096, ctx=8192).configuration)
    assert chunks_of(two) == 8
    assert pipeline_gain(two, rates(), 8) == pytest.approx(4 * 8 / 11)
    alone = load_of(ask(**LLAMA, quant="q8_0", prompt=4096, ctx=8192).configuration)
    assert pipeline_gain(alone, rates(), 8) == 1


def test_slots_and_links():
    assert pcie_bytes_per_s("PCIe 4.0 x16") == 31.5e9
    assert pcie_bytes_per_s("PCIe 3.0 x8") == 15.75e9 / 2
    assert pcie_bytes_per_s(None) is None


def test_a_bridge_joins_two_cards_only():
    pair = ask(**LLAMA, gpu="rtx-3090", n=2, engine="vllm", quant="awq-int4", tp=2).configuration
    four = ask(**LLAMA, gpu="rtx-3090", n=4, engine="vllm", quant="awq-int4", tp=4).configuration
    assert fast_link(pair).kind == "NVLink 3 bridge"
    assert fast_link(four) is None
    assert links_of(pair, 0).latency_s == 0 < links_of(four, 0).latency_s


def test_stages_that_take_turns_on_requests():
    query = {"model": "llama-3.1-70b-instruct", "gpu": "h100-sxm", "engine": "vllm", "quant": "bf16"}
    c = ask(**query, n=16, tp=8, pp=2).configuration
    own, structure = load_of(c), rates(compute=0.45)
    assert step_s(own, structure, 64.0) == pytest.approx(decode_step(own, structure, 64.0).total_s)
    halves = replace(own, interleaved=1)
    assert decode_step(own, structure, 64.0).weights_s == decode_step(halves, structure, 32.0).weights_s


def test_no_step_is_below_the_floor():
    own = load(2048, gpu="h100-sxm", quant="bf16")
    impossible = rates(weights=9.0, cache=9.0)
    assert step_s(own, impossible, 4.0) == floor_s(own, 4.0)


def test_weights_of_a_chunk_are_read_once_for_all_its_tokens():
    own = load_of(ask(**LLAMA, quant="q4_k_m").configuration, prompt_tokens=512, start_tokens=0)
    reading = prompt_work_s(own, rates(weights=0.5))
    assert reading == pytest.approx(own.fixed_bytes / (0.5 * 1008e9))


def test_arrays_of_users_give_each_its_own_answer():
    c = ask(**TestManyUsersW77b.QUERY).configuration
    own, real = load_of(c), rates_of(c)
    numbers = np.array([1.0, 2.0, 17.0, 300.0])
    together = serve(own, real, numbers)
    for place, number in enumerate(numbers):
        alone = serve(own, real, float(number))
        assert together.tpot_s[place] == pytest.approx(alone.tpot_s, rel=1e-6)
        assert together.ttft_s[place] == pytest.approx(alone.ttft_s, rel=1e-6)
