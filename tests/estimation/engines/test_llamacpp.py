"""llama.cpp: cells, buffers, contexts, limits and what it refuses (methodology §3.3, §4.1, §4.5, §5.1)."""

from dataclasses import replace

import pytest

from calculator.estimation import estimate
from calculator.estimation.engines import llamacpp
from calculator.estimation.placement import stages
from calculator.estimation.terms import Reason
from calculator.estimation.weights import weight_layout
from catalog.records import GIB, MIB
from tests.estimation.asking import SNAPSHOT, ask

NAME = SNAPSHOT.engines["llama.cpp"].name

# --- cells --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("tokens", "held"), [(1, 256), (256, 256), (257, 512), (8192, 8192)])
def test_a_stream_is_rounded_up_to_256_cells(tokens, held):
    answer = ask(engine="llama.cpp", ctx=tokens)
    assert answer.part("kv_cache") == held * 131_072


def test_every_request_has_a_stream_of_its_own():
    one, eight = (ask(engine="llama.cpp", ctx=1000, users=users).part("kv_cache") for users in (1, 8))
    assert eight == 8 * one == 8 * 1024 * 131_072


def test_w_3_9_gpt_oss_keeps_768_cells_in_a_window_of_128():
    """gptoss_kv_8192_llamacpp: 18 full layers 288 MiB, 18 window layers ⌈128 + 512⌉₂₅₆ = 768 cells, 27 MiB."""
    answer = ask(model="gpt-oss-120b", engine="llama.cpp", ctx=8192)
    assert answer.term("kv_gqa").value == 288 * MIB
    assert answer.term("kv_window").value == 27 * MIB
    assert answer.part("kv_cache") == 330_301_440


def test_a_window_never_holds_more_cells_than_the_context():
    answer = ask(model="gpt-oss-120b", engine="llama.cpp", ctx=400)
    assert answer.term("kv_window").value == 18 * 2048 * 512


def test_a_larger_micro_batch_widens_the_windows():
    """⌈128 + 2048⌉₂₅₆ = 2304 cells."""
    answer = ask(model="gpt-oss-120b", engine="llama.cpp", ubatch=2048)
    assert answer.term("kv_window").value == 18 * 2048 * 2304


def test_w_3_11_gemma_3_keeps_1536_cells_in_a_window_of_1024():
    """gemma27b_swa_llamacpp: 10 full layers 10.0 GiB at 131 072 tokens, 52 window layers 624 MiB."""
    answer = ask(model="gemma-3-27b-it", engine="llama.cpp", ctx=131_072)
    assert answer.term("kv_gqa").value == 10.0 * GIB
    assert answer.term("kv_window").value == 654_311_424 == 624 * MIB


def test_states_are_kept_once_per_request_in_fp32():
    """Kimi K3, 2 requests (kimi_kda_state_llamacpp)."""
    assert ask(model="kimi-k3", engine="llama.cpp", users=2).part("recurrent_state") == 2 * 464_633_856


# --- compute buffers ----------------------------------------------------------------------------------------------


def buffer_of(tokens, users, **query):
    answer = ask(engine="llama.cpp", **query)
    stage = stages(answer.configuration.model.architecture, answer.configuration.plan.layers_per_stage)[0]
    return llamacpp._compute_buffer(answer.configuration, stage, tokens, users)


def test_w_4_6_all_rows_reserved():
    """compute_8b_ub512: 4 · 512 · (128 256 + 4096) = 258.5 MiB, as logged; 512 rows are reserved where so many
    requests could ask for their logits."""
    assert buffer_of(8192, 512, model="llama-3-8b-instruct") == 271_056_896 == 258.5 * MIB


def test_w_4_7_without_flash_attention():
    """4 · 512 · (1 + 4 · 4096 + 8192 · 33): 560.0 MiB, as logged."""
    answer = ask(model="llama-3-8b-instruct", engine="llama.cpp", ctx=8192, fa=0)
    assert answer.term("compute_llamacpp").value == 4 * 512 * (1 + 4 * 4096 + 8192 * 33)
    assert round(answer.term("compute_llamacpp").value / MIB, 2) == 560.00


@pytest.mark.parametrize("cards", [2, 4, 8])
def test_w_4_7b_each_card_of_a_split_has_the_whole_buffer_and_three_input_copies_more(cards):
    """560 + 3 · 24 + 8 = 640.0 MiB on each (640.01 logged), host 72 MiB and one row of output."""
    answer = ask(model="llama-3-8b-instruct", gpu="rtx-3090", n=cards, engine="llama.cpp", ctx=8192, fa=0)
    assert answer.term("split_buffers").value == (3 * 24 + 8) * MIB
    assert [round(load.parts["activations"] / MIB, 2) for load in answer.memory.gpus] == [640.00] * cards
    table = 128_256 * 4096 // 256 * 144
    assert answer.memory.host_bytes - table == 72 * MIB + 4 * 128_256


