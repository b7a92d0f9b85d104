"""Published sizes before the rule: exact ones always, rounded ones only where no rule exists (methodology §2.2, §10)."""

from dataclasses import replace

import pytest

from calculator.estimation.weights import has_rule, weight_layout
from calculator.estimation.weights.published import exact_size, rounded_size, rounding
from calculator.estimation.weights.recipes import RECIPES, nearest_recipe
from catalog.records import GIB, Checkpoint, CheckpointFile
from tests.estimation.asking import SNAPSHOT, ask

LLAMA = SNAPSHOT.models["llama-3.1-8b-instruct"]


def with_checkpoints(*checkpoints):
    return replace(LLAMA, files=(), checkpoints=checkpoints)


def checkpoint(weights_format, size, precision="exact", kind="community", **more):
    return Checkpoint(
        weights_format, f"{kind[:3]}/model", kind, kind, ("vllm",), size, precision, ("a source",), **more
    )


def gguf(weights_format, size, precision):
    file = CheckpointFile(weights_format, "model.gguf", None, size, precision, "a source")
    return checkpoint("gguf", None, None, files=(file,))


def layout(model, weights_format):
    return weight_layout(model, SNAPSHOT.formats[weights_format])


def test_exact_bytes_of_a_checkpoint_come_before_the_rule():
    model = with_checkpoints(checkpoint("awq-int4", 5_800_000_000))
    found = layout(model, "awq-int4")
    assert (found.checkpoint_bytes, found.basis, found.spread) == (5_800_000_000, "published", 0.0)


def test_the_labs_own_checkpoint_comes_first():
    model = with_checkpoints(checkpoint("fp8", 9_100_000_000), checkpoint("fp8", 9_200_000_000, kind="lab"))
    assert exact_size(model, "fp8").size_bytes == 9_200_000_000


def test_a_rounded_checkpoint_is_a_check_and_no_input():
    model = with_checkpoints(checkpoint("awq-int4", 5_800_000_000, "rounded (GB)"))
    assert layout(model, "awq-int4").checkpoint_bytes == 5_727_854_592


def test_a_recipe_of_its_own_is_no_input():
    model = with_checkpoints(checkpoint("awq-int4", 5_800_000_000, recipe="g32"))
    assert exact_size(model, "awq-int4") is None


def test_a_size_that_cannot_be_this_model_is_no_input():
    model = with_checkpoints(checkpoint("awq-int4", 9_000_000_000))
    assert layout(model, "awq-int4").checkpoint_bytes == 5_727_854_592


def test_a_publishers_recipe_takes_the_rounded_size_with_its_rounding():
    """4.7 GiB to one decimal: ± 0.05 GiB."""
    size = round(4.7 * GIB)
    found = layout(with_checkpoints(gguf("ud-q4_k_xl", size, "GiB to 1 decimal")), "ud-q4_k_xl")
    assert found.file_bytes == size
    assert found.spread == pytest.approx(0.05 / 4.7)
    assert found.basis == "published"


def test_a_stock_type_with_a_rounded_size_stays_with_its_rule():
    found = layout(with_checkpoints(gguf("q4_k_m", round(4.6 * GIB), "GiB to 1 decimal")), "q4_k_m")
    assert (found.text_bytes, found.basis) == (4_912_898_304, "rule")


def test_a_publishers_recipe_without_any_size_is_said_to_need_one():
    answer = ask(model="llama-3.1-8b-instruct", gpu="rtx-4090", engine="llama.cpp", quant="ud-iq4_xs")
    assert answer.verdict == "unsupported"
    assert answer.reasons["published_size_only"].factors["format"] == SNAPSHOT.formats["ud-iq4_xs"].name


def test_the_least_rounded_size_is_taken():
    model = with_checkpoints(
        gguf("ud-q4_k_xl", 5_000_000_000, "GB rounded"), gguf("ud-q4_k_xl", 4_900_000_000, "exact")
    )
    assert rounded_size(model, "ud-q4_k_xl").size_bytes == 4_900_000_000


@pytest.mark.parametrize(
    ("precision", "half"),
    [("exact", 0), ("exact bytes", 0), ("GB rounded", 5e8), ("GiB to 1 decimal", 0.05 * GIB), ("?", 5e7)],
)
def test_half_of_the_last_digit_is_what_a_source_leaves_open(precision, half):
    assert rounding(precision, 10_000_000_000) == half


def test_every_recipe_of_a_publisher_deviates_from_a_stock_type():
    for each in SNAPSHOT.formats.values():
        if each.family == "gguf" and each.id not in RECIPES:
            assert nearest_recipe(each.id) not in ("bf16", each.id), each.id


def test_every_format_has_bytes_for_every_model_that_it_applies_to():
    """Only recipes that no rule describes, and the native format of models that nobody named one for, may be missing."""
    for each in SNAPSHOT.formats.values():
        for model in SNAPSHOT.models.values():
            if each.family == "gguf" and each.id not in RECIPES:
                continue
            if each.id == "native" and model.native_format is None:
                continue
            assert has_rule(model, each), (each.id, model.id)


@pytest.mark.parametrize(
    "model_id", ["gpt-oss-20b", "qwen3.5-27b", "kimi-k3", "falcon-h1r-7b", "gemma-3n-e2b-it"]
)
@pytest.mark.parametrize("weights_format", [f for f in SNAPSHOT.formats if f != "native"])
def test_parts_add_up_in_every_format(model_id, weights_format):
    model, each = SNAPSHOT.models[model_id], SNAPSHOT.formats[weights_format]
    if not has_rule(model, each):
        return
    found = weight_layout(model, each)
    assert found.text_bytes > 0
    assert sum(layer.total for layer in found.layers) <= found.text_bytes
    assert 1 < found.bits_per_weight < 33
