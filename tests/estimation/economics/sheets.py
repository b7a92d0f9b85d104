"""Speeds, powers and prices of the worked examples, in place of those that a configuration would have."""

from dataclasses import replace

from calculator.estimation.configuration import Configuration, Workload
from calculator.estimation.economics import Electricity, Money, Purchase, Rent, Use, exactly
from calculator.estimation.economics.inputs import ApiPrice
from calculator.estimation.terms import Energy, Interval, Speed
from tests.estimation.asking import ask

HOURS_A_DAY, DAYS_A_MONTH = 24.0, 30.4
ALWAYS_ON = HOURS_A_DAY * DAYS_A_MONTH  # 729.6 h


def speed(
    served=2076.08,
    *,
    output_tokens=500,
    step_s=None,
    decoding=32.0,
    prompt_share=0.0,
    prefill=None,
    spread=1.0,
):
    """A speed with the figures that money reads; the decode step fills the time that prompts leave."""
    rate = served / output_tokens
    step = step_s if step_s is not None else decoding * (1.0 - prompt_share) / (rate * output_tokens)

    def around(value):
        return Interval(value, value / spread, value * spread)

    return Speed(
        decode_tokens_per_s_per_user=around(served / decoding),
        decode_tokens_per_s_total=around(served),
        served_output_tokens_per_s=around(served),
        prefill_tokens_per_s=prefill or around(29664.0),
        ttft_ms=around(100.0),
        tpot_ms=around(10.0),
        request_s=around(5.0),
        bound_by="weights",
        decoding_users=decoding,
        step_ms={"weights": 1e3 * step},
        cases=1,
        prompt_share=prompt_share,
    )


def energy(watts=700.0, idle=75.0, rate=2000.0, spread=1.0):
    joules = watts / rate
    return Energy(
        watts,
        watts / spread,
        watts * spread,
        watts,
        idle,
        Interval(joules, joules / spread, joules * spread),
    )


def configuration(prompt=2000, output=500, prefix=0, **query) -> Configuration:
    """One H100, unless the query says else, at the lengths of a worked example."""
    c = ask(**{"gpu": "h100-sxm", "quant": "bf16", **query}).configuration
    return replace(c, workload=Workload(max(4096, prompt + output), 32, prompt, output, prefix))


def money(
    *,
    source="rent",
    hours=HOURS_A_DAY,
    days=DAYS_A_MONTH,
    duty=0.5,
    kwh=0.15,
    pue=1.3,
    grams=400.0,
    rent=2.50,
    price=None,
    api=None,
    rate=0.0,
    billed="all_hours",
    trend=0.0,
    **owned,
):
    """Prices as plain numbers; an Interval where a test gives a range."""

    def ranged(value):
        return value if isinstance(value, Interval) else exactly(value)

    return Money(
        source=source,
        use=Use(hours, days, duty),
        electricity=Electricity(kwh, pue, grams),
        rent=None if rent is None else Rent(ranged(rent), billed=billed, trend_per_year=trend),
        purchase=None if price is None else Purchase(ranged(price), **{"years": 3.0, **owned}),
        api=None if api is None else ApiPrice(*api),
        discount_per_year=rate,
    )
