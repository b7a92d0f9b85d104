"""SGLang: the static share, its reserve, the request table, pools of fixed ratios (methodology §3.3, §4.1, §4.3)."""

from dataclasses import replace

import pytest

from calculator.estimation.engines import sglang
from calculator.estimation.placement import stages
from catalog.records import GIB, MIB
from tests.estimation.asking import SNAPSHOT, ask


def one(**query):
    return ask(engine="sglang", **query)


# --- the budget ---------------------------------------------------------------------------------------------------


def test_w_4_4_reserve_of_an_h100():
    """512 + 1.5 · 8192 + 1024 / 8 + 2 · 256 = 13 440 MiB of 81 559: f = 0.835."""
    c = one(gpu="h100-sxm").configuration
    assert sglang.reserve_mib(c, 81_559) == 13_440
    assert round(sglang.static_share(c, 81_559 * MIB), 3) == 0.835


def test_w_4_5_reserve_of_a_24_gb_card():
    """512 + 1.5 · 4096 + 128 + 2 · 48 = 6880 MiB of 24 564: f = 0.720."""
    c = one(gpu="rtx-4090").configuration
    assert sglang.reserve_mib(c, 24_564) == 6880
    assert round(sglang.static_share(c, 24_564 * MIB), 3) == 0.720


def test_w_4_5b_request_table():
    """4 B · 2048 requests · 131 072 tokens = 1.0 GiB; with 8 requests 4 MiB."""
    most = one(gpu="h100-sxm", ctx=131_072, seqs="engine")
    assert most.term("request_table").value == 1.0 * GIB
    assert one(gpu="h100-sxm", ctx=131_072, seqs=8).term("request_table").value == 4 * MIB


def test_the_command_asks_for_as_many_requests_as_users():
    assert one(gpu="h100-sxm", ctx=8192, users=4).term("request_table").value == 4 * 4 * 8192


def test_tensor_parallelism_captures_more_sequences_and_reserves_more():
    """TP4 on 80 GB: 512 + 12 288 + 1024 · 4 / 8 + 2 · 512 = 14 336 MiB."""
    c = one(gpu="h100-sxm", n=4).configuration
    assert c.plan.tp == 4
    assert sglang.reserve_mib(c, 81_559) == 14_336


def test_a_large_device_reserves_at_least_10_gib():
    """512 + 1.5 · 2048 + 128 + 512 = 4224 MiB is below the least of devices above 60 GiB."""
    c = one(gpu="h100-sxm", batched=2048).configuration
    assert sglang.reserve_mib(c, 81_559) == 10_240


def test_attention_groups_add_to_the_reserve():
    """3 · 512 · 8 + 1.5 · 512 · 8 more beyond 300 sequences: 18 432 MiB."""
    c = one(gpu="h100-sxm", n=8).configuration
    plain = sglang.reserve_mib(c, 81_559)
    grouped = replace(c, plan=replace(c.plan, adp=8))
    assert sglang.reserve_mib(grouped, 81_559) - plain == 18_432


def test_without_graphs_their_part_of_the_reserve_is_not_kept():
    c = one(gpu="rtx-4090", eager=1).configuration
    assert sglang.reserve_mib(c, 24_564) == 6880 - 96


def test_usable_is_the_static_share_of_what_is_free_beside_what_is_in_use():
    """H100: 512 MiB of context, (81 080 − 512) MiB free, f = 1 − 13 440 / 81 559."""
    answer = one(gpu="h100-sxm")
    share = 1 - 13_440 / 81_559
    assert answer.usable_mib == pytest.approx(512 + share * (81_080 - 512))
    assert answer.memory.limit.rule.code == "static_share"


def test_the_share_may_be_asked_for():
    answer = one(gpu="h100-sxm", util=0.9)
    assert answer.usable_mib == pytest.approx(512 + 0.9 * (81_080 - 512))


def test_needed_and_occupied_are_two_numbers():
    """The pools take the static share whatever is asked; graphs of 256 sequences come on top."""
    answer = one(gpu="h100-sxm")
    assert answer.needed_gib < 17
    assert answer.memory.occupied_bytes == int(answer.memory.limit.usable.value) + 512 * MIB


