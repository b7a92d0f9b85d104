"""Which prices a question means: rows of the catalogue, the visitor's own, and what is said where there is none.

Expected values are those of the sources that the rows name.
"""

import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calculator.estimation.economics import cost_of, ownership_of
from calculator.estimation.economics.inputs import bad_inputs
from tests.estimation.asking import SNAPSHOT, ask

H100 = {"model": "llama-3.3-70b-instruct", "quant": "fp8", "gpu": "h100-sxm", "n": "8"}


def priced(**query):
    return ask(**query).resolved.priced


def cost(**query):
    answer = ask(**query)
    return cost_of(
        answer.configuration, answer.estimate.speed, answer.estimate.energy, answer.configuration.money
    )


# --- rent -------------------------------------------------------------------------------------------------------------


def test_eight_gpus_are_rented_as_one_machine_of_eight():
    """Of machines of eight, not eight single ones that may stand in different halls."""
    rented = priced(**H100).rented
    assert rented.offer.gpus == 8
    assert not rented.single
    assert rented.rent.usd_per_hour.value == rented.offer.usd_per_hour


def test_the_cheapest_on_demand_offer_of_the_last_quarter_is_taken():
    rented = priced(**H100).rented
    assert rented.offer.market in ("on-demand", "secure")
    rivals = [
        offer
        for offer in SNAPSHOT.offers_for("h100-sxm")
        if offer.gpus == 8
        and offer.market in ("on-demand", "secure")
        and offer.as_of
        and offer.as_of >= "2026-08"
    ]
    assert min(offer.usd_per_hour for offer in rivals) >= rented.offer.usd_per_hour


def test_a_cluster_needs_machines_in_one_network():
    found = priced(model="kimi-k3", gpu="h100-sxm", n="32")
    assert [(reason.code, reason.factors["machines"]) for reason in found.remarks] == [
        ("rented_machines_joined", 4)
    ]


def test_two_desktop_cards_are_rented_one_by_one_and_that_is_said():
    found = priced(model="llama-3.3-70b-instruct", gpu="rtx-3090", n="2")
    assert found.rented.single
    assert "rented_one_by_one" in {reason.code for reason in found.remarks}


@pytest.mark.parametrize("provider", ["runpod", "lambda", "hyperstack"])
def test_a_named_provider_is_the_only_one(provider):
    rented = priced(**H100, provider=provider).rented
    assert rented is None or rented.offer.provider == provider


def test_spot_is_taken_only_when_it_is_asked_for():
    assert priced(**H100, market="spot").rented.offer.market == "spot"


def test_an_unknown_provider_is_named_with_near_ones():
    answer = ask(**H100, provider="runpodd")
    [problem] = answer.problems
    assert (problem.field, problem.code, problem.used) == ("provider", "unknown_id", None)
    assert "runpod" in dict(problem.factors)["near"]
    assert answer.resolved.scenario.provider is None


# --- purchase ---------------------------------------------------------------------------------------------------------


def test_two_rtx_3090_cost_what_used_ones_are_sold_for():
    """700 USD each, 600 to 800, on 2026-06-29 (localrig.pages.dev)."""
    bought = priced(model="llama-3.3-70b-instruct", gpu="rtx-3090", n="2").bought
    assert (bought.row.usd, bought.row.low_usd, bought.row.high_usd) == (700, 600, 800)
    assert bought.row.condition == "used"
    assert bought.purchase.gpus == 1


def test_a_module_is_bought_as_the_server_that_holds_it():
    """An H100 SXM for 30,000 USD is no machine; the HGX H100 is, with eight."""
    bought = priced(**H100).bought
    assert bought.row.device_id == "hgx-h100-8"
    assert bought.purchase.gpus == 8


def test_a_mac_is_a_whole_machine():
    """Mac Studio M5 Ultra 256 GB, 10,799 USD (Apple, 2026-08-25)."""
    bought = priced(model="gpt-oss-120b", gpu="mac-m5-ultra-256").bought
    assert bought.row.usd == 10_799
    assert bought.purchase.server_fraction == 0


def test_loose_data_centre_cards_take_a_server_with_them():
    """GPUs are 65 % of a server's price: the rest is 0.35 ÷ 0.65 of theirs."""
    bought = priced(model="llama-3.1-8b-instruct", gpu="l40s").bought
    assert bought.purchase.server_fraction == pytest.approx(0.35 / 0.65)
    assert priced(gpu="l40s", server_share="20").bought.purchase.server_fraction == pytest.approx(0.2)


def test_the_visitors_price_is_of_the_whole_machine():
    bought = priced(**H100, price="250000").bought
    assert bought.row is None
    assert (bought.purchase.usd.value, bought.purchase.gpus) == (250_000, 8)


