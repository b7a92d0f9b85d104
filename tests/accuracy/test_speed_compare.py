"""Measured speeds held against the arithmetic: published figures, and the record against its targets."""

import pytest

from calculator.accuracy.report import Comparison, Skipped
from calculator.accuracy.speed_compare import band_of, compared, speed_report
from calculator.accuracy.speed_left_out import left_out_of
from tests.estimation.asking import SNAPSHOT

RUNS = {run.id: run for run in SNAPSHOT.measurements if run.task == "speed"}


def figures(run_id) -> dict[str, Comparison]:
    found = compared(SNAPSHOT, RUNS[run_id])
    assert not isinstance(found, Skipped), found
    return {item.part: item for item in found}


@pytest.mark.parametrize(
    ("run_id", "part", "published"),
    [
        ("spd-04f4069c", "decode", 300.4),  # RTX 5090, Llama 2 7B Q4_0, llama.cpp
        ("spd-490e01c2", "decode", 85.6),  # M2 Ultra, gpt-oss-120b MXFP4, llama.cpp
        ("spd-d522fbc9", "decode", 18.6),  # M3 Max, Qwen3 32B in 4 bits, MLX
        ("spd-4ae33cbc", "decode", 55.73),  # Ryzen AI Max+ 395, Llama 2 7B Q4_0, Vulkan
    ],
)
def test_published_speeds_are_within_30_percent(run_id, part, published):
    found = figures(run_id)[part]
    assert found.observed == pytest.approx(published, rel=0.002)
    assert found.unit == "tokens/s"
    assert found.low < found.predicted <= found.high
    assert found.predicted == pytest.approx(published, rel=0.3)


def test_a_time_to_the_first_token_is_kept_in_seconds():
    """aiconfigurator's sample: gpt-oss-120b on one B200 under TensorRT-LLM answers after 40.418 ms."""
    found = figures("spd-71c18d9b")
    assert found["ttft"].observed == pytest.approx(0.040418)
    assert found["ttft"].unit == "s"
    assert "decode_many" in found
    assert "decode" not in found
    assert found["ttft"].traits == {
        "backend": "cuda",
        "device": "nvidia-datacenter",
        "architecture": "moe",
        "users": "8-31",
    }


def test_what_is_not_comparable_is_left_out_in_the_readers_own_words():
    run = next(run for run in RUNS.values() if "power-capped" in run.why_not)
    found = compared(SNAPSHOT, run)
    assert isinstance(found, Skipped)
    assert found.reason == run.why_not[0]


@pytest.mark.parametrize(
    ("users", "band"), [(1, "1"), (2, "2-7"), (8, "8-31"), (31, "8-31"), (32, "32-127"), (512, "128+")]
)
def test_numbers_of_users_are_looked_at_in_bands(users, band):
    class Case:
        pass

    Case.users = users
    assert band_of(Case) == band


# --- the record against the targets ------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def record():
    return speed_report(SNAPSHOT, [run for run in RUNS.values() if run.split == "check"])


def part_of(record, name):
    return next(group for group in record.groups("part") if group.by["part"] == name)


def test_nothing_comparable_is_left_out_but_for_a_format_that_the_catalogue_lacks(record):
    assert (record.cases, record.comparable) == (626, 434)
    unasked = [item for item in record.skipped if item.measurement.comparable]
    assert {item.reason for item in unasked} == {"format_not_in_catalogue"}
    assert record.compared == record.comparable - len(unasked)


@pytest.mark.parametrize(
    ("part", "median", "worst_tenth"),
    [
        ("decode", 0.12, 0.40),
        ("decode_many", 0.18, 0.45),
        ("throughput", 0.18, 0.55),
        ("prefill", 0.22, 0.60),
    ],
)
def test_errors_of_runs_that_no_constant_saw(record, part, median, worst_tenth):
    group = part_of(record, part)
    assert group.n > 100
    assert group.median_abs_error <= median
    assert group.p90_abs_error <= worst_tenth


def test_ranges_hold_what_they_promise(record):
    assert 0.86 <= record.overall.coverage_90 <= 0.95


def test_a_model_that_the_fit_had_not_seen_is_off_by_more(record):
    kept = left_out_of(SNAPSHOT)
    assert set(kept) == {"decode", "decode_many", "throughput", "prefill", "ttft"}
    assert part_of(record, "decode").median_abs_error < kept["decode"].value < 0.15
