"""Cost per million tokens of one configuration (formulas §9). PURE."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace

from calculator.estimation.configuration import Configuration
from calculator.estimation.economics.basis import Ground, ground_of, unused
from calculator.estimation.economics.deal import Deal
from calculator.estimation.economics.inputs import Money, Source
from calculator.estimation.economics.paths import own_usd_per_month
from calculator.estimation.economics.power import energy_use
from calculator.estimation.economics.ranges import Doubts, scaled
from calculator.estimation.economics.results import Cost, Costed, Explained
from calculator.estimation.economics.tokens import (
    all_on_output_usd_per_million,
    blended_usd_per_million,
    input_usd_per_million,
    output_usd_per_million,
    usd_per_request,
)
from calculator.estimation.terms import Energy, Factor, Interval, Reason, Speed


def cost_of(c: Configuration, speed: Speed | None, energy: Energy | None, money: Money) -> Costed:
    """What a million tokens cost: input, cached input, output and blended, at the stated hours and busy
    share.

    Speed and energy are those of this same configuration. Never raises, and no figure is infinite: what
    cannot be computed is a reason. speed, energy: None where they are not known, as in the Estimate.
    """
    ground = ground_of(c, speed, energy, money)
    if not isinstance(ground, Ground):
        return Costed(None, ground)
    missing = _missing(c, ground)
    if missing:
        return Costed(None, (*missing, *ground.remarks))
    return Costed(_cost(ground, speed), ground.remarks)


def output_cost_of(
    c: Configuration, speed: Speed | None, energy: Energy | None, money: Money
) -> Interval | tuple[Reason, ...]:
    """What a million generated tokens cost, as `cost_of` has it, or why there is no figure; in a third of the time."""
    ground = ground_of(c, speed, energy, money)
    if not isinstance(ground, Ground):
        return ground
    return _missing(c, ground) or _output_cost(ground)


def _output_cost(ground: Ground) -> Interval:
    deal, source = ground.deal, ground.money.source

    def figure(d: Deal) -> float:
        return output_usd_per_million(_request_usd(d, source), deal.input_share, deal.output_tokens)

    return scaled(figure, deal, ground.doubts)


def _missing(c: Configuration, ground: Ground) -> tuple[Reason, ...]:
    """What a cost needs and does not have."""
    deal, named = ground.deal, {"device": c.accelerator.name}
    out = [*unused(deal)]
    if deal.requests_per_s <= 0.0:
        out.append(Reason("cost_needs_speed", {"model": c.model.name}))
    if ground.money.source == "rent" and deal.rent_usd_per_hour is None:
        out.append(Reason("no_rent_price", named))
    if ground.money.source == "own":
        if deal.machines_usd is None:
            out.append(Reason("no_purchase_price", named))
        elif deal.watts is None:
            out.append(Reason("cost_needs_power", named))
    return tuple(out)


def usd_per_hour(deal: Deal, source: Source) -> float:
    """All machines for one paid hour: the rent, or what owning costs a month over the hours of a month
    [USD/h]."""
    if source == "rent":
        return deal.rent_usd_per_hour or 0.0
    return max(0.0, own_usd_per_month(deal)) / deal.hours_per_month


def paid_utilisation(deal: Deal, source: Source) -> float:
    """Busy share of the hours that are paid: all of them where only busy hours are billed [1]."""
    return 1.0 if source == "rent" and deal.billed == "busy_hours" else deal.duty


def _request_usd(deal: Deal, source: Source) -> float:
    return usd_per_request(usd_per_hour(deal, source), deal.requests_per_s, paid_utilisation(deal, source))


def _cost(ground: Ground, speed: Speed | None) -> Cost:
    deal, doubts, source = ground.deal, ground.doubts, ground.money.source

    def ranged(figure: Callable[[float], float], used: Doubts = doubts) -> Interval:
        """A figure of the cost of a request."""
        return scaled(lambda d: figure(_request_usd(d, source)), deal, used)

    share = deal.input_share
    paid_hours = deal.paid_hours_per_month if source == "rent" else deal.hours_per_month
    energy = energy_use(deal, doubts, ground.money.electricity.grams_co2_per_kwh)
    cost = Cost(
        source=source,
        usd_per_hour=scaled(lambda d: usd_per_hour(d, source), deal, doubts),
        usd_per_month=scaled(lambda d: usd_per_hour(d, source) * paid_hours, deal, doubts),
        utilisation=paid_utilisation(deal, source),
        input_share=share,
        usd_per_request=ranged(lambda usd: usd),
        usd_per_million_input=ranged(
            lambda usd: input_usd_per_million(usd, share, deal.input_tokens), _of_prompts(deal, doubts, speed)
        ),
        usd_per_million_cached=0.0,
        usd_per_million_output=_output_cost(ground),
        usd_per_million_blended=ranged(lambda usd: blended_usd_per_million(usd, deal.request_tokens)),
        usd_per_million_all_on_output=scaled(lambda d: _all_on_output(d, source), deal, doubts),
        requests_per_month=deal.requests_per_month,
        tokens_per_month=deal.requests_per_month * deal.request_tokens,
        energy=energy,
        explained=(),
    )
    return replace(cost, explained=explained(cost, deal))


def _all_on_output(deal: Deal, source: Source) -> float:
    rate = deal.requests_per_s * deal.output_tokens
    return all_on_output_usd_per_million(usd_per_hour(deal, source), rate, paid_utilisation(deal, source))


def _of_prompts(deal: Deal, doubts: Doubts, speed: Speed | None) -> Doubts:
    """The doubts with the range of reading prompts in place of that of the served rate: input is prompts
    alone."""
    prefill = speed.prefill_tokens_per_s if speed else None
    if prefill is None or not 0.0 < prefill.low <= prefill.value <= prefill.high:
        return doubts
    rest = tuple(pair for pair in doubts if pair[0].requests_per_s == pair[1].requests_per_s)
    low, high = (
        deal.with_(requests_per_s=deal.requests_per_s * end / prefill.value)
        for end in (prefill.low, prefill.high)
    )
    return ((low, high), *rest)


def explained(cost: Cost, deal: Deal) -> tuple[Explained, ...]:
    """How each figure came about."""
    request = {"usd_per_request": cost.usd_per_request.value}
    split = {**request, "share": cost.input_share, "rest": 1.0 - cost.input_share}
    hour = {"usd_per_hour": cost.usd_per_hour.value, "utilisation": cost.utilisation}
    rate = {**hour, "requests_per_s": deal.requests_per_s}
    read, written, both = (
        {"tokens": n} for n in (deal.input_tokens, deal.output_tokens, deal.request_tokens)
    )
    figures: tuple[tuple[str, Interval, Mapping[str, Factor]], ...] = (
        ("usd_per_request", cost.usd_per_request, rate),
        ("usd_per_million_input", cost.usd_per_million_input, {**split, **read}),
        ("usd_per_million_output", cost.usd_per_million_output, {**split, **written}),
        ("usd_per_million_blended", cost.usd_per_million_blended, {**request, **both}),
        ("usd_per_million_all_on_output", cost.usd_per_million_all_on_output, {**request, **written}),
    )
    rows = [Explained(code, figure.value, "market", factors) for code, figure, factors in figures]
    if deal.cached_tokens:
        rows.append(Explained("usd_per_million_cached", 0.0, "rule", {"tokens": deal.cached_tokens}))
    if cost.source == "own":
        named = {"usd_per_month": cost.usd_per_month.value, "hours": deal.hours_per_month}
        rows.insert(0, Explained("own_usd_per_hour", cost.usd_per_hour.value, "market", named))
    return tuple(rows)