# --- electricity, hours, API ------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "customer", "usd_per_kwh", "pue"),
    [
        ({"gpu": "rtx-4090"}, "residential", 0.187, 1.0),
        ({"gpu": "h100-sxm"}, "commercial", 0.146, 1.3),
        ({"gpu": "rtx-4090", "region": "de"}, "residential", 0.418, 1.0),
        ({"gpu": "h100-sxm", "region": "us-tx"}, "industrial", 0.0725, 1.3),
        ({"gpu": "h100-sxm", "region": "us-tx", "pue": "1.1"}, "industrial", 0.0725, 1.1),
    ],
)
def test_electricity_is_that_of_the_region_and_the_customer(query, customer, usd_per_kwh, pue):
    found = priced(**query)
    assert found.electricity.customer == customer
    assert found.money.electricity.usd_per_kwh == pytest.approx(usd_per_kwh, abs=5e-4)
    assert found.money.electricity.pue == pue


def test_the_visitors_tariff_replaces_the_regions():
    found = priced(kwh="0.3")
    assert found.electricity is None
    assert found.money.electricity.usd_per_kwh == 0.3


def test_an_unknown_region_is_named_and_the_default_taken():
    answer = ask(region="us-tz")
    [problem] = answer.problems
    assert (problem.field, problem.code, problem.used) == ("region", "unknown_id", "us")


def test_the_api_price_is_the_lists_cheapest_or_the_visitors():
    """DeepInfra asks 0.02 and 0.04 USD for Llama 3.1 8B (2026-11)."""
    assert priced().money.api.usd_per_million_output == 0.04
    own = priced(api_in="1", api_out="4").money.api
    assert (own.usd_per_million_input, own.usd_per_million_output) == (1, 4)
    assert priced(api_out="4").money.api.usd_per_million_input == 0.02


# --- who pays ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "source"),
    [
        ({}, "own"),
        ({"gpu": "h100-sxm"}, "rent"),
        ({"gpu": "mac-m5-ultra-256"}, "own"),
        ({"gpu": "h100-sxm", "source": "own"}, "own"),
        ({"source": "rent"}, "rent"),
    ],
)
def test_data_centre_devices_are_rented_and_others_owned(query, source):
    assert priced(**query).money.source == source


def test_a_rented_hour_is_the_offers_price():
    found = cost(**H100)
    assert found.cost.usd_per_hour.value == priced(**H100).rented.offer.usd_per_hour


def test_the_law_of_the_cost_holds_for_a_priced_question():
    """Blended cost × served tokens × 3,600 ÷ 10⁶ = hourly price ÷ busy share (formulas §9)."""
    answer, found = ask(**H100, users="16", duty="40"), cost(**H100, users="16", duty="40").cost
    work, speed = answer.configuration.workload, answer.estimate.speed
    served = speed.served_output_tokens_per_s.value / work.output_tokens
    tokens_per_s = served * (work.prompt_tokens + work.output_tokens)
    paid = found.usd_per_million_blended.value * tokens_per_s * 3600 / 1e6
    assert paid == pytest.approx(found.usd_per_hour.value / 0.4)


def test_no_hours_have_no_cost_but_a_reason():
    found = cost(hours="0")
    assert found.cost is None
    assert found.reasons[0].code == "money_no_hours"


@settings(deadline=None, max_examples=60, derandomize=True)
@given(
    st.fixed_dictionaries(
        {},
        optional={
            "hours": st.floats(-5, 30),
            "days": st.floats(-5, 40),
            "duty": st.floats(-5, 120),
            "price": st.floats(-1e13, 1e13),
            "rent": st.floats(-1e8, 1e8),
            "kwh": st.floats(-1, 1000),
            "pue": st.floats(0, 9),
            "years": st.floats(-1, 50),
            "resale": st.floats(-10, 300),
            "rate": st.floats(-90, 200),
            "rent_trend": st.floats(-200, 900),
            "maintenance": st.floats(-1, 200),
            "server_share": st.floats(-1, 2000),
            "colo": st.floats(-1, 1e10),
            "api_in": st.floats(-1, 1e7),
            "source": st.sampled_from(["rent", "own", "steal"]),
            "gpu": st.sampled_from(["rtx-4090", "h100-sxm", "mac-m5-ultra-256", "rx-7900-xtx"]),
        },
    )
)
def test_whatever_is_asked_no_figure_is_infinite(query):
    answer = ask(**query)
    money = answer.configuration.money
    assert not bad_inputs(money)
    found = cost_of(answer.configuration, answer.estimate.speed, answer.estimate.energy, money)
    owned = ownership_of(answer.configuration, answer.estimate.speed, answer.estimate.energy, money)
    if found.cost:
        assert all(math.isfinite(figure) for figure in numbers(found.cost))
    if owned.ownership:
        assert all(math.isfinite(figure) for figure in numbers(owned.ownership))


def numbers(value):
    """Every number in a result."""
    if isinstance(value, bool):
        return
    if isinstance(value, int | float):
        yield value
    elif isinstance(value, dict):
        for each in value.values():
            yield from numbers(each)
    elif isinstance(value, tuple | list):
        for each in value:
            yield from numbers(each)
    elif hasattr(value, "__dataclass_fields__"):
        for name in value.__dataclass_fields__:
            yield from numbers(getattr(value, name))
