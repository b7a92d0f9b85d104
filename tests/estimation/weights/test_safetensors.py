"""Checkpoints in safetensors and MLX formats by rule (methodology §2.3)."""

from dataclasses import replace

import pytest

from calculator.estimation.weights import weight_layout
from calculator.estimation.weights.safetensors import (
    NF4_SINGLE,
    RULES,
    native_rule,
    safetensors_layout,
    spread_of,
)
from tests.estimation.asking import SNAPSHOT


def layout(model_id, weights_format):
    return weight_layout(SNAPSHOT.models[model_id], SNAPSHOT.formats[weights_format])


# W-2.11: Llama 3.1 8B in every format.
W_2_11 = {
    "bf16": 16_060_522_496,
    "f16": 16_060_522_496,
    "fp8": 9_081_200_640 + 5_505_024,
    "fp8-block": 9_082_904_576,
    "awq-int4": 5_727_854_592,
    "gptq-int4": 5_732_835_328,
    "w4a16": 5_700_591_616,
    "nf4": 5_702_295_552,
    "nvfp4": 6_027_747_328,
    "mlx-4bit": 4_517_404_672,
    "mlx-8bit": 8_532_402_176,
}


@pytest.mark.parametrize(("weights_format", "size"), W_2_11.items(), ids=W_2_11)
def test_w_2_11_llama_3_1_8b_in_every_format(weights_format, size):
    assert layout("llama-3.1-8b-instruct", weights_format).checkpoint_bytes == size


def test_w_2_11_mxfp4_of_a_model_without_experts_is_all_linear_layers():
    assert layout("llama-3.1-8b-instruct", "mxfp4").checkpoint_bytes == 5_809_643_520


def test_w_2_11_nf4_without_double_quantization():
    shape = SNAPSHOT.models["llama-3.1-8b-instruct"].architecture
    assert safetensors_layout(shape, NF4_SINGLE, spread=0.1).checkpoint_bytes == 6_027_747_328


LINEAR, TABLE, NORMS = 6_979_321_856, 525_336_576, 266_240
"""Llama 3.1 8B (W-2.1): linear layers, embedding or head, norms."""


def test_w_2_11_exl3_with_a_head_of_6_bits():
    """≈ 4.940 GB: 4 bits, two FP16 vectors per matrix (in + out = 81 920 a layer), head 6 bits, the rest in 16."""
    vectors = 32 * 2 * (2 * (4096 + 4096) + 2 * (4096 + 1024) + 3 * (4096 + 14_336))
    whole = LINEAR // 2 + vectors + TABLE * 2 + TABLE * 6 // 8 + NORMS * 2
    assert layout("llama-3.1-8b-instruct", "exl3-4.0bpw").checkpoint_bytes == whole
    assert round(whole / 1e9, 2) == 4.94


def test_w_2_11_exl2_is_exl3_within_a_percent():
    exl2, exl3 = (
        layout("llama-3.1-8b-instruct", f"{name}-4.0bpw").checkpoint_bytes for name in ("exl2", "exl3")
    )
    assert exl2 == pytest.approx(exl3, rel=0.01)


# Bits per weight of the linear layers (methodology §2.3 and the catalogue's bits_block).
BITS = {"w8a16": 8.125, "awq-int8": 8.125, "int4": 4.25, "w4a8": 4.5, "autoround-int4": 4.15625}


@pytest.mark.parametrize(("weights_format", "bits"), BITS.items(), ids=BITS)
def test_integer_formats_have_their_bits_per_weight(weights_format, bits):
    assert layout("llama-3.1-8b-instruct", weights_format).checkpoint_bytes == LINEAR * bits / 8 + 2 * (
        2 * TABLE + NORMS
    )


MLX_BITS = {"mlx-mxfp4": 4.25, "mlx-nvfp4": 4.5, "mlx-mxfp8": 8.25}


@pytest.mark.parametrize(("weights_format", "bits"), MLX_BITS.items(), ids=MLX_BITS)
def test_mlx_block_formats_quantize_embedding_and_head_too(weights_format, bits):
    whole = (LINEAR + 2 * TABLE) * bits / 8 + 2 * NORMS
    assert layout("llama-3.1-8b-instruct", weights_format).checkpoint_bytes == whole


def test_mlx_mxfp4_q8_keeps_4_bits_for_experts_only():
    """gpt-oss-120b: experts 114 661 785 600 at 4.25 bits, no other matrix below 8.5 bits."""
    size = layout("gpt-oss-120b", "mlx-mxfp4-q8").text_bytes
    assert (
        114_661_785_600 * 4.25 / 8 + 2_167_371_072 < size < 114_661_785_600 * 4.25 / 8 + 2_167_371_072 * 1.1
    )


def test_f32_is_four_bytes_a_weight():
    assert layout("llama-3.1-8b-instruct", "f32").checkpoint_bytes == 4 * 8_030_261_248


def test_a_tied_head_is_stored_once_more_by_exl_converters():
    shape = SNAPSHOT.models["llama-3.2-1b-instruct"].architecture
    assert shape.tied_embeddings
    assert layout("llama-3.2-1b-instruct", "exl3-4.0bpw").head_bytes == 128_256 * 2048 * 6 // 8


