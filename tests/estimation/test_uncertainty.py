"""Central 90 % intervals and how they add up (methodology §10)."""

import math

import numpy as np
import pytest

from calculator.estimation.terms import Interval, Term
from calculator.estimation.uncertainty import Z_90, around, constant_term, exact, total
from catalog.records import GIB, Constant
from tests.estimation.asking import H100, SNAPSHOT, ask


def constant(value, low, high):
    return Constant(
        "x", "y", value, low, high, "GiB", None, None, None, None, 3, "measured", "a log", "2026-11-30"
    )


def calibrated(value, low, high):
    return Term("term", value, low, high, "calibrated", {})


def test_z90_is_the_normal_quantile():
    assert Z_90 == 1.645
    assert math.erf(Z_90 / math.sqrt(2)) == pytest.approx(0.90, abs=1e-4)


def test_w_10_1_a_multiplicative_interval():
    assert [round(math.exp(side * Z_90 * 0.15), 3) for side in (-1, 1)] == [0.781, 1.280]


def test_values_add_up_and_half_widths_add_in_quadrature():
    assert total([calibrated(100, 97, 103), calibrated(50, 46, 54)]) == Interval(150, 145, 155)


def test_each_side_adds_up_for_itself():
    """One-sided terms enter the quadrature of their side only."""
    assert total([calibrated(100, 97, 104), calibrated(0, 0, 3)]) == Interval(100, 97, 105)


def test_exact_terms_widen_nothing():
    assert total([exact("weights", 100, {}), calibrated(10, 9, 12)]) == Interval(110, 109, 112)
    assert total([exact("weights", 100, {})]).exact


def test_an_axis_adds_up_element_by_element():
    axis = np.array([1.0, 2.0])
    found = total([Term("term", axis, axis - 3, axis + 3, "calibrated", {}), calibrated(1, -3, 5)])
    assert found.value.tolist() == [2, 3]
    assert found.low.tolist() == [-3, -2]
    assert found.high.tolist() == [7, 8]


def test_a_constant_scales_with_what_it_is_proportional_to():
    term = around("graphs", 600, constant(2.0, 1.0, 3.0), {})
    assert (term.value, term.low, term.high, term.source) == (600, 300, 900, "a log")


def test_a_constant_itself_becomes_bytes():
    term = constant_term("context", constant(0.5, 0.25, 1.0), GIB, {"backend": "cuda"})
    assert (term.value, term.low, term.high) == (GIB // 2, GIB / 4, GIB)
    assert term.factors == {"value": 0.5, "cases": 3, "backend": "cuda"}


def test_constants_measured_on_other_versions_are_half_as_sure_again():
    """vLLM's are from 0.17–0.20, the engine is 0.33: widths × 1.5, and the answer says so."""
    answer = ask(gpu=H100)
    measured = next(
        row for row in SNAPSHOT.constants if row.name == "non_torch_one" and row.version_from == "0.17"
    )
    used = answer.configuration.constants["non_torch_one"]
    assert used.value == measured.value == 0.25
    assert used.high == pytest.approx(0.25 + 1.5 * (measured.high - 0.25))
    assert used.low == pytest.approx(0.25 - 1.5 * (0.25 - measured.low))
    assert answer.reasons["version_outside_measured"].factors == {
        "engine": "vLLM",
        "version": "0.33.0",
        "low": "0.17",
        "high": "0.20",
    }


def test_constants_of_this_version_stay_as_measured():
    """Batches in flight: 2 from 0.32 on, read in the source."""
    used = ask(gpu=H100).configuration.constants["window_batches"]
    assert (used.value, used.low, used.high) == (2, 2, 2)


def test_llama_cpps_constants_hold_for_all_builds():
    answer = ask(engine="llama.cpp")
    assert not answer.configuration.widened
    assert "version_outside_measured" not in answer.reasons
