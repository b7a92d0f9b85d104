"""Ranges, whole machines, cached prompts, power, the tornado and the lines of the chart, against hand
calculation."""

from dataclasses import replace

import pytest

from calculator.estimation.economics import Purchase, Rent, cost_of, exactly, ownership_of
from calculator.estimation.economics.tornado import CHANGES
from calculator.estimation.terms import Interval
from tests.estimation.asking import ask
from tests.estimation.economics.sheets import configuration, energy, money, speed

RENT = Interval(2.0, 1.0, 4.0)


def owned(found=None, power=None, c=None, **asked):
    given = {
        "source": "own",
        "price": 10_000.0,
        "rent": 2.5,
        "hours": 10.0,
        "days": 30.0,
        "duty": 1.0,
        "pue": 1.0,
    }
    return ownership_of(
        c or configuration(), found or speed(), power or energy(), money(**{**given, **asked})
    )


def test_the_range_of_the_speed_is_that_of_the_cost():
    blended = cost_of(configuration(), speed(spread=1.5), energy(), money()).cost.usd_per_million_blended
    assert (blended.low, blended.high) == pytest.approx((blended.value / 1.5, blended.value * 1.5))


def test_input_has_the_range_of_reading_prompts():
    found = speed(spread=1.5, prompt_share=0.3, prefill=Interval(30_000.0, 10_000.0, 60_000.0))
    cost = cost_of(configuration(), found, energy(), money()).cost
    value = cost.usd_per_million_input.value
    assert cost.usd_per_million_input.low == pytest.approx(value / 2)
    assert cost.usd_per_million_input.high == pytest.approx(value * 3)


def test_ranges_of_price_and_speed_add_in_quadrature():
    """√(ln² 2 + ln² 2) = 0.98026: a factor of 2.6651."""
    cost = cost_of(configuration(), speed(spread=2.0), energy(), money(rent=RENT)).cost
    blended = cost.usd_per_million_blended
    assert blended.high / blended.value == pytest.approx(2.6651, abs=1e-4)
    assert blended.value / blended.low == pytest.approx(2.6651, abs=1e-4)


def test_cached_tokens_take_no_device_time():
    """The same request at the same price: computed tokens carry what the prompt costs, the blended price does
    not move."""
    found = speed(prompt_share=0.3)
    cold, warm = (cost_of(configuration(prefix=p), found, energy(), money()).cost for p in (0, 1500))
    assert warm.usd_per_million_cached == 0.0
    assert warm.usd_per_million_blended == cold.usd_per_million_blended
    assert warm.usd_per_million_input.value == pytest.approx(4 * cold.usd_per_million_input.value)


def test_only_busy_hours_are_billed():
    always, busy = (
        cost_of(configuration(), speed(), energy(), money(duty=0.25, billed=billed)).cost
        for billed in ("all_hours", "busy_hours")
    )
    assert always.usd_per_million_blended.value == pytest.approx(4 * busy.usd_per_million_blended.value)
    assert always.usd_per_month.value == pytest.approx(4 * busy.usd_per_month.value)


def test_spot_restarts_are_paid_and_a_commitment_takes_off():
    """2.50 × 1.1 for a tenth of the time lost, × 0.6 for 40 % off."""
    asked = replace(money(), rent=Rent(exactly(2.50), restart_overhead=0.1, reserved_discount=0.4))
    assert cost_of(configuration(), speed(), energy(), asked).cost.usd_per_hour.value == pytest.approx(1.65)


def test_whole_machines_are_rented_and_bought():
    """Three GPUs from nodes of eight: one node is paid, and the five that are not used idle."""
    c = ask(gpu="h100-sxm", n=3).configuration
    asked = replace(
        money(source="own", hours=10.0, days=30.0, duty=1.0, pue=1.0),
        rent=Rent(exactly(20.0), gpus=8, device="h100-sxm"),
        purchase=Purchase(exactly(200_000.0), 3.0, gpus=8, device="h100-sxm"),
    )
    answer = ownership_of(c, speed(), energy(watts=2100.0, idle=225.0), asked)
    assert [reason.code for reason in answer.reasons] == ["rented_whole_machines", "bought_whole_machines"]
    assert answer.reasons[1].factors == {"gpus": 3, "machines": 1, "each": 8, "spare": 5}
    assert answer.ownership.capital_usd.value == 200_000.0
    assert answer.ownership.paybacks[0].avoided_usd_per_month == 6000.0
    assert answer.ownership.energy.average_watts.value == 2100.0 + 5 * 75.0


def test_idle_power_is_assumed_where_no_device_figure_is_known():
    answer = owned(power=energy(700.0, None), duty=0.5)
    assert [reason.code for reason in answer.reasons] == ["idle_power_assumed"]
    watts = answer.ownership.energy.average_watts
    assert watts.value == pytest.approx(0.5 * 700 + 0.5 * 0.15 * 700)
    assert watts.low == pytest.approx(0.5 * 700 + 0.5 * 0.03 * 700)


def test_without_power_owning_has_no_cost_and_renting_has():
    c, asked = configuration(), money(price=10_000.0)
    answer = ownership_of(c, speed(), None, asked)
    assert answer.ownership is None
    assert [reason.code for reason in answer.reasons] == ["cost_needs_power"]
    assert [path.name for path in answer.comparison.paths] == ["rent"]
    assert cost_of(c, speed(), None, asked).cost.energy is None
    assert cost_of(c, speed(), None, replace(asked, source="own")).cost is None


