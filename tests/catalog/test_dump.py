"""Catalogue files are written so that a person reads them and a diff shows one change as one line."""

import json

import pytest

from catalog.importers.dump import LINE, dump_json


def test_what_is_short_stands_on_one_line():
    text = dump_json({"id": "x", "order": [["mla-dense", 1], ["mla-moe", 60]]})
    assert text == '{\n  "id": "x",\n  "order": [["mla-dense", 1], ["mla-moe", 60]]\n}\n'


def test_long_lists_of_short_items_are_filled():
    lines = dump_json({"steps": list(range(200))}).splitlines()
    assert lines[2].startswith("    0, 1, 2, 3")
    assert 5 < len(lines) < 15
    assert all(len(line) <= LINE + 6 for line in lines)


def test_long_lists_of_long_items_have_one_to_a_line():
    names = [f"SomeRatherLongModelNumber{n}ForCausalLM" for n in range(4)]
    assert dump_json({"text": names}).count("\n") == 8


def test_text_is_written_as_it_is_read():
    assert "月之暗面" in dump_json({"name_zh": "月之暗面"})


@pytest.mark.parametrize("value", [{}, [], {"a": {}, "b": []}, {"a": None, "b": True, "c": 1.5, "d": "é"}])
def test_what_is_written_reads_back(value):
    assert json.loads(dump_json(value)) == value


def test_a_number_that_json_does_not_know_is_refused():
    with pytest.raises(ValueError, match="Out of range float values"):
        dump_json({"rate": float("inf")})
