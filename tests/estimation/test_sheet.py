"""The sheet of one model: nominal sizes as published tables print them, built sizes, cache by context (W-2.13, W-3.6)."""

import pytest

from calculator.estimation.sheet import built_size, cache_row, contexts_of, nominal_bytes
from catalog.records import GIB
from tests.estimation.asking import SNAPSHOT, architecture

KIMI = SNAPSHOT.models["kimi-k3.1-pro"]

# Kimi K3.1 Pro, GiB, within 0.005 %: 2·P; P + 2·V·d; the printed native size; 4.83 bits and one table at 6.5625.
W_2_13_NOMINAL = {"bf16": 5178.36, "fp8": 2591.37, "native": 1454.07, "q4_k_m": 1563.45}


@pytest.mark.parametrize(("weights_format", "gib"), W_2_13_NOMINAL.items(), ids=W_2_13_NOMINAL)
def test_w_2_13_the_nominal_column(weights_format, gib):
    found = nominal_bytes(KIMI)[weights_format] / GIB
    assert found == pytest.approx(gib, rel=5e-5)


W_2_13_BUILT = {
    "bf16": 5178.36,
    "fp8-block": 2592.98,
    "fp8": 2595.37,
    "native": 1453.98,
}


@pytest.mark.parametrize(("weights_format", "gib"), W_2_13_BUILT.items(), ids=W_2_13_BUILT)
def test_w_2_13_the_built_column(weights_format, gib):
    found = built_size(KIMI, SNAPSHOT.formats[weights_format])
    assert round(found.size_bytes / GIB, 2) == gib
    assert found.basis == "rule"


def test_w_2_13_a_gguf_file_is_the_language_model_and_its_metadata():
    """1 681 775 014 912 B of tensors (1566.28 GiB) and 61 B of tokenizer per entry; vision is a file of its own."""
    found = built_size(KIMI, SNAPSHOT.formats["q4_k_m"])
    assert found.size_bytes == 1_681_775_014_912 + 61 * 163_840


@pytest.mark.parametrize(
    ("tokens", "latent", "fp8", "index"),
    [
        (8192, 0.2109375, None, 0.02417),
        (131_072, 3.375, None, None),
        (1_048_576, 27.0, 15.375, 3.09375),
    ],
)
def test_w_3_6_rows_of_kimi_k3_1_pro(tokens, latent, fp8, index):
    row = cache_row(architecture("kimi-k3.1-pro"), tokens)
    assert row.bf16_bytes == latent * GIB
    if fp8:
        assert row.fp8_bytes == fp8 * GIB
    if index:
        assert row.index_bytes / GIB == pytest.approx(index, abs=5e-6)


def test_w_3_6c_the_row_of_kimi_k3_halves_in_fp8():
    assert cache_row(architecture("kimi-k3"), 1_048_576).fp8_bytes == 13.5 * GIB


def test_a_windowed_layer_keeps_its_window():
    """gpt-oss-120b: 18 full layers, 18 of 128 tokens, 2048 B a token each."""
    assert cache_row(architecture("gpt-oss-120b"), 8192).bf16_bytes == 18 * 2048 * (8192 + 128)


@pytest.mark.parametrize(
    ("model_id", "contexts"),
    [
        ("kimi-k3", (8192, 32_768, 131_072, 1_048_576)),
        ("qwen3-0.6b", (8192, 32_768, 40_960)),
        ("llama-33b", (2048,)),
    ],
)
def test_rows_end_at_the_models_longest_context(model_id, contexts):
    assert contexts_of(SNAPSHOT.models[model_id]) == contexts
