"""The speed of one configuration: every figure with its interval, and what bounds it. PURE."""

from __future__ import annotations

from dataclasses import dataclass

from calculator.estimation.configuration import Configuration
from calculator.estimation.terms import BOUNDS, BoundBy, Interval, Reason, Speed
from calculator.estimation.throughput.decode import Step, decode_step, floor_s, step_s
from calculator.estimation.throughput.intervals import of_rate, of_time, spread_of
from calculator.estimation.throughput.load import Load, load_of
from calculator.estimation.throughput.prefill import prompt_floor_s, prompt_s
from calculator.estimation.throughput.rates import Rates, rates_of
from calculator.estimation.throughput.serving import Served, serve


def missing_for_speed(c: Configuration) -> tuple[Reason, ...]:
    """Figures of the device that are not known: without its bandwidth there is no speed, without its compute rate no
    figure of a prompt."""
    named = {"device": c.accelerator.name}
    if c.model.task != "generate":
        return (Reason("speed_no_generation", {"model": c.model.name}),)
    if not c.accelerator.bandwidth_bytes_per_s:
        return (Reason("speed_bandwidth_unknown", named),)
    if c.cards and not all(card.bandwidth_bytes_per_s for card in c.cards):
        return (Reason("speed_bandwidth_unknown", named),)
    if load_of(c).flops_per_s is None:
        return (Reason("speed_compute_unknown", named),)
    return ()


def step_shares(step: Step) -> dict[BoundBy, float]:
    """The parts of a decode step by what bounds it [s]."""
    parts = (step.weights_s, step.cache_s, step.compute_s, step.link_s, step.host_s, step.overhead_s)
    return {name: float(part) for name, part in zip(BOUNDS, parts, strict=True)}


@dataclass(frozen=True, slots=True)
class _Parts:
    """Everything that the figures are made of."""

    configuration: Configuration
    load: Load
    rates: Rates
    served: Served | None
    step: Step


def speed_of(c: Configuration) -> Speed | None:
    """The speed of a configuration, whether or not it fits; None where the device's bandwidth is not known.

    Figures of a prompt are None where its compute rate is not known; the decode rate is then that of a step without
    prompts of others inside.
    """
    if c.model.task != "generate" or not c.accelerator.bandwidth_bytes_per_s:
        return None
    if c.cards and not all(card.bandwidth_bytes_per_s for card in c.cards):
        return None
    load, rates = load_of(c), rates_of(c)
    users = float(c.workload.users)
    served = serve(load, rates, users) if load.flops_per_s is not None else None
    at = served.decoding if served else users
    parts = _Parts(c, load, rates, served, decode_step(load, rates, max(float(at), float(load.copies))))
    return _speed(parts, users)


def _speed(parts: _Parts, users: float) -> Speed:
    c, load, served = parts.configuration, parts.load, parts.served
    seconds = step_shares(parts.step)
    whole = sum(seconds.values())
    shares: dict[str, float] = {name: part / whole for name, part in seconds.items()}
    figure = "decode" if c.workload.users == 1 else "serving"
    spread = spread_of(c, figure, shares)
    step = float(step_s(load, parts.rates, users))
    tpot = float(served.tpot_s) if served else step
    floor = float(floor_s(load, users))
    most = users / floor
    output = c.workload.output_tokens
    prompt = _prompt(parts, shares)
    return Speed(
        decode_tokens_per_s_per_user=of_rate(1 / tpot, spread, most),
        decode_tokens_per_s_total=of_rate(users / step, spread, most),
        served_output_tokens_per_s=of_rate(float(served.output_tokens_per_s), spread, most)
        if served
        else None,
        prefill_tokens_per_s=prompt[0] if prompt else None,
        ttft_ms=prompt[1] if prompt else None,
        tpot_ms=of_time(1e3 * tpot, spread, 1e3 * floor / users),
        request_s=_request(prompt[1], of_time(tpot, spread), output) if prompt else None,
        bound_by=max(BOUNDS, key=lambda name: seconds[name]),
        decoding_users=float(served.decoding) if served else users,
        step_ms={name: 1e3 * part for name, part in seconds.items()},
        cases=c.constants[f"speed_spread_{figure}"].cases,
        prompt_share=_prompt_share(parts),
    )


def _prompt_share(parts: _Parts) -> float:
    """Share of the time that a copy reads prompts: requests per second times the work of one prompt [1]."""
    served = parts.served
    if served is None:
        return 0.0
    requests_per_s = served.users / parts.load.copies / served.request_s
    return min(1.0, float(requests_per_s * served.prompt_s))


def _prompt(parts: _Parts, shares: dict[str, float]) -> tuple[Interval, Interval] | None:
    """(prompt tokens/s on an idle machine, time to the first token [ms])."""
    c, load, served = parts.configuration, parts.load, parts.served
    if served is None:
        return None
    alone = float(prompt_s(load, parts.rates))
    shortest = float(prompt_floor_s(load))
    host = load.host.fixed_bytes + load.host.expert_bytes
    shortest = max(shortest, host / load.host.link_bytes_per_s)
    rate = of_rate(load.prompt_tokens / alone, spread_of(c, "prefill", shares), load.prompt_tokens / shortest)
    ttft = of_time(1e3 * float(served.ttft_s), spread_of(c, "ttft", {}), 1e3 * shortest)
    return rate, ttft


def _request(ttft_ms: Interval, tpot_s: Interval, output_tokens: int) -> Interval:
    """A whole request: the wait for the first token and the time of the others, ends added in quadrature [s]."""
    more = output_tokens - 1
    value = ttft_ms.value / 1e3 + more * tpot_s.value
    below = ((ttft_ms.value - ttft_ms.low) / 1e3) ** 2 + (more * (tpot_s.value - tpot_s.low)) ** 2
    above = ((ttft_ms.high - ttft_ms.value) / 1e3) ** 2 + (more * (tpot_s.high - tpot_s.value)) ** 2
    return Interval(value, value - below**0.5, value + above**0.5)
