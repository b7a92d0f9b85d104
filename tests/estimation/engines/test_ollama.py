"""Ollama: llama-server from 0.30 on, its own runner before (methodology §3.3, §4.1)."""

import pytest

from catalog.records import GIB, MIB
from tests.estimation.asking import ask


def one(**query):
    return ask(engine="ollama", **query)


def test_w_3_9b_own_runner_at_four_slots():
    """gptoss_window_layer_ollama011_4slots: 4096 · 4 + 512 = 16 896 cells of 2048 B in each window layer."""
    answer = one(model="gpt-oss-120b", gpu="h100-sxm", engine_version="0.11", ctx=8192, users=4)
    assert answer.term("kv_window").value == 18 * 34_603_008 == 18 * 16_896 * 2048


def test_w_3_9b_own_runner_of_gpt_oss_20b():
    """0.11.2, 8192 tokens, one slot: (12 · 8192 + 12 · 4608) · 2048 = 300 MiB, as logged."""
    answer = one(model="gpt-oss-20b", gpu="rtx-4090", engine_version="0.11.2", ctx=8192)
    assert answer.part("kv_cache") == 300 * MIB


def test_w_3_9b_llama_server_at_four_slots():
    """0.30, 262 144 cells, 4 slots, micro-batch 2048: 18 · (262 144 + 2560) · 2048 = 9306 MiB, as logged."""
    answer = one(
        model="gpt-oss-120b", gpu="h100-sxm", engine_version="0.30", ctx=65_536, users=4, ubatch=2048
    )
    assert answer.part("kv_cache") == 9306 * MIB


def test_other_windows_of_the_own_runner():
    """Gemma 3 27B, two slots: 1024 · 2 + 512 = 2560 cells of 8192 B in 52 layers."""
    answer = one(model="gemma-3-27b-it", gpu="rtx-5090", engine_version="0.15", users=2, ctx=32_768)
    assert answer.term("kv_window").value == 52 * 8192 * 2560


@pytest.mark.parametrize(("version", "own"), [("0.29", True), ("0.29.3", True), ("v0.11.2", True), ("0.30", False), ("0.33.0-rc2", False), ("auto", False)])  # fmt: skip
def test_the_runner_goes_by_the_version(version, own):
    answer = one(model="gpt-oss-20b", engine_version=version)
    assert ("own_runner" in answer.configuration.engine.rules) is own
    assert answer.problems == ()


def test_an_unreadable_version_is_a_problem():
    answer = one(engine_version="newest")
    assert [(p.field, p.code, p.used) for p in answer.problems] == [
        ("engine_version", "version_unreadable", None)
    ]
    assert answer.configuration.engine_version == answer.configuration.engine.version


def test_the_cells_of_all_requests_are_one_pool():
    """`-c ctx×parallel`: ⌈3 · 100⌉₂₅₆ = 512 cells."""
    assert one(ctx=100, users=3).part("kv_cache") == 512 * 131_072


def test_states_are_kept_in_fp32():
    """kimi_kda_state_llamacpp."""
    assert one(model="kimi-k3", gpu="h100-sxm").part("recurrent_state") == 464_633_856


def test_the_planner_keeps_512_mib_of_a_mac_free():
    assert one(gpu="mac-m4-max-128").term("planner_reserve").value == 512 * MIB


def test_the_planners_457_mib_are_inside_the_context_of_cuda():
    """0.45 GiB of context are more."""
    answer = one(gpu="rtx-4090")
    assert not answer.has_term("planner_reserve")
    assert answer.part("context") == int(0.45 * GIB)


def test_the_planner_keeps_457_mib_where_the_context_is_smaller():
    """Intel by Vulkan: 0.3 GiB of context."""
    answer = one(gpu="arc-b580")
    assert answer.part("context") == 457 * MIB


def test_a_projector_gets_a_gib_of_room():
    assert one(model="gemma-3-27b-it", gpu="rtx-5090", vision=1).term("projector_room").value == GIB


def test_the_margin_of_fit_is_llama_cpps():
    assert one(gpu="rtx-4090").memory.limit.margin_bytes == 1024 * MIB


def test_one_gpu_when_all_fits_there_otherwise_all():
    small, large = one(gpu="rtx-3090", n=2), one(model="llama-3.3-70b-instruct", gpu="rtx-3090", n=4)
    assert small.estimate.configuration.plan.gpus == 1
    assert small.memory.needed.value == one(gpu="rtx-3090").memory.needed.value
    assert large.estimate.configuration.plan.pp == 4


def test_what_does_not_fit_one_gpu_outright_is_spread():
    """Capacity is that of both cards; with as much context all of them are taken."""
    answer = one(gpu="rtx-3060-12", n=2, quant="q8_0", users=4)
    most = one(gpu="rtx-3060-12", n=2, quant="q8_0", users=4, ctx=answer.capacity.max_context_fits_tokens)
    assert answer.estimate.configuration.plan.gpus == 2 or most.estimate.configuration.plan.gpus == 2
    assert most.verdict == "fits"


def test_a_split_that_is_asked_for_stays():
    assert one(gpu="rtx-3090", n=2, pp=2).estimate.configuration.plan.gpus == 2


REFUSED = {
    "engine_not_on_device": {"gpu": "tpu-v5e"},
    "format_not_in_engine": {"quant": "awq-int4"},
    "cache_type_not_in_engine": {"kv": "q5_1"},
    "cache_needs_flash_attention": {"kv": "q8_0", "fa": 0},
    "too_many_requests": {"users": 257},
    "too_many_gpus_layer_split": {"n": 16},
    "no_tensor_split": {"n": 2, "tp": 2},
    "one_request_only": {"model": "qwen3-next-80b-a3b-instruct", "users": 2},
}


@pytest.mark.parametrize(("code", "query"), REFUSED.items(), ids=REFUSED)
def test_refusals(code, query):
    answer = one(**query)
    assert answer.verdict == "unsupported"
    assert code in answer.reasons


def test_one_request_of_a_family_that_is_served_alone():
    assert "one_request_only" not in one(model="qwen3-next-80b-a3b-instruct", users=1).reasons
