"""What a calculation of money stands on: the inputs are checked, prices are held against the machine they are
for, and what is missing is named. PURE."""

from __future__ import annotations

from dataclasses import dataclass, replace

from calculator.estimation.configuration import Configuration
from calculator.estimation.economics.deal import Deal, deal_of, machines_for, spare_gpus
from calculator.estimation.economics.inputs import LEAST, Money, Purchase, Rent, bad_inputs
from calculator.estimation.economics.ranges import Doubts, doubts_of
from calculator.estimation.terms import Energy, Reason, Speed


@dataclass(frozen=True, slots=True)
class Ground:
    """Checked inputs as a deal with its doubtful ends. money: without prices of other machines. remarks: said
    beside any figure."""

    money: Money
    deal: Deal
    doubts: Doubts
    remarks: tuple[Reason, ...]


def ground_of(
    c: Configuration, speed: Speed | None, energy: Energy | None, money: Money
) -> Ground | tuple[Reason, ...]:
    """The ground of every figure, or what is wrong with the inputs."""
    wrong = bad_inputs(money)
    if wrong:
        return wrong
    money, foreign = _own_prices_only(c, money)
    deal = deal_of(c, speed, energy, money)
    remarks = (*foreign, *_remarks(c, energy, money))
    return Ground(money, deal, doubts_of(c, speed, energy, money, deal), remarks)


def _own_prices_only(c: Configuration, money: Money) -> tuple[Money, tuple[Reason, ...]]:
    """The money without prices of another device: a speed is never divided into another machine's price."""
    known = {c.accelerator.id, *((c.system.id,) if c.system else ())}
    said = []
    for price in (money.rent, money.purchase):
        if price is None or not price.device or price.device in known:
            continue
        named = {"device": price.device, "wanted": c.accelerator.name}
        said.append(Reason("priced_for_other_device", named))
        rented = isinstance(price, Rent)
        money = replace(money, rent=None) if rented else replace(money, purchase=None)
    return money, tuple(said)


def _remarks(c: Configuration, energy: Energy | None, money: Money) -> tuple[Reason, ...]:
    """Whole machines that have more devices than are used, and an idle power that is assumed."""
    said = [
        _rounded_up(c, price)
        for price in (money.rent, money.purchase)
        if price and spare_gpus(c.count, price)
    ]
    if energy is not None and energy.idle_watts is None and money.purchase:
        share = money.electricity.idle_share
        ends = {"share": share.value, "low": share.low, "high": share.high}
        said.append(Reason("idle_power_assumed", {"device": c.accelerator.name, **ends}))
    return tuple(said)


def _rounded_up(c: Configuration, price: Rent | Purchase) -> Reason:
    named = {
        "gpus": c.count,
        "machines": machines_for(c.count, price.gpus),
        "each": price.gpus,
        "spare": spare_gpus(c.count, price),
    }
    return Reason("rented_whole_machines" if isinstance(price, Rent) else "bought_whole_machines", named)


def unused(deal: Deal) -> tuple[Reason, ...]:
    """Why no token is served: no hours, or no busy ones."""
    if min(deal.hours_per_day, deal.days_per_month) < LEAST:
        return (Reason("money_no_hours", {}),)
    if deal.duty < LEAST:
        return (Reason("money_no_duty", {"hours": deal.hours_per_day}),)
    return ()
