"""Every figure, kind of attention and reason of the record has its words."""

import ast
from pathlib import Path

import pytest

from calculator.accuracy.compare import memory_report
from calculator.estimation.terms import PART_ORDER
from calculator.web.panels.accuracy.record import FILTERS
from calculator.web.panels.evidence import BY_TERM, COMPARED, SUM
from calculator.web.wording.accuracy import (
    ATTENTION,
    FIGURES,
    LEFT_OUT,
    MISREAD,
    NOTES,
    SHARES,
    WHYS,
    attention_name,
    figure_name,
    reason_sentence,
    why_words,
)

ACCURACY = Path(__file__).parent.parent.parent / "calculator/accuracy"


def calls(name):
    """Every call of this name in the comparison of logs."""
    for file in sorted(ACCURACY.glob("*.py")):
        for node in ast.walk(ast.parse(file.read_text())):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") == name:
                yield node


def texts(node):
    return {
        part.value
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    }


@pytest.fixture(scope="module")
def shipped(snapshot):
    return memory_report(snapshot, snapshot.measurements)


def test_every_figure_of_the_shipped_record_has_a_name(shipped):
    assert {item.part for item in shipped.worst} - set(FIGURES) == set()
    assert set(NOTES) - set(FIGURES) == set()


def test_every_kind_of_attention_has_a_name(snapshot):
    assert {item.attention for item in snapshot.measurements} - set(ATTENTION) == set()


def test_every_share_and_filter_has_its_words(snapshot):
    assert {item.split for item in snapshot.measurements} <= set(SHARES)
    assert set(MISREAD) == {"kind", "share", *FILTERS["memory"], *FILTERS["speed"]}


def test_every_gap_has_its_sentence():
    codes = {text for call in calls("Gap") if call.args for text in texts(call.args[0])}
    assert len(codes) > 4
    assert {code for code in codes if " " not in code} - set(LEFT_OUT) - {"quant"} == set()


def test_no_reason_of_the_shipped_record_shows_its_code(shipped):
    sentences = {reason_sentence(item.reason) for item in shipped.skipped}
    assert sentences
    assert [text for text in sentences if "_" in text or not text.endswith(".")] == []


def test_every_known_reason_for_a_difference_has_its_words(shipped):
    assert {item.why for item in shipped.worst} - {""} - set(WHYS) == set()


def test_every_part_of_the_calculator_leads_to_a_figure():
    assert set(COMPARED) == set(PART_ORDER)
    assert {SUM, *COMPARED.values(), *BY_TERM.values()} <= set(FIGURES)


def test_unknown_names_are_shown_readably():
    assert figure_name("other_part") == "Other part"
    assert attention_name("new_kind") == "New kind"
    assert reason_sentence("the source is a picture") == "The source is a picture."
    assert reason_sentence("") == str(LEFT_OUT["not_comparable"])
    assert why_words("no_such_code") == ""
