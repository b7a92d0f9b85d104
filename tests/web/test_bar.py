"""The bar is drawn to scale: parts, limits and range as per cent of the fullest GPU."""

from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from calculator.estimation.terms import Interval
from calculator.web.panels.bar import Scale, bar_panel, bar_parts, by_colour, percent, scale_of
from tests.web.asking import SEARCH, asked, page_of, plain

GIB = 2**30


def number(text):
    return float(text.removesuffix("%"))


@pytest.fixture
def answer(snapshot):
    return asked("model=llama-3.1-8b-instruct&gpu=h100-sxm", snapshot)


def changed(answer, needed=None, usable=None, occupied=None):
    """The same answer with another need or limit [GiB]."""
    memory = answer.estimate.memory
    if needed:
        memory = replace(memory, needed=Interval(*(size * GIB for size in needed)))
    if usable:
        memory = replace(
            memory, limit=replace(memory.limit, usable=Interval(*(size * GIB for size in usable)))
        )
    if occupied:
        memory = replace(memory, occupied_bytes=int(occupied * GIB))
    return memory


@pytest.mark.parametrize(
    ("value", "text"), [(0, "0%"), (69.314, "69.31%"), (5, "5%"), (0.1, "0.1%"), (100.0, "100%")]
)
def test_positions_have_at_most_two_decimals(value, text):
    assert percent(value) == text


def test_full_width_is_physical_memory_or_a_little_more_than_the_need(answer):
    physical = answer.estimate.memory.limit.physical_bytes
    assert scale_of(answer.estimate.memory).full_bytes == physical
    over = changed(answer, needed=(100, 99, 101))
    assert scale_of(over).full_bytes == pytest.approx(106 * GIB)


def test_parts_of_one_colour_are_drawn_as_one_in_the_order_of_drawing():
    parts = by_colour({"context": 3, "index_cache": 1, "kv_cache": 4, "graphs": 2, "weights": 9, "draft": 0})
    assert parts == {"weights": 9, "kv": 5, "runtime": 5}
    assert list(parts) == ["weights", "kv", "runtime"]


def test_a_part_is_never_thinner_than_can_be_seen():
    parts = bar_parts({"weights": 1000, "state": 1}, Scale(100_000), "gib", labels=True)
    assert [part["width"] for part in parts] == ["0.88%", "0.12%"]
    assert [part["x"] for part in parts] == ["0%", "1%"]


@SEARCH
@given(st.lists(st.integers(1, 10**12), min_size=1, max_size=7), st.floats(1, 4))
def test_parts_stand_side_by_side_inside_the_bar(sizes, room):
    names = ("weights", "kv", "state", "activations", "runtime", "vision", "draft")
    full = sum(sizes) * room
    parts = bar_parts(dict(zip(names, sizes, strict=False)), Scale(full), "gib", labels=False)
    starts = [number(part["x"]) for part in parts]
    assert starts == sorted(starts)
    end = number(parts[-1]["x"]) + number(parts[-1]["width"])
    assert end <= 100.2
    assert end == pytest.approx(100 / room, abs=0.2)


def test_a_label_stands_inside_when_it_has_room():
    parts = bar_parts({"weights": 30, "kv": 14, "state": 5}, Scale(100), "gib", labels=True)
    assert [(bool(part["label"]), part["wide_only"]) for part in parts] == [
        (True, False),
        (True, True),
        (False, False),
    ]


def test_limits_and_words(answer):
    panel = bar_panel(
        answer, changed(answer, needed=(58.31, 57.6, 59.4), usable=(72.85, 72.8, 72.9), occupied=75)
    )
    assert panel["usable_label"] == "usable 72.8"
    assert panel["physical_label"] == "of 79.6 physical"
    assert panel["physical_x"] == "100%"
    assert plain(panel["whisker_label"]) == "58.3 GiB, 90% 57.6–59.4"
    assert panel["whisker_anchor"] == "end"
    assert panel["whisker_label_x"] == panel["whisker_x2"]
    assert panel["aria"] == "Memory of the fullest GPU: 58.3 of 72.8 usable and 79.6 GiB physical"
    assert number(panel["hatch"]["x"]) + number(panel["hatch"]["width"]) == pytest.approx(100, abs=0.02)
    assert number(panel["dots"]["x"]) == pytest.approx(100 * 58.31 / 79.65, abs=0.1)
    assert panel["over"] is None


def test_words_of_the_range_turn_when_it_lies_left(answer):
    panel = bar_panel(answer, changed(answer, needed=(6.6, 6.3, 7.0)))
    assert (panel["whisker_anchor"], panel["whisker_label_x"]) == ("start", panel["whisker_x1"])


def test_what_lies_over_the_limit_is_covered_and_limits_move_inward(answer):
    panel = bar_panel(answer, changed(answer, needed=(84.7, 84.2, 85.6), usable=(72.8, 72.8, 72.8)))
    assert number(panel["physical_x"]) == pytest.approx(100 * 79.65 / (1.06 * 84.7), abs=0.05)
    assert number(panel["over"]["x"]) == pytest.approx(100 * 72.8 / (1.06 * 84.7), abs=0.05)
    assert number(panel["over"]["x"]) + number(panel["over"]["width"]) == pytest.approx(100 / 1.06, abs=0.05)


def test_a_range_wider_than_the_bar_ends_at_its_edge(answer):
    panel = bar_panel(answer, changed(answer, needed=(40, 10, 400)))
    assert panel["whisker_x2"] == "100%"


def test_an_exact_need_has_no_range(answer):
    panel = bar_panel(answer, changed(answer, needed=(40, 40, 40)))
    assert plain(panel["whisker_label"]) == "40.0 GiB"


def test_an_engine_that_takes_what_it_needs_has_no_dots(snapshot):
    assert page_of("", snapshot)["bar"]["dots"] is None
    assert page_of("gpu=h100-sxm", snapshot)["bar"]["dots"] is not None


@pytest.mark.parametrize(
    ("query", "aside"),
    [("", ""), ("gpu=h100-sxm&n=8", "all 8 hold the same"), ("n=2", "2 GPUs that hold different shares")],
)
def test_the_aside_says_whether_all_hold_the_same(snapshot, query, aside):
    assert page_of(query, snapshot)["bar"]["aside"] == aside


def test_legend_lists_every_colour_in_drawing_order(snapshot):
    legend = page_of("model=kimi-k3&gpu=h100-sxm&n=32", snapshot)["bar"]["legend"]
    assert [entry["name"] for entry in legend] == [
        "Weights",
        "KV cache",
        "Recurrent state",
        "Activations",
        "Runtime",
    ]
