"""vLLM: pages and blocks, the budget, graphs and what it refuses (methodology §3.3, §4.1, §4.2, §5.1)."""

from dataclasses import replace

import numpy as np
import pytest

from calculator.estimation.engines import vllm, vllm_cache
from calculator.estimation.memory import Sum
from calculator.estimation.placement import stages
from calculator.estimation.terms import Reason
from catalog.records import GIB, MIB
from tests.estimation.asking import H100, SNAPSHOT, ask

NAME = SNAPSHOT.engines["vllm"].name
OLD = SNAPSHOT.constants_for("vllm", "0.16")[0]
"""The constants of vLLM up to 0.16, whose sampler took 39 B per request and vocabulary entry."""


def pages(tp=1, **query):
    c = ask(**{"gpu": H100, "engine": "vllm", **query}).configuration
    whole = stages(c.model.architecture, (c.model.architecture.layer_count,))[0]
    return vllm.pages_of(c, whole, tp)


def with_old_constants(**query):
    """Terms of the only stage by code, under the constants of versions up to 0.16."""
    c = replace(ask(**query).configuration, constants=OLD)
    return {term.code: term for term in Sum(c).terms(Sum(c).stages[0], c.workload.context_tokens, 1)}


# --- blocks and pages -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("tokens", "blocks"), [(1, 1), (16, 1), (17, 2), (8192, 512)])
def test_full_attention_takes_whole_blocks_of_16_tokens(tokens, blocks):
    assert ask(gpu=H100, ctx=tokens).part("kv_cache") == blocks * 16 * 131_072


def test_a_latent_takes_whole_blocks_of_64_tokens():
    answer = ask(model="deepseek-v3", gpu="h200-sxm", n=8, ctx=65)
    assert answer.part("kv_cache") == 2 * 64 * 70_272


@pytest.mark.parametrize(("tp", "tokens"), [(1, 5760), (8, 768)])
def test_w_3_8_the_block_of_kimi_k3_holds_a_state(tp, tokens):
    """kimi_k3_block_tp8: 128 · ⌈state ÷ (128 · 1152)⌉; state 6 512 640 B whole, 814 080 B on one of 8."""
    assert pages(tp, model="kimi-k3", n=8).block_tokens == tokens


def test_w_3_8_the_state_page_of_kimi_k3_at_tp8_is_padded_by_8_68_percent():
    assert round(100 * pages(8, model="kimi-k3", n=8).page_bytes / 814_080 - 100, 2) == 8.68


def test_w_3_13_the_block_of_qwen3_next():
    """qwen3next_block_tp1: 16 · ⌈1 097 728 ÷ (16 · 2048)⌉ = 544 tokens."""
    found = pages(model="qwen3-next-80b-a3b-instruct")
    assert (found.block_tokens, found.page_bytes) == (544, 544 * 2048)


def test_w_3_13_an_fp32_state_makes_longer_blocks():
    """1056 tokens for a model of Qwen3-Next's shape that keeps its state in FP32, as Qwen3.6-35B-A3B did in its log."""
    assert pages(model="qwen3.6-35b-a3b").block_tokens == 1056


def test_w_3_13b_the_block_of_qwen3_8_27b_with_an_fp8_cache():
    """16 · ⌈3 207 168 ÷ (16 · 2048)⌉ = 1568 tokens, 0.13 % padding, as its log says."""
    found = pages(model="qwen3.8-27b", kv="fp8")
    assert found.block_tokens == 1568
    assert round(100 * found.page_bytes / 3_207_168 - 100, 2) == 0.13


@pytest.mark.parametrize(
    ("engine_constants", "blocks"), [("0.13", 521), ("0.33", 1033)], ids=["up to 0.13", "0.32 on"]
)
def test_w_3_10_admission_blocks_of_a_window(engine_constants, blocks):
    """vllm_window_blocks: ⌈(128 − 1 + q · 8192) ÷ 16⌉ + 1 with q = 1 batch in flight, later 2."""
    c = ask(model="gpt-oss-120b", gpu=H100, ctx=131_072, batched=8192).configuration
    constants, _ = SNAPSHOT.constants_for("vllm", engine_constants)
    whole = stages(c.model.architecture, (36,))[0]
    window = next(entry for entry, _ in whole.caches if entry.window)
    counted, _ = vllm_cache._blocks(replace(c, constants=constants), window, 16, 131_072)
    assert counted == blocks


