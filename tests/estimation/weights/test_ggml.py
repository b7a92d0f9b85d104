"""Blocks of GGML tensor types (methodology §2.1)."""

import pytest

from calculator.estimation.weights.ggml import BLOCKS, tensor_bytes, type_for_columns

# Where the package is no oracle: Q2_0 is younger than it, and it still counts Q8_1, which no file holds, with two FP32
# numbers where ggml's block has two of 16 bits (ggml-org/llama.cpp:ggml/src/ggml-common.h block_q8_1).
NOT_IN_THE_PACKAGE = {"Q2_0": (64, 18), "Q8_1": (32, 36)}


def test_blocks_are_as_large_as_the_gguf_package_says():
    import gguf

    published = {quantization.name: size for quantization, size in gguf.GGML_QUANT_SIZES.items()}
    assert {name: (published | NOT_IN_THE_PACKAGE)[name] for name in BLOCKS} == BLOCKS


# Bits per weight as the methodology prints them (§2.1).
BITS = {
    "F32": 32, "F16": 16, "BF16": 16, "Q8_0": 8.5, "Q8_1": 9, "Q5_1": 6, "Q5_0": 5.5, "Q4_1": 5, "Q4_0": 4.5,
    "Q6_K": 6.5625, "Q5_K": 5.5, "Q4_K": 4.5, "Q3_K": 3.4375, "Q2_K": 2.625, "Q8_K": 9.125, "IQ1_S": 1.5625,
    "IQ1_M": 1.75, "IQ2_XXS": 2.0625, "IQ2_XS": 2.3125, "IQ2_S": 2.5625, "IQ3_XXS": 3.0625, "IQ3_S": 3.4375,
    "IQ4_NL": 4.5, "IQ4_XS": 4.25, "TQ1_0": 1.6875, "TQ2_0": 2.0625, "MXFP4": 4.25, "NVFP4": 4.5,
    "Q1_0": 1.125, "Q2_0": 2.25,
}  # fmt: skip


def test_every_type_has_its_bits_per_weight():
    assert {name: 8 * size / weights for name, (weights, size) in BLOCKS.items()} == BITS


def test_a_matrix_is_rows_of_whole_blocks():
    """4096 × 14 336 in Q4_K: 4096 · 56 · 144 B."""
    assert tensor_bytes("Q4_K", 4096, 14_336) == 33_030_144


@pytest.mark.parametrize(
    ("wanted", "stored"),
    [
        ("IQ1_S", "IQ4_NL"),
        ("IQ3_S", "IQ4_NL"),
        ("IQ4_XS", "IQ4_NL"),
        ("Q2_K", "Q4_0"),
        ("Q3_K", "Q4_0"),
        ("TQ1_0", "Q4_0"),
        ("Q4_K", "Q5_0"),
        ("Q5_K", "Q5_1"),
        ("Q6_K", "Q8_0"),
        ("Q8_0", "Q8_0"),
    ],
)
def test_a_row_that_no_block_divides_is_stored_in_blocks_of_32(wanted, stored):
    """gpt-oss: rows of 2880 = 11.25 · 256 = 90 · 32 weights."""
    assert type_for_columns(wanted, 2880) == stored


@pytest.mark.parametrize("wanted", ["Q4_K", "IQ2_XXS", "Q8_0", "Q4_0"])
def test_a_row_that_32_does_not_divide_stays_in_16_bits(wanted):
    assert type_for_columns(wanted, 1000) == "F16"


def test_a_row_that_the_block_divides_is_stored_as_wanted():
    assert type_for_columns("Q4_K", 4096) == "Q4_K"
