"""Measured runs held against the arithmetic: figures of public logs, each with what the log printed."""

from dataclasses import replace

import pytest

from calculator.accuracy.compare import compared, memory_report
from catalog.records import GIB
from tests.estimation.asking import SNAPSHOT

RUNS = {run.id: run for run in SNAPSHOT.measurements}
CHECK = [run for run in SNAPSHOT.measurements if run.split == "check"]


def figures(run_id):
    found, _ = compared(SNAPSHOT, RUNS[run_id])
    return {(item.observed_part, item.device): item for item in found}


def test_a_pool_of_grouped_queries_holds_the_tokens_that_the_log_prints():
    """Code Llama 7B's shape on an H100, vLLM 0.19: 61.66 GiB hold 126,256 tokens, 15.41 requests of 8192."""
    found = figures("mem-91619e75")
    assert found["kv_tokens", None].within_print
    assert found["max_concurrency", None].within_print
    assert found["activation_peak", "per_gpu"].covered
    assert found["available_kv", "per_gpu"].predicted / GIB == pytest.approx(61.66, abs=0.3)


def test_a_rotary_table_lies_beside_the_weights():
    """Llama 3.1 8B in 16 bits loads as 14.99 GiB, not 14.96: angles of 131,072 positions × 128 × 2 B are 32 MiB."""
    loads = [
        item
        for run in CHECK
        if run.model_id == "llama-3.1-8b-instruct"
        and run.engine_version == "0.19.0"
        and run.weights_format == "bf16"
        for item in compared(SNAPSHOT, run)[0]
        if item.observed_part == "weights" and item.device == "per_gpu"
    ]
    assert len(loads) > 5
    assert all(item.within_print for item in loads if item.observed / GIB == pytest.approx(14.99))


def test_experts_in_nvfp4_leave_attention_in_16_bits():
    """Qwen3.8-2.4T on 16 GB300 loads 168.89 GiB a GPU, Nemotron 3 Super on one GB10 75.03 GiB."""
    assert abs(figures("mem-7940129c")["weights", "per_gpu"].error) < 0.005
    assert abs(figures("mem-9bfc5e2b")["weights", "per_gpu"].error) < 0.02


def test_a_printed_token_count_of_a_hybrid_is_read_as_its_version_means_it():
    """vLLM 0.13 prints a quarter of Qwen3-Next's tokens (154,496), four groups of layers; 33.47 requests are true."""
    found = figures("mem-263a98be")
    assert found["kv_tokens", None].within_print
    assert found["max_concurrency", None].within_print


def test_a_pipeline_prints_the_first_workers_pool_and_has_the_last_ones_blocks():
    """Two stages of Llama 3.1 8B: 131.26 requests where the printed pool alone would hold 133.1."""
    assert figures("mem-c6e514fd")["max_concurrency", None].error == pytest.approx(0.0, abs=0.002)


def test_slots_share_one_pool_and_have_a_state_each():
    """llama-server with four slots of its own: 131,072 cells of 34,816 B once, states four times (598.5 MiB)."""
    found = figures("mem-3234c9d1")
    assert found["kv_cache", None].within_print
    assert found["recurrent_state", None].within_print


def test_windows_of_slots_lie_in_one_pool():
    """Gemma 4 E2B: 4 × 512 + 2048 cells of its windows, 48 MiB."""
    assert figures("mem-5ca6dc48")["kv_cache_window_layers", None].within_print


def test_a_layer_split_of_eight_cards_has_the_buffer_on_each():
    """640 MiB on each card, 0.35 % below the log's 640.01 (memory of one copy: 560)."""
    buffers = [
        item
        for (part, device), item in figures("mem-d853127e").items()
        if part == "compute_buffer" and "host" not in device
    ]
    assert len(buffers) == 8
    assert all(item.error == pytest.approx(0, abs=0.001) for item in buffers)


def test_what_is_not_comparable_is_left_out_with_the_sources_own_reason():
    run = next(run for run in SNAPSHOT.measurements if not run.comparable)
    found, gaps = compared(SNAPSHOT, run)
    assert found == []
    assert gaps[0].reason == run.why_not[0]


def test_a_format_that_the_catalogue_lacks_leaves_the_cache_comparable():
    """IQ3_K is a fork's: its weights cannot be calculated, its cache can."""
    run = RUNS["mem-f308dd70"]
    assert [item.observed_part for item in compared(SNAPSHOT, run)[0]] == ["kv_cache", "output_buffer"]
    asked = replace(run, compare=("weights",), observed=(replace(run.observed[0], part="weights"),))
    assert compared(SNAPSHOT, asked)[1][0].reason == "format_not_in_catalogue"


# --- the record against the targets --------------------------------------------------------------------------------------

SIXTEEN = {"bf16", "f16", "f32"}


@pytest.fixture(scope="module")
def record():
    return memory_report(SNAPSHOT, CHECK)


def part_of(record, name):
    return next(group for group in record.groups("part") if group.by["part"] == name)


def test_nothing_comparable_is_left_out_but_for_a_stated_reason(record):
    assert (record.cases, record.comparable) == (102, 84)
    unasked = [item for item in record.skipped if item.part is None and item.measurement.comparable]
    assert {item.reason for item in unasked} <= {"format_not_in_catalogue", "cache_type_not_in_catalogue"}
    assert record.compared >= 83


def test_cache_and_state_are_what_logs_print(record):
    """Target: within the print for 95 % of the comparable cases."""
    exact = [item for item in record.worst if item.part in ("kv_cache", "recurrent_state") and item.exact]
    assert sum(item.within_print for item in exact) / len(exact) >= 0.95


def test_weights_in_16_bits_are_within_a_percent(record):
    """Target: 1 % in the middle, 3 % in the worst tenth."""
    errors = sorted(
        abs(i.error)
        for i in record.worst
        if i.part == "weights" and i.measurement.scenario.get("quant") in SIXTEEN
    )
    assert errors[len(errors) // 2] <= 0.01
    assert errors[int(len(errors) * 0.9)] <= 0.03


def test_buffers_are_within_15_percent_in_the_middle(record):
    names = ("graphs", "activations", "communication", "compute_buffer", "host_buffer", "output_buffer")
    errors = sorted(abs(item.error) for item in record.worst if item.part in names)
    assert len(errors) > 90
    assert errors[len(errors) // 2] <= 0.15


def test_the_sum_of_a_gpu_is_within_3_percent_in_the_middle(record):
    assert part_of(record, "parts").median_abs_error <= 0.03
    assert part_of(record, "parts").p90_abs_error <= 0.10


def test_ranges_hold_what_they_promise(record):
    """Target: 86 to 95 %, or within the sampling error of it."""
    covered, error = record.overall.coverage_90, record.overall.coverage_error
    assert 0.86 - error <= covered <= 0.95 + error
