"""LM Studio: llama.cpp with full windows, MLX for MLX files (methodology §3.3)."""

import pytest

from catalog.records import GIB, MIB
from tests.estimation.asking import ask


def one(**query):
    return ask(engine="lm-studio", **query)


def test_w_3_9_windows_are_full():
    """gpt-oss-120b at 8192 tokens: 576 MiB, as if all layers were full."""
    assert one(model="gpt-oss-120b", gpu="h100-sxm", ctx=8192).part("kv_cache") == 576 * MIB


def test_w_3_11_windows_of_gemma_are_full():
    """62 layers of 8192 B at 131 072 tokens: 62.0 GiB."""
    assert one(model="gemma-3-27b-it", gpu="h100-sxm", ctx=131_072).part("kv_cache") == 62.0 * GIB


@pytest.mark.parametrize(("tokens", "held"), [(1, 256), (257, 512), (8192, 8192)])
def test_streams_of_256_cells(tokens, held):
    assert one(ctx=tokens, users=2).part("kv_cache") == 2 * held * 131_072


def test_states_are_kept_in_fp32():
    assert one(model="kimi-k3", gpu="h100-sxm").part("recurrent_state") == 464_633_856


def test_mlx_files_run_on_macs_as_in_mlx():
    query = {"gpu": "mac-m4-max-128", "quant": "mlx-4bit", "model": "gpt-oss-20b"}
    inside, own = one(**query), ask(engine="mlx", **query)
    assert inside.memory.needed.value == own.memory.needed.value
    assert inside.has_term("prefill_chunk")


REFUSED = {
    "format_not_on_device": {"gpu": "rtx-4090", "quant": "mlx-4bit"},
    "format_not_in_engine": {"quant": "awq-int4"},
    "cache_type_not_in_engine": {"kv": "fp8"},
    "too_many_gpus_layer_split": {"n": 16},
    "no_tensor_split": {"n": 2, "tp": 2},
}


@pytest.mark.parametrize(("code", "query"), REFUSED.items(), ids=REFUSED)
def test_refusals(code, query):
    answer = one(**query)
    assert answer.verdict == "unsupported"
    assert code in answer.reasons
