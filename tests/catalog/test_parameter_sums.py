"""The layers of every model add up to the published number of weights.

Expected values are published totals and worked examples of the methodology (§2.0), typed in here; none is computed by
the code under test.
"""

import pytest

from catalog.importers.files import snapshot_from_files

SNAPSHOT = snapshot_from_files()
MODELS = SNAPSHOT.models

# The published figure is so rounded that no exact sum can meet it within 0.5 %; `sum_note` in the data says so.
ROUNDED_TOO_FAR = {"ministral-3-3b-instruct-2512"}


def difference(model):
    return abs(model.architecture.parameters - model.parameters) / model.parameters


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_all_parts_add_up_to_the_published_total(model):
    if model.id in ROUNDED_TOO_FAR:
        assert model.facts["sum_note"]
        return
    assert difference(model) < 0.005


def test_a_model_that_misses_its_total_says_why():
    missed = {model.id for model in MODELS.values() if difference(model) > 0.0005}
    explained = {model.id for model in MODELS.values() if "sum_note" in model.facts}
    assert missed - explained == set()


def test_nineteen_in_twenty_models_meet_their_total_without_a_part_set_to_the_difference():
    """A `remainder` part is what was left over, so its model's sum proves nothing and is not counted here."""
    proven = [
        model
        for model in MODELS.values()
        if not any(extra.remainder for extra in model.architecture.extras)
        and model.facts["parameters_basis"] != "derived"
    ]
    assert len(proven) > 280
    assert sum(difference(model) < 0.005 for model in proven) / len(proven) >= 0.95


@pytest.mark.parametrize("model", MODELS.values(), ids=MODELS)
def test_the_counts_in_the_data_are_those_of_the_layers(model):
    assert model.architecture.text_parameters == model.text_parameters
    assert model.architecture.active_parameters == model.active_parameters_derived
    assert model.active_parameters_derived <= model.text_parameters


# Totals of the weight files as their repositories state them.
PUBLISHED_TOTALS = {
    "llama-3.1-8b-instruct": 8_030_261_248,
    "llama-3.1-70b-instruct": 70_553_706_496,
    "llama-3.1-405b-instruct": 405_853_388_800,
    "mistral-7b-instruct-v0.3": 7_248_023_552,
    "mixtral-8x7b-instruct-v0.1": 46_702_792_704,
    "qwen2.5-7b-instruct": 7_615_616_512,
    "qwen2.5-72b-instruct": 72_706_203_648,
    "qwen3-30b-a3b": 30_532_122_624,
    "gemma-2-2b-it": 2_614_341_888,
    "gemma-2-9b-it": 9_241_705_984,
    "phi-4": 14_659_507_200,
    "gpt-oss-20b": 20_914_757_184,
    "gpt-oss-120b": 116_829_156_672,
    "deepseek-v2-lite-chat": 15_706_484_224,
    "olmo-2-7b-instruct": 7_298_617_344,
}


@pytest.mark.parametrize(("model_id", "total"), PUBLISHED_TOTALS.items(), ids=PUBLISHED_TOTALS)
def test_the_layers_give_the_total_of_the_weight_files(model_id, total):
    assert MODELS[model_id].architecture.text_parameters == total


# Methodology, W-2.4c: one model for every kind of layer.
TEXT_BY_KIND = {
    "deepseek-v4-pro": ("csa", 1_572_999_528_803),
    "lfm2-8b-a1b": ("shortconv", 8_339_930_560),
    "falcon-h1r-7b": ("parallel", 7_585_648_736),
    "minimax-m1-80k": ("lightning", 456_089_655_296),
    "falcon-mamba-7b-instruct": ("mamba1", 7_272_665_088),
    "longcat-flash-chat": ("mla", 560_664_980_480),
    "gemma-4-26b-a4b-it": ("gqa", 25_233_141_790),
    "nemotron-3-nano-30b-a3b": ("mamba2", 31_577_940_288),
    "kimi-k3": ("kda", 2_779_484_463_872),
}


@pytest.mark.parametrize(("model_id", "expected"), TEXT_BY_KIND.items(), ids=TEXT_BY_KIND)
def test_every_kind_of_layer_is_counted_right(model_id, expected):
    kind, total = expected
    architecture = MODELS[model_id].architecture
    assert kind in architecture.kinds
    assert architecture.text_parameters == total