@pytest.mark.parametrize("version", ["0.13", "0.33"])
def test_w_3_10_a_window_is_admitted_for_no_more_than_the_longest_request(version):
    c = ask(model="gpt-oss-120b", gpu=H100, ctx=8192, batched=8192).configuration
    constants, _ = SNAPSHOT.constants_for("vllm", version)
    window = next(entry for entry, _ in stages(c.model.architecture, (36,))[0].caches if entry.window)
    assert vllm_cache._blocks(replace(c, constants=constants), window, 16, 8192)[0] == 513


def test_a_longer_longest_request_admits_more_of_a_window():
    short, long = (
        ask(model="gpt-oss-120b", gpu=H100, ctx=1024, maxlen=maxlen).term("kv_window").factors["blocks"]
        for maxlen in (1024, 131_072)
    )
    assert (short, long) == (1024 // 16 + 1, 1033)


def test_a_chunk_is_admitted_with_its_batches_in_flight():
    """Llama 4 Scout, chunks of 8192: ⌈(8192 + 2 · 8192) ÷ 16⌉ blocks on 36 of 48 layers."""
    term = ask(model="llama-4-scout-17b-16e-instruct", gpu=H100, n=8, ctx=1_048_576).term("kv_chunk")
    assert (term.factors["blocks"], term.factors["layers"]) == (24_576 // 16, 36)


def test_w_3_11_layers_of_two_kinds_are_grouped_and_the_last_group_is_padded():
    """Gemma 3 27B: groups of 10, so 52 window layers take 60 slots: 70 instead of 62."""
    found = pages(model="gemma-3-27b-it")
    assert (found.group, found.slots(52), found.slots(10)) == (10, 60, 10)


@pytest.mark.parametrize(
    ("model", "group", "slots"),
    [("gemma-3-4b-it", 5, (30, 5)), ("gemma-3-12b-it", 8, (40, 8)), ("gpt-oss-120b", 18, (18, 18))],
)
def test_groups_are_as_large_as_the_rarer_kind(model, group, slots):
    """Gemma 3 4B: 29 + 5 layers → 35 slots; 12B: 40 + 8, nothing lost; gpt-oss: 18 + 18."""
    found = pages(model=model)
    layers = {"gemma-3-4b-it": (29, 5), "gemma-3-12b-it": (40, 8), "gpt-oss-120b": (18, 18)}[model]
    assert found.group == group
    assert tuple(found.slots(count) for count in layers) == slots


def test_layers_that_cache_alike_are_one_kind_whether_or_not_they_own_an_index():
    """GLM-5.2: 78 latents of the same size, 21 of them with an index key: nothing is padded."""
    answer = ask(model="glm-5.2", gpu="h200-sxm", n=8, ctx=65_536)
    assert answer.part("kv_cache") == 65_536 * 89_856
    assert answer.part("index_cache") == 65_536 * 2_772


def test_a_short_request_of_a_hybrid_costs_a_whole_block():
    """Kimi K3 at TP8 × PP3, 9 MLA and 22 KDA layers on the last stage: 1 block each, 27 slots of state."""
    answer = ask(model="kimi-k3", gpu=H100, n=24, ctx=1)
    assert answer.part("kv_cache") == 9 * 768 * 1152
    assert answer.part("recurrent_state") == 27 * 768 * 1152


# --- activation peak ------------------------------------------------------------------------------------------------


def test_w_4_2_the_activation_peak_of_llama_3_1_8b_follows_the_sampler():
    """vllm_act_8b_r1024_t8192: 14 · 1024 · 128 256 + 2 · 8192 · 4096 + 0.12 GiB; the log says 1.89 GiB."""
    answer = ask(gpu=H100, seqs="engine")
    assert answer.configuration.knobs.max_sequences == 1024
    assert answer.configuration.knobs.batched_tokens == 8192
    assert answer.part("activations") == 2_034_635_898
    assert round(answer.part("activations") / GIB, 3) == 1.895


def test_w_4_2b_with_one_request_the_layers_decide():
    assert round(ask(gpu=H100).part("activations") / GIB, 3) == 0.922
    assert ask(gpu=H100).has_term("activation_layers")


def test_w_4_2b_with_256_requests_and_short_batches_the_sampler_decides():
    answer = ask(gpu=H100, seqs=256, batched=2048)
    assert round(answer.part("activations") / GIB, 3) == 0.564
    assert answer.has_term("activation_sampler")


def test_w_4_3_a_mixture_of_experts_takes_half_a_gibibyte_more():
    """Qwen3-30B-A3B: 2.180 + 0.5 = 2.680 GiB; the log says 2.68."""
    answer = ask(model="qwen3-30b-a3b", gpu=H100, seqs=1024, batched=8192)
    assert round(answer.term("activation_sampler").value / GIB, 3) == 2.180
    assert round(answer.part("activations") / GIB, 3) == 2.680


def test_w_4_3b_the_sampler_took_39_bytes_before_0_17():
    """Llama 3.3 70B, R 1024, TP2: 39 · 1024 · 128 256 = 4.770 GiB beside what is not logits; not divided by TP."""
    query = {"model": "llama-3.3-70b-instruct", "gpu": H100, "n": 2, "seqs": 1024, "batched": 2048}
    old, new = with_old_constants(**query)["activation_sampler"], ask(**query).term("activation_sampler")
    assert round(39 * 1024 * 128_256 / GIB, 3) == 4.770
    assert old.value - new.value == (39 - 14) * 1024 * 128_256
    assert old.factors["per_logit"] == 39


def test_w_4_3c_the_pool_of_llama_3_1_8b():
    """0.95 · 79.19 − 14.99 − 1.89 − 0.25 = 58.10 GiB in 0.19, which did not count the graphs."""
    answer = ask(gpu=H100, util=0.95, seqs="engine")
    base = answer.part("weights") + answer.part("activations") + answer.part("communication")
    assert (answer.memory.limit.usable.value - base) / GIB == pytest.approx(58.10, abs=0.05)


def test_the_peak_is_not_divided_by_tensor_parallelism():
    one, two = (ask(gpu=H100, n=n, seqs=1024).term("activation_sampler").value for n in (1, 2))
    assert one == two


def test_only_the_last_stage_samples():
    loads = ask(gpu=H100, n=2, tp=1, pp=2, seqs=1024).memory.gpus
    layers = 2 * 8192 * (3 * 14_336 + 4.25 * 4096)
    assert [load.parts["activations"] for load in loads] == [layers + int(0.12 * GIB), 2_034_635_898]


def test_w_5_4_the_peak_of_kimi_k3():
    """Layer form with 16 · 3072 + 6144 wide experts on 8 ranks 0.78 GiB, experts 0.5, kept residual blocks 0.875."""
    answer = ask(model="kimi-k3", gpu=H100, n=24)
    found = [
        answer.term(code).value / GIB
        for code in ("activation_layers", "activation_moe", "activation_residuals")
    ]
    assert found == [0.78125, 0.5, 0.875]


# Half-widths as shares of the value: what §10 says, and the fitted range stays near it.
@pytest.mark.parametrize(
    ("query", "code", "low", "high"),
    [
        ({"seqs": 1024}, "activation_sampler", 0.05, 0.05),
        ({"seqs": 1}, "activation_layers", 0.40, 0.40),
        ({}, "graphs_capture", 1 - 1 / 1.6, 0.6),
    ],
)
def test_terms_are_as_sure_as_the_rows_behind_them_half_as_sure_again_outside_their_versions(
    query, code, low, high
):
    term = ask(gpu=H100, **query).term(code)
    assert 1 - term.low / term.value == pytest.approx(1.5 * low, rel=0.5)
    assert term.high / term.value - 1 == pytest.approx(1.5 * high, rel=0.5)


# --- graphs, communication, occupied --------------------------------------------------------------------------------


def test_w_4_1_sizes_that_are_captured():
    """vllm_capture_512: 51 sizes up to 512, 83 up to 1024."""
    assert len(vllm.capture_sizes(512)) == 51
    assert len(vllm.capture_sizes(1024)) == 83
    assert vllm.capture_sizes(512)[:5] == (1, 2, 4, 8, 16)


@pytest.mark.parametrize(
    ("requests", "size"),
    [(1, 2), (2, 4), (3, 4), (4, 8), (10, 16), (11, 16), (127, 248), (130, 256), (250, 496), (1024, 512)],
)
def test_the_largest_captured_size_is_twice_the_requests_rounded_down_to_a_size(requests, size):
    assert vllm.largest_capture(requests, 512) == size
    assert vllm.largest_capture(np.array([requests]), 512).tolist() == [size]


def test_blackwell_captures_up_to_1024():
    sizes = [ask(gpu=gpu, seqs=1024).term("graphs_capture").factors["size"] for gpu in (H100, "b200")]
    assert sizes == [512, 1024]


def test_graphs_take_2_mib_a_size_and_2_8_for_experts():
    assert ask(gpu=H100, seqs=1024).part("graphs") == 512 * 2 * MIB
    assert ask(gpu=H100, model="qwen3-30b-a3b", seqs=1024).part("graphs") == 512 * int(2.8 * MIB)


def test_eager_mode_has_no_graphs():
    assert ask(gpu=H100, eager=1).part("graphs") == 0


@pytest.mark.parametrize(
    ("query", "gib"),
    [({"n": 1}, 0.25), ({"n": 2}, 2.1), ({"n": 2, "tp": 1, "pp": 2}, 0.07)],
    ids=["one GPU", "tensor parallel", "pipeline"],
)
def test_communication_depends_on_the_plan(query, gib):
    assert ask(gpu=H100, engine="vllm", **query).part("communication") == int(gib * GIB)


@pytest.mark.parametrize(("count", "before"), [(1, 0.5), (2, 1.5)])
def test_the_budget_is_taken_whole_and_the_context_was_there_before(count, before):
    answer = ask(gpu=H100, n=count)
    taken = answer.memory.occupied_bytes - answer.memory.limit.usable.value
    assert taken == pytest.approx(before * GIB, abs=1)


def test_a_share_that_leaves_no_room_for_the_context_is_tight_and_names_the_largest_that_does():
    """H100, 81 080 MiB: (81 080 − 512) ÷ 81 080 = 0.993."""
    answer = ask(gpu=H100, util=1)
    assert answer.verdict == "tight"
    assert answer.reasons["occupied_over_process"].factors["largest_share"] == 0.99
    assert ask(gpu=H100, util=0.99).verdict == "fits"


def test_nothing_fits_outright_under_a_share_that_leaves_no_room_for_the_context():
    capacity = ask(gpu=H100, util=1).capacity
    assert (capacity.max_context_fits_tokens, capacity.max_users_fits) == (0, 0)
    assert capacity.max_context_tokens == 131_072


# (least physical GiB, batched tokens, sequences) of the server's own defaults.
SERVER_DEFAULTS = {
    "h200-sxm": (8192, 1024),
    "b200": (16_384, 1024),
    "h100-sxm": (8192, 1024),
    "a100-sxm-80": (2048, 256),
    "dgx-spark": (2048, 256),
    "rtx-4090": (2048, 256),
}


@pytest.mark.parametrize(("gpu", "defaults"), SERVER_DEFAULTS.items(), ids=SERVER_DEFAULTS)
def test_the_servers_own_batches_go_by_the_cards_memory(gpu, defaults):
    knobs = ask(gpu=gpu, engine="vllm", seqs="engine").configuration.knobs
    assert (knobs.batched_tokens, knobs.max_sequences) == defaults


def test_the_command_prepares_for_the_users_in_question():
    assert ask(gpu=H100, users=3).term("activation_layers").factors["requests"] == 3


# --- weights ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("ranks", [1, 2])
def test_embedding_and_head_are_padded_to_64_tokens(ranks):
    """Olmo 3 7B: 100 278 → 100 288 rows of 4096 in both tables."""
    tables = ask(model="olmo-3-7b-instruct", gpu=H100, n=ranks).term("weights").factors
    assert tables["embedding_bytes"] == 100_288 * 4096 * 2 // ranks
    assert tables["head_bytes"] == 100_288 * 4096 * 2 // ranks + 4096 * 2


def test_a_vision_encoder_is_loaded_on_request():
    text, images = (ask(model="gemma-3-27b-it", gpu=H100, vision=switch) for switch in (0, 1))
    assert text.part("vision") == 0
    encoder = text.configuration.model.architecture.extra_parameters("vision")
    assert images.term("vision_encoder").value == 2 * encoder
    assert images.term("vision_graph").value == int(0.185 * GIB)


def test_a_model_that_was_never_measured_may_take_5_percent_more():
    """One-sided (§10): loaded by a server without any measured load of its class."""
    term = ask(model="kimi-k3", gpu=H100, n=24).term("weights_unmeasured")
    weights = ask(model="kimi-k3", gpu=H100, n=24).term("weights").value
    assert (term.value, term.low, term.high) == (0, 0, pytest.approx(0.05 * weights))


# --- refusals ---------------------------------------------------------------------------------------------------------

REFUSALS = [
    (
        {"gpu": "gtx-1080-ti"},
        Reason("engine_not_on_device", {"engine": NAME, "device": "GeForce GTX 1080 Ti"}),
    ),
    (
        {"quant": "q4_k_m"},
        Reason(
            "format_not_in_engine", {"engine": NAME, "format": "Q4_K_M", "device": "NVIDIA H100 SXM 80 GB"}
        ),
    ),
    (
        {"quant": "bf16", "gpu": "t4"},
        Reason(
            "format_needs_capability",
            {"engine": NAME, "format": "BF16", "device": "Tesla T4", "needs": "8.0", "has": "7.5"},
        ),
    ),
    (
        {"quant": "int8", "gpu": "mi300x"},
        Reason(
            "format_not_on_device",
            {"engine": NAME, "format": "INT8 W8A8", "device": "AMD Instinct MI300X 192 GB"},
        ),
    ),
    ({"kv": "q8_0"}, Reason("cache_type_not_in_engine", {"engine": NAME, "cache_type": "q8_0"})),
    (
        {"kv": "int8_per_token_head", "model": "deepseek-v3"},
        Reason("cache_type_not_in_engine", {"engine": NAME, "cache_type": "int8_per_token_head"}),
    ),
    (
        {"kv": "fp8", "gpu": "t4"},
        Reason("cache_type_not_in_engine", {"engine": NAME, "cache_type": "fp8"}),
    ),
    ({"n": 3, "tp": 2}, Reason("plan_does_not_multiply", {"tp": 2, "pp": 1, "gpus": 3})),
    (
        {"n": 33, "pp": 33, "tp": 1},
        Reason("more_stages_than_layers", {"engine": NAME, "pp": 33, "layers": 32}),
    ),
    (
        {"model": "llama-3.1-70b-instruct", "n": 3, "split": "tensor"},
        Reason("heads_not_divisible", {"engine": NAME, "heads": 64, "tp": 3}),
    ),
    (
        {"model": "qwen2.5-7b-instruct", "n": 7, "split": "tensor"},
        Reason("kv_heads_not_divisible", {"engine": NAME, "kv_heads": 4, "tp": 7}),
    ),
    (
        {"model": "qwen3-235b-a22b", "quant": "fp8-block", "n": 8, "split": "tensor"},
        Reason("width_not_divisible", {"engine": NAME, "width": 1536, "tp": 8, "block": 128}),
    ),
]


@pytest.mark.parametrize(("query", "reason"), REFUSALS, ids=[reason.code for _, reason in REFUSALS])
def test_what_vllm_refuses(query, reason):
    answer = ask(**{"engine": "vllm", "gpu": H100, **query})
    assert answer.verdict == "unsupported"
    assert answer.estimate.capacity is None
    assert answer.estimate.reasons[0] == reason


def test_heads_of_a_state_must_divide():
    """Qwen3.5-27B: 24 query heads divide by 3, the 16 key heads of its Gated DeltaNet layers do not."""
    answer = ask(model="qwen3.5-27b", gpu=H100, n=3, split="tensor")
    assert answer.estimate.reasons[0] == Reason(
        "state_heads_not_divisible", {"engine": NAME, "heads": 16, "tp": 3}
    )


def test_a_class_without_pipelines():
    named = next(iter(sorted(SNAPSHOT.engines["vllm"].without_pipeline)))
    c = ask(gpu=H100, n=2, tp=1, pp=2).configuration
    refused = vllm.refusals(replace(c, model=replace(c.model, class_name=named)))
    assert refused == (Reason("no_pipeline", {"engine": NAME, "class_name": named}),)


def test_a_checkpoint_of_unknown_format_cannot_be_loaded_as_it_is():
    c = ask(gpu=H100).configuration
    refused = vllm.refusals(replace(c, model=replace(c.model, native_format=None)))
    assert refused == (Reason("native_unknown", {"model": "Llama 3.1 8B Instruct"}),)


@pytest.mark.parametrize(
    ("model", "ways"),
    [("llama-3.1-70b-instruct", 16), ("qwen3-next-80b-a3b-instruct", 16), ("deepseek-v3", 16)],
)
def test_more_ways_than_kv_heads_repeat_them(model, ways):
    c = ask(model=model, gpu=H100, n=ways, engine="vllm").configuration
    assert vllm.tensor_refusals(c, ways) == []


def test_experts_of_an_odd_width_are_padded():
    """gpt-oss-120b: width 2880 is kept as 3072; a load of 64.38 GiB was logged where the checkpoint has 60.77."""
    assert ask(model="gpt-oss-120b", gpu=H100).part("weights") / GIB == pytest.approx(64.38, rel=0.005)


def test_experts_of_an_even_width_are_not():
    """Kimi K3: 3072 ÷ 8 ranks; W-5.4 gives the stage to the byte."""
    assert ask(model="kimi-k3", gpu=H100, n=24).memory.gpus[2].parts["weights"] == 69_065_177_744


def test_padded_experts_split_eight_ways():
    assert ask(model="gpt-oss-120b", gpu=H100, n=8).configuration.plan.tp == 8
