"""GET /api/v1/tco: rent, buy or API for one question, every price with its day, nothing infinite."""

import math

import pytest

pytestmark = pytest.mark.django_db

PAIR = "model=llama-3.3-70b-instruct&gpu=rtx-3090&n=2"


def tco(client, query, status=200):
    answer = client.get(f"/api/v1/tco?{query}")
    assert answer.status_code == status
    return answer.json()


def finite(value):
    if isinstance(value, float):
        return math.isfinite(value)
    if isinstance(value, dict):
        return all(map(finite, value.values()))
    return all(map(finite, value)) if isinstance(value, list) else True


@pytest.mark.parametrize(
    "query",
    [
        PAIR,
        "gpu=mac-m5-ultra-256&model=gpt-oss-120b",
        "model=kimi-k3&gpu=h100-sxm&n=32&users=32",
        "gpu=rx-7900-xtx",
        "hours=0",
        "duty=0",
        "price=0",
        "price=1e12",
        "years=0.25&rate=-50",
        "resale=200",
    ],
)
def test_every_answer_is_finite_and_has_the_same_keys(client, query):
    answer = tco(client, query)
    assert finite(answer)
    assert {"prices", "cost", "ownership", "comparison", "energy", "reasons", "cost_reasons"} <= set(answer)
    assert answer["cost"] or answer["cost_reasons"]


def test_prices_carry_their_day_and_source(client):
    prices = tco(client, PAIR)["prices"]
    assert prices["purchase"]["usd"] == 700
    assert prices["purchase"]["as_of"] == "2026-06-29"
    assert set(prices["purchase"]["age"]) == {"days", "freshness"}
    assert prices["electricity"]["usd_per_kwh"] == pytest.approx(0.187, abs=5e-4)
    assert prices["rent"]["provider"]
    assert prices["api"]["source"]


def test_two_used_cards_pay_for_themselves_against_renting_them(client):
    answer = tco(client, PAIR)
    capital = answer["ownership"]["capital_usd"]
    assert (capital["low"], capital["value"], capital["high"]) == (1200, 1400, 1600)
    [rent, _api] = answer["ownership"]["paybacks"]
    months = rent["break_even_months"]["simple"]["value"]
    saved = rent["saving_usd_per_month"]["value"]
    assert months == pytest.approx(1400 / saved, rel=1e-4)


def test_what_does_not_fit_has_no_money(client):
    answer = tco(client, "model=deepseek-r1&gpu=rtx-4090")
    assert answer["verdict"] == "does_not_fit"
    assert answer["cost"] is answer["ownership"] is answer["comparison"] is None
    assert answer["reasons"] == ["What does not fit does not run: it has no cost."]


def test_hours_that_never_pay_are_said_in_words(client):
    reasons = tco(client, f"{PAIR}&hours=0.5&rent=0.2")["ownership"]["paybacks"][0]["reasons"]
    assert reasons[0].startswith("At 0.5 h a day the machine does not pay for itself in 3 years")


@pytest.mark.parametrize(
    ("query", "status", "field"),
    [("hours=abc", 422, "hours"), ("region=atlantis", 404, "region"), ("market=barter", 422, "market")],
)
def test_what_cannot_be_understood_is_refused(client, query, status, field):
    assert tco(client, query, status)["field"] == field


def test_a_value_out_of_bounds_is_replaced_and_named(client):
    problems = tco(client, "hours=48&price=-5")["problems"]
    assert [(each["field"], each["used"]) for each in problems] == [("hours", 24), ("price", 0)]
