"""Where the layers go: pipeline stages and layer splits (methodology §2.0 order, §5)."""

import pytest

from calculator.estimation.placement import layer_split, pipeline_layers, stages
from tests.estimation.asking import architecture

# ⌊L/PP⌋ each; what is left over goes one each to the stages from the last but one backwards.
PIPELINES = {
    (32, 1): (32,),
    (32, 2): (16, 16),
    (93, 2): (47, 46),
    (93, 3): (31, 31, 31),
    (93, 4): (23, 23, 24, 23),
    (61, 4): (15, 15, 16, 15),
    (62, 4): (15, 16, 16, 15),
    (63, 4): (16, 16, 16, 15),
    (80, 3): (27, 27, 26),
    (5, 5): (1, 1, 1, 1, 1),
}


@pytest.mark.parametrize(("case", "layers"), PIPELINES.items(), ids=map(str, PIPELINES))
def test_vllm_gives_what_is_left_over_to_the_stages_before_the_last(case, layers):
    assert pipeline_layers(*case) == layers


# Layer i of L on device ⌊i·n/(L + 1)⌋: the output counts as one more layer of the last device.
SPLITS = {
    (32, 1): (32,),
    (32, 2): (17, 15),
    (80, 2): (41, 39),
    (32, 3): (11, 11, 10),
    (4, 4): (2, 1, 1, 0),
}


@pytest.mark.parametrize(("case", "layers"), SPLITS.items(), ids=map(str, SPLITS))
def test_llama_cpp_counts_the_output_as_a_layer_of_the_last_card(case, layers):
    assert layer_split(*case) == layers


def kinds(model_id, layers_per_stage):
    """(first layer, MLA layers, KDA layers) of each stage of a Kimi model."""
    return [
        (stage.first + 1, dict(stage.mixers).get("mla", 0), dict(stage.mixers).get("kda", 0))
        for stage in stages(architecture(model_id), layers_per_stage)
    ]


def test_w_5_4_stages_of_kimi_k3_follow_its_order():
    """Full attention on 4, 8, …, 92 and 93: the last stage has most of it."""
    assert kinds("kimi-k3", (47, 46)) == [(1, 11, 36), (48, 13, 33)]
    assert kinds("kimi-k3", (31, 31, 31)) == [(1, 7, 24), (32, 8, 23), (63, 9, 22)]


def test_a_stage_knows_what_its_layers_keep():
    """Gemma 3 27B: five window layers, then a full one, ten times, and two window layers at the end."""
    first, last = stages(architecture("gemma-3-27b-it"), (31, 31))
    assert {(entry.window, layers) for entry, layers in first.caches} == {(1024, 26), (None, 5)}
    assert {(entry.window, layers) for entry, layers in last.caches} == {(1024, 26), (None, 5)}
    assert (first.is_first, first.is_last, last.is_first, last.is_last) == (True, False, False, True)


def test_the_widest_mlp_of_a_moe_layer_is_its_experts_and_the_shared_ones():
    """Kimi K3: 16 · 3072 + 2 · 3072 = 55 296, wider than the dense layer's 33 792."""
    whole = stages(architecture("kimi-k3"), (93,))[0]
    assert (whole.widest, whole.moe) == (55_296, True)


def test_a_dense_first_layer_is_a_stage_without_experts():
    first, second = stages(architecture("kimi-k3"), (1, 92))
    assert (first.widest, first.moe) == (33_792, False)
    assert second.moe
