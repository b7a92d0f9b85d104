"""Stock GGUF files by the quantizer's own rules (methodology §2.2): expected bytes are the methodology's, checked there
against published files and model cards."""

import pytest

from calculator.estimation.weights.ggml import BLOCKS
from calculator.estimation.weights.gguf import gguf_layout
from calculator.estimation.weights.recipes import RECIPES, Place, made_with_imatrix
from tests.estimation.asking import SNAPSHOT

LLAMA_8B_WEIGHTS = 8_030_261_312
"""Llama 3.1 8B with the 64 entries of its RoPE frequency table, which the converter adds."""


def tensors(model_id, weights_format, **how):
    model = SNAPSHOT.models[model_id]
    return gguf_layout(model.architecture, weights_format, model.class_name, **how).text_bytes


LLAMA_8B = {
    "iq1_s": 2_011_791_616,
    "iq2_m": 2_940_444_928,
    "q2_k": 3_171_295_488,
    "q3_k_m": 4_011_081_984,
    "iq4_xs": 4_476_526_848,
    "q4_k_m": 4_912_898_304,
    "q5_k_m": 5_725_151_488,
    "q6_k": 6_588_170_496,
    "q8_0": 8_532_934_912,
    "f16": 16_061_055_232,
}


@pytest.mark.parametrize(("weights_format", "size"), LLAMA_8B.items(), ids=LLAMA_8B)
def test_llama_3_1_8b_to_the_byte(weights_format, size):
    assert tensors("llama-3.1-8b-instruct", weights_format) == size


# ggml-org/llama.cpp:tools/quantize/README.md, bits per weight of Llama 3.1 8B, without its Q4_0 row, which repeats
# Q4_K_S; IQ4_XS and IQ4_NL were made there without an importance matrix.
README_BITS = {
    "iq1_s": 2.0042, "iq1_m": 2.1460, "iq2_xxs": 2.3824, "iq2_xs": 2.5882, "iq2_s": 2.7403, "iq2_m": 2.9294,
    "iq3_xxs": 3.2548, "iq3_xs": 3.4977, "iq3_s": 3.6606, "iq3_m": 3.7628, "q3_k_s": 3.6429, "q3_k_m": 3.9960,
    "q3_k_l": 4.2979, "iq4_xs": 4.4597, "iq4_nl": 4.6818, "q2_k_s": 2.9697, "q2_k": 3.1593, "q4_k_s": 4.6672,
    "q4_k_m": 4.8944, "q5_k_s": 5.5704, "q5_k_m": 5.7036, "q6_k": 6.5633, "q8_0": 8.5008, "f16": 16.0005,
}  # fmt: skip


@pytest.mark.parametrize(("weights_format", "bits"), README_BITS.items(), ids=README_BITS)
def test_llama_3_1_8b_has_the_bits_of_llama_cpps_own_table(weights_format, bits):
    size = tensors("llama-3.1-8b-instruct", weights_format)
    assert 8 * size / LLAMA_8B_WEIGHTS == pytest.approx(bits, rel=2e-5)


def test_w_2_5_q4_0_takes_more_bits_in_the_first_eighth_with_an_importance_matrix():
    assert tensors("llama-3.1-8b-instruct", "q4_0", imatrix=False) == 4_653_375_744
    assert tensors("llama-3.1-8b-instruct", "q4_0", imatrix=True) == 4_668_055_808


def test_w_2_6_iq3_xxs_keeps_more_in_k_quants_without_an_importance_matrix():
    assert tensors("llama-3.1-8b-instruct", "iq3_xxs", imatrix=True) == 3_267_076_352
    assert tensors("llama-3.1-8b-instruct", "iq3_xxs", imatrix=False) == 3_386_351_872


@pytest.mark.parametrize(
    ("weights_format", "size"),
    [("q4_k_m", 42_512_531_712), ("q2_k", 26_367_246_592), ("q8_0", 74_967_187_712)],
)
def test_w_2_7_the_70b_class_keeps_its_value_projections_in_5_bits(weights_format, size):
    assert tensors("llama-3.1-70b-instruct", weights_format) == size


@pytest.mark.parametrize(("weights_format", "size"), [("q4_k_m", 28_447_727_616), ("q8_0", 49_625_579_520)])
def test_w_2_8_eight_experts_keep_keys_and_values_in_8_bits(weights_format, size):
    assert tensors("mixtral-8x7b-instruct-v0.1", weights_format) == size


def test_w_2_9_experts_go_by_their_layer():
    assert tensors("qwen3-30b-a3b", "q4_k_m") == 18_550_716_416