def test_w_4_8_flash_attention_with_one_output_row_per_slot():
    """Qwen3-4B, 4 slots of 2048 tokens: 4 · 512 · (29 184 + 10 240) + 2 · 512 · 8192 = 85.0 MiB; output 2.32 MiB."""
    answer = ask(model="qwen3-4b", engine="llama.cpp", ctx=2048, users=4)
    assert answer.term("compute_llamacpp").value == 85.0 * MIB
    output, inputs = 4 * 151_936 * 4, 4 * 512 * (2560 + 8192)
    table = weight_layout(answer.configuration.model, answer.configuration.weights_format).embedding_bytes
    assert answer.memory.host_bytes == table + output + inputs
    assert round(output / MIB, 2) == 2.32


def test_an_index_takes_4_kib_a_cell():
    """DeepSeek sparse attention: 8 B per micro-batch token and cell (a log of GLM-5: 3.7 GiB at 896 000 cells)."""
    small, large = (
        ask(model="glm-5", engine="llama.cpp", ctx=cells).term("compute_llamacpp").value
        for cells in (131_072, 196_608)
    )
    assert large - small == 65_536 * 4096


def test_a_large_mla_model_needs_at_least_300_mib():
    answer = ask(model="deepseek-v3", engine="llama.cpp", ctx=1024)
    assert answer.term("compute_llamacpp").value == 300 * MIB


@pytest.mark.parametrize(
    ("model", "name"),
    [
        ("llama-3.1-8b-instruct", "compute_dense"),
        ("qwen3-30b-a3b", "compute_other"),
        ("qwen3.5-27b", "compute_other"),
    ],
)
def test_a_buffer_is_as_sure_as_the_measured_runs_of_its_kind(model, name):
    """Dense: within 10 % (§4.5); experts and states: seven times what was calculated was measured once."""
    answer = ask(model=model, engine="llama.cpp")
    term, constant = answer.term("compute_llamacpp"), answer.configuration.constants[name]
    assert (term.low / term.value, term.high / term.value) == pytest.approx((constant.low, constant.high))
    assert constant.low < 1 < constant.high
    assert constant.cases > 5
    assert (constant.high < 1.2) == (name == "compute_dense")


# Context and libraries of one process, GiB (±40 %).
CONTEXTS = {
    "rtx-4090": ("cuda", 0.45),
    "h100-sxm": ("cuda", 0.45),
    "rtx-5090": ("cuda", 0.75),
    "rx-7900-xtx": ("rocm", 1.0),
    "mac-m4-max-128": ("metal", 0.0),
}


@pytest.mark.parametrize(("gpu", "expected"), CONTEXTS.items(), ids=CONTEXTS)
def test_a_process_takes_its_context(gpu, expected):
    backend, gib = expected
    answer = ask(gpu=gpu, engine="llama.cpp")
    assert answer.configuration.backend == backend
    assert answer.part("context") == int(gib * GIB)


def test_the_backend_may_be_asked_for():
    assert ask(gpu="rx-7900-xtx", engine="llama.cpp", backend="vulkan").part("context") == int(0.3 * GIB)


def test_a_backend_changes_how_much_fits():
    """The same card with 0.3 instead of 1.0 GiB of context holds 0.7 GiB more cache: 5734 tokens of 131 072 B."""
    rocm = ask(gpu="rx-7900-xtx", engine="llama.cpp", quant="q8_0", users=2)
    vulkan = ask(gpu="rx-7900-xtx", engine="llama.cpp", quant="q8_0", users=2, backend="vulkan")
    gained = vulkan.capacity.max_context_tokens - rocm.capacity.max_context_tokens
    assert gained == pytest.approx(0.7 * GIB / 131_072 / 2, abs=256)


# --- weights on the devices -------------------------------------------------------------------------------------------


def test_the_input_embedding_stays_in_host_memory():
    """281.8 MiB of Llama 3 8B in Q4_K, as logged."""
    answer = ask(model="llama-3.1-8b-instruct", engine="llama.cpp")
    assert answer.part("weights") == 4_912_898_304 - 128_256 * 4096 // 256 * 144
    assert answer.term("weights").factors["embedding_bytes"] == 0


def test_a_tied_table_is_on_both_sides():
    answer = ask(model="llama-3.2-1b-instruct", engine="llama.cpp")
    table = 128_256 * 2048 // 256 * 210
    assert answer.term("weights").factors["head_bytes"] >= table
    assert answer.memory.host_bytes >= table


def test_a_machine_without_gpu_has_but_one_memory():
    answer = ask(model="llama-3.2-1b-instruct", gpu="cpu-ddr4-desktop")
    table = 128_256 * 2048 // 256 * 210
    assert answer.term("weights").factors["embedding_bytes"] == table
    final_norm_and_rope_table = 4 * 2048 + 4 * 32
    assert answer.term("weights").factors["head_bytes"] == final_norm_and_rope_table
    assert answer.memory.host_bytes < table


def test_the_parts_of_a_split_are_its_layers():
    """Llama 3.3 70B on two cards: 41 and 39 layers, the output on the second."""
    loads = ask(model="llama-3.3-70b-instruct", gpu="rtx-3090", n=2).memory.gpus
    assert [(load.first_layer, load.layers, load.gpus) for load in loads] == [(0, 41, 1), (41, 39, 1)]
    assert [load.parts["kv_cache"] for load in loads] == [layers * 4096 * 8192 for layers in (41, 39)]


