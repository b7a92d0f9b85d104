"""Every device for one question: rows, recommendations with their rules, filters, and errors as problem details."""

import pytest

from calculator.planner.recommend import RULES
from calculator.web.wording.recommendations import FILTERS, RECOMMENDATIONS
from catalog import live

pytestmark = pytest.mark.django_db


@pytest.fixture(scope="module")
def asked(django_db_setup, django_db_blocker):
    from django.test import Client

    with django_db_blocker.unblock():
        yield lambda query: Client().get(f"/api/v1/hardware?{query}")


@pytest.fixture(scope="module")
def of_70b(asked):
    return asked("model=llama-3.3-70b-instruct&best=1").json()


def test_every_device_and_system_is_answered_once(of_70b):
    ids = [row["id"] for row in of_70b["items"]]
    snapshot = live.current()
    assert sorted(ids) == sorted((*snapshot.accelerators, *snapshot.systems))


def test_two_24_gb_cards_hold_llama_33_70b_in_q4_k_m_and_one_does_not(of_70b):
    row = next(row for row in of_70b["items"] if row["id"] == "rtx-3090")
    assert (row["verdict"], row["units"], row["gpus"], row["format"]) == ("fits", 2, 2, "q4_k_m")
    assert row["plan"] == {"tp": 1, "pp": 2, "dp": 1, "ep": 1, "nodes": 1}
    assert row["permalink"] == "/?model=llama-3.3-70b-instruct&gpu=rtx-3090&n=2&v=1"
    assert row["why"] is None
    prices = {price["condition"]: price for price in row["prices"]}
    assert (prices["used"]["usd"], prices["used"]["date"]) == (700, "2026-06-29")


def test_a_row_has_the_figures_of_the_estimate_that_its_link_asks_for(of_70b, client):
    for place in (0, 40, 150, 250):
        row = of_70b["items"][place]
        alone = client.get("/api/v1/estimate" + row["permalink"][1:]).json()
        assert row["verdict"] == alone["verdict"]
        assert row["capacity"] == alone["capacity"]
        assert row["memory"]["per_gpu_bytes"] == alone["memory"]["per_gpu_bytes"]
        assert row["memory"]["headroom_per_gpu_bytes"] == alone["memory"]["headroom_per_gpu_bytes"]


def test_what_fits_stands_before_what_is_tight_and_both_before_what_fails(of_70b):
    order = ["fits", "tight", "does_not_fit", "unsupported"]
    places = [order.index(row["verdict"]) for row in of_70b["items"]]
    assert places == sorted(places)


def test_recommendations_carry_their_rule_and_fit(of_70b):
    verdicts = {row["id"]: row["verdict"] for row in of_70b["items"]}
    assert [one["code"] for one in of_70b["recommendations"]] == [
        "best_single_gpu",
        "best_value",
        "best_unified",
        "smallest_server",
    ]
    for one in of_70b["recommendations"]:
        assert one["rule"] == str(RECOMMENDATIONS[one["code"]])
        assert verdicts[one["id"]] == "fits"
        assert ("price" in one) == (one["code"] == "best_value")
    assert of_70b["minimum_memory"]["memory_gb"] <= of_70b["recommended_memory"]["memory_gb"]
    assert of_70b["nearest"] is None


def test_best_format_of_one_unit_is_named_when_it_is_asked_for(of_70b, asked):
    best = {row["id"]: row["best_format"] for row in of_70b["items"]}
    assert best["rtx-3090"] is None
    assert best["rtx-4090-48-mod"] == "q4_k_m"
    assert "best_format" not in asked("kind=edge").json()["items"][0]


def test_where_nothing_fits_the_closest_say_what_they_miss(asked):
    nearest = asked("model=kimi-k3&kind=consumer").json()["nearest"]
    assert nearest["rule"].startswith("Nothing fits.")
    assert len(nearest["items"]) == 3
    assert all(item["short_per_gpu_bytes"] > 0 for item in nearest["items"])


def test_what_is_refused_says_why(asked):
    rows = asked("model=kimi-k3&engine=mlx&vendor=nvidia").json()["items"]
    assert {row["verdict"] for row in rows} == {"unsupported"}
    assert rows[0]["why"].startswith("MLX does not run on")
    assert (rows[0]["capacity"], rows[0]["speed"]) == (None, None)


SHARED = ("apple", "apu", "edge", "cpu")


@pytest.mark.parametrize(
    ("query", "kept"),
    [
        ("kind=apple", lambda row: row["kind"] == "apple"),
        ("vendor=amd&gpu_only=1", lambda row: row["vendor"] == "amd" and row["kind"] not in SHARED),
        (
            "gpu_only=1&memory_min=90",
            lambda row: row["memory_gb"] / row["gpus"] >= 90 and row["kind"] not in SHARED,
        ),
    ],
)
def test_filters_leave_what_they_say(asked, of_70b, query, kept):
    left = asked(f"model=llama-3.3-70b-instruct&{query}").json()["items"]
    expected = [row["id"] for row in of_70b["items"] if kept(row)]
    assert [row["id"] for row in left] == expected
    assert left


@pytest.mark.parametrize(
    ("sort", "of"),
    [
        (
            "speed",
            lambda row: -(row["speed"]["decode_tokens_per_s_per_user"]["value"] if row["speed"] else 0),
        ),
        ("name", lambda row: row["name"].lower()),
        ("gpus", lambda row: (row["verdict"] not in ("fits", "tight"), row["gpus"])),
        ("context", lambda row: -(row["capacity"]["max_context_fits_tokens"] if row["capacity"] else 0)),
    ],
)
def test_the_list_is_ordered_as_asked(asked, sort, of):
    rows = asked(f"model=gpt-oss-120b&kind=workstation&sort={sort}").json()["items"]
    keys = [of(row) for row in rows]
    assert keys == sorted(keys)


@pytest.mark.parametrize(
    ("query", "status", "field", "nearest"),
    [
        ("kind=consumers", 422, "kind", "consumer"),
        ("vendor=nvida", 422, "vendor", "nvidia"),
        ("sort=speeed", 422, "sort", "speed"),
        ("gpu_only=perhaps", 422, "gpu_only", "0"),
        ("memory_min=much", 422, "memory_min", 0),
        ("ctx=long", 422, "ctx", 8192),
        ("model=gpt-os-120b", 404, "model", "gpt-oss-120b"),
    ],
)
def test_a_bad_value_is_a_problem_with_what_is_allowed(asked, query, status, field, nearest):
    answer = asked(query)
    assert answer.status_code == status
    assert answer["Content-Type"] == "application/problem+json"
    problem = answer.json()
    assert (problem["field"], problem["nearest"]) == (field, nearest)


def test_a_value_out_of_bounds_is_replaced_and_told_and_an_unknown_name_too(asked):
    answer = asked("kind=edge&memory_min=-4&contxt=9&gpu=nothing&n=3").json()
    told = {problem["field"]: (problem["code"], problem["used"]) for problem in answer["problems"]}
    assert told == {"memory_min": ("out_of_range", 0), "contxt": ("unknown_parameter", None)}
    assert answer["scenario"]["kind"] == "edge"


def test_every_rule_and_filter_has_its_words():
    assert {rule.__name__ for rule in RULES} == set(RECOMMENDATIONS)
    from calculator.web.hardware_list import filters

    assert set(filters()) == set(FILTERS)
