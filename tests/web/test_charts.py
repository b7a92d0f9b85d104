"""The numbers of a drawing: axes, ticks, curves cut at the top, labels apart."""

import itertools

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculator.web.charts import Axis, apart, between, cut_at_top, polyline, powers_of_four, round_steps
from tests.web.asking import SEARCH

UNIT = st.floats(0, 1)


def test_axes_run_from_zero_to_one():
    assert Axis(0, 80).at(20) == 0.25
    assert Axis(1024, 1_048_576, log=True).at(32_768) == pytest.approx(0.5)


@pytest.mark.parametrize(
    ("low", "high", "ticks"),
    [
        (1024, 1_048_576, [1024, 4096, 16_384, 65_536, 262_144, 1_048_576]),
        (1024, 131_072, [1024, 4096, 16_384, 65_536]),
        (1, 1024, [1, 4, 16, 64, 256, 1024]),
    ],
)
def test_ticks_stand_at_powers_of_four(low, high, ticks):
    assert powers_of_four(Axis(low, high, log=True)) == ticks


@pytest.mark.parametrize(
    ("high", "steps"),
    [(88, [0, 20, 40, 60, 80]), (27, [0, 10, 20]), (0.9, [0, 0.2, 0.4, 0.6, 0.8]), (0, [0])],
)
def test_ticks_of_sizes_are_round(high, steps):
    assert round_steps(high) == pytest.approx(steps)


@SEARCH
@given(st.floats(0.001, 1e7), st.integers(3, 8))
def test_there_are_never_too_many_ticks(high, most):
    steps = round_steps(high, most)
    assert 1 <= len(steps) <= most + 1
    assert steps[-1] <= high * (1 + 1e-6)


def test_a_curve_ends_where_it_leaves_through_the_top():
    assert cut_at_top([(0, 0.5), (0.5, 0.75), (1, 1.25)]) == [(0, 0.5), (0.5, 0.75), (0.75, 1.0)]
    assert cut_at_top([(0, 2), (1, 3)]) == []
    assert cut_at_top([(0, 1.5), (1, 0.5)]) == [(0.5, 1.0), (1, 0.5)]


@SEARCH
@given(st.lists(st.tuples(UNIT, st.floats(0, 3)), max_size=20))
def test_nothing_is_drawn_above_the_top(points):
    assert all(y <= 1 for _x, y in cut_at_top(sorted(points)))


def test_points_are_whole_numbers_with_y_downwards():
    assert polyline([(0, 0), (0.5, 0.25), (1, 1)]) == "0,1000 500,750 1000,0"


@SEARCH
@given(st.lists(UNIT, max_size=6))
def test_labels_stand_apart_in_their_order(positions):
    out = apart(positions, 0.1)
    assert sorted(range(len(out)), key=out.__getitem__) == sorted(range(len(out)), key=out.__getitem__)
    ordered = sorted(out)
    assert all(later - earlier >= 0.1 - 1e-9 for earlier, later in itertools.pairwise(ordered))
    assert all(value <= 1 + 1e-9 for value in out)


def test_between_points_a_curve_is_straight():
    assert between(15, [10, 20, 30], [1, 2, 4]) == 1.5
    assert between(5, [10, 20, 30], [1, 2, 4]) == 1
    assert between(99, [10, 20, 30], [1, 2, 4]) == 4