# Sizes of Qwen3-30B-A3B in decimal GB as its repository lists them.
@pytest.mark.parametrize(
    ("weights_format", "gigabytes"), [("q5_k_m", 21.74), ("q6_k", 25.10), ("q8_0", 32.48), ("bf16", 61.10)]
)
def test_qwen3_30b_a3b_is_as_large_as_published(weights_format, gigabytes):
    assert tensors("qwen3-30b-a3b", weights_format) / 1e9 == pytest.approx(gigabytes, rel=1e-3)


def test_w_2_9_an_mla_model_is_stored_in_one_of_two_forms():
    """DeepSeek V3: one kv_b matrix, which counts as a value projection, or k_b and v_b apart, which do not."""
    assert tensors("deepseek-v3", "q4_k_m", split_latent=False) == 404_554_645_504
    assert tensors("deepseek-v3", "q4_k_m") == 404_488_847_360


# The model card of DeepSeek V3's GGUF files (kv_b form), decimal GB.
@pytest.mark.parametrize(
    ("weights_format", "gigabytes"),
    [("q4_k_m", 404.43), ("q5_k_m", 475.40), ("q6_k", 550.80), ("q8_0", 713.29)],
)
def test_deepseek_v3_is_as_large_as_its_model_card_says(weights_format, gigabytes):
    size = tensors("deepseek-v3", weights_format, split_latent=False)
    assert size / 1e9 == pytest.approx(gigabytes, rel=4e-4)


def test_w_2_10_gpt_oss_keeps_its_experts_as_they_were_trained():
    """gptoss_mxfp4_moe_gguf; rows of 2880 force the fall-backs."""
    assert tensors("gpt-oss-120b", "mxfp4_moe") == 63_374_323_968


KIMI_K3 = {
    "bf16": 5_560_181_689_344,
    "q8_0": 2_954_983_486_464,
    "q4_k_m": 1_681_674_572_800,
    "q2_k": 1_008_945_167_872,
    "iq2_xxs": 724_873_736_448,
}


@pytest.mark.parametrize(("weights_format", "size"), KIMI_K3.items(), ids=KIMI_K3)
def test_w_2_13_kimi_k3_by_rule(weights_format, size):
    assert tensors("kimi-k3", weights_format) == size


@pytest.mark.parametrize(
    ("weights_format", "size"), [("bf16", 5_560_538_754_048), ("q4_k_m", 1_681_775_014_912)]
)
def test_w_2_13_kimi_k3_1_pro_by_rule_with_its_index_at_the_default_type(weights_format, size):
    assert tensors("kimi-k3.1-pro", weights_format) == size


def test_a_head_takes_8_bits_where_the_default_type_does_not_divide_the_width():
    """gpt-oss, 2880 wide: the output matrix of an IQ2 file is Q8_0, not the Q5_1 of the fall-back."""
    layout = gguf_layout(SNAPSHOT.models["gpt-oss-20b"].architecture, "iq2_xxs")
    assert layout.head_bytes == 201_088 * 2880 // 32 * 34


def test_the_older_form_of_an_mla_model_has_as_many_kv_heads_as_heads():
    """DeepSeek V3 with kv_b: ⌊h/g⌋ = 1, so Q2_K keeps the 61 kv_b matrices in Q3_K; as MQA it would be Q4_K."""
    kv_b = 61 * 128 * (128 + 128) * 512
    split, whole = (tensors("deepseek-v3", "q2_k", split_latent=form) for form in (True, False))
    # Split, k_b has columns of 128: Q2_K falls back to Q4_0; v_b stays in Q2_K.
    assert whole - split == kv_b * 110 // 256 - kv_b // 2 * 18 // 32 - kv_b // 2 * 84 // 256


def test_a_file_without_a_recipe_has_no_rule():
    with pytest.raises(KeyError):
        gguf_layout(SNAPSHOT.models["llama-3.1-8b-instruct"].architecture, "ud-q4_k_xl")


@pytest.mark.parametrize("name", ["iq1_s", "iq2_m", "iq3_xxs", "q2_k_s"])
def test_the_smallest_types_are_made_with_an_importance_matrix(name):
    assert made_with_imatrix(name)


@pytest.mark.parametrize("name", ["iq4_xs", "q4_0", "q2_k", "q8_0"])
def test_the_others_are_not(name):
    assert not made_with_imatrix(name)


# --- one row of the table of types at a time --------------------------------------------------------------------------


def place(index=20, count=32, gqa=4, experts=0, *, wide=False, imatrix=False):
    """A tensor in the middle of a dense model of 32 layers with four query heads to a KV head."""
    return Place(index, count, gqa, experts, wide, imatrix)


def picked(weights_format, category, where):
    recipe = RECIPES[weights_format]
    pick = recipe.picks.get(category)
    return pick(where) if pick else recipe.default


def test_more_bits_go_to_the_first_and_last_eighth_and_every_third_between():
    layers = [index for index in range(32) if place(index).more]
    assert layers == [0, 1, 2, 3, 6, 9, 12, 15, 18, 21, 24, 27, 28, 29, 30, 31]


