"""Verdict, reasons, memory and cache of one question (methodology §4.7)."""

from dataclasses import replace

import pytest

from calculator.estimation import estimate
from calculator.estimation.memory import Sum
from calculator.estimation.terms import PART_ORDER, Reason
from catalog.records import GIB
from tests.estimation.asking import H100, ask

# --- verdict ----------------------------------------------------------------------------------------------------------


def test_fits_when_the_high_end_keeps_to_the_limit():
    answer = ask(gpu=H100)
    assert answer.verdict == "fits"
    assert answer.memory.needed.high <= answer.memory.limit.usable.value
    assert answer.reasons["fits_with_room"] == Reason(
        "fits_with_room", {"headroom_bytes": answer.memory.headroom_bytes}
    )


def test_tight_when_only_the_point_value_does():
    answer = ask(model="kimi-k3", gpu=H100, n=24, ctx=131_072)
    assert answer.verdict == "tight"
    over = answer.memory.needed.high - answer.memory.limit.usable.value
    assert answer.reasons["high_end_over"] == Reason("high_end_over", {"over_bytes": int(over)})


def test_does_not_fit_says_how_much_is_missing():
    answer = ask(model="kimi-k3", gpu=H100, n=24, ctx=1_048_576)
    missing = answer.memory.needed.value - answer.memory.limit.usable.value
    assert answer.verdict == "does_not_fit"
    assert answer.estimate.reasons[0] == Reason("short_of_fullest", {"missing_bytes": int(missing)})
    assert "weights_alone_too_large" not in answer.reasons


def test_weights_that_are_too_large_alone_are_named():
    answer = ask(model="deepseek-r1", gpu=H100, n=8)
    assert answer.reasons["weights_alone_too_large"] == Reason(
        "weights_alone_too_large",
        {
            "weights_bytes": answer.part("weights"),
            "limit_bytes": int(answer.memory.limit.usable.value),
        },
    )


def test_the_high_end_is_the_highest_of_any_gpu():
    """Two GPUs in a pipeline with 1024 slots: the last stage needs more, the first one is less sure of its peak."""
    answer = ask(gpu="rtx-4090", n=2, engine="vllm", tp=1, pp=2, seqs=1024, batched=8192)
    first, last = (load.needed_bytes for load in answer.memory.gpus)
    assert first.value < last.value
    assert answer.memory.needed.value == last.value
    assert answer.memory.needed.high == max(first.high, last.high)


@pytest.mark.parametrize(
    "query",
    [
        {},
        {"model": "kimi-k3", "gpu": H100, "n": 24},
        {"model": "nemotron-3-nano-30b-a3b", "gpu": H100, "n": 3},
        {"model": "gemma-3-27b-it", "gpu": "rtx-3090", "n": 4},
        {"model": "lfm2-24b-a2b", "gpu": "rtx-3090", "n": 4},
        {"model": "glm-4.5-air", "gpu": "rtx-3090", "n": 6, "seqs": 512, "engine": "vllm"},
    ],
)
def test_the_stages_that_are_asked_for_capacity_are_the_fullest_and_the_least_sure(query):
    answer = ask(**query)
    sum_ = Sum(answer.configuration)
    for tokens in (1, 4096, 131_072):
        loads = ask(**query, ctx=tokens).memory.needed
        assert sum_.fullest(tokens, 1) == loads


# --- remarks ----------------------------------------------------------------------------------------------------------


def test_a_class_that_no_engine_lists_is_computed_as_its_relative():
    """Kimi K3.1 Pro: vLLM as Kimi K3, 5 % of the weights more on the high side."""
    answer = ask(model="kimi-k3.1-pro", gpu=H100, n=32)
    assert answer.configuration.engine.id == "vllm"
    assert answer.verdict == "fits"
    assert answer.reasons["class_not_listed"] == Reason(
        "class_not_listed",
        {
            "engine": "vLLM",
            "class_name": "KimiK31ForConditionalGeneration",
            "relative": "kimi-k3",
            "version": "0.33.0",
        },
    )
    assert answer.term("weights_unmeasured").high == pytest.approx(0.05 * answer.term("weights").value)


def test_a_class_that_was_never_measured_says_so():
    answer = ask(model="kimi-k3", gpu=H100, n=32)
    assert answer.reasons["architecture_not_measured"] == Reason(
        "architecture_not_measured",
        {"engine": "vLLM", "class_name": "KimiK3ForConditionalGeneration", "share": 0.05},
    )


def test_a_measured_class_says_nothing():
    assert set(ask(gpu=H100).reasons) == {"fits_with_room", "version_outside_measured"}