# --- verdict ----------------------------------------------------------------------------------------------------------


def test_1024_mib_must_stay_free_for_an_outright_fit():
    """The high end inside the limit, but not inside the limit less 1024 MiB: tight, for `--fit` would cut it down."""
    fits = ask(gpu="rtx-3060-12", users=1).capacity.max_context_fits_tokens
    answer = ask(gpu="rtx-3060-12", ctx=fits + 256)
    assert answer.verdict == "tight"
    assert answer.reasons["inside_fit_margin"] == Reason("inside_fit_margin", {"margin_bytes": 1024 * MIB})


# --- refusals ---------------------------------------------------------------------------------------------------------

REFUSALS = [
    (
        {"gpu": "tpu-v5e"},
        Reason("engine_not_on_device", {"engine": NAME, "device": "Google TPU v5e"}),
    ),
    (
        {"quant": "awq-int4"},
        Reason(
            "format_not_in_engine",
            {"engine": NAME, "format": "AWQ INT4 g128", "device": "GeForce RTX 4090"},
        ),
    ),
    (
        {"quant": "ud-q4_k_xl", "model": "kimi-k3.1-pro"},
        Reason(
            "published_size_only",
            {
                "format": "UD-Q4_K_XL (Unsloth dynamic)",
                "model": "Kimi K3.1 Pro",
                "what": "UD-Q4_K_XL (Unsloth dynamic)",
            },
        ),
    ),
    ({"users": 257}, Reason("too_many_requests", {"engine": NAME, "users": 257, "limit": 256})),
    (
        {"n": 16, "model": "llama-3.1-70b-instruct"},
        Reason("too_many_gpus_layer_split", {"engine": NAME, "gpus": 16, "limit": 15}),
    ),
    (
        {"n": 17, "split": "tensor"},
        Reason("too_many_gpus_tensor_split", {"engine": NAME, "gpus": 17, "limit": 16}),
    ),
    (
        {"n": 2, "split": "tensor", "model": "deepseek-v3"},
        Reason("tensor_split_unsupported", {"engine": NAME, "class_name": "DeepseekV3ForCausalLM"}),
    ),
    (
        {"n": 2, "split": "tensor", "kv": "q8_0"},
        Reason("tensor_split_cache_type", {"engine": NAME, "cache_type": "q8_0"}),
    ),
    ({"n": 2, "pp": 1, "tp": 1}, Reason("plan_does_not_multiply", {"tp": 1, "pp": 1, "gpus": 2})),
    ({"kv": "fp8"}, Reason("cache_type_not_in_engine", {"engine": NAME, "cache_type": "fp8"})),
    ({"kv": "q8_0", "fa": 0}, Reason("cache_needs_flash_attention", {"cache_type": "q8_0"})),
]


@pytest.mark.parametrize(("query", "reason"), REFUSALS, ids=[reason.code for _, reason in REFUSALS])
def test_what_llama_cpp_refuses(query, reason):
    answer = ask(**{"engine": "llama.cpp", **query})
    assert answer.verdict == "unsupported"
    assert answer.estimate.capacity is None
    assert answer.estimate.reasons[0] == reason


def test_a_row_that_32_does_not_divide_cannot_be_quantized():
    """No model of the catalogue has such a row: one KV head of 80 elements."""
    answer = ask(engine="llama.cpp", kv="q8_0")
    model = answer.configuration.model
    block = model.architecture.blocks[0]
    odd = replace(block, mixer=replace(block.mixer, kv_heads=1, head_dim=80, v_head_dim=80))
    changed = replace(model, architecture=replace(model.architecture, blocks=(odd,)))
    refused = llamacpp.refusals(replace(answer.configuration, model=changed))
    assert refused == (Reason("cache_row_not_divisible", {"cache_type": "q8_0", "row": 80, "block": 32}),)


def test_a_split_needs_a_layer_for_every_card():
    """15 cards and a model of 12 layers."""
    answer = ask(engine="llama.cpp", n=15)
    model = answer.configuration.model
    short = replace(model, architecture=replace(model.architecture, order=((0, 12),)))
    plan = replace(answer.configuration.plan, layers_per_stage=(1,) * 12)
    refused = estimate(replace(answer.configuration, model=short, plan=plan))
    assert refused.verdict == "unsupported"
    assert refused.reasons == (Reason("more_stages_than_layers", {"engine": NAME, "pp": 15, "layers": 12}),)


def test_a_refused_question_still_shows_its_memory():
    answer = ask(engine="llama.cpp", users=257)
    assert answer.part("kv_cache") == 257 * 8192 * 131_072


def test_the_last_of_as_many_cards_as_layers_may_hold_the_output_alone():
    """Nomic Embed, 12 layers on 12 cards: the first has two."""
    answer = ask(model="nomic-embed-text-v1.5", engine="llama.cpp", n=12, users=257)
    assert [load.layers for load in answer.memory.gpus] == [2, *[1] * 10, 0]
    assert answer.reasons.keys() >= {"too_many_requests"}
