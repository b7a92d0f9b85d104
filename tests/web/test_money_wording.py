"""Money in words: every code has its sentence, and the sentences read as they should."""

import pytest

from calculator.estimation.economics import ownership_of
from calculator.estimation.economics.inputs import BOUNDS
from calculator.estimation.economics.paths import TURNS
from calculator.estimation.economics.results import PATHS
from calculator.estimation.economics.tornado import CHANGES
from calculator.web import figures
from calculator.web.wording.economics import BAR_NAMES, ECONOMICS, LINE_NAMES, PATH_NAMES, explained_words
from calculator.web.wording.money import INPUTS, months, years
from calculator.web.wording.reasons import reason_words
from tests.estimation.economics.sheets import configuration, energy, money, speed
from tests.estimation.economics.test_examples import example_w_9_5


def test_every_name_has_its_words():
    assert set(BOUNDS) == set(INPUTS)
    assert set(CHANGES) == set(BAR_NAMES)
    assert set(PATHS) == set(PATH_NAMES)
    lines = example_w_9_5().cumulative.lines
    assert {line.name for line in lines} == {"rent", "own", "own_after_resale"}
    assert {line.name for line in lines} | {"api"} == set(LINE_NAMES)
    assert {code for codes in TURNS.values() for code in codes} <= set(ECONOMICS)


def said(**asked):
    given = {
        "source": "own",
        "price": 10_000.0,
        "rent": 2.5,
        "duty": 1.0,
        "days": 30.0,
        "kwh": 0.15,
        "pue": 1.0,
    }
    answer = ownership_of(configuration(), speed(), energy(), money(**{**given, **asked}))
    compared = answer.comparison.reasons if answer.comparison else ()
    paid = answer.ownership.paybacks if answer.ownership else ()
    reasons = (*answer.reasons, *(reason for payback in paid for reason in payback.reasons), *compared)
    return " ".join(reason_words(reason, "gib") for reason in reasons).replace("\u00a0", " ")


@pytest.mark.parametrize(
    ("asked", "words"),
    [
        (
            {"hours": 2.0},  # 2.5 − 0.7·0.15 = 2.395 USD/h saved: 10,000/36/30/2.395 = 3.87 h a day
            (
                "At 2 h a day the machine does not pay for itself in 3 years; from 3.9 h it does, instead of renting it. "
                "It would after 69.6 months."
            ),
        ),
        (
            {"hours": 10.0},
            "At 10 h a day the machine has paid for itself after 13.9 months, instead of renting it.",
        ),
        ({"price": 0.0}, "The machine pays for itself from the first day."),
        (
            {"hours": 2.0, "rent": 0.1},
            (
                "The machine does not pay for itself in 3 years, not even at 24 h a day: renting is cheaper. "
                "Owning costs $6.30 a month beside the purchase, as much as the rent of $6.00 or more."
            ),
        ),
        (
            {"hours": 2.0, "rate": 0.2},
            (
                "At 2 h a day the machine does not pay for itself in 3 years; from 5.2 h it does, instead of renting it. "
                "The interest on the purchase, $167 a month, takes all of the $144 that are saved."
            ),
        ),
        (
            {"hours": 12.0, "rent": None, "api": (0.01, 0.02)},
            (
                "The machine does not pay for itself in 3 years, not even at 24 h a day: the API is cheaper. "
                "It would after 80.9 months. The API costs less than owning, even if the machine were busy in all its hours "
                "(13.5B tokens a month)."
            ),
        ),
        (
            {"price": -5.0},
            "−5 is no usable value for: purchase price. It may be from 0 to 1,000,000,000,000.",
        ),
        ({"kwh": float("nan")}, "No number is given for: price of electricity."),
        (
            {"hours": 0.0, "price": None},
            (
                "No purchase price is known for NVIDIA H100 SXM 80 GB. "
                "The machine is never on: no token is served, so none has a cost."
            ),
        ),
    ],
)
def test_it_is_said_in_words(asked, words):
    assert said(**asked) == words


def test_a_month_of_owning_reads_as_its_sum():
    rows = {row.code: explained_words(row).replace("\u00a0", " ") for row in example_w_9_5().explained}
    assert rows["electricity_usd_per_month"] == (
        "450 W on average × 730 h × PUE 1.3 = 427 kWh, × $0.15 = $64.02 a month."
    )
    assert rows["simple_months"] == "$30,000 ÷ $905 saved a month = 33.1 months."
    assert rows["rent_usd_per_month"] == "$2.50 an hour × 438 paid hours = $1,094 a month."


@pytest.mark.parametrize(
    ("value", "words"),
    [
        (0.0, "$0"),
        (0.00033461, "$0.000335"),
        (0.0468, "$0.0468"),
        (0.0996, "$0.10"),
        (0.4817, "$0.48"),
        (99.994, "$99.99"),
        (99.996, "$100"),
        (1360.4, "$1,360"),
        (-5000.0, "−$5,000"),
        (1e-12, "< $0.000000001"),
        (float("inf"), "—"),
    ],
)
def test_dollars(value, words):
    assert figures.usd(value).replace("\u00a0", " ") == words


def test_time_and_tokens():
    assert [months(1.0), months(36.0), months(20.17), months(120.4)] == [
        "1 month",
        "36 months",
        "20.2 months",
        "120 months",
    ]
    assert [years(1.0), years(3.0), years(2.5)] == ["1 year", "3 years", "2.5 years"]
    assert [figures.many_tokens(value) for value in (12.0, 910_000.0, 1.216e9)] == ["12", "910K", "1.22B"]
