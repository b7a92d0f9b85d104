"""The worked examples of the methodology (§9), W-9.1 to W-9.6, and the published figure that is wrong by
orders."""

import doctest
import importlib
from dataclasses import replace
from pathlib import Path

import pytest

from calculator.estimation import economics
from calculator.estimation.economics import Purchase, Rent, cost_of, exactly, ownership_of
from calculator.estimation.economics.present_value import annuity_usd_per_month, break_even_utilisation
from calculator.estimation.throughput.energy import energy_of
from calculator.estimation.throughput.serving import serve
from tests.estimation.asking import ask
from tests.estimation.economics.sheets import configuration, energy, money, speed
from tests.estimation.throughput.test_steps import TestManyUsersW77b

MODULES = sorted(
    path.stem for path in Path(economics.__file__).parent.glob("*.py") if path.stem != "__init__"
)


def w_7_7b():
    """The speed of W-7.7b as its steady state gives it: 32 users, 2000 tokens in, 500 out, on one H100."""
    served = serve(*TestManyUsersW77b.example(), 32.0)
    rate = served.output_tokens_per_s / 500
    return speed(
        float(served.output_tokens_per_s),
        step_s=float(served.step_s),
        decoding=float(served.decoding),
        prompt_share=float(rate * served.prompt_s),
    )


def test_cost_per_million_w_9_1():
    cost = cost_of(configuration(), w_7_7b(), energy(), money(duty=0.5)).cost
    assert cost.usd_per_request.value == pytest.approx(0.00033450, abs=5e-9)
    assert cost.input_share == pytest.approx(0.27995, abs=2e-5)
    assert cost.usd_per_million_input.value == pytest.approx(0.0468, abs=5e-5)
    assert cost.usd_per_million_output.value == pytest.approx(0.4817, abs=5e-5)
    assert cost.usd_per_million_blended.value == pytest.approx(0.1338, abs=5e-5)
    assert cost.usd_per_million_all_on_output.value == pytest.approx(0.6690, abs=5e-5)
    assert cost.usd_per_million_blended.value * 4.15216 * 2500 * 3600 / 1e6 == pytest.approx(5.00, abs=1e-3)


@pytest.mark.parametrize(
    ("usd_per_hour", "tokens_per_s", "utilisation", "usd"),
    [
        (2.50, 2000.0, 0.4, 0.868),  # W-9.2
        (30.40, 0.9, 1.0, 9382.72),  # W-9.2b: the speed of another machine
        (30.40, 100.0, 1.0, 84.44),  # W-9.2b: the node itself, one user
        (30.40, 2000.0, 1.0, 4.22),  # W-9.2b: the node itself, many users
    ],
)
def test_all_on_output_w_9_2(usd_per_hour, tokens_per_s, utilisation, usd):
    cost = cost_of(
        configuration(), speed(tokens_per_s), energy(), money(rent=usd_per_hour, duty=utilisation)
    ).cost
    assert cost.usd_per_million_all_on_output.value == pytest.approx(usd, abs=0.005)


class TestPublishedExampleWrongByOrders:
    """A page prices the speed of one H100, with most of the model in system RAM, at a node of eight other
    GPUs: 9,382.72 USD per million tokens, and pays for a card of 25,000 USD in 3.7 months of that node's
    rent."""

    NODE = Rent(exactly(30.40), gpus=8, device="mi325x")
    CARD = Purchase(exactly(25_000.0), 3.0, gpus=1, device="h100-sxm")

    def test_another_machines_price_gives_no_cost(self):
        asked = replace(money(hours=4.0, duty=1.0), rent=self.NODE)
        answer = cost_of(configuration(), speed(0.9), energy(), asked)
        assert answer.cost is None
        assert [reason.code for reason in answer.reasons] == ["no_rent_price", "priced_for_other_device"]

    def test_its_own_speed_is_two_to_three_orders_cheaper(self):
        c = ask(gpu="mi325x", n=8).configuration
        asked = replace(money(hours=4.0, duty=1.0), rent=self.NODE)
        for rate, usd in ((100.0, 84.44), (2000.0, 4.22)):
            answer = cost_of(c, speed(rate, output_tokens=c.workload.output_tokens), None, asked)
            assert answer.cost.usd_per_million_all_on_output.value == pytest.approx(usd, abs=0.005)

    def test_a_card_is_not_bought_in_place_of_a_node(self):
        c = ask(gpu="h100-sxm", n=8).configuration
        asked = money(source="own", hours=4.0, duty=1.0, kwh=0.14)
        asked = replace(asked, rent=Rent(exactly(55.52), gpus=8, device="h100-sxm"), purchase=self.CARD)
        paid = ownership_of(c, speed(100.0), energy(watts=8 * 875.0), asked).ownership
        assert paid.capital_usd.value == 200_000.0
        assert paid.paybacks[0].avoided_usd_per_month == pytest.approx(6751.23, abs=0.01)
        assert paid.paybacks[0].simple.value == pytest.approx(200_000 / (6751.23 - 8 * 14.9 * 1.3), rel=1e-3)


