"""The question's names are promises: every one parses, round-trips, and stands in a link only when it differs."""

from urllib.parse import parse_qsl

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calculator.scenario import (
    BY_NAME,
    DEFAULTS,
    MAX_TOKENS,
    PARAMETERS,
    Scenario,
    parse,
    parse_number,
    unknown_names,
)

SEARCH = settings(deadline=None, derandomize=True)

CONTRACT = [
    "model",
    "gpu",
    "n",
    "engine",
    "engine_version",
    "backend",
    "quant",
    "kv",
    "ctx",
    "prompt",
    "output",
    "users",
    "ttft",
    "tpot",
    "prefix",
    "split",
    "tp",
    "pp",
    "ep",
    "adp",
    "dcp",
    "dp",
    "link",
    "offload",
    "ngl",
    "ncmoe",
    "ram",
    "ram_bw",
    "disk_bw",
    "util",
    "seqs",
    "batched",
    "ubatch",
    "fa",
    "eager",
    "maxlen",
    "os",
    "display",
    "wired",
    "vgm",
    "vision",
    "mtp",
    "accept",
    "draft",
    "hours",
    "days",
    "duty",
    "region",
    "kwh",
    "pue",
    "price",
    "server_share",
    "colo",
    "maintenance",
    "years",
    "resale",
    "rate",
    "rent_trend",
    "source",
    "provider",
    "market",
    "rent",
    "api_in",
    "api_out",
    "method",
    "rank",
    "targets",
    "seq",
    "batch",
    "accum",
    "optimizer",
    "checkpointing",
    "packing",
    "ce",
    "shard",
    "train_offload",
    "pref",
    "tokens",
    "epochs",
    "units",
    "lang",
    "show",
]


def test_the_names_and_their_order_are_the_contract():
    assert [parameter.name for parameter in PARAMETERS] == CONTRACT


def test_a_link_of_the_defaults_holds_the_version_only():
    assert Scenario().query() == "v=1"


def value_of(parameter):
    """A strategy for values of a parameter as a link writes them."""
    if parameter.kind == "choice":
        return st.sampled_from(parameter.choices)
    if parameter.kind == "switch":
        return st.sampled_from(("on", "off") if parameter.default in ("on", "off") else ("1", "0"))
    if parameter.kind == "whole":
        return st.integers(int(parameter.low), int(min(parameter.high, 10**9)))
    if parameter.kind == "number":
        return st.floats(max(parameter.low, 0.001), min(parameter.high, 1e9)).map(
            lambda value: round(value, 4)
        )
    return st.from_regex(r"[a-z0-9][a-z0-9.:,_-]{0,30}", fullmatch=True)


QUESTIONS = st.fixed_dictionaries({}, optional={p.name: value_of(p) for p in PARAMETERS})


@SEARCH
@given(QUESTIONS)
def test_a_permalink_round_trips(values):
    scenario, _problems = parse({name: str(value) for name, value in values.items()})
    again, _problems = parse(parse_qsl(scenario.query()))
    assert again == scenario


@SEARCH
@given(QUESTIONS)
def test_a_permalink_keeps_the_order_of_the_table_and_omits_defaults(values):
    scenario, _problems = parse({name: str(value) for name, value in values.items()})
    pairs = parse_qsl(scenario.query())
    names = [name for name, _value in pairs]
    assert names[-1] == "v"
    assert names[:-1] == [name for name in CONTRACT if getattr(scenario, name) != DEFAULTS[name]]


@SEARCH
@given(QUESTIONS)
def test_valid_values_raise_no_problem_but_not_computed_yet(values):
    _scenario, problems = parse({name: str(value) for name, value in values.items()})
    assert {problem.code for problem in problems} <= {"not_computed_yet", "lengths_above_context"}


