"""Rounding in integers, for one value or an axis of them."""

import numpy as np
import pytest

from calculator.estimation.numbers import ceil_div, least, most, round_up


@pytest.mark.parametrize(("value", "step", "quotient"), [(0, 16, 0), (1, 16, 1), (16, 16, 1), (17, 16, 2)])
def test_division_rounds_up(value, step, quotient):
    assert ceil_div(value, step) == quotient
    assert round_up(value, step) == quotient * step
    assert round_up(np.array([value]), step).tolist() == [quotient * step]


def test_large_integers_stay_exact():
    assert ceil_div(10**18 + 1, 10**9) == 10**9 + 1


def test_of_an_axis_and_a_value_each_element_is_compared():
    axis = np.array([1, 5, 9])
    assert least(axis, 5).tolist() == [1, 5, 5]
    assert least(5, axis).tolist() == [1, 5, 5]
    assert most(axis, 5).tolist() == [5, 5, 9]
    assert (least(3, 4), most(3, 4)) == (3, 4)