def test_w_2_12_gpt_oss_120b_as_published():
    """gptoss_native_bytes: experts 114 661 785 600 × 4.25/8, the other 2 167 371 072 weights in 16 bits."""
    assert layout("gpt-oss-120b", "native").checkpoint_bytes == 65_248_815_744
    assert round(65_248_815_744 / 2**30, 2) == 60.77


W_2_13_NATIVE = {
    "kimi-k3": (1_560_838_080_000, 1_559_943_333_376),
    "kimi-k3.1-pro": (1_561_195_132_416, 1_560_300_385_792),
}


@pytest.mark.parametrize(("model_id", "sizes"), W_2_13_NATIVE.items(), ids=W_2_13_NATIVE)
def test_w_2_13_kimi_native_whole_and_text_only(model_id, sizes):
    native = layout(model_id, "native")
    assert (native.checkpoint_bytes, native.text_bytes) == sizes


def test_w_2_13_kimi_k3_1_pro_in_fp8_built():
    assert layout("kimi-k3.1-pro", "fp8-block").checkpoint_bytes == 2_784_190_851_648
    assert layout("kimi-k3.1-pro", "fp8").checkpoint_bytes == 2_786_757_548_928


def test_w_2_13_kimi_k3_1_pro_in_16_bits():
    assert round(layout("kimi-k3.1-pro", "bf16").checkpoint_bytes / 2**30, 2) == 5178.36


def test_w_5_3_what_every_rank_of_kimi_k3_holds_and_what_the_ranks_divide():
    """Latent and router, MLA q_a and kv_a, KDA f_a and all vectors are whole on every GPU."""
    native = layout("kimi-k3", "native")
    whole = native.span(0, 93)
    assert whole.replicated + native.final_bytes == 11_497_943_616
    assert whole.sharded + native.embedding_bytes + native.head_bytes == 1_548_445_389_760
    assert whole.limited == ()


@pytest.mark.parametrize(("ranks", "gib"), [(8, 190.97), (16, 100.84), (24, 70.80), (32, 55.77)])
def test_w_5_3_pure_tensor_parallelism_of_kimi_k3(ranks, gib):
    native = layout("kimi-k3", "native")
    tables = (native.embedding_bytes + native.head_bytes) / ranks
    rank = native.span(0, 93).per_rank(ranks) + tables + native.final_bytes
    assert round(rank / 2**30, 2) == gib


def test_w_5_3_the_index_of_kimi_k3_1_pro_is_on_every_rank():
    native, plain = layout("kimi-k3.1-pro", "native"), layout("kimi-k3", "native")
    more = native.span(0, 93).per_rank(8) - plain.span(0, 93).per_rank(8)
    assert more == 178_526_208 * 2
    assert round(more / 2**30, 2) == 0.33


def native_of(model_id, **changed):
    return weight_layout(replace(SNAPSHOT.models[model_id], **changed), SNAPSHOT.formats["native"])


def test_a_published_total_is_an_input_where_the_language_model_is_all_of_it():
    native = native_of(
        "llama-3.1-8b-instruct",
        native_weight_bytes=16_060_556_376,
        native_weight_bytes_kind="published: total of the weight files",
    )
    assert (native.basis, native.text_bytes) == ("published", 16_060_556_376)


def test_a_published_total_with_more_than_the_language_model_is_a_check():
    """DeepSeek V3: the weight files have 688 586 727 753 B. The prediction layer in them repeats embedding and head in
    16 bits; the rule counts it at the average of the language model, 1.9 GB less."""
    native = layout("deepseek-v3", "native")
    assert native.basis == "rule"
    repeated_tables = 2 * 129_280 * 7168
    assert native.checkpoint_bytes + repeated_tables == pytest.approx(688_586_727_753, rel=2e-4)


def test_a_rounded_total_is_a_check_and_no_input():
    native = native_of(
        "llama-3.1-8b-instruct",
        native_weight_bytes=16_100_000_000,
        native_weight_bytes_kind="published, rounded",
    )
    assert (native.basis, native.text_bytes) == ("rule", 16_060_522_496)


def test_an_unknown_native_format_has_no_rule():
    assert native_rule("ternary") is None


def test_a_natively_4_bit_checkpoint_may_keep_the_rest_in_8_bits():
    """DeepSeek V4: experts in MXFP4, linear layers in FP8 blocks, lookup tables at one byte."""
    model = SNAPSHOT.models["deepseek-v4-pro"]
    in_16_bits, in_8_bits = (
        safetensors_layout(model.architecture, native_rule("mxfp4-experts", rest), spread=0).text_bytes
        for rest in (None, "fp8")
    )
    assert in_8_bits < in_16_bits
    assert model.native_rest == "fp8"


@pytest.mark.parametrize(
    ("weights_format", "spread"),
    [("bf16", 0.001), ("native", 0.001), ("fp8", 0.10), ("nvfp4", 0.10), ("gptq-int4", 0.10)],
)
def test_a_rule_is_as_sure_as_the_recipe_is_known(weights_format, spread):
    """§10: ±0.1 % with a known recipe, ±10 % for FP8, NVFP4 and GPTQ checkpoints."""
    assert spread_of(weights_format) == spread


def test_every_rule_belongs_to_a_format_of_the_catalogue():
    assert set(RULES) - set(SNAPSHOT.formats) == set()