# (file type, category, where) → type; every cell of the table that depends on the place.
CELLS = [
    ("q5_k_m", "V", place(0), "Q6_K"),
    ("q5_k_m", "V", place(4), "Q5_K"),
    ("q5_k_m", "DOWN", place(31), "Q6_K"),
    ("q4_k_m", "V", place(6), "Q6_K"),
    ("q4_k_m", "DOWN", place(5), "Q4_K"),
    ("q4_k_s", "V", place(3), "Q5_K"),
    ("q4_k_s", "V", place(4), "Q4_K"),
    ("q4_k_s", "DOWN", place(3), "Q5_K"),
    ("q4_k_s", "DOWN", place(4), "Q4_K"),
    ("q3_k_l", "V", place(), "Q5_K"),
    ("q3_k_l", "O", place(), "Q5_K"),
    ("q3_k_l", "DOWN", place(), "Q5_K"),
    ("q3_k_m", "V", place(1), "Q5_K"),
    ("q3_k_m", "V", place(2), "Q4_K"),
    ("q3_k_m", "O", place(), "Q4_K"),
    ("q3_k_m", "DOWN", place(1), "Q5_K"),
    ("q3_k_m", "DOWN", place(2), "Q4_K"),
    ("q3_k_s", "V", place(), "Q3_K"),
    ("q2_k", "V", place(gqa=4), "Q4_K"),
    ("q2_k", "V", place(gqa=1), "Q3_K"),
    ("q2_k", "O", place(), "Q3_K"),
    ("q2_k", "DOWN", place(), "Q3_K"),
    ("q2_k_s", "V", place(gqa=4), "Q4_K"),
    ("q2_k_s", "V", place(gqa=1), "Q2_K"),
    ("q2_k_s", "DOWN", place(3), "Q4_K"),
    ("q2_k_s", "DOWN", place(4), "Q2_K"),
    ("q5_0", "DOWN", place(3, imatrix=True), "Q5_1"),
    ("q5_0", "DOWN", place(3), "Q5_0"),
    ("q4_0", "DOWN", place(4, imatrix=True), "Q4_0"),
    ("iq4_xs", "V", place(gqa=4), "Q5_K"),
    ("iq4_xs", "V", place(gqa=1), "IQ4_XS"),
    ("iq4_xs", "DOWN", place(3), "Q5_K"),
    ("iq4_xs", "DOWN", place(3, imatrix=True), "IQ4_XS"),
    ("iq4_nl", "V", place(gqa=8), "Q5_K"),
    ("iq4_nl", "DOWN", place(4), "IQ4_NL"),
    ("iq3_m", "V", place(gqa=1), "Q4_K"),
    ("iq3_m", "O", place(), "Q4_K"),
    ("iq3_m", "DOWN", place(3), "Q4_K"),
    ("iq3_m", "DOWN", place(6), "IQ3_S"),
    ("iq3_m", "DOWN", place(6, experts=8), "Q4_K"),
    ("iq3_s", "V", place(gqa=4), "Q4_K"),
    ("iq3_s", "V", place(gqa=1), "IQ3_S"),
    ("iq3_xs", "K", place(), "IQ3_XXS"),
    ("iq3_xs", "Q", place(), "IQ3_XXS"),
    ("iq3_xs", "UP", place(3), "IQ3_S"),
    ("iq3_xs", "UP", place(4), "IQ3_XXS"),
    ("iq3_xs", "GATE", place(28), "IQ3_S"),
    ("iq3_xxs", "V", place(gqa=4), "Q4_K"),
    ("iq3_xxs", "V", place(gqa=1), "IQ3_S"),
    ("iq3_xxs", "V", place(gqa=1, imatrix=True), "IQ3_XXS"),
    ("iq3_xxs", "K", place(), "IQ2_S"),
    ("iq3_xxs", "Q", place(), "IQ2_S"),
    ("iq3_xxs", "O", place(), "IQ3_S"),
    ("iq3_xxs", "DOWN", place(3), "Q4_K"),
    ("iq3_xxs", "DOWN", place(4), "Q3_K"),
    ("iq3_xxs", "DOWN", place(3, imatrix=True), "IQ3_XXS"),
    ("iq2_m", "UP", place(), "IQ2_S"),
    ("iq2_m", "V", place(gqa=1), "IQ3_S"),
    ("iq2_m", "V", place(gqa=1, experts=4), "Q4_K"),
    ("iq2_m", "DOWN", place(3), "IQ3_S"),
    ("iq2_m", "DOWN", place(4), "IQ2_S"),
    ("iq2_s", "UP", place(), "IQ2_XS"),
    ("iq2_s", "O", place(), "IQ3_S"),
    ("iq2_xs", "V", place(gqa=1), "Q2_K"),
    ("iq2_xs", "DOWN", place(0), "Q2_K"),
    ("iq2_xxs", "V", place(gqa=8), "Q4_K"),
    ("iq2_xxs", "O", place(), "IQ2_XXS"),
    ("iq2_xxs", "K", place(experts=8), "Q4_K"),
    ("iq1_m", "O", place(), "IQ2_XXS"),
    ("iq1_s", "DOWN", place(3), "Q2_K"),
    ("iq1_s", "DOWN", place(4), "IQ1_S"),
    ("tq1_0", "V", place(), "TQ1_0"),
]


