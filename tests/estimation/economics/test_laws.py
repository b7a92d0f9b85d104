"""What holds for every price, every hour and every speed (formulas §11.10, and the order of things)."""

import math
from dataclasses import fields, is_dataclass, replace

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calculator.estimation.economics import cost_of, ownership_of
from calculator.estimation.economics.inputs import BOUNDS, resale_path
from calculator.estimation.economics.payback import Flow, first_month, round_up
from calculator.estimation.economics.present_value import discounted_months, growing_payments_worth
from calculator.estimation.terms import Interval
from calculator.web.wording.economics import ECONOMICS, EXPLAINED, FALLBACK, explained_words
from calculator.web.wording.reasons import reason_words
from tests.estimation.economics.sheets import configuration, energy, money, speed

HERE = configuration()
CACHED = configuration(prefix=1500)
MANY = settings(max_examples=50, deadline=None)

prices = st.floats(0.01, 1e4)
shares = st.floats(0.01, 1.0)
rates = st.floats(0.1, 1e5)


@MANY
@given(
    price=prices,
    duty=shares,
    served=rates,
    share=st.floats(0.0, 0.99),
    source=st.sampled_from(("rent", "own")),
)
def test_tokens_served_pay_the_hour(price, duty, served, share, source):
    """Blended × tokens/s × 3600/10⁶ = P/u; the prompt's and the answer's prices add up to the request,
    nothing twice."""
    asked = money(source=source, duty=duty, rent=price, price=price * 1e3)
    for c in (HERE, CACHED):
        cost = cost_of(c, speed(served, prompt_share=share), energy(), asked).cost
        work = c.workload
        tokens = work.prompt_tokens + work.output_tokens
        per_hour = cost.usd_per_million_blended.value * served / 500 * tokens * 3600 / 1e6
        assert per_hour == pytest.approx(cost.usd_per_hour.value / duty)
        computed = work.prompt_tokens - work.prefix_tokens
        parts = (
            computed * cost.usd_per_million_input.value
            + work.output_tokens * cost.usd_per_million_output.value
        )
        assert parts == pytest.approx(cost.usd_per_request.value * 1e6)
        assert cost.input_share == pytest.approx(share)


@MANY
@given(price=prices, duty=shares, served=rates)
def test_without_a_prompt_the_answer_costs_everything(price, duty, served):
    cost = cost_of(HERE, speed(served, prompt_share=0.0), energy(), money(rent=price, duty=duty)).cost
    assert cost.usd_per_million_input.value == 0.0
    assert cost.usd_per_million_output.value * served * 3600 / 1e6 == pytest.approx(price / duty)
    assert cost.usd_per_million_output.value == pytest.approx(cost.usd_per_million_all_on_output.value)


@MANY
@given(
    price=st.floats(10.0, 1e6),
    rent=st.floats(0.01, 100.0),
    hours=st.floats(0.5, 23.0),
    rate=st.floats(-0.3, 0.5),
)
def test_order_of_prices(price, rent, hours, rate):
    """A dearer rent, a cheaper machine, more hours: owning is never worth less, and pays never later."""

    def bought(**changes):
        given_ = {"source": "own", "price": price, "rent": rent, "hours": hours, "rate": rate}
        owned = {"resale_fraction": 0.9, "resale_decline_per_year": 0.3}
        return ownership_of(
            HERE, speed(), energy(), money(**{**given_, **owned, **changes})
        ).ownership.paybacks[0]

    here = bought()
    better = [bought(rent=rent * 1.1), bought(price=price * 0.9), bought(kwh=0.1)]
    if here.saving_usd_per_month.value > 0.0:
        better.append(bought(hours=hours * 1.04))
    for paid in better:
        assert paid.npv_usd.value >= here.npv_usd.value - 1e-6 * price
        if here.with_resale.value is not None:
            assert paid.with_resale.value <= here.with_resale.value + 1e-5