def test_a_break_even_that_may_never_come_has_an_open_end():
    """Saved: 300 h × 2.50 − 300 h × 0.7 kW × 0.15 = 718.50 a month. At a rent of 0.10 nothing is saved."""
    paid = owned(rent=Interval(2.5, 0.1, 5.0)).ownership.paybacks[0]
    assert paid.simple.value == pytest.approx(10_000 / 718.5)
    assert paid.simple.low == pytest.approx(10_000 / 1468.5)
    assert paid.simple.high is None
    assert paid.saving_usd_per_month.low == pytest.approx(300 * 0.1 - 31.5)


def test_falling_rents_pay_later_or_never():
    """Rents that halve each year: Σ 750·0.5^(t/12) − 31.5 over 36 months is 11,035 − 1,134 = 9,901, short of
    10,000."""
    steady, falling = (owned(trend=trend).ownership.paybacks[0] for trend in (0.0, -0.5))
    assert steady.npv_usd.value == pytest.approx(36 * 718.5 - 10_000)
    growth = sum(750 * 0.5 ** (month / 12) for month in range(1, 37))
    assert falling.npv_usd.value == pytest.approx(growth - 36 * 31.5 - 10_000)
    assert falling.simple.value > steady.simple.value


def test_lines_cross_at_the_simple_break_even():
    found = owned().ownership
    lines = {line.name: line for line in found.cumulative.lines}
    months = found.paybacks[0].simple.value
    before, after = int(months), int(months) + 1
    assert lines["own"].usd[before] > lines["rent"].usd[before]
    assert lines["own"].usd[after] < lines["rent"].usd[after]
    assert lines["rent"].usd[12] == pytest.approx(12 * 750.0)


def test_lines_have_the_range_of_the_prices():
    found = owned(rent=Interval(2.5, 2.0, 3.5), price=Interval(10_000.0, 8_000.0, 15_000.0)).ownership
    lines = {line.name: line for line in found.cumulative.lines}
    assert (lines["rent"].low_usd[10], lines["rent"].high_usd[10]) == pytest.approx((6000.0, 10_500.0))
    assert (lines["own"].low_usd[0], lines["own"].high_usd[0]) == pytest.approx((8000.0, 15_000.0))


def test_an_api_is_paid_for_each_kind_of_token():
    """1,500 cached at 0.10, 500 at 1.00, 500 generated at 2.00: 1,650 USD per million requests; 4.152 of them a second."""
    for cached, each in ((0.10, 1650.0), (None, 3000.0)):
        found = owned(c=configuration(prefix=1500), api=(1.0, 2.0, cached)).comparison
        api = next(path for path in found.paths if path.name == "api")
        assert api.usd_per_month.value == pytest.approx(each / 1e6 * 2076.08 / 500 * 3600 * 300)
        assert api.usd_per_million.value == pytest.approx(each / 2500)


def test_owning_has_every_cost_beside_the_machine():
    """10,000 × (1 + 0.5 + 0.2) + 1,000 = 18,000; 0.7 kW × 300 h × 1.4 × 0.15 = 44.10; 18,000 × 0.04 ÷ 12 = 60."""
    found = owned(
        pue=1.4,
        server_fraction=0.5,
        tax_fraction=0.2,
        networking_usd=1000.0,
        colocation_usd_per_month=80.0,
        admin_usd_per_month=20.0,
        maintenance_per_year=0.04,
        resale_fraction=0.5,
    ).ownership
    assert found.capital_usd.value == 18_000.0
    assert found.running_parts == pytest.approx(
        {"electricity": 44.1, "colocation_and_admin": 100.0, "maintenance": 60.0}
    )
    assert found.running_usd_per_month.value == pytest.approx(204.1)
    assert found.straight_line_usd_per_month == pytest.approx(9000 / 36)
    assert found.annuity_usd_per_month == pytest.approx(9000 / 36)
    assert found.break_even_utilisation == pytest.approx((250 + 204.1) / 750)


class TestTornado:
    ANSWER = owned(
        resale_fraction=0.9, resale_decline_per_year=0.3, api=(1.0, 2.0), duty=0.5
    ).ownership.tornado

    def test_every_input_that_has_a_part_is_moved(self):
        assert {bar.name for bar in self.ANSWER.bars} == set(CHANGES) - {"api_price"}

    def test_widest_first(self):
        widths = [abs(bar.npv_usd[1] - bar.npv_usd[0]) for bar in self.ANSWER.bars]
        assert widths == sorted(widths, reverse=True)

    def test_a_fifth_of_each_price(self):
        bars = {bar.name: bar for bar in self.ANSWER.bars}
        rent = bars["rent_price"].npv_usd
        assert rent[1] - self.ANSWER.npv_usd == pytest.approx(36 * 0.2 * 750.0)
        left = 10_000 * 0.9 * 0.7**3
        assert bars["resale"].npv_usd[1] - self.ANSWER.npv_usd == pytest.approx(0.2 * left)
        assert bars["electricity"].npv_usd[0] - self.ANSWER.npv_usd == pytest.approx(
            36 * 0.2 * 300 * 0.3875 * 0.15
        )

    def test_speed_moves_the_cost_and_not_the_break_even(self):
        """Rented or bought, it is the same machine."""
        bar = next(bar for bar in self.ANSWER.bars if bar.name == "throughput")
        assert bar.npv_usd == (self.ANSWER.npv_usd, self.ANSWER.npv_usd)
        assert bar.usd_per_million == pytest.approx(
            (self.ANSWER.usd_per_million / 0.8, self.ANSWER.usd_per_million / 1.2)
        )

    def test_against_an_api_its_price_and_the_speed_matter(self):
        found = owned(rent=None, api=(1.0, 2.0)).ownership.tornado
        widths = {bar.name: bar.npv_usd[1] - bar.npv_usd[0] for bar in found.bars}
        assert found.instead_of == "api"
        assert widths["api_price"] == pytest.approx(widths["throughput"])
        assert widths["api_price"] > 0.0
