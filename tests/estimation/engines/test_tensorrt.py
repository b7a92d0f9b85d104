"""TensorRT-LLM: a fraction of free memory, blocks of 32 (methodology §3.3, §4.1, §4.4)."""

import pytest

from catalog.records import GIB, MIB
from tests.estimation.asking import ask


def one(**query):
    return ask(engine="tensorrt-llm", **{"gpu": "h100-sxm", **query})


@pytest.mark.parametrize(("tokens", "held"), [(1, 32), (32, 32), (33, 64), (8192, 8192)])
def test_blocks_of_32_tokens(tokens, held):
    assert one(ctx=tokens).part("kv_cache") == held * 131_072


def test_the_cache_is_nine_tenths_of_what_is_free():
    """1.0 GiB of cache leaves 1.0 / 0.9 − 1.0 GiB unused beside it."""
    answer = one(ctx=8192)
    assert answer.term("free_left").value == int(GIB / 0.9 - GIB)


def test_the_fraction_may_be_asked_for():
    assert one(ctx=8192, util=0.5).term("free_left").value == GIB


def test_the_pool_takes_its_fraction_of_the_free_memory_whatever_is_asked():
    """Occupied: what loading takes + 0.9 · (total − that), for one request as for sixteen."""
    few, many = one(users=1, seqs=16), one(users=16, seqs=16)
    loaded = few.memory.needed.value - few.part("kv_cache") - few.term("free_left").value
    total = few.memory.limit.usable.value
    assert few.memory.occupied_bytes == pytest.approx(
        loaded + 0.9 * (total - loaded), abs=few.term("free_left").value
    )
    assert many.memory.occupied_bytes == pytest.approx(few.memory.occupied_bytes, rel=0.03)


def test_a_latent_is_576_bytes_in_8_bits_also_with_an_index():
    """The raw layout; keys of the index 132 B."""
    answer = one(model="deepseek-v3.2", gpu="h200-sxm", n=8, kv="fp8", ctx=8192)
    assert answer.part("kv_cache") == 61 * 576 * 8192
    assert answer.part("index_cache") == 61 * 132 * 8192


def test_a_window_has_a_pool_of_its_own():
    """gpt-oss-120b: ⌈128 / 32⌉ + 1 blocks of 32 tokens in 18 layers."""
    answer = one(model="gpt-oss-120b", quant="bf16", gpu="h200-sxm", n=2, tp=1, pp=2, ctx=8192)
    windows = sum(load.parts["kv_cache"] for load in answer.memory.gpus) - 288 * MIB
    assert windows == 18 * 2048 * 160


@pytest.mark.parametrize(("gpus", "mib"), [(2, 342), (4, 392), (8, 392)])
def test_nccl(gpus, mib):
    assert one(n=gpus).part("communication") == mib * MIB


def test_layer_form_of_the_activations():
    """2 · 8192 · (3 · 14 336 + 4.25 · 4096) B, ± 40 %."""
    term = one().term("activation_layers")
    assert term.value == 2 * 8192 * (3 * 14_336 + 17_408)
    assert (term.low / term.value, term.high / term.value) == pytest.approx((0.6, 1.4))


REFUSED = {
    "engine_not_on_device": {"gpu": "mi300x"},
    "format_not_in_engine": {"quant": "q4_k_m"},
    "format_needs_capability": {"quant": "nvfp4"},
    "cache_type_not_in_engine": {"kv": "q8_0"},
    "too_many_requests": {"users": 2049},
    "heads_not_divisible": {"n": 3, "split": "tensor"},
    "plan_does_not_multiply": {"n": 4, "tp": 2, "pp": 1},
}


@pytest.mark.parametrize(("code", "query"), REFUSED.items(), ids=REFUSED)
def test_refusals(code, query):
    answer = one(**query)
    assert answer.verdict == "unsupported"
    assert code in answer.reasons


def test_block_fp8_is_for_hopper_and_data_centre_blackwell():
    assert one(quant="fp8-block").verdict == "fits"
    assert one(quant="fp8-block", gpu="rtx-5090").verdict == "unsupported"
    assert one(quant="fp8-block", gpu="rtx-4090").verdict == "unsupported"