@MANY
@given(
    price=st.floats(10.0, 1e6),
    rent=st.floats(0.01, 100.0),
    hours=st.floats(0.1, 24.0),
    rate=st.floats(-0.3, 0.5),
    resale=st.floats(0.0, 1.0),
    trend=st.floats(-0.5, 0.5),
)
def test_three_answers_to_one_question_agree(price, rent, hours, rate, resale, trend):
    """NPV, level cost per month and hours a day say alike whether owning beats renting over the horizon."""
    asked = money(
        source="own", price=price, rent=rent, hours=hours, rate=rate, trend=trend, resale_fraction=resale
    )
    answer = ownership_of(HERE, speed(), energy(), asked)
    paid = answer.ownership.paybacks[0]
    costs = {path.name: path.usd_per_month.value for path in answer.comparison.paths}
    worth = paid.npv_usd.value
    if abs(worth) > 1e-6 * price:
        assert (worth > 0.0) == (costs["own"] < costs["rent"])
        if paid.from_hours_per_day is None:
            assert worth < 0.0
        elif paid.from_hours_per_day > 0.0:
            assert (worth > 0.0) == (hours > paid.from_hours_per_day)
            said = round_up(paid.from_hours_per_day)
            again = ownership_of(
                HERE, speed(), energy(), replace(asked, use=replace(asked.use, hours_per_day=said))
            )
            assert again.ownership.paybacks[0].npv_usd.value >= -1e-6 * price


@MANY
@given(served=st.floats(10.0, 1e4), duty=shares, usd=st.floats(0.01, 100.0), hours=st.floats(1.0, 24.0))
def test_owning_beats_the_api_from_the_tokens_that_are_said(served, duty, usd, hours):
    asked = money(source="own", price=30_000.0, rent=2.5, api=(usd, 3 * usd), duty=duty, hours=hours)
    found = ownership_of(HERE, speed(served), energy(), asked).comparison
    costs = {path.name: path.usd_per_month.value for path in found.paths}
    for name, turn in (("own", found.own_beats_api_from_tokens), ("rent", found.rent_beats_api_from_tokens)):
        if turn is None:
            assert costs["api"] < costs[name]
        elif not math.isclose(found.tokens_per_month, turn, rel_tol=1e-9):
            assert (found.tokens_per_month > turn) == (costs[name] < costs["api"])
    assert [path.usd_per_month.value for path in found.paths] == sorted(costs.values())


@MANY
@given(capital=st.floats(100.0, 1e5), saving=st.floats(1.0, 1e4), rate=st.floats(-0.02, 0.03))
def test_the_search_finds_what_the_closed_form_says(capital, saving, rate):
    closed = discounted_months(capital, saving, rate)
    found = first_month(Flow(capital, saving, 0.0, 0.0, rate, 0.0, 0.0))
    assert (closed is None) == (found is None)
    if closed is not None:
        assert found == pytest.approx(closed, abs=1e-4)


@given(trend=st.floats(-0.9, 5.0), rate=st.floats(-0.04, 0.08), months=st.integers(1, 240))
def test_a_changing_rent_is_the_sum_of_its_months(trend, rate, months):
    month = np.arange(1, months + 1)
    summed = float(np.sum((1 + trend) ** (month / 12) / (1 + rate) ** month))
    assert growing_payments_worth(trend, rate, float(months)) == pytest.approx(summed, rel=1e-8)


@given(at_end=st.floats(0.0, 2.0), years=st.floats(0.25, 20.0))
def test_resale_meets_what_is_said_for_the_end(at_end, years):
    first, decline = resale_path(at_end, years)
    assert first * (1 - decline) ** years == pytest.approx(at_end, abs=1e-6)
    assert 0.0 <= decline <= 1.0


def numbers(part):
    """Every number in a result, however deep."""
    if isinstance(part, bool | str) or part is None:
        return
    if isinstance(part, int | float):
        yield part
    elif is_dataclass(part):
        for field in fields(part):
            yield from numbers(getattr(part, field.name))
    elif isinstance(part, dict):
        for value in part.values():
            yield from numbers(value)
    else:
        for value in part:
            yield from numbers(value)


