"""One model's bytes, layer by layer, as plans divide them (methodology §2.3, §5.2)."""

import pytest

from calculator.estimation.weights import has_rule, published_file, weight_layout
from calculator.estimation.weights.layout import LayerShare
from tests.estimation.asking import SNAPSHOT

LLAMA = SNAPSHOT.models["llama-3.1-8b-instruct"]


def layout(model_id, weights_format):
    return weight_layout(SNAPSHOT.models[model_id], SNAPSHOT.formats[weights_format])


def test_the_published_file_of_llama_3_1_8b_is_taken_to_the_byte():
    """llama31_8b_q4km_file: tensors by the rule, the rest is metadata that stays on disk."""
    file = layout("llama-3.1-8b-instruct", "q4_k_m")
    assert file.file_bytes == 4_920_739_232
    assert file.text_bytes == 4_912_898_304
    assert file.metadata_bytes == 7_840_928
    assert (file.basis, file.spread) == ("published", 0.0)


def test_a_published_file_is_divided_as_the_rule_divides_it():
    """Every tensor is scaled by one factor; the whole stays exact."""
    file = layout("phi-4", "q4_k_m")
    assert file.basis == "published"
    assert file.file_bytes == 9_053_114_560
    layers = sum(share.total for share in file.layers)
    assert layers + file.embedding_bytes + file.head_bytes + file.final_bytes == file.text_bytes


def test_a_file_without_a_published_size_follows_the_rule():
    file = layout("kimi-k3", "q4_k_m")
    assert (file.basis, file.spread) == ("rule", 0.001)
    assert file.text_bytes == 1_681_674_572_800
    assert file.metadata_bytes == 163_840 * 61


def test_a_publishers_recipe_is_known_only_by_its_published_size():
    dynamic = next(
        (model, file)
        for model in SNAPSHOT.models.values()
        for file in model.files
        if file.exact and file.weights_format == "ud-q4_k_xl" and not file.includes
    )
    assert has_rule(dynamic[0], SNAPSHOT.formats["ud-q4_k_xl"])
    assert layout(dynamic[0].id, "ud-q4_k_xl").file_bytes == dynamic[1].size_bytes
    assert not has_rule(SNAPSHOT.models["kimi-k3"], SNAPSHOT.formats["ud-iq4_xs"])
    with pytest.raises(LookupError):
        layout("kimi-k3", "ud-iq4_xs")


def test_a_file_with_more_than_the_language_model_is_no_input():
    for model in SNAPSHOT.models.values():
        for file in model.files:
            if file.includes and (found := published_file(model, file.weights_format)):
                assert not found.includes


def test_bits_per_weight_count_the_whole_file():
    """4.8944 in llama.cpp's own table, which counts the 64 RoPE entries as weights too."""
    assert layout("llama-3.1-8b-instruct", "q4_k_m").bits_per_weight == pytest.approx(4.8944, abs=5e-5)


def test_a_span_is_the_sum_of_its_layers():
    whole = layout("deepseek-v3", "native")
    assert whole.span(0, 61).total == sum(share.total for share in whole.layers)
    assert whole.span(10, 7).total == sum(share.total for share in whole.layers[10:17])
    assert whole.span(5, 0).total == 0


def test_a_rank_holds_its_part_of_what_is_divided_and_all_of_what_is_not():
    share = LayerShare(sharded=800, replicated=30, limited=((8, 160),))
    assert share.per_rank(1) == share.total == 990
    assert share.per_rank(8) == 100 + 30 + 20
    assert share.per_rank(16) == 50 + 30 + 20  # the 8 KV heads are repeated on 16 ranks


def test_key_and_value_projections_are_divided_no_further_than_their_heads():
    """Llama 3 70B at 16 ways holds the K and V projections of one KV head, as at 8 ways (§5.2)."""
    llama = layout("llama-3.1-70b-instruct", "bf16")
    one_head = 80 * 2 * 128 * 8192 * 2
    for ranks in (8, 16):
        layers = llama.span(0, 80)
        rest = (layers.total - layers.replicated - 8 * one_head) // ranks
        assert layers.per_rank(ranks) == layers.replicated + one_head + rest
