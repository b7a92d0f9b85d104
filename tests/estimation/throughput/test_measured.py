"""Well-known measured speeds beside the estimate: the measured figure lies inside the interval, or its point within 30 %.

Each row names its public source. They test that the parts work together on real machines, not the accuracy.
"""

import pytest

from tests.estimation.asking import ask

SCOREBOARD = "ggml-org/llama.cpp discussions 4167, 10879 and 15013, through a secondary write-up"
SUITE_2024 = "XiongjieDai/GPU-Benchmarks-on-LLM-Inference, builds of May 2024 without flash attention"

ROWS = [
    ("llama.cpp discussion on DGX Spark", {"model": "gpt-oss-120b", "gpu": "dgx-spark", "quant": "mxfp4_moe", "output": 32}, 60.4),
    ("llama.cpp, batched bench", {"model": "gpt-oss-120b", "gpu": "mac-m2-ultra-192", "quant": "mxfp4_moe", "output": 32}, 85.6),
    (SCOREBOARD, {"model": "llama-2-7b-chat", "gpu": "rtx-5090", "quant": "q4_0", "output": 128}, 300.4),
    (SCOREBOARD, {"model": "llama-2-7b-chat", "gpu": "ryzen-ai-max-395-128", "backend": "vulkan", "quant": "q4_0", "output": 128}, 55.73),
    (SUITE_2024, {"model": "llama-3-8b-instruct", "gpu": "rtx-4090", "quant": "q4_k_m", "engine_version": "b2850", "fa": 0, "output": 1024}, 130.6),
    ("geerlingguy/ai-benchmarks", {"model": "llama-3.1-70b-instruct", "gpu": "mac-m3-ultra-512", "engine": "ollama", "quant": "q4_k_m", "output": 128}, 14.08),
    ("mlx-lm on an M3 Max", {"model": "qwen3-32b", "gpu": "mac-m3-max-64", "engine": "mlx", "quant": "mlx-4bit", "output": 128}, 18.6),
]  # fmt: skip


@pytest.mark.parametrize(("source", "query", "measured"), ROWS, ids=lambda value: str(value)[:40])
def test_one_user_of_a_known_machine(source, query, measured):
    speed = ask(**{"ctx": 4096, "prompt": 1, **query}).estimate.speed
    found = speed.decode_tokens_per_s_per_user
    assert found.value == pytest.approx(measured, rel=0.3), source


def test_a_known_server():
    """NVIDIA NIM's published table: Llama 3.3 70B FP8 on two H100, 5,000 in and 500 out, 25 users: 38.8 ms a token."""
    query = {"model": "llama-3.3-70b-instruct", "gpu": "h100-sxm", "n": 2, "quant": "fp8", "kv": "fp8"}
    speed = ask(**query, ctx=5500, prompt=5000, output=500, users=25).estimate.speed
    assert speed.tpot_ms.low < 38.8 < speed.tpot_ms.high


def test_two_cards_of_a_layer_split_are_no_faster_for_one_user():
    query = {"model": "llama-3.1-8b-instruct", "gpu": "rtx-4090", "quant": "q8_0", "split": "layer"}
    one, two = (ask(**query, n=n).estimate.speed.decode_tokens_per_s_per_user.value for n in (1, 2))
    assert 0.85 * one < two <= one
