"""Numbers are written as people read them."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculator.web import figures
from tests.web.asking import SEARCH

GIB, GB = 2**30, 10**9


@pytest.mark.parametrize(
    ("value", "text"),
    [
        (58.31, "58.3"),
        (0.2109375, "0.211"),
        (0.0131, "0.013"),
        (1866.2, "1,866"),
        (1360, "1,360"),
        (99.96, "100"),
        (9.996, "10.0"),
        (100, "100"),
        (7, "7.00"),
        (0, "0"),
        (-3.14159, "−3.14"),
        (-0.0001, "0.000"),
        (float("inf"), "—"),
    ],
)
def test_three_significant_digits(value, text):
    assert figures.number(value) == text


@pytest.mark.parametrize(
    ("size_bytes", "units", "text"),
    [
        (58.31 * GIB, "gib", "58.3\u00a0GiB"),
        (58.31 * GIB, "gb", "62.6\u00a0GB"),
        (1_561_195_132_416, "gib", "1,454\u00a0GiB"),
        (1_561_195_132_416, "gb", "1,561\u00a0GB"),
        (-11.9 * GIB, "gib", "−11.9\u00a0GiB"),
        (0, "gib", "0\u00a0GiB"),
        (1000, "gib", "<\u00a00.001\u00a0GiB"),
    ],
)
def test_sizes_have_their_unit_after_a_no_break_space(size_bytes, units, text):
    assert figures.size(size_bytes, units) == text


@pytest.mark.parametrize(
    ("tokens", "text", "down"),
    [
        (1, "1", "1"),
        (8192, "8,192", "8,192"),
        (9999, "9,999", "9,999"),
        (10_000, "10K", "10K"),
        (16_384, "16K", "16K"),
        (131_072, "128K", "128K"),
        (262_144, "256K", "256K"),
        (573_440, "573K", "573K"),
        (12_544, "12.5K", "12.5K"),
        (572_900, "573K", "572K"),
        (999_999, "1,000K", "999K"),
        (1_048_576, "1M", "1M"),
        (10_000_000, "10M", "10M"),
        (16_777_216, "16M", "16M"),
    ],
)
def test_tokens_are_short_from_ten_thousand_on(tokens, text, down):
    assert figures.tokens(tokens) == text
    assert figures.tokens(tokens, down=True) == down


@SEARCH
@given(st.integers(10_000, 10**9))
def test_a_maximum_is_never_rounded_up(value):
    text = figures.tokens(value, down=True)
    step = {"K": 1000, "M": 10**6}[text[-1]]
    if value & (value - 1) == 0:
        step = {"K": 1024, "M": 1024**2}[text[-1]]
    assert float(text[:-1].replace(",", "")) * step <= value * (1 + 1e-12)


@pytest.mark.parametrize(
    ("low", "high", "decimals", "text"),
    [
        (57.6, 59.4, None, "57.6–59.4"),
        (0.81, 1.52, None, "0.81–1.52"),
        (70.58, 70.63, None, "70.58–70.63"),
        (1449, 1460, None, "1,449–1,460"),
        (0.001, 0.002, 3, "0.001–0.002"),
    ],
)
def test_ranges_have_an_en_dash_and_equal_decimals(low, high, decimals, text):
    assert figures.size_range(low * GIB, high * GIB, "gib", decimals) == text


@pytest.mark.parametrize(
    ("share", "text"),
    [(0.92, "92%"), (0.9, "90%"), (0.835, "83.5%"), (2 / 3, "66.7%"), (1, "100%"), (0, "0%")],
)
def test_percent_has_no_space(share, text):
    assert figures.percent(share) == text


@pytest.mark.parametrize(
    ("count", "text"),
    [
        (2_780_110_363_392, "2.78T"),
        (104e9, "104B"),
        (8_030_261_248, "8.03B"),
        (494_032_768, "494M"),
        (70e9, "70B"),
    ],
)
def test_parameters_are_short(count, text):
    assert figures.parameters(int(count)) == text


@pytest.mark.parametrize(
    ("value", "text"), [(2, "2"), (1.0625, "1.0625"), (0.5, "0.5"), (4.83, "4.83"), (0.92, "0.92")]
)
def test_factors_stand_as_they_are(value, text):
    assert figures.plain(value) == text


def test_bytes_take_the_unit_that_suits():
    assert figures.spelled_bytes(27_648) == "27,648\u00a0B"
    assert figures.spelled_bytes(85 * 2**20) == "85.0\u00a0MiB"
    assert figures.spelled_bytes(1.895 * GIB) == "1.90\u00a0GiB"


@SEARCH
@given(st.floats(-1e18, 1e18), st.sampled_from(["gib", "gb"]))
def test_any_size_is_written(value, units):
    text = figures.size(value, units)
    assert text.endswith({"gib": "\u00a0GiB", "gb": "\u00a0GB"}[units])
    assert "-" not in text
