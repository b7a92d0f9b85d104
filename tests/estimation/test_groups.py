"""Replicas, expert parallelism, attention data parallelism, context parallelism and unequal cards (§5)."""

import pytest

from calculator.estimation import memory_curves
from catalog.records import GIB
from tests.estimation.asking import ask

R1 = {"model": "deepseek-v3", "gpu": "h200-sxm", "n": 8, "users": 8, "ctx": 131_072}


def test_w_5_2_tensor_parallel_repeats_the_latent():
    """8 requests of 131 072 tokens: 68.625 GiB on each GPU."""
    assert ask(**R1).part("kv_cache") == pytest.approx(68.625 * GIB, rel=1e-9)


def test_w_5_2_attention_data_parallel_keeps_its_own_requests():
    """Attention DP8: 8.578 GiB each."""
    assert ask(**R1, adp=8, ep=8).part("kv_cache") == pytest.approx(8.578125 * GIB, rel=1e-9)


def test_context_parallel_divides_the_latent():
    """DCP divides S: an eighth of the 68.625 GiB."""
    assert ask(**R1, dcp=8).part("kv_cache") == pytest.approx(68.625 * GIB / 8, rel=1e-3)


def test_expert_parallel_holds_whole_experts():
    """256 experts over 8 ranks: 32 each, an eighth as with tensor parallel; over 6 of 6 GPUs 43 of 256."""
    eight, spread = ask(**R1), ask(**R1, ep=8)
    assert spread.part("weights") == pytest.approx(eight.part("weights"), rel=1e-6)


def test_replicas_share_the_users_and_repeat_the_weights():
    one, two = ask(gpu="h100-sxm", users=8), ask(gpu="h100-sxm", n=2, dp=2, users=16)
    assert two.configuration.plan.dp == 2
    assert (two.part("weights"), two.part("kv_cache")) == (one.part("weights"), one.part("kv_cache"))
    assert two.memory.total_bytes == 2 * one.memory.total_bytes


@pytest.mark.parametrize(
    ("code", "query"),
    [
        ("attention_groups_not_divisible", {**R1, "adp": 3}),
        ("context_groups_not_divisible", {**R1, "dcp": 3}),
        ("context_groups_not_divisible", {"gpu": "h100-sxm", "n": 8, "dcp": 2}),
        ("no_expert_parallel", {"n": 2, "ep": 2, "model": "qwen3-30b-a3b"}),
        ("no_attention_groups", {"n": 2, "adp": 2}),
        ("no_context_parallel", {"n": 2, "dcp": 2}),
        ("tensor_or_layer_split", {"n": 4, "tp": 2, "pp": 2}),
    ],
)
def test_groups_that_an_engine_refuses(code, query):
    answer = ask(**query)
    assert answer.verdict == "unsupported"
    assert code in answer.reasons


def test_unequal_cards_share_layers_by_their_memory():
    """24 126, 24 126 and 11 889 MiB (W-1.3) of 80 layers and the output: shares of 81 end at 32.5 and 65.0."""
    answer = ask(model="llama-3.3-70b-instruct", gpu="rtx-3090:2,rtx-3060-12:1")
    assert [load.layers for load in answer.memory.gpus] == [33, 32, 15]
    assert answer.verdict == "fits"


def test_the_card_with_the_least_room_decides():
    """Each card is held against its own limit: the small one has the least room here."""
    answer = ask(model="llama-3.3-70b-instruct", gpu="rtx-3090:2,rtx-3060-12:1")
    loads = answer.memory.gpus
    rooms = [23.56 - loads[0].needed_bytes.value / GIB, 23.56 - loads[1].needed_bytes.value / GIB, 11.61 - loads[2].needed_bytes.value / GIB]  # fmt: skip
    assert answer.memory.fullest == rooms.index(min(rooms))
    assert answer.memory.headroom_bytes / GIB == pytest.approx(min(rooms), abs=0.01)


def test_a_server_counts_unequal_cards_as_the_smallest():
    answer = ask(model="qwen3-8b", gpu="rtx-3090:1,rtx-3060-12:1", engine="vllm")
    assert answer.configuration.cards == ()
    assert answer.configuration.accelerator.id == "rtx-3060-12"


def test_the_longest_context_of_unequal_cards_is_where_the_first_is_full():
    query = {"model": "llama-3.3-70b-instruct", "gpu": "rtx-3090:2,rtx-3060-12:1"}
    longest = ask(**query).capacity.max_context_tokens
    assert ask(**query, ctx=longest).verdict in ("fits", "tight")
    assert ask(**query, ctx=longest + 1).verdict == "does_not_fit"


@pytest.mark.parametrize(
    "query",
    [
        {"model": "llama-3.3-70b-instruct", "gpu": "rtx-3090:2,rtx-3060-12:1"},
        {"model": "gpt-oss-120b", "gpu": "rtx-4090", "offload": "auto"},
    ],
)
def test_the_curve_runs_through_the_answer(query):
    """Of the settled plan, and of the card that decides: the first sample at or above the context is not below it."""
    answer = ask(**query)
    (curve,) = memory_curves(answer.estimate.configuration, ("bf16",))
    above = next(i for i, tokens in enumerate(curve.context_tokens) if tokens >= 8192)
    assert curve.needed_bytes[above - 1] <= answer.memory.needed.value <= curve.needed_bytes[above]


def test_experts_are_spread_only_over_whole_parts_of_a_stage():
    answer = ask(model="qwen3-30b-a3b", gpu="h100-sxm", n=8, tp=2, pp=4, ep=8)
    assert "expert_groups_not_divisible" in answer.reasons
