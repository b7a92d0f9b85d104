"""Bytes and operations of a step against the worked examples of the methodology (§7.1, §7.2, §7.3)."""

import numpy as np
import pytest

from calculator.estimation.throughput.load import load_of
from calculator.estimation.throughput.reads import Reads, distinct_experts
from tests.estimation.asking import ask


def reads(**query):
    return Reads(ask(**query).configuration)


LLAMA = {"model": "llama-3.1-8b-instruct", "gpu": "rtx-4090", "quant": "q4_k_m"}
GPT_OSS = {"model": "gpt-oss-120b", "gpu": "rtx-pro-6000", "engine": "llama.cpp", "quant": "mxfp4_moe"}


@pytest.mark.parametrize(
    ("experts", "chosen", "tokens", "distinct"),
    [
        (896, 16, 1, 16.00),
        (896, 16, 32, 392.62),
        (896, 16, 256, 887.11),
        (128, 4, 8, 28.71),
        (256, 8, 64, 222.44),
        (128, 8, 32, 111.77),
    ],
)
def test_distinct_experts_w_7_1(experts, chosen, tokens, distinct):
    assert distinct_experts(experts, chosen, tokens) == pytest.approx(distinct, abs=0.005)


def test_weights_read_by_a_token_leave_out_the_embedding_w_7_2():
    assert reads(**LLAMA).fixed_bytes == 4_617_396_480


def test_sixteen_bit_weights_read_w_7_3():
    assert reads(model="llama-3.1-8b-instruct", gpu="h100-sxm", quant="bf16").fixed_bytes == 15_009_849_344


def test_a_tied_head_is_read_once():
    tied = reads(model="llama-3.2-3b-instruct", gpu="rtx-4090", quant="q4_k_m")
    assert tied.fixed_bytes == pytest.approx(tied.layout.text_bytes, rel=1e-6)


def test_experts_of_a_step_w_7_4():
    own = reads(**GPT_OSS)
    one, eight = own.expert_bytes * own.touched(1), own.expert_bytes * own.touched(8)
    assert one == pytest.approx(1_903_564_800, rel=0.001)
    assert eight == pytest.approx(13.66e9, rel=0.002)


def test_a_dense_model_touches_no_experts():
    assert (reads(**LLAMA).expert_bytes, reads(**LLAMA).touched(64)) == (0.0, 0.0)


def test_cache_read_is_that_of_all_layers():
    assert reads(**LLAMA).cache_bytes(8192) == 2**30


def test_windows_stop_growing():
    own = reads(**GPT_OSS)
    grown = own.cache_bytes(20_000) - own.cache_bytes(10_000)
    assert grown == pytest.approx(18 * 2048 * 10_000)


def test_an_array_of_contexts_is_read_as_each_of_them():
    own = reads(**GPT_OSS)
    lengths = np.array([64.0, 128.0, 5000.0])
    assert own.cache_bytes(lengths).tolist() == [own.cache_bytes(float(n)) for n in lengths]


def test_tensor_ranks_share_gqa_heads_but_not_a_latent():
    whole, shared = reads(**GPT_OSS), reads(**{**GPT_OSS, "n": 8, "engine": "vllm", "quant": "native"})
    assert shared.cache_bytes(1000) == pytest.approx(whole.cache_bytes(1000) / 8)
    one = reads(model="deepseek-v3", gpu="h200-sxm", n=1, engine="vllm", quant="fp8")
    many = reads(model="deepseek-v3", gpu="h200-sxm", n=8, engine="vllm", quant="fp8")
    assert many.cache_bytes(1000) == one.cache_bytes(1000)


def test_layers_that_share_a_cache_still_read_it():
    stored = ask(model="gemma-4-e2b-it", gpu="rtx-4090").estimate.cache.bytes_per_token
    own = reads(model="gemma-4-e2b-it", gpu="rtx-4090")
    assert own.cache_bytes(100_001) - own.cache_bytes(100_000) > 1.5 * stored


def test_sparse_attention_reads_its_selection_and_all_keys():
    own = reads(model="deepseek-v3.2", gpu="h200-sxm", n=8, engine="vllm", quant="fp8")
    grown = own.cache_bytes(60_000) - own.cache_bytes(50_000)
    assert grown == pytest.approx(61 * 132 * 10_000)


def test_operations_of_a_prompt_w_7_5():
    load = load_of(ask(**LLAMA).configuration, prompt_tokens=4096, start_tokens=0)
    assert load.body_flops == 2 * 6_979_321_856
    assert load.head_flops == 2 * 525_336_576
    assert load.prompt_attention_flops == 4_398_046_511_104
    whole = load.body_flops * 4096 + load.head_flops + load.prompt_attention_flops
    assert whole == 61_573_701_828_608


def test_prompt_attention_adds_up_over_chunks():
    own = reads(**GPT_OSS)
    parts = own.prompt_attention_flops(300, 0) + own.prompt_attention_flops(500, 300)
    assert parts == pytest.approx(own.prompt_attention_flops(800, 0))


def test_a_shared_prefix_is_not_read_again():
    c = ask(**LLAMA, prompt=4000, ctx=8192).configuration
    assert load_of(c, prompt_tokens=3000, start_tokens=1000).prompt_tokens == 3000


def test_slower_cards_count_by_their_bandwidth():
    equal = reads(model="llama-3.1-8b-instruct", gpu="rtx-3090", n=2, quant="q8_0", split="layer")
    mixed = reads(model="llama-3.1-8b-instruct", gpu="rtx-3090:1,rtx-3060-12:1", quant="q8_0")
    assert equal.fixed_bytes < mixed.fixed_bytes * 936 / 360 < 3 * equal.fixed_bytes
