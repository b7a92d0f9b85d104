"""The money of one question as JSON: the contract's names, finished numbers, and sentences for what is
missing."""

import json

from calculator.estimation.economics import cost_of, ownership_of
from calculator.web.exports.tco import tco_json
from tests.estimation.economics.sheets import configuration, energy, money, speed


def exported(found=None, **asked):
    c, power = configuration(), energy()
    wanted = money(**asked)
    answer = tco_json(cost_of(c, found, power, wanted), ownership_of(c, found, power, wanted))
    return json.loads(json.dumps(answer, allow_nan=False))


OWNED = {
    "source": "own",
    "duty": 0.6,
    "price": 30_000.0,
    "billed": "busy_hours",
    "maintenance_per_year": 0.05,
    "rate": 0.08,
    "resale_fraction": 0.9,
    "resale_decline_per_year": 0.3,
    "api": (0.5, 1.5),
}


def test_cost_has_the_names_of_the_contract():
    cost = exported(speed(2000.0), rent=2.50, duty=0.4)["cost"]
    assert cost["source"] == "rent"
    assert cost["usd_per_hour"] == 2.5
    assert cost["usd_per_hour_interval"] == {"value": 2.5, "low": 2.5, "high": 2.5}
    assert cost["usd_per_million_all_on_output"]["value"] == 0.868056
    for name in ("usd_per_million_input", "usd_per_million_output", "usd_per_million_blended"):
        assert set(cost[name]) == {"value", "low", "high"}
    assert cost["explanations"]["usd_per_million_blended"].endswith("per million.")


def test_ownership_has_the_numbers_of_its_charts():
    answer = exported(speed(2000.0), **OWNED)
    owned = answer["ownership"]
    rent, api = owned["paybacks"]
    assert (rent["instead_of"], api["instead_of"]) == ("rent", "api")
    assert rent["break_even_months"]["simple"]["value"] == 33.1353
    assert round(rent["break_even_months"]["discounted"]["value"], 1) == 37.6
    assert round(rent["break_even_months"]["with_resale"]["value"], 1) == 20.2
    chart = owned["cumulative"]
    assert chart["months"] == list(range(37))
    lines = {line["name"]: line["usd"] for line in chart["lines"]}
    assert set(lines) == {"rent", "own", "own_after_resale", "api"}
    assert lines["rent"][12] == 13132.80  # 12 × 1,094.40
    assert lines["own"][:2] == [30000.0, 30189.02]  # 64.02 + 125.00 a month
    assert lines["own_after_resale"][0] == 3000.0  # a tenth is lost on the first day
    assert answer["comparison"]["cheapest"] == "own"
    assert [bar["input"] for bar in owned["tornado"]["bars"]][:2] == ["rent_price", "utilisation"]


def test_what_is_missing_is_a_sentence():
    answer = exported(None, price=None, rent=None)
    assert answer["cost"] is answer["ownership"] is answer["comparison"] is None
    assert answer["cost_reasons"] == [
        "The speed of Llama 3.1 8B Instruct is not known here, so a token has no cost.",
        "No rent is known for NVIDIA H100 SXM 80 GB.",
    ]
    assert answer["reasons"] == ["No purchase price is known for NVIDIA H100 SXM 80 GB."]


def test_a_break_even_that_never_comes_is_null():
    paid = exported(speed(2000.0), source="own", price=1e6, rent=0.05)["ownership"]["paybacks"][0]
    assert paid["break_even_months"]["with_resale"] == {"value": None, "low": None, "high": None}
    assert paid["from_hours_per_day"] is None
    assert len(paid["reasons"]) == 2