def test_energy_per_token_w_9_3():
    asked = money(duty=1.0, kwh=0.15, pue=1.3, grams=400.0)
    used = cost_of(configuration(), speed(2000.0), energy(watts=700.0), asked).cost.energy
    assert used.joules_per_output_token.value == pytest.approx(0.455)
    assert used.kwh_per_million_output.value == pytest.approx(0.1264, abs=5e-5)
    assert used.usd_per_million_output.value == pytest.approx(0.01896, abs=5e-6)
    assert used.grams_co2_per_million_output.value == pytest.approx(50.6, abs=0.05)


def example_w_9_5(**more):
    asked = {
        "source": "own",
        "duty": 0.6,
        "price": 30_000.0,
        "billed": "busy_hours",
        "maintenance_per_year": 0.05,
        "rate": 0.08,
        **more,
    }
    return ownership_of(configuration(), speed(), energy(700.0, 75.0), money(**asked)).ownership


def test_local_power_of_a_month_w_9_4():
    owned = example_w_9_5()
    assert owned.energy.usd_per_month.value == pytest.approx(64.02, abs=0.005)
    assert owned.running_parts == pytest.approx(
        {"electricity": 64.02, "colocation_and_admin": 0.0, "maintenance": 125.0}, abs=0.005
    )


def test_break_even_w_9_5():
    paid = example_w_9_5().paybacks[0]
    assert paid.avoided_usd_per_month == pytest.approx(1094.40)
    assert paid.saving_usd_per_month.value == pytest.approx(905.38, abs=0.005)
    assert paid.simple.value == pytest.approx(33.1, abs=0.05)
    assert paid.discounted.value == pytest.approx(37.6, abs=0.05)
    sold = example_w_9_5(resale_fraction=0.9, resale_decline_per_year=0.3).paybacks[0]
    assert sold.with_resale.value == pytest.approx(20.2, abs=0.05)


def test_annuity_and_break_even_utilisation_w_9_6():
    assert annuity_usd_per_month(30_000.0, 0.08 / 12, 36.0) == pytest.approx(940.09, abs=0.005)
    assert break_even_utilisation(940.09 + 189.02, 2.50, 729.6) == pytest.approx(0.619, abs=5e-4)
    owned = example_w_9_5()
    assert owned.financed_usd_per_month == pytest.approx(940.09, abs=0.005)
    assert owned.break_even_utilisation == pytest.approx(0.619, abs=5e-4)


@pytest.mark.parametrize("module", MODULES)
def test_examples_in_docstrings(module):
    name = f"calculator.estimation.economics.{module}"
    assert doctest.testmod(importlib.import_module(name)).failed == 0


@pytest.mark.parametrize(
    "query",
    [
        {"gpu": "mac-m4-max-128"},
        {"gpu": "rtx-3090", "n": 2, "users": 4},
        {"gpu": "h100-sxm", "n": 32, "model": "kimi-k3.1-pro", "users": 8},
    ],
)
def test_a_mac_two_cards_and_32_gpus(query):
    """The same arithmetic from a desk to four nodes, at the speed and power that the configuration has
    itself."""
    answer = ask(**query)
    c, found = answer.configuration, answer.estimate.speed
    power = energy_of(c, found)
    asked = money(hours=8.0, price=4000.0, rent=2.0, api=(1.0, 3.0), resale_fraction=0.5, years=3.0)
    cost = cost_of(c, found, power, asked).cost
    requests = found.served_output_tokens_per_s.value / c.workload.output_tokens
    tokens_per_s = requests * (c.workload.prompt_tokens + c.workload.output_tokens)
    assert cost.usd_per_million_blended.value * tokens_per_s * 3600 / 1e6 == pytest.approx(
        2.0 * c.count / 0.5
    )
    owned = ownership_of(c, found, power, asked)
    assert owned.ownership.capital_usd.value == 4000.0 * c.count
    assert {path.name for path in owned.comparison.paths} == {"rent", "own", "api"}
