"""Everything that money depends on, as plain numbers for the whole configuration: what changes in a range or
a tornado is one field of it. PURE."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

from calculator.estimation.configuration import Configuration
from calculator.estimation.economics.inputs import LEAST, Billed, Money, Purchase, Rent
from calculator.estimation.terms import Energy, Interval, Speed
from calculator.estimation.throughput.energy import average_watts, kwh_per_month

SECONDS_PER_HOUR = 3600.0


@dataclass(frozen=True)
class Deal:
    """One configuration under one use, with the prices of whole machines that hold it.

    requests_per_s: served while busy, 0 where the speed is not known. input_share: the part of a request's
    device time that its prompt takes. input_tokens: computed ones, cached_tokens: found in the prefix cache,
    both per request. load_watts, idle_watts: of all machines, None where no power figure is known.
    rent_usd_per_hour, machines_usd: of all machines, None without a price.
    """

    hours_per_day: float
    days_per_month: float
    duty: float
    requests_per_s: float
    input_tokens: int
    cached_tokens: int
    output_tokens: int
    input_share: float
    load_watts: float | None
    idle_watts: float | None
    usd_per_kwh: float
    pue: float
    rent_usd_per_hour: float | None
    billed: Billed
    rent_trend_per_year: float
    machines_usd: float | None
    added_fraction: float
    networking_usd: float
    fixed_usd_per_month: float
    maintenance_per_year: float
    months: float
    resale_fraction: float
    resale_decline_per_year: float
    discount_per_year: float
    api_input_usd: float | None
    api_cached_usd: float
    api_output_usd: float

    def with_(self, **fields: Any) -> Deal:
        """`dataclasses.replace`, in a fifth of the time: every range and every bar moves an input to both its ends."""
        moved = object.__new__(Deal)
        moved.__dict__.update(self.__dict__)
        moved.__dict__.update(fields)
        return moved

    @property
    def hours_per_month(self) -> float:
        """Hours that the machine is on: hours a day × days a month [h]."""
        return self.hours_per_day * self.days_per_month

    @property
    def paid_hours_per_month(self) -> float:
        """Hours that a rent is paid for [h]."""
        busy = self.billed == "busy_hours"
        return self.hours_per_month * (self.duty if busy else 1.0)

    @property
    def used(self) -> bool:
        """It is on at some time and busy for some of it."""
        return min(self.hours_per_day, self.days_per_month, self.duty) >= LEAST

    @property
    def request_tokens(self) -> int:
        """Tokens of one request, in and out, cached ones too [tokens]."""
        return self.input_tokens + self.cached_tokens + self.output_tokens

    @property
    def requests_per_month(self) -> float:
        """Requests served in the busy hours of a month [1]."""
        return self.requests_per_s * SECONDS_PER_HOUR * self.hours_per_month * self.duty

    @property
    def watts(self) -> float | None:
        """Mean power while it is on: u·P_load + (1 − u)·P_idle [W]."""
        if self.load_watts is None or self.idle_watts is None:
            return None
        return average_watts(self.load_watts, self.idle_watts, self.duty)

    @property
    def kwh_per_month(self) -> float | None:
        """Energy of a month, with the building's share [kWh]."""
        watts = self.watts
        return None if watts is None else kwh_per_month(watts, self.hours_per_month, self.pue)

    @property
    def electricity_usd_per_month(self) -> float | None:
        """What that energy costs [USD/month]."""
        energy = self.kwh_per_month
        return None if energy is None else energy * self.usd_per_kwh

    @property
    def capital_usd(self) -> float | None:
        """Capital: devices, server share, tax, network [USD]."""
        if self.machines_usd is None:
            return None
        return self.machines_usd * (1.0 + self.added_fraction) + self.networking_usd

    @property
    def running_usd_per_month(self) -> float | None:
        """What owning costs each month beside the capital: electricity, colocation, work, maintenance
        [USD/month]."""
        capital, electricity = self.capital_usd, self.electricity_usd_per_month
        if capital is None or electricity is None:
            return None
        return electricity + self.fixed_usd_per_month + self.maintenance_per_year * capital / 12.0

    @property
    def rent_usd_per_month(self) -> float | None:
        """Rent of the paid hours at today's price: P·H [USD/month]."""
        price = self.rent_usd_per_hour
        return None if price is None else price * self.paid_hours_per_month

    @property
    def api_usd_per_request(self) -> float | None:
        """One request at the provider's prices [USD]."""
        if self.api_input_usd is None:
            return None
        paid = self.input_tokens * self.api_input_usd + self.cached_tokens * self.api_cached_usd
        return (paid + self.output_tokens * self.api_output_usd) / 1e6

    @property
    def api_usd_per_month(self) -> float | None:
        """The month's requests at the provider's prices [USD/month]."""
        each = self.api_usd_per_request
        return None if each is None else each * self.requests_per_month

    def avoided_usd_per_month(self, instead_of: str) -> float | None:
        """What is no longer paid each month when the machine is owned, at today's prices [USD/month]."""
        return self.rent_usd_per_month if instead_of == "rent" else self.api_usd_per_month