def test_an_assumed_order_widens_what_each_gpu_holds_by_a_layer():
    """LFM2 24B: nobody published where its attention layers stand. One GPU holds them all."""
    one, four = (ask(model="lfm2-24b-a2b", gpu="rtx-3090", n=n) for n in (1, 4))
    assert "order_assumed" not in one.reasons
    assert "order_assumed" in four.reasons
    weights = four.term("weights")
    assert weights.high / weights.value - 1 == pytest.approx(1 / weights.factors["layers"], abs=0.002)
    weights = one.term("weights")
    assert weights.high / weights.value - 1 <= 0.001


def test_an_embedding_model_generates_nothing_and_caches_nothing():
    answer = ask(model="qwen3-embedding-8b", gpu=H100)
    assert answer.verdict == "fits"
    assert answer.reasons["no_generation"] == Reason(
        "no_generation", {"model": answer.configuration.model.name}
    )
    assert answer.part("kv_cache") == 0
    assert answer.estimate.cache.bytes_per_request == 0


# --- what is not computed ---------------------------------------------------------------------------------------------


def test_an_engine_that_is_not_built_gives_no_number():
    c = ask(gpu=H100).configuration
    unbuilt = replace(c.engine, rules={**c.engine.rules, "built": False})
    found = estimate(replace(c, engine=unbuilt))
    assert found.reasons == (Reason("not_computed_yet", {"what": c.engine.name}),)
    assert found.memory is None


def test_a_device_without_a_memory_figure_has_a_cache_and_no_verdict():
    c = ask(gpu=H100).configuration
    bare = replace(c.accelerator, process_bytes=None, reported_bytes=None)
    found = estimate(replace(c, accelerator=bare))
    assert found.verdict == "unsupported"
    assert found.reasons == (Reason("memory_unknown", {"device": "NVIDIA H100 SXM 80 GB"}),)
    assert found.memory is None
    assert found.cache.bytes_per_token == 131_072


# --- parts ------------------------------------------------------------------------------------------------------------


def test_parts_stand_in_the_order_of_drawing():
    answer = ask(model="kimi-k3.1-pro", gpu=H100, n=32, vision=1)
    names = [part.name for part in answer.memory.parts]
    assert names == [name for name in PART_ORDER if name in names]
    assert {"weights", "kv_cache", "index_cache", "recurrent_state", "vision"} <= set(names)


def test_a_part_is_as_sure_as_its_least_sure_term():
    parts = {part.name: part.basis for part in ask(model="kimi-k3", gpu=H100, n=24).memory.parts}
    assert parts == {
        "weights": "rule",
        "kv_cache": "exact",
        "recurrent_state": "exact",
        "activations": "calibrated",
        "graphs": "calibrated",
        "communication": "calibrated",
    }
    assert ask().memory.parts[0].basis == "published"


def test_a_default_question_adds_up_by_hand():
    """Llama 3.1 8B Q4_K_M on an RTX 4090, 8192 tokens: 4 912 898 304 B less the embedding's 295 501 824, 1 GiB of cache,
    4 · 512 · (3 · 14 336 + 4 · 4096) + 2 · 512 · 8192 B of buffers, 0.45 GiB of context."""
    answer = ask()
    weights = 4_912_898_304 - 295_501_824
    buffers = 4 * 512 * (3 * 14_336 + 4 * 4096) + 2 * 512 * 8192
    assert answer.memory.needed.value == weights + GIB + buffers + int(0.45 * GIB)
    assert answer.memory.occupied_bytes == answer.memory.needed.value


def test_utilisation_and_headroom_are_of_what_the_engine_may_take():
    memory = ask(gpu=H100).memory
    assert memory.headroom_bytes == int(memory.limit.usable.value - memory.needed.value)
    assert memory.utilisation == memory.needed.value / memory.limit.usable.value


# --- the cache of one request -----------------------------------------------------------------------------------------


def test_the_cache_speaks_of_one_request_on_one_copy():
    """Whatever the plan and the users: Llama 3.1 8B keeps 131 072 B a token."""
    answer = ask(gpu=H100, n=8, users=50)
    assert answer.estimate.cache.bytes_per_token == 131_072
    assert answer.estimate.cache.bytes_per_request == GIB


def test_groups_of_layers_say_what_they_keep():
    groups = ask(model="gpt-oss-120b", gpu=H100).estimate.cache.groups
    assert {(g.kind, g.layers, g.bytes_per_token, g.window_tokens) for g in groups} == {
        ("gqa", 18, 36_864, None),
        ("window", 18, 36_864, 128),
    }


def test_what_grows_without_a_bound_is_the_rate_per_token():
    assert ask(model="gpt-oss-120b", gpu=H100).estimate.cache.bytes_per_token == 36_864
