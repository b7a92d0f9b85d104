"""Fitting constants: robust, by group, only from the share that is meant for it."""

from dataclasses import replace

import pytest

from calculator.accuracy.fit import Sample, by_group, fitted, half_width, quantile, rounded, shrunk
from tests.estimation.asking import SNAPSHOT

TODAY = "2026-12-01"


def values(results):
    return {(f.after.name, f.after.version_from, f.after.device_class): f.after for f in results}


@pytest.fixture(scope="module")
def results():
    return fitted(SNAPSHOT, SNAPSHOT.measurements, TODAY)


def test_the_shipped_constants_are_what_the_shipped_runs_give(results):
    """`calibrate` would change nothing: every fitted constant stands in the file as it comes out."""
    assert len(results) > 20
    assert [item.after.name for item in results if item.before != item.after] == []


def test_runs_of_the_check_share_decide_nothing(results):
    """Shifting every run of that share leaves each constant as it was."""
    shifted = [
        replace(run, observed=tuple(replace(o, amount=3 * o.amount) for o in run.observed))
        if run.split == "check"
        else run
        for run in SNAPSHOT.measurements
    ]
    assert values(fitted(SNAPSHOT, shifted, TODAY)) == values(results)


def test_shifting_the_fit_share_moves_them(results):
    shifted = [
        replace(run, observed=tuple(replace(o, amount=3 * o.amount) for o in run.observed))
        for run in SNAPSHOT.measurements
    ]
    moved = values(fitted(SNAPSHOT, shifted, TODAY))["non_torch_one", "0.17", None]
    assert moved.value == pytest.approx(3 * 0.25, rel=0.05)


def test_memory_beside_torch_is_what_logs_of_an_h100_show(results):
    """vLLM 0.19 on one H100: 0.24 to 0.46 GiB in public logs, 2.06 to 2.21 with tensor parallelism."""
    one, many = (
        values(results)["non_torch_one", "0.17", None],
        values(results)["non_torch_tensor", "0.17", None],
    )
    assert one.value == 0.25
    assert one.low < 0.25 < one.high < 0.5
    assert many.value == 2.1
    assert many.low < 2.06
    assert many.high > 2.21


def test_a_unified_memory_device_captures_smaller_graphs(results):
    """0.03 to 0.44 GiB on a GB10 where an H100 takes 0.5 to 1.7."""
    small = values(results)["graphs_moe", "0.17", "nvidia-apu"]
    assert small.value < 0.3 * values(results)["graphs_moe", "0.17", None].value


def test_each_group_weighs_the_same():
    samples = [Sample(1.0, "many")] * 9 + [Sample(2.0, "few"), Sample(3.0, "other")]
    assert quantile(by_group(samples), 0.5) == pytest.approx(2.0)


def test_one_odd_run_among_few_groups_does_not_set_the_range():
    plain = [(-0.1, 1.0), (0.1, 1.0), (0.1, 1.0), (5.0, 1.0)]
    assert half_width(plain, groups=4) < 1


def test_few_groups_are_drawn_towards_the_prior_width():
    assert shrunk(0.0, 0.1, 5) == pytest.approx(0.0707, abs=1e-4)
    assert shrunk(0.2, 0.1, 1000) == pytest.approx(0.2, abs=1e-3)
    assert shrunk(-1.0, 0.1, 0) == pytest.approx(0.1)


def test_a_fit_has_three_digits():
    assert (rounded(0.123456), rounded(12345.0)) == (0.123, 12300.0)