def test_a_share_without_room_for_the_graphs_is_tight_and_names_the_largest():
    answer = one(gpu="h100-sxm", util=1)
    assert answer.verdict == "tight"
    assert answer.reasons["occupied_over_process"].factors["largest_share"] == 0.99


def test_an_encoder_lowers_the_static_share():
    plain, images = (one(model="gemma-3-27b-it", gpu="h100-sxm", vision=v) for v in (0, 1))
    plain_share = plain.memory.limit.rule.factors["share"]
    assert images.memory.limit.rule.factors["share"] == pytest.approx(0.95 * plain_share)
    assert images.has_term("vision_encoder")


@pytest.mark.parametrize(("gpus", "mib"), [(2, 342), (4, 392), (8, 392)])
def test_nccl(gpus, mib):
    assert one(gpu="h100-sxm", n=gpus).part("communication") == mib * MIB


def test_one_gpu_has_no_nccl_but_a_context_of_half_a_gib():
    answer = one(gpu="h100-sxm")
    assert answer.part("communication") == 0
    term = answer.term("context_process")
    assert (term.value, term.low, term.high) == (0.5 * GIB, 0.3 * GIB, 0.7 * GIB)


# --- cache --------------------------------------------------------------------------------------------------------


def test_w_3_5_deepseek_v3_2_in_8_bits():
    """dsv32_kv_token_fp8: (656 + 132) · 61 = 48 068 B per token, measured per rank."""
    answer = one(model="deepseek-v3.2", gpu="h200-sxm", n=8, kv="fp8", ctx=8192)
    assert answer.part("kv_cache") + answer.part("index_cache") == 48_068 * 8192


def test_w_3_5_deepseek_v3_2_in_16_bits():
    """(1152 + 132) · 61 = 78 324 B per token."""
    answer = one(model="deepseek-v3.2", gpu="h200-sxm", n=8, ctx=8192)
    assert answer.part("kv_cache") + answer.part("index_cache") == 78_324 * 8192


def test_w_3_6c_a_dense_latent_in_8_bits_is_576_bytes():
    """DeepSeek-V3: no index, 61 · 576 B."""
    answer = one(model="deepseek-v3", gpu="h200-sxm", n=8, kv="fp8", ctx=8192)
    assert answer.part("kv_cache") == 61 * 576 * 8192


def test_pages_are_of_one_token_and_of_64_with_an_index():
    assert one(gpu="h100-sxm", ctx=1001).part("kv_cache") == 1001 * 131_072
    answer = one(model="deepseek-v3.2", gpu="h200-sxm", n=8, ctx=65)
    assert answer.part("index_cache") == 61 * 132 * 128


def test_w_3_12_state_of_qwen3_next():
    """77 266 944 B a request (FP32 state, 16-bit convolution): 36 layers of 2 097 152 + 49 152 B."""
    answer = one(model="qwen3-next-80b-a3b-instruct", gpu="h200-sxm", n=2, tp=1, pp=2, quant="fp8")
    assert answer.estimate.cache.state_bytes_per_request == 77_266_944


def pool_of(model, tokens, users):
    c = one(model=model, gpu="h200-sxm", quant="fp8", ctx=tokens, users=users).configuration
    stage = stages(c.model.architecture, (c.model.architecture.layer_count,))[0]
    return {term.code: term.value for term in sglang.stage_cache(c.one_copy(), stage, tokens, users)}


def test_three_state_slots_for_each_request():
    assert pool_of("qwen3-next-80b-a3b-instruct", 8192, 4)["state_gdn"] == 3 * 4 * 77_266_944


def test_a_short_request_of_a_hybrid_pays_for_the_pool_of_the_cache():
    """States 0.9 : cache 1: the cache's pool is 231 800 832 / 0.9 B though 100 tokens are 2 457 600 B."""
    pool = pool_of("qwen3-next-80b-a3b-instruct", 100, 1)
    assert pool["kv_gqa"] == 100 * 24_576
    assert pool["kv_gqa"] + pool["pool_cache_share"] == int(3 * 77_266_944 / 0.9)
    assert pool["pool_state_share"] == 0


