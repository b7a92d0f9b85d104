"""One change away: what a person would try next, checked against well-known pairs and against every other host."""

import pytest

from calculator.planner.fleet import fleet_of
from calculator.planner.one_change import LESS, one_change_away
from calculator.planner.settling import Settling
from tests.estimation.asking import SNAPSHOT, ask

FLEET = fleet_of(SNAPSHOT)


def away(**query):
    asked = ask(**query)
    settling = Settling(asked.resolved.scenario, FLEET)
    return {each.code: each for each in one_change_away(asked.resolved, asked.estimate, SNAPSHOT, settling)}


def test_one_card_of_24_gb_just_fails_where_two_hold_seventy_billion_weights():
    """The Q4_K_M file of Llama 3.3 70B is 42.5 GB: no single card of 24 GB holds it."""
    found = away(model="llama-3.3-70b-instruct", gpu="rtx-3090", n=2)
    fails = found["fails"]
    assert (fails.scenario.gpu, fails.scenario.n, fails.estimate.verdict) == ("rtx-3090", 1, "does_not_fit")
    assert fails.estimate.memory.headroom_bytes < -(42.5e9 - 24 * 2**30)


def test_too_many_cards_are_as_many_as_needed_away():
    """Llama 3.1 8B in Q4_K_M is a file of 4.9 GB: one card of 24 GB is enough, four are too many."""
    found = away(gpu="rtx-4090", n=4)
    assert (found["fewer"].scenario.n, found["fewer"].estimate.verdict) == (1, "fits")
    assert "fails" not in found


def test_deepseek_r1_on_eight_h200_does_not_fit_on_four():
    """Its FP8 checkpoint is 689 GB; four H200 have 564 GB."""
    found = away(model="deepseek-r1", gpu="h200-sxm", n=8)
    assert (found["fails"].scenario.n, found["fails"].estimate.verdict) == (4, "does_not_fit")


def test_a_cheaper_machine_costs_less_fits_and_is_the_fastest_that_does():
    found = away(gpu="rtx-4090")["cheaper"]
    assert found.estimate.verdict == "fits"
    newest = max(SNAPSHOT.purchase_prices_for("rtx-4090"), key=lambda row: row.as_of)
    assert found.price.usd <= LESS * newest.usd
    assert found.price.usd in {row.usd for row in SNAPSHOT.purchase_prices_for(found.scenario.gpu)}
    assert found.saved_share == pytest.approx(1 - found.price.usd / newest.usd)
    rate = found.estimate.speed.decode_tokens_per_s_per_user.value
    for gpu in ("rtx-3060-12", "rtx-4060-ti-16", "rtx-3090", "rx-7900-xtx"):
        other = ask(gpu=gpu).estimate.speed.decode_tokens_per_s_per_user.value
        assert rate >= 0.99 * other, gpu


def test_rented_machines_are_compared_by_rent():
    query = {"model": "deepseek-r1", "gpu": "h200-sxm", "n": 8}
    found = away(**query)["cheaper"]
    rent = ask(**query).configuration.money.rent
    present = 8 / rent.gpus * rent.usd_per_hour.value
    assert found.price.source == "rent"
    assert found.price.usd <= LESS * present
    assert found.price.usd / found.estimate.configuration.count in {
        offer.usd_per_hour / offer.gpus for offer in SNAPSHOT.offers_for(found.scenario.gpu)
    }
    assert found.estimate.configuration.count <= 8


def test_the_visitors_own_price_is_that_of_the_present_machine():
    """A card that costs a dollar has no cheaper neighbour, and no neighbour inherits its price."""
    found = away(gpu="rtx-4090", price=1)
    assert "cheaper" not in found
    assert {each.scenario.price for code, each in found.items() if code == "fails"} <= {None}


def test_more_context_and_users_are_round_and_fit():
    asked = ask(gpu="rtx-4090")
    found = away(gpu="rtx-4090")
    assert found["context"].scenario.ctx == 131_072  # the model's own maximum
    users = found["users"].scenario.users
    assert users & (users - 1) == 0
    assert users <= asked.capacity.max_users_fits < 2 * users
    for each in (found["context"], found["users"]):
        assert each.estimate.verdict == "fits"


def test_a_tight_question_is_a_shorter_context_away_from_fitting():
    query = {"model": "llama-3.3-70b-instruct", "gpu": "rtx-3090", "n": 2, "ctx": 16_384}
    assert ask(**query).verdict == "tight"
    found = away(**query)["context"]
    assert found.scenario.ctx < 16_384
    assert found.estimate.verdict == "fits"


def test_what_is_partly_in_ram_is_more_cards_away_from_none():
    query = {"model": "llama-3.3-70b-instruct", "gpu": "rtx-4090", "offload": "auto"}
    assert ask(**query).verdict == "offload"
    found = away(**query)
    assert (found["more"].scenario.n, found["more"].scenario.offload) == (2, "none")
    assert found["more"].estimate.verdict == "fits"
    assert "fails" not in found
    assert found["format"].estimate.verdict in ("fits", "tight")


def test_a_format_with_more_bits_where_one_fits():
    found = away(gpu="rtx-3090:1,rtx-3060-12:1")
    assert set(found) == {"context", "users", "format"}
    assert found["format"].scenario.quant == "bf16"


def test_nothing_is_near_what_does_not_work():
    assert away(model="deepseek-r1") == {}


@pytest.mark.parametrize("gpu", ["rtx-5090", "h100-sxm", "mac-m5-max-128", "hgx-h100-8", "dgx-spark"])
@pytest.mark.parametrize("model", ["gpt-oss-120b", "qwen3-30b-a3b", "llama-3.1-8b-instruct"])
def test_there_are_at_most_four_and_each_is_another_question(gpu, model):
    found = away(model=model, gpu=gpu)
    assert len(found) <= 4
    asked = ask(model=model, gpu=gpu).resolved.scenario
    assert all(each.scenario != asked for each in found.values())
    for code, each in found.items():
        assert (each.estimate.verdict == "does_not_fit") == (code == "fails")