@pytest.mark.parametrize(("weights_format", "category", "where", "expected"), CELLS)
def test_a_tensor_takes_the_type_of_the_table(weights_format, category, where, expected):
    assert picked(weights_format, category, where) == expected


# File type → (output, embedding of an untied model).
TABLES = {
    "q8_0": ("Q8_0", "Q8_0"),
    "q6_k": ("Q6_K", "Q6_K"),
    "q5_k_m": ("Q6_K", "Q5_K"),
    "q4_k_m": ("Q6_K", "Q4_K"),
    "q4_0": ("Q6_K", "Q4_0"),
    "q3_k_l": ("Q6_K", "Q3_K"),
    "q2_k": ("Q6_K", "Q2_K"),
    "iq4_xs": ("Q6_K", "IQ4_XS"),
    "iq3_s": ("Q6_K", "IQ3_S"),
    "iq3_xxs": ("Q5_K", "IQ3_S"),
    "iq2_m": ("Q5_K", "IQ3_S"),
    "iq2_s": ("Q5_K", "IQ3_S"),
    "iq2_xxs": ("Q5_K", "Q2_K"),
    "iq1_s": ("Q5_K", "Q2_K"),
    "tq2_0": ("Q6_K", "Q4_K"),
    "q2_0": ("Q6_K", "Q4_K"),
    "mxfp4_moe": ("Q8_0", "Q8_0"),
    "f16": ("F16", "F16"),
}


@pytest.mark.parametrize(("weights_format", "types"), TABLES.items(), ids=TABLES)
def test_output_and_embedding_take_the_types_of_the_table(weights_format, types):
    layout = gguf_layout(SNAPSHOT.models["llama-3.1-8b-instruct"].architecture, weights_format)
    table = 128_256 * 4096
    assert (layout.head_bytes, layout.embedding_bytes) == tuple(
        table // BLOCKS[name][0] * BLOCKS[name][1] for name in types
    )


def test_a_tied_table_is_stored_once_in_the_type_of_the_output():
    layout = gguf_layout(SNAPSHOT.models["llama-3.2-1b-instruct"].architecture, "q4_k_m")
    assert layout.tied
    assert layout.embedding_bytes == 128_256 * 2048 // 256 * 210


# --- published files as a second oracle -------------------------------------------------------------------------------

OTHERWISE_MADE = {
    "Phi3ForCausalLM": "query, key and value are one matrix in the file, which older quantizers gave a type of its own",
    "TinyLlama": "quantized in 2023, before the rules of today",
    "Mixtral-8x7B": "the router stayed in 16 bits",
    "GLM-4.5-Air": "the file holds the prediction layer",
    "Meta-Llama-3.1-405B": "the first release had 16 KV heads",
    "Qwen/Qwen2.5": "the maker stores the tied table twice",
    "unsloth/Qwen3-30B-A3B-GGUF iq4_xs": "more bits somewhere, 0.02 %",
    "unsloth/Qwen3-32B-GGUF iq4_xs": "more bits somewhere, 0.1 %",
}
"""Published stock files that do not follow the rule, and why."""


def stock_files():
    for model in SNAPSHOT.models.values():
        for file in model.files:
            names = f"{model.class_name} {file.repo} {file.weights_format}"
            if file.exact and file.weights_format in RECIPES and not any(n in names for n in OTHERWISE_MADE):
                yield model, file


def beside_the_tensors(model, file, *, imatrix):
    """Bytes per vocabulary entry that the file has and the rule's tensors have not."""
    layout = gguf_layout(model.architecture, file.weights_format, model.class_name, imatrix=imatrix)
    return (file.size_bytes - layout.text_bytes) / model.architecture.vocabulary_size


def test_what_a_published_file_holds_beside_the_tensors_of_the_rule_is_its_tokenizer():
    """10 to 80 B per entry of the vocabulary. Publishers quantize with or without an importance matrix."""
    missed = {
        f"{file.repo} {file.weights_format}"
        for model, file in stock_files()
        if not any(10 <= beside_the_tensors(model, file, imatrix=made) <= 80 for made in (False, True))
    }
    assert missed == set()
    assert len(list(stock_files())) > 220