def test_a_long_request_of_a_hybrid_pays_for_the_pool_of_the_states():
    """262 144 · 24 576 B of cache: nine tenths of that for states."""
    pool = pool_of("qwen3-next-80b-a3b-instruct", 262_144, 1)
    cache = 262_144 * 24_576
    assert pool["pool_cache_share"] == 0
    assert pool["state_gdn"] + pool["pool_state_share"] == int(0.9 * cache)


def test_the_window_pool_has_0_8_tokens_for_each_of_the_full_pool():
    """gpt-oss-120b, 8192 tokens: 18 layers · 2048 B · ⌊0.8 · 8192⌋ tokens instead of 128."""
    answer = one(model="gpt-oss-120b", gpu="h100-sxm", ctx=8192)
    assert answer.term("kv_gqa").value == 288 * MIB
    assert answer.term("kv_window").value == 4.5 * MIB
    assert answer.term("pool_window_share").value == 18 * 2048 * (6553 - 128)


def test_below_the_window_the_full_pool_grows_so_that_the_window_finds_room():
    """100 tokens: 125 in the full pool, 100 in the window pool."""
    answer = one(model="gpt-oss-120b", gpu="h100-sxm", ctx=100)
    assert answer.term("pool_window_share").value == 18 * 2048 * 25


def test_kv_heads_are_divided_until_each_rank_has_one():
    """W-5.1: Llama 3 70B at TP8 40 960 B per token and GPU."""
    answer = one(model="llama-3.3-70b-instruct", gpu="h100-sxm", n=8, ctx=8192)
    assert answer.part("kv_cache") == 40_960 * 8192


# --- refusals -----------------------------------------------------------------------------------------------------

REFUSED = {
    "engine_not_on_device": {"gpu": "mac-m4-max-128"},
    "format_not_in_engine": {"gpu": "h100-sxm", "quant": "q4_k_m"},
    "format_needs_capability": {"gpu": "t4", "quant": "bf16"},
    "cache_type_not_in_engine": {"gpu": "h100-sxm", "kv": "q8_0"},
    "heads_not_divisible": {"gpu": "h100-sxm", "n": 3, "split": "tensor"},
    "plan_does_not_multiply": {"gpu": "h100-sxm", "n": 4, "tp": 2, "pp": 1},
    "more_stages_than_layers": {"gpu": "h100-sxm", "n": 64, "tp": 1, "pp": 64},
}


@pytest.mark.parametrize(("code", "query"), REFUSED.items(), ids=REFUSED)
def test_refusals(code, query):
    answer = one(**query)
    assert answer.verdict == "unsupported"
    assert code in answer.reasons


def test_attention_groups_must_divide_the_tensor_size():
    c = one(gpu="h100-sxm", n=8).configuration
    refused = sglang.refusals(replace(c, plan=replace(c.plan, adp=3)))
    assert "attention_groups_not_divisible" in {reason.code for reason in refused}


def test_gpus_must_divide_over_the_nodes():
    c = one(gpu="h100-sxm", n=8).configuration
    refused = sglang.refusals(replace(c, plan=replace(c.plan, nodes=3)))
    assert "gpus_not_divisible_by_nodes" in {reason.code for reason in refused}


def test_nvfp4_cache_needs_blackwell():
    assert "cache_type_not_in_engine" in one(gpu="h100-sxm", kv="nvfp4").reasons
    assert "cache_type_not_in_engine" not in one(gpu="b200", kv="nvfp4").reasons


def test_auto_takes_sglang_where_vllm_does_not_list_the_class():
    models = [m for m in SNAPSHOT.models.values() if m.task == "generate"]
    vllm, own = SNAPSHOT.engines["vllm"], SNAPSHOT.engines["sglang"]
    only = [m.id for m in models if own.lists(m.class_name) and not vllm.lists(m.class_name)]
    for model in only:
        assert ask(model=model, gpu="h100-sxm").configuration.engine.id == "sglang"
