"""What people reported about calculators that were wrong: each figure with its public source."""

import pytest

from calculator.estimation.terms import Reason
from catalog.records import GIB, MIB
from tests.estimation.asking import SNAPSHOT, ask

# How near "10.609 GiB" is: half a unit of the last digit that was printed, or half a percent.
NEAR = {"rel": 0.005}


def test_rep_01_windows_save_most_of_the_cache_of_gemma_3():
    """unslothai/unsloth pull 4757: 10.609 GiB in llama.cpp, 52 of 62 layers in 1536 cells; full attention in all layers
    would be 62 GiB."""
    answer = ask(model="gemma-3-27b-it", ctx=131_072, kv="bf16", engine="llama.cpp")
    assert answer.part("kv_cache") / GIB == pytest.approx(10.609, **NEAR)


def test_rep_02_three_quarters_of_qwen3_5_keep_a_state_instead_of_a_cache():
    """unslothai/unsloth pull 4757; lmstudio-ai/lmstudio-bug-tracker issue 1862: the engine's log says 16,384 MiB."""
    answer = ask(model="qwen3.5-27b", ctx=262_144, kv="bf16")
    assert answer.part("kv_cache") == 16_384 * MIB


def test_rep_03_kimi_k2_5_caches_one_latent():
    """unslothai/unsloth pull 4757: 17.16 GiB at 262 144 tokens."""
    answer = ask(model="kimi-k2.5", ctx=262_144, kv="bf16")
    assert answer.part("kv_cache") / GIB == pytest.approx(17.16, **NEAR)


def test_rep_04_short_convolutions_cache_nothing_but_six_attention_layers_do():
    """gpustack/gguf-parser-go issues 31 and 35: a list of heads that starts with 0 is no model without a cache."""
    answer = ask(model="lfm2-8b-a1b", ctx=32_768, kv="bf16")
    assert answer.part("kv_cache") == 384 * MIB


def test_rep_05_kimi_k3_has_24_layers_that_cache():
    """inference-sim/inference-sim issue 1635: 27 648 B a token."""
    cache = ask(model="kimi-k3", ctx=131_072, kv="bf16").estimate.cache
    assert cache.bytes_per_token == 27_648


def test_rep_06_a_b200_has_the_memory_that_its_driver_reports():
    """unslothai/unsloth pull 6895: 183 359 MiB = 179.1 GiB = 192.3 GB, sold as 180 GB."""
    physical = ask(gpu="b200").memory.limit.physical_bytes
    assert physical == 183_359 * MIB
    assert (round(physical / GIB, 1), round(physical / 1e9, 1)) == (179.1, 192.3)


def test_rep_07_a_head_need_not_be_the_width_by_the_heads():
    """unslothai/unsloth pull 4757; LMCache/LMCache issue 688: Qwen3-0.6B has heads of 128, not of 1024 ÷ 16."""
    answer = ask(model="qwen3-0.6b", ctx=40_960, kv="bf16")
    assert answer.part("kv_cache") == 4.375 * GIB


def test_rep_08_64_heads_do_not_divide_by_3():
    """gpustack/gpustack issue 814: refused with the reason, not with a number."""
    answer = ask(model="llama-3.1-70b-instruct", gpu="a100-sxm-80", n=3, engine="vllm", split="tensor")
    assert answer.verdict == "unsupported"
    assert answer.estimate.reasons[0] == Reason(
        "heads_not_divisible", {"engine": SNAPSHOT.engines["vllm"].name, "heads": 64, "tp": 3}
    )
    assert answer.estimate.capacity is None


def test_rep_09_a_mixture_holds_all_its_experts():
    """AlexsJones/llmfit issue 230 and pull 497: Qwen3.5-122B-A10B in Q4_K_M is 64 to 72 GiB, not the size of 10B."""
    answer = ask(model="qwen3.5-122b-a10b", quant="q4_k_m")
    assert 64 <= answer.part("weights") / GIB <= 72
