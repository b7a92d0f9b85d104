"""Offload to system RAM: layers (§6.1), experts (§6.2), and as much on the GPU as fits."""

import pytest

from calculator.estimation.terms import Reason
from calculator.estimation.weights import weight_layout
from catalog.records import GIB
from tests.estimation.asking import SNAPSHOT, ask

EXPERTS_OF_GPT_OSS_120B = 114_661_785_600  # W-2.2: expert matrices, 36 layers, MXFP4 at 17 B per 32


def expert_layer_bytes() -> int:
    return EXPERTS_OF_GPT_OSS_120B * 17 // 32 // 36


def test_w_2_2_experts_of_30_layers_on_the_host():
    """gpt-oss-120b: 30 of 36 layers' experts leave the card; the rest and the whole cache stay."""
    whole, moved = (
        ask(model="gpt-oss-120b", gpu="h100-sxm", engine="llama.cpp"),
        ask(model="gpt-oss-120b", gpu="h100-sxm", engine="llama.cpp", offload="experts", ncmoe=30),
    )
    assert whole.part("weights") - moved.part("weights") == 30 * expert_layer_bytes()
    assert moved.part("kv_cache") == whole.part("kv_cache")
    assert moved.memory.host_bytes - whole.memory.host_bytes == 30 * expert_layer_bytes()
    assert moved.verdict == "offload"


def test_a_gpu_is_handed_one_layer_of_what_the_host_holds():
    moved = ask(model="gpt-oss-120b", gpu="h100-sxm", engine="llama.cpp", offload="experts", ncmoe=1)
    copied = next(t for part in moved.memory.parts for t in part.terms if t.code == "host_copies")
    assert copied.value == expert_layer_bytes()
    assert (copied.low, copied.high) == pytest.approx((copied.value / 3, copied.value * 3))


def test_ngl_counts_the_head_first_and_then_layers_from_the_last():
    """Llama 3.1 8B has 32 layers: `-ngl 20` leaves 13 on the host and takes the head, `-ngl 33` leaves nothing. A log of
    2026-09 with `-ngl 1` holds 650 MiB on the card: the head of Qwen3.8-Flash-Next in Q8_0 (mem-1e82f37f)."""
    some, all_ = ask(offload="layers", ngl=20), ask(offload="layers", ngl=33)
    assert (some.estimate.configuration.plan.host_layers, some.memory.gpus[0].first_layer) == (13, 13)
    assert not some.estimate.configuration.plan.output_on_host
    assert ask(offload="layers", ngl=0).estimate.configuration.plan.output_on_host
    assert (all_.estimate.configuration.plan.host_layers, all_.verdict) == (0, "fits")


def test_builds_of_2025_took_the_head_last():
    """25 of Gemma 7B's 28 layers held their cache on the card at `-ngl 25`, the head on the host (mem-fa8d2473)."""
    plan = ask(
        offload="layers", ngl=20, engine="llama.cpp", engine_version="b5000"
    ).estimate.configuration.plan
    assert (plan.host_layers, plan.output_on_host) == (12, True)


def test_nothing_is_lost_between_card_and_host():
    """Weights on the card and on the host are the tensors of the file: 4 912 898 304 B for Llama 3.1 8B Q4_K_M."""
    answer = ask(offload="layers", ngl=20)
    layers = 13 * 32 * 8 * 128 * 2 * 2 // 32 * 8192  # the cache of 13 layers, 8192 cells
    inputs = 4 * 512 * (4096 + 8192) + 4 * 128_256
    assert answer.part("weights") + answer.memory.host_bytes - layers - inputs == 4_912_898_304


def test_auto_keeps_everything_on_the_card_when_it_fits():
    answer = ask(offload="auto")
    assert (answer.verdict, answer.estimate.configuration.plan.host_layers) == ("fits", 0)


def test_auto_moves_experts_before_layers():
    answer = ask(model="gpt-oss-120b", gpu="rtx-4090", offload="auto")
    plan = answer.estimate.configuration.plan
    assert answer.verdict == "offload"
    assert (plan.host_layers, plan.host_expert_layers > 0) == (0, True)


