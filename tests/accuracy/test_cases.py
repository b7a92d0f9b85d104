"""Rows of the case files as questions: what ran, said in the parameters of a link."""

import pytest

from calculator.accuracy.cases import measurement_of, measurements_of, scenario_of, version_of
from calculator.accuracy.printed import tolerance_of
from catalog.records import GIB, Observation
from tests.estimation.asking import SNAPSHOT

ROW = {
    "id": "mem-1",
    "split": "check",
    "group": "a",
    "engine": "vllm",
    "engine_version": "0.19.0",
    "model_id": "llama-3.1-8b-instruct",
    "model": "Llama-3.1-8B",
    "format": "bf16",
    "context": 8192,
    "parallel": 1024,
    "batched_tokens": 8192,
    "kv_cache_type": "bf16",
    "accelerator_id": "h100-sxm",
    "gpu": "H100",
    "gpus": 1,
    "plan": {"tp": 1, "pp": 1, "ep": 1, "dp": 1},
    "gpu_memory_utilization": 0.95,
    "observed": [{"part": "weights", "device": "per_gpu", "bytes": 16095430082, "as_printed": "14.99 GiB"}],
    "comparable": True,
    "why_not": None,
    "compare_parts": ["weights"],
    "source": "someone/logs#1",
}


@pytest.mark.parametrize(
    ("engine", "written", "version"),
    [
        ("vllm", "0.11.2.dev690", "0.11.2"),
        ("vllm", "about 0.11-0.16 (before 0.17)", "0.11"),
        ("vllm", "2026-05 nightly", "0.21"),
        ("llama.cpp", "b9849 (Vulkan), 2026-09", "b9849"),
        ("llama.cpp", "version 9272 / #23861, 2026-05", "b9272"),
        ("llama.cpp", "llama-cpp-python 0.3.34, ROCm 7.2.4", ""),
        ("mlx", "mlx 0.29.2.dev / mlx-lm 0.28.2", "0.28.2"),
        ("transformers", "transformers 4.51.3, torch 2.6.0", "4.51.3"),
    ],
)
def test_a_version_is_read_from_what_sources_write(engine, written, version):
    assert version_of(engine, written) == version


def test_a_server_prepares_for_what_the_row_states():
    assert scenario_of(ROW) == {
        "model": "llama-3.1-8b-instruct",
        "gpu": "h100-sxm",
        "engine": "vllm",
        "engine_version": "0.19.0",
        "quant": "bf16",
        "seqs": "1024",
        "ctx": "8192",
        "batched": "8192",
        "util": "0.95",
    }


def test_slots_of_llama_cpp_share_the_cells():
    row = {
        **ROW,
        "engine": "llama.cpp",
        "engine_version": "b9603",
        "parallel": 4,
        "context": 131072,
        "flash_attention": True,
    }
    asked = scenario_of(row)
    assert (asked["ctx"], asked["seqs"], asked["fa"]) == ("131072", "4", "1")
    assert "users" not in asked


def test_ollama_is_told_the_context_of_one_request():
    asked = scenario_of(
        {**ROW, "engine": "ollama", "engine_version": "0.12.0", "parallel": 4, "context": 32768}
    )
    assert (asked["ctx"], asked["users"]) == ("8192", "4")


def test_data_parallel_ranks_spread_their_experts():
    asked = scenario_of({**ROW, "gpus": 16, "plan": {"tp": 1, "pp": 1, "ep": 1, "dp": 16}})
    assert (asked["tp"], asked["adp"], asked["ep"]) == ("16", "16", "16")


def test_a_server_loads_the_vision_tower_of_a_model_that_has_one():
    row = {**ROW, "model_id": "gemma-3-12b-it"}
    assert "vision" not in scenario_of(row)
    assert measurements_of([row], SNAPSHOT)[0].scenario["vision"] == "1"


def test_without_a_model_nothing_is_asked():
    assert scenario_of({**ROW, "model_id": None}) == {}


def test_weights_of_a_run_on_an_unknown_number_of_gpus_are_not_compared():
    run = measurement_of({**ROW, "plan": {"tp": None, "pp": 1, "ep": 1, "dp": 1}})
    assert run.compare == ()
    assert run.why_not == ("number of GPUs not stated",)


def test_fine_tuning_is_another_arithmetic():
    assert measurements_of([{**ROW, "task": "fine-tuning"}], SNAPSHOT) == ()


def test_a_row_that_cannot_be_read_is_named():
    with pytest.raises(ValueError, match=r"row 2 \(mem-x\)"):
        measurements_of([ROW, {"id": "mem-x", "task": "inference"}], SNAPSHOT)


@pytest.mark.parametrize(
    ("printed", "amount", "unit", "half"),
    [
        ("12.56 GiB", 12.56 * GIB, "bytes", 0.005 * GIB),
        ("43.67 GB", 43.67 * GIB, "bytes", 0.005 * GIB),  # SGLang prints GiB as GB
        ("1394 MiB", 1394 * 2**20, "bytes", 2**19),
        ("126256", 126256, "tokens", 0.5),
        ("15.41", 15.41, "requests", 0.005),
        ("2050000", 2_050_000, "tokens", 0.5),
    ],
)
def test_a_print_leaves_half_a_step_open(printed, amount, unit, half):
    assert tolerance_of(Observation("weights", None, amount, unit, printed)) == pytest.approx(half)