def requests_per_s(speed: Speed | None, output_tokens: int) -> Interval:
    """Requests served per second, prompts inside: λ = R_s/OSL [1/s]; zero where the speed is not known."""
    served = speed.served_output_tokens_per_s if speed else None
    if served is None or not 0.0 < served.low <= served.value <= served.high < math.inf:
        return Interval(0.0, 0.0, 0.0)
    return Interval(served.value / output_tokens, served.low / output_tokens, served.high / output_tokens)


def input_share(speed: Speed | None, rate_per_s: float, output_tokens: int) -> float:
    """The prompt's part of a request's device time: a/(a + b), a = its own work, b = OSL/R_d(C_d) [1].

    a comes from the share of the time that prompts are read: share ÷ λ seconds of the whole configuration.
    """
    if speed is None or rate_per_s <= 0.0 or speed.decoding_users <= 0.0:
        return 0.0
    prompt_s = speed.prompt_share / rate_per_s
    step_s = sum(speed.step_ms.values()) / 1e3
    decode_s = output_tokens * step_s / speed.decoding_users
    whole = prompt_s + decode_s
    return prompt_s / whole if whole > 0.0 else 0.0


def machines_for(gpus: int, each: int) -> int:
    """Whole machines of `each` devices that hold so many.

    >>> machines_for(32, 8), machines_for(3, 8)
    (4, 1)
    """
    return -(-gpus // max(1, each))


def deal_of(c: Configuration, speed: Speed | None, energy: Energy | None, money: Money) -> Deal:
    """The deal of a configuration: whole machines like for like, at the speed and power of that same
    configuration."""
    work, rent, api = c.workload, money.rent, money.api
    cached = max(0, min(work.prefix_tokens, work.prompt_tokens - 1))
    rate = requests_per_s(speed, work.output_tokens).value
    load, idle = powers(c, energy, money, "value")
    return Deal(
        hours_per_day=money.use.hours_per_day,
        days_per_month=money.use.days_per_month,
        duty=money.use.duty,
        requests_per_s=rate,
        input_tokens=work.prompt_tokens - cached,
        cached_tokens=cached,
        output_tokens=work.output_tokens,
        input_share=input_share(speed, rate, work.output_tokens),
        load_watts=load,
        idle_watts=idle,
        usd_per_kwh=money.electricity.usd_per_kwh,
        pue=money.electricity.pue,
        rent_usd_per_hour=rent.paid_usd_per_hour("value") * machines_for(c.count, rent.gpus)
        if rent
        else None,
        billed=rent.billed if rent else "all_hours",
        rent_trend_per_year=rent.trend_per_year if rent else 0.0,
        discount_per_year=money.discount_per_year,
        api_input_usd=api.usd_per_million_input if api else None,
        api_cached_usd=api.cached_usd if api else 0.0,
        api_output_usd=api.usd_per_million_output if api else 0.0,
        **_bought(c, money.purchase),
    )


def _bought(c: Configuration, purchase: Purchase | None) -> dict[str, Any]:
    """The fields of a deal that belong to owning; neutral ones without a price."""
    owned = purchase or Purchase(Interval(0.0, 0.0, 0.0), 1.0)
    return {
        "machines_usd": owned.usd.value * machines_for(c.count, owned.gpus) if purchase else None,
        "added_fraction": owned.server_fraction + owned.tax_fraction,
        "networking_usd": owned.networking_usd,
        "fixed_usd_per_month": owned.colocation_usd_per_month + owned.admin_usd_per_month,
        "maintenance_per_year": owned.maintenance_per_year,
        "months": 12.0 * owned.years,
        "resale_fraction": owned.resale_fraction,
        "resale_decline_per_year": owned.resale_decline_per_year,
    }


def powers(
    c: Configuration, energy: Energy | None, money: Money, end: str
) -> tuple[float | None, float | None]:
    """(power under load, power when idle) of all machines at one end of their ranges [W].

    Devices of a whole machine that the configuration does not use are idle all the time.
    """
    if energy is None:
        return None, None
    load: float = {"value": energy.watts, "low": energy.watts_low, "high": energy.watts_high}[end]
    share: float = getattr(money.electricity.idle_share, end)
    idle = energy.idle_watts if energy.idle_watts is not None else share * load
    spare = spare_gpus(c.count, money.purchase) if money.purchase else 0
    more = idle * spare / c.count
    return load + more, min(idle, load) + more


def spare_gpus(gpus: int, priced: Rent | Purchase) -> int:
    """Devices in whole machines beyond those that the configuration uses [1]."""
    return machines_for(gpus, priced.gpus) * priced.gpus - gpus