def test_auto_moves_as_few_layers_as_fit():
    answer = ask(model="llama-3.3-70b-instruct", gpu="rtx-4090", offload="auto")
    host = answer.estimate.configuration.plan.host_layers
    one_more_on_the_card = ask(
        model="llama-3.3-70b-instruct", gpu="rtx-4090", offload="layers", ngl=80 - host + 2
    )
    assert answer.verdict == "offload"
    assert (
        "inside_fit_margin" in one_more_on_the_card.reasons or "high_end_over" in one_more_on_the_card.reasons
    )


def test_the_host_is_compared_when_its_memory_is_named():
    answer = ask(model="gpt-oss-120b", gpu="rtx-4090", offload="experts", ncmoe=36, ram=32)
    assert answer.verdict == "does_not_fit"
    short = answer.reasons["host_memory_short"].factors
    assert short["missing_bytes"] == answer.memory.host_bytes - 32 * 10**9


def test_an_engine_that_keeps_all_on_gpus_refuses():
    answer = ask(gpu="h100-sxm", engine="vllm", offload="layers")
    assert answer.reasons["offload_not_in_engine"] == Reason(
        "offload_not_in_engine", {"engine": "vLLM", "kind": "layers"}
    )


def test_auto_takes_an_engine_that_can_offload():
    assert ask(gpu="h100-sxm", offload="experts", model="gpt-oss-120b").configuration.engine.id == "llama.cpp"


def test_a_dense_model_has_no_experts_to_move():
    assert ask(offload="experts").reasons["no_experts"].factors == {"model": "Llama 3.1 8B Instruct"}


@pytest.mark.parametrize("model", ["llama-3.1-8b-instruct", "qwen3-30b-a3b", "deepseek-r1"])
def test_more_on_the_host_never_needs_more_of_the_card(model):
    layers = SNAPSHOT.models[model].architecture.layer_count
    needed = [ask(model=model, offload="layers", ngl=ngl).part("weights") for ngl in range(1, layers + 2, 7)]
    assert needed == sorted(needed)


def test_the_weights_of_a_moved_model_are_those_of_the_layout():
    answer = ask(model="qwen3-30b-a3b", offload="experts", ncmoe=48)
    layout = weight_layout(answer.configuration.model, answer.configuration.weights_format)
    experts = sum(layer.experts for layer in layout.layers)
    assert answer.part("weights") == layout.text_bytes - layout.embedding_bytes - experts
    assert answer.memory.host_bytes > experts > 15 * GIB


def test_capacity_keeps_to_the_host_too():
    """128 GB of RAM: the longest context is where host memory is full, and one token more is not enough."""
    query = {"model": "llama-3.3-70b-instruct", "gpu": "rtx-4090", "offload": "layers", "ngl": 20, "ram": 40}
    longest = ask(**query).capacity.max_context_tokens
    assert ask(**query, ctx=longest).verdict == "offload"
    assert "host_memory_short" in ask(**query, ctx=longest + 256).reasons


def test_nothing_is_negative_when_experts_are_spread_and_on_the_host():
    answer = ask(model="inkling-small", engine="ktransformers", gpu="rtx-pro-6000", n=8, ep=8, users=64)
    assert all(part.per_gpu_bytes >= 0 for part in answer.memory.parts)


def test_what_auto_says_fits_outright_is_not_tight_when_it_is_asked():
    """At 65,536 tokens parts move to the host, and 40,960 would fit outright so; asked for, they stay on the GPU, tight."""
    machine = {
        "model": "qwen3-14b",
        "gpu": "rtx-4060-ti-16",
        "engine": "llama.cpp",
        "offload": "auto",
        "ram": 256,
    }
    longest = ask(**machine, ctx=65_536).capacity.max_context_fits_tokens
    assert 0 < longest < 40_960
    assert ask(**machine, ctx=longest).verdict == "fits"
    assert ask(**machine, ctx=40_960).verdict == "tight"