@pytest.mark.parametrize(
    ("query", "codes"),
    [
        ({"prompt": "8192", "output": "1"}, [("prompt", "lengths_above_context")]),
        ({"output": "8193"}, [("output", "lengths_above_context")]),
        ({"prompt": "8000", "output": "192"}, []),
        ({"ctx": "16k", "prompt": "16000"}, []),
    ],
)
def test_prompt_and_answer_longer_than_the_context_are_said_and_kept(query, codes):
    scenario, problems = parse(query)
    assert [(problem.field, problem.code) for problem in problems] == codes
    assert all(str(getattr(scenario, field)) == query[field] for field, _code in codes)


def test_unknown_names_are_told_with_near_ones():
    told = {
        problem.field: dict(problem.factors)["near"] for problem in unknown_names(["gpuu", "foo", "ctx", "v"])
    }
    assert set(told) == {"gpuu", "foo"}
    assert "gpu" in told["gpuu"].split(", ")


@SEARCH
@given(st.dictionaries(st.sampled_from(CONTRACT) | st.text(max_size=5), st.text(max_size=30), max_size=8))
def test_anything_parses(values):
    scenario, problems = parse(values)
    assert {problem.field for problem in problems} <= set(values)
    assert all(getattr(scenario, name) is not None or DEFAULTS[name] is None for name in CONTRACT)


@pytest.mark.parametrize(
    ("text", "number"),
    [
        ("8192", 8192),
        ("8,192", 8192),
        ("8k", 8192),
        ("128K", 131_072),
        ("1M", 1_048_576),
        ("1.5k", 1536),
        (" 12 ", 12),
        ("", None),
        ("many", None),
        ("nan", None),
        ("k", None),
    ],
)
def test_numbers_are_read_as_people_write_them(text, number):
    assert parse_number(text) == number


@pytest.mark.parametrize(
    ("query", "field", "used", "code"),
    [
        ({"ctx": "-5"}, "ctx", 1, "out_of_range"),
        ({"ctx": "99999999"}, "ctx", MAX_TOKENS, "out_of_range"),
        ({"ctx": "abc"}, "ctx", 8192, "not_a_number"),
        ({"n": "2.5"}, "n", 3, "not_whole"),
        ({"ctx": "8.5"}, "ctx", 9, "not_whole"),
        ({"ctx": "8.49"}, "ctx", 8, "not_whole"),
        ({"v": "2"}, "v", 1, "unknown_version"),
        ({"kv": "fp9"}, "kv", "bf16", "not_a_choice"),
        ({"eager": "maybe"}, "eager", "0", "not_a_switch"),
        ({"util": "7"}, "util", 1, "out_of_range"),
        ({"rank": "3"}, "rank", 3, "not_computed_yet"),
        ({"hours": "25"}, "hours", 24, "out_of_range"),
        ({"price": "-1"}, "price", 0, "out_of_range"),
        ({"market": "barter"}, "market", None, "not_a_choice"),
    ],
)
def test_a_bad_value_is_named_and_replaced_by_the_nearest(query, field, used, code):
    scenario, problems = parse(query)
    assert [(p.field, p.given, p.used, p.code) for p in problems] == [(field, query[field], used, code)]
    assert getattr(scenario, field, 1) == used


def test_other_names_of_a_value_mean_the_same():
    scenario, problems = parse({"kv": "F16", "engine": "llamacpp", "eager": "yes"})
    assert (scenario.kv, scenario.engine, scenario.eager, problems) == ("bf16", "llama.cpp", "1", ())


def test_empty_values_and_unknown_names_are_ignored():
    assert parse({"ctx": " ", "utm_source": "somewhere"}) == (Scenario(), ())


def test_the_last_of_repeated_names_wins():
    scenario, problems = parse([("ctx", "many"), ("ctx", "4096")])
    assert (scenario.ctx, problems) == (4096, ())


def test_every_name_is_described_by_the_table():
    assert set(BY_NAME) == set(DEFAULTS) == set(CONTRACT)
