"""What was measured for a question: figures of public benchmarks, found by model, devices, engine and format."""

from dataclasses import replace

import pytest

from calculator.accuracy.beside import all_measured_beside, measured_beside
from tests.estimation.asking import SNAPSHOT, ask


def beside(figure="decode", **query):
    return measured_beside(ask(**query).configuration, SNAPSHOT, figure)


def test_a_dgx_spark_with_gpt_oss_120b():
    """llama.cpp's own table of November 2025: 56.94 tokens/s after 4,096 tokens; a pull request of December: 1,716 of prompt."""
    nearest = beside(model="gpt-oss-120b", gpu="dgx-spark", ctx=4128)[0]
    assert (nearest.value, nearest.unit, nearest.depth_tokens) == (56.94, "tokens/s", 4096)
    assert (nearest.users, nearest.same_model, nearest.same_format) == (1, True, True)
    assert (nearest.engine, nearest.engine_version, nearest.backend) == ("llama.cpp", "b6989", "cuda")
    assert nearest.url == "https://github.com/ppaleja/llama.cpp/blob/HEAD/benches/dgx-spark/dgx-spark.md"
    assert nearest.date == "2025-11"
    prompt = beside("prefill", model="gpt-oss-120b", gpu="dgx-spark", ctx=2080, prompt=2048)[0]
    assert (prompt.value, prompt.source) == (1716.04, "ggml-org/llama.cpp#17906")


def test_the_nearest_number_of_users_comes_first():
    alone = beside(model="gpt-oss-120b", gpu="dgx-spark", users=1)
    many = beside(model="gpt-oss-120b", gpu="dgx-spark", users=16)
    assert [each.users for each in alone] == [1, 1, 1]
    assert many[0].users == 16


def test_memory_size_of_a_chip_is_no_part_of_its_speed():
    small, large = (beside(model="gpt-oss-120b", gpu=f"mac-m2-ultra-{size}") for size in (64, 192))
    assert small == large != ()


def test_a_model_of_the_same_shape_says_so():
    """Llama 3 8B on an RTX 4090, May 2024: 127.74 tokens/s while it writes 1,024 tokens."""
    found = beside(model="llama-3.1-8b-instruct", gpu="rtx-4090", ctx=1024)
    assert found[0].value == 127.74
    assert (found[0].model, found[0].same_model) == ("Llama-3-8B", False)


def test_the_asked_format_comes_before_others_of_its_family():
    found = beside(model="llama-3-8b-instruct", gpu="rtx-4090", quant="q4_k_s")
    assert {each.format_id for each in found} == {"q4_k_m"}
    assert not any(each.same_format for each in found)
    assert beside(model="llama-3-8b-instruct", gpu="rtx-4090", quant="nf4", engine="transformers") == ()


@pytest.mark.parametrize("query", [{"n": 3}, {"gpu": "rtx-4090:1,rtx-3090:1"}, {"engine": "vllm"}])
def test_other_machines_are_not_beside_it(query):
    assert beside(**{"model": "llama-3-8b-instruct", "gpu": "rtx-4090", **query}) == ()


def test_what_cannot_be_compared_says_why_and_comes_last():
    """Four RTX 3090 held at 220 W: a speed, though none that a calculation could be held against."""
    query = {"model": "qwen3.6-27b", "gpu": "rtx-3090", "n": 4, "engine": "vllm", "quant": "int4"}
    found = beside(**query)
    assert found
    assert all("power-capped" in each.caveats for each in found)


def test_doubted_figures_are_no_answer():
    asked = ask(model="gpt-oss-120b", gpu="dgx-spark", ctx=4128).configuration
    doubted = tuple(
        replace(run, comparable=False, compare=(), why_not=("outlier",)) for run in SNAPSHOT.measurements
    )
    assert measured_beside(asked, replace(SNAPSHOT, measurements=doubted)) == ()


def test_every_figure_at_once():
    found = all_measured_beside(ask(model="gpt-oss-120b", gpu="dgx-spark").configuration, SNAPSHOT)
    assert set(found) == {"decode", "prefill", "throughput"}
