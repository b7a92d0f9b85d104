"""Power under load and energy per token of the machine (formulas §9). PUE and prices belong to the money. PURE."""

from __future__ import annotations

from calculator.estimation.configuration import Configuration
from calculator.estimation.terms import Energy, Interval, Reason, Speed

JOULES_PER_KWH = 3.6e6


def average_watts(load_watts: float, idle_watts: float, utilisation: float) -> float:
    """Mean power of a machine that is busy for a share of the time: u·P_load + (1 − u)·P_idle [W].

    >>> average_watts(700, 75, 0.6)
    450.0
    """
    return utilisation * load_watts + (1 - utilisation) * idle_watts


def kwh_per_month(watts: float, hours: float, pue: float) -> float:
    """Energy of so many hours of a mean power, with the building's share (PUE) [kWh].

    >>> round(kwh_per_month(450, 729.6, 1.3) * 0.15, 2)
    64.02
    """
    return watts / 1000 * hours * pue


def joules_per_token(watts: float, tokens_per_s: float, pue: float = 1.0) -> float:
    """Energy of one token: P·PUE ÷ rate [J].

    >>> joules_per_token(700, 2000, 1.3)
    0.455
    """
    return watts * pue / tokens_per_s


def kwh_per_million(joules: float) -> float:
    """Energy of a million tokens [kWh].

    >>> round(kwh_per_million(0.455), 4)
    0.1264
    """
    return joules * 1e6 / JOULES_PER_KWH


def grams_co2(kwh: float, grams_per_kwh: float) -> float:
    """Emissions of an amount of energy [g].

    >>> round(grams_co2(kwh_per_million(0.455), 400), 1)
    50.6
    """
    return kwh * grams_per_kwh


def energy_of(c: Configuration, speed: Speed) -> Energy | Reason:
    """Power and energy per generated token of a configuration that runs at `speed`, or why they are not known.

    A measured power under load comes before the share of the board's limit: lower while decoding, higher while prompts
    are read, by the time that each takes. Machines with cards have a host beside them.
    """
    if speed.served_output_tokens_per_s is None:
        return Reason("speed_compute_unknown", {"device": c.accelerator.name})
    device, busy = c.accelerator, speed.prompt_share
    decode, prompt = c.constants["power_decode"], c.constants["power_prompt"]
    if device.load_w_measured:
        each = Interval(device.load_w_measured, 0.9 * device.load_w_measured, 1.1 * device.load_w_measured)
    elif device.tdp_w:
        value, low, high = (
            device.tdp_w * ((1 - busy) * getattr(decode, end) + busy * getattr(prompt, end))
            for end in ("value", "low", "high")
        )
        each = Interval(value, low, high)
    else:
        return Reason("power_unknown", {"device": device.name})
    host = c.constants["power_host"]
    share = (0.0, 0.0, 0.0) if device.unified else (host.value, host.low, host.high)
    value, low, high = (
        c.count * each_end * (1 + own)
        for each_end, own in zip((each.value, each.low, each.high), share, strict=True)
    )
    rate = speed.served_output_tokens_per_s
    joules = Interval(value / rate.value, low / rate.high, high / rate.low)
    idle = c.count * device.idle_w * (1 + share[0]) if device.idle_w else None
    return Energy(value, low, high, each.value, idle, joules)