def ordered(part):
    """Every interval in a result has its ends in order."""
    if isinstance(part, Interval):
        assert part.low <= part.value + 1e-9 * abs(part.value) + 1e-12
        assert part.value <= part.high + 1e-9 * abs(part.high) + 1e-12
    elif is_dataclass(part):
        for field in fields(part):
            ordered(getattr(part, field.name))


def within(name):
    return st.floats(*BOUNDS[name])


def anything(name):
    """Values inside the bounds, at their ends, and any float at all."""
    return within(name) | st.sampled_from(BOUNDS[name]) | st.floats()


def ranges(name, values):
    def made(ends):
        low, value, high = sorted(ends)
        return Interval(value, low, high)

    return st.tuples(values(name), values(name), values(name)).map(made)


def inputs(values):
    return st.fixed_dictionaries(
        {
            "source": st.sampled_from(("rent", "own")),
            "hours": values("hours_per_day"),
            "days": values("days_per_month"),
            "duty": values("duty"),
            "kwh": values("usd_per_kwh"),
            "pue": values("pue"),
            "grams": values("grams_co2_per_kwh"),
            "rent": st.none() | ranges("usd_per_hour", values),
            "price": st.none() | ranges("usd", values),
            "api": st.none()
            | st.tuples(values("usd_per_million_input"), values("usd_per_million_output"), st.none()),
            "rate": values("discount_per_year"),
            "billed": st.sampled_from(("all_hours", "busy_hours")),
            "trend": values("trend_per_year"),
            "years": values("years"),
            "server_fraction": values("server_fraction"),
            "colocation_usd_per_month": values("colocation_usd_per_month"),
            "maintenance_per_year": values("maintenance_per_year"),
            "resale_fraction": values("resale_fraction"),
            "resale_decline_per_year": values("resale_decline_per_year"),
        }
    )


def no_figure_is_infinite(asked, served, spread, watts):
    c = CACHED
    found = speed(served, spread=spread, prompt_share=0.3) if served else None
    power = energy(watts, None if spread > 2 else watts / 10, spread=spread) if watts else None
    cost, owned = cost_of(c, found, power, asked), ownership_of(c, found, power, asked)
    assert all(math.isfinite(number) for number in numbers((cost, owned)))
    ordered(cost)
    ordered(owned)
    assert cost.cost is not None or cost.reasons
    assert owned.ownership is not None or owned.reasons
    paid = owned.ownership.paybacks if owned.ownership else ()
    assert all(payback.reasons for payback in paid)
    compared = owned.comparison.reasons if owned.comparison else ()
    for reason in (
        *cost.reasons,
        *owned.reasons,
        *compared,
        *(r for payback in paid for r in payback.reasons),
    ):
        assert reason.code in ECONOMICS
        assert "does not support" not in reason_words(reason, "gib"), reason
    for row in (
        *(cost.cost.explained if cost.cost else ()),
        *(owned.ownership.explained if owned.ownership else ()),
    ):
        assert row.code in EXPLAINED
        assert explained_words(row) != str(FALLBACK), row


speeds = st.none() | st.floats(1e-3, 1e6)


@settings(max_examples=120, deadline=None)
@given(
    given_=inputs(within), served=speeds, spread=st.floats(1.0, 10.0), watts=st.none() | st.floats(1.0, 1e6)
)
def test_no_figure_is_infinite_within_the_bounds(given_, served, spread, watts):
    no_figure_is_infinite(money(**given_), served, spread, watts)


@settings(max_examples=80, deadline=None)
@given(
    given_=inputs(anything), served=speeds, spread=st.floats(1.0, 10.0), watts=st.none() | st.floats(1.0, 1e6)
)
def test_no_figure_is_infinite_for_anything_at_all(given_, served, spread, watts):
    no_figure_is_infinite(money(**given_), served, spread, watts)
