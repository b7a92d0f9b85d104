"""Longest context and most users: the inverse of the sum (methodology §11.12)."""

import pytest

from calculator.estimation import memory_curves
from calculator.estimation.capacity import MOST_USERS
from calculator.estimation.terms import Capacity
from tests.estimation.asking import H100, ask

QUESTIONS = {
    "dense on a desktop card": {},
    "dense in a quantized cache": {"kv": "q4_0", "gpu": "rtx-3060-12"},
    "windows": {"model": "gemma-3-27b-it", "gpu": "rtx-5090"},
    "states": {"model": "qwen3.5-27b", "gpu": "rtx-3090"},
    "layer split": {"model": "llama-3.3-70b-instruct", "gpu": "rtx-3090", "n": 3},
    "latent on a node": {"model": "deepseek-r1", "gpu": "h200-sxm", "n": 8},
    "hybrid over nodes": {"model": "kimi-k3", "gpu": H100, "n": 24},
    "windows in groups": {"model": "gpt-oss-120b", "gpu": H100},
    "on a Mac": {"model": "qwen3-30b-a3b", "gpu": "mac-m4-max-64"},
    "sampler grows": {"gpu": "rtx-4090", "engine": "vllm", "ctx": 128},
}


def verdict_of(query, **changed):
    return ask(**{**query, **changed}).verdict


@pytest.mark.parametrize("query", QUESTIONS.values(), ids=QUESTIONS)
def test_one_token_more_than_the_longest_context_fails(query):
    answer = ask(**query)
    longest, firm = answer.capacity.max_context_tokens, answer.capacity.max_context_fits_tokens
    bound = answer.configuration.model.max_context_tokens
    assert 0 < firm <= longest <= bound
    assert verdict_of(query, ctx=longest) in ("fits", "tight")
    assert longest == bound or verdict_of(query, ctx=longest + 1) == "does_not_fit"
    assert verdict_of(query, ctx=firm) == "fits"
    assert firm == bound or verdict_of(query, ctx=firm + 1) in ("tight", "does_not_fit")


@pytest.mark.parametrize("query", QUESTIONS.values(), ids=QUESTIONS)
def test_one_user_more_than_the_most_fails(query):
    answer = ask(**query)
    most, firm = answer.capacity.max_users, answer.capacity.max_users_fits
    bound = answer.configuration.engine.rules.get("max_sequences", MOST_USERS)
    assert 0 <= firm <= most <= bound
    assert most == 0 or verdict_of(query, users=most) in ("fits", "tight")
    assert most == bound or verdict_of(query, users=most + 1) == "does_not_fit"
    assert firm == 0 or verdict_of(query, users=firm) == "fits"
    assert firm == bound or verdict_of(query, users=firm + 1) in ("tight", "does_not_fit")


def test_llama_cpp_serves_256_requests_at_most():
    capacity = ask(model="qwen3-0.6b", gpu="rtx-pro-6000", ctx=256).capacity
    assert (capacity.max_users, capacity.max_users_fits) == (256, 256)
    assert ask(model="qwen3-0.6b", gpu="rtx-pro-6000", ctx=256, users=257).verdict == "unsupported"


def test_a_server_prepared_for_so_many_requests_holds_no_more():
    """`--max-num-seqs 4` on a card that could hold hundreds."""
    assert ask(gpu=H100, seqs=4).capacity.max_users == 4


def test_a_context_that_costs_nothing_goes_up_to_the_models_longest():
    """An embedding model keeps no cache."""
    capacity = ask(model="qwen3-embedding-8b", gpu=H100).capacity
    assert (capacity.max_context_tokens, capacity.max_context_fits_tokens) == (32_768, 32_768)


def test_weights_that_do_not_fit_leave_nothing():
    assert ask(model="kimi-k2.5").capacity == Capacity(0, 0, 0, 0)


def test_a_context_is_never_longer_than_the_models():
    assert ask(gpu="b200").capacity.max_context_tokens == 131_072


def test_longer_than_the_model_is_computed_but_not_offered():
    """1 048 576 tokens of Llama 3.1 8B: 128 GiB of cache fit a B200, the model ends at 131 072."""
    answer = ask(gpu="b200", ctx=1_048_576)
    assert answer.verdict == "fits"
    assert answer.capacity.max_context_tokens == 131_072


# --- curves -----------------------------------------------------------------------------------------------------------


def test_a_curve_meets_the_answers_for_its_contexts():
    answer = ask(gpu=H100, engine="vllm")
    curves = memory_curves(answer.configuration, ("bf16", "fp8"), points=9)
    assert [curve.cache_type for curve in curves] == ["bf16", "fp8"]
    for curve in curves:
        assert (curve.context_tokens[0], curve.context_tokens[-1]) == (1024, 131_072)
        for tokens, value, low, high in zip(
            curve.context_tokens, curve.needed_bytes, curve.low_bytes, curve.high_bytes, strict=True
        ):
            needed = ask(gpu=H100, engine="vllm", ctx=tokens, kv=curve.cache_type).memory.needed
            assert (value, low, high) == (needed.value, int(needed.low), int(needed.high))


def test_a_curve_ends_where_the_limit_is_met():
    answer = ask(model="llama-3.3-70b-instruct", gpu="rtx-3090", n=2)
    curve = memory_curves(answer.configuration, ("bf16",))[0]
    assert curve.max_context_tokens == answer.capacity.max_context_tokens