# Methodology, W-2.4c: weights of one mixer.
ONE_MIXER = {
    ("deepseek-v4-pro", "csa-128"): 307_300_992,
    ("deepseek-v4-pro", "csa-4"): 331_292_416,
    ("lfm2-8b-a1b", "shortconv"): 16_783_360,
    ("minimax-m1-80k", "lightning"): 251_666_432,
}


@pytest.mark.parametrize(("place", "weights"), ONE_MIXER.items(), ids=map(" ".join, ONE_MIXER))
def test_one_mixer_has_the_weights_of_its_worked_example(place, weights):
    model_id, name = place
    architecture = MODELS[model_id].architecture
    mixer = next(block.mixer for block in architecture.blocks if block.mixer_name == name)
    assert sum(tensor.parameters for tensor in mixer.tensors(architecture.hidden_size)) == weights


def test_llama_3_1_8b_is_linear_weights_two_tables_and_norms():
    """W-2.1: 6 979 321 856 + 2 × 525 336 576 + 266 240."""
    architecture = MODELS["llama-3.1-8b-instruct"].architecture
    assert architecture.embedding.parameters == 525_336_576
    assert [tensor.parameters for tensor in architecture.head] == [525_336_576]
    assert architecture.text_parameters - 2 * 525_336_576 - 266_240 == 6_979_321_856


def test_gpt_oss_120b_keeps_its_expert_matrices_apart_from_their_biases():
    """W-2.2: matrices 114 661 785 600, biases 39 813 120, active 5 132 849 472."""
    architecture = MODELS["gpt-oss-120b"].architecture
    assert architecture.routed_expert_parameters == 114_661_785_600
    biases = sum(count * t.parameters for count, t in architecture.text_tensors() if t.role == "expert_bias")
    assert biases == 39_813_120
    assert architecture.active_parameters == 5_132_849_472


def test_deepseek_v3_has_its_prediction_layer_outside_the_language_model():
    """W-2.3: 671 026 419 200, with the MTP layer 684 489 845 504."""
    architecture = MODELS["deepseek-v3"].architecture
    assert architecture.text_parameters == 671_026_419_200
    assert architecture.parameters == 684_489_845_504
    assert architecture.active_parameters == 36_625_618_432


def test_kimi_k3_1_pro_is_kimi_k3_with_an_index_on_every_mla_layer():
    """W-2.13: 24 × 7 438 592 = 178 526 208 weights, the difference of the two published totals."""
    k3, k31 = MODELS["kimi-k3"].architecture, MODELS["kimi-k3.1-pro"].architecture
    assert (k3.text_parameters, k3.active_parameters) == (2_779_484_463_872, 104_189_600_512)
    assert (k31.text_parameters, k31.active_parameters) == (2_779_662_990_080, 104_368_126_720)
    index = sum(
        count * tensor.parameters for count, tensor in k31.text_tensors() if tensor.role.startswith("indexer")
    )
    assert index == 178_526_208
    assert MODELS["kimi-k3.1-pro"].parameters - MODELS["kimi-k3"].parameters == 178_526_208
    assert k3.routed_expert_parameters == k31.routed_expert_parameters == 2_722_740_830_208


def test_kimi_k3_ends_with_two_attention_layers():
    """Full attention on layers 4, 8, …, 92 and 93 counted from 1; layer 1 is dense."""
    architecture = MODELS["kimi-k3"].architecture
    names = [architecture.blocks[index].mixer_name for index in architecture.sequence]
    assert [layer for layer, name in enumerate(names, 1) if name == "mla"] == [*range(4, 93, 4), 93]
    assert [
        layer
        for layer, i in enumerate(architecture.sequence, 1)
        if architecture.blocks[i].mlp_name == "dense"
    ] == [1]


def test_models_with_experts_have_the_published_ones():
    found = {
        name: MODELS[name].architecture.experts
        for name in ("deepseek-v3", "gpt-oss-120b", "kimi-k3", "llama-3.1-8b-instruct")
    }
    assert found == {"deepseek-v3": 256, "gpt-oss-120b": 128, "kimi-k3": 896, "llama-3.1-8b-instruct": 0}
