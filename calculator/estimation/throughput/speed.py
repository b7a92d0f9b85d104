"""The speed of one configuration: every figure with its interval, and what bounds it. PURE."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from calculator.estimation.configuration import Configuration
from calculator.estimation.numbers import most
from calculator.estimation.terms import BOUNDS, BoundBy, Interval, Reason, Speed
from calculator.estimation.throughput.decode import Step, decode_step, floor_s, step_s
from calculator.estimation.throughput.intervals import of_rate, of_time, spread_of
from calculator.estimation.throughput.load import Load, load_of
from calculator.estimation.throughput.prefill import prompt_floor_s, prompt_s
from calculator.estimation.throughput.rates import Rates, rates_of
from calculator.estimation.throughput.serving import serve


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
class Figures:
    """What a speed is made of: times [s], and the output rate of all users [tokens/s]. Every field may be an array over
    configurations. Those of a prompt are None where the compute rate is not known."""

    parts: tuple[Any, ...]
    step_s: Any
    floor_s: Any
    tpot_s: Any
    decoding: Any
    output_tokens_per_s: Any = None
    request_s: Any = None
    prompt_work_s: Any = None
    prompt_s: Any = None
    prompt_floor_s: Any = None
    ttft_s: Any = None


def figures_of(load: Load, rates: Rates, users: Any) -> Figures:
    """The times of a load, or of many that are arrays of one length with `users` of that length."""
    served = serve(load, rates, users) if load.flops_per_s is not None else None
    at = served.decoding if served else users
    step = decode_step(load, rates, most(at * 1.0, load.copies * 1.0))
    parts = (step.weights_s, step.cache_s, step.compute_s, step.link_s, step.host_s, step.overhead_s)
    whole, floor = step_s(load, rates, users), floor_s(load, users)
    if served is None:
        return Figures(parts, whole, floor, whole, users)
    host = load.host.fixed_bytes + load.host.expert_bytes
    return Figures(
        parts,
        whole,
        floor,
        served.tpot_s,
        served.decoding,
        served.output_tokens_per_s,
        served.request_s,
        served.prompt_s,
        prompt_s(load, rates),
        most(prompt_floor_s(load), host / load.host.link_bytes_per_s),
        served.ttft_s,
    )


def has_speed(c: Configuration) -> bool:
    """Whether the bandwidth of every device is known, and text is generated."""
    if c.model.task != "generate" or not c.accelerator.bandwidth_bytes_per_s:
        return False
    return all(card.bandwidth_bytes_per_s for card in c.cards)


def speed_of(c: Configuration) -> Speed | None:
    """The speed of a configuration, whether or not it fits; None where the device's bandwidth is not known.

    Figures of a prompt are None where its compute rate is not known; the decode rate is then that of a step without
    prompts of others inside.
    """
    if not has_speed(c):
        return None
    load = load_of(c)
    return speed_from(c, load, figures_of(load, rates_of(c), float(c.workload.users)))


def speed_from(c: Configuration, load: Load, found: Figures) -> Speed:
    """The figures of one configuration with their intervals."""
    users = float(c.workload.users)
    seconds: dict[BoundBy, float] = {
        name: float(part) for name, part in zip(BOUNDS, found.parts, strict=True)
    }
    whole = sum(seconds.values())
    shares: dict[str, float] = {name: part / whole for name, part in seconds.items()}
    figure = "decode" if c.workload.users == 1 else "serving"
    spread = spread_of(c, figure, shares)
    tpot, floor = float(found.tpot_s), float(found.floor_s)
    fastest = users / floor
    served = found.output_tokens_per_s is not None
    prompt = _prompt(c, load, found, shares) if served else None
    return Speed(
        decode_tokens_per_s_per_user=of_rate(1 / tpot, spread, fastest),
        decode_tokens_per_s_total=of_rate(users / float(found.step_s), spread, fastest),
        served_output_tokens_per_s=of_rate(float(found.output_tokens_per_s), spread, fastest)
        if served
        else None,
        prefill_tokens_per_s=prompt[0] if prompt else None,
        ttft_ms=prompt[1] if prompt else None,
        tpot_ms=of_time(1e3 * tpot, spread, 1e3 * floor / users),
        request_s=_request(prompt[1], of_time(tpot, spread), c.workload.output_tokens) if prompt else None,
        bound_by=max(BOUNDS, key=lambda name: seconds[name]),
        decoding_users=float(found.decoding),
        step_ms={name: 1e3 * part for name, part in seconds.items()},
        cases=c.constants[f"speed_spread_{figure}"].cases,
        prompt_share=_prompt_share(c, load, found) if served else 0.0,
    )


def _prompt_share(c: Configuration, load: Load, found: Figures) -> float:
    """Share of the time that a copy reads prompts: requests per second times the work of one prompt [1]."""
    requests_per_s = c.workload.users / load.copies / found.request_s
    return min(1.0, float(requests_per_s * found.prompt_work_s))


def _prompt(
    c: Configuration, load: Load, found: Figures, shares: dict[str, float]
) -> tuple[Interval, Interval]:
    """(prompt tokens/s on an idle machine, time to the first token [ms])."""
    alone, shortest = float(found.prompt_s), float(found.prompt_floor_s)
    rate = of_rate(load.prompt_tokens / alone, spread_of(c, "prefill", shares), load.prompt_tokens / shortest)
    return rate, of_time(1e3 * float(found.ttft_s), spread_of(c, "ttft", {}), 1e3 * shortest)


def _request(ttft_ms: Interval, tpot_s: Interval, output_tokens: int) -> Interval:
    """A whole request: the wait for the first token and the time of the others, ends added in quadrature [s]."""
    more = output_tokens - 1
    value = ttft_ms.value / 1e3 + more * tpot_s.value
    below = ((ttft_ms.value - ttft_ms.low) / 1e3) ** 2 + (more * (tpot_s.value - tpot_s.low)) ** 2
    above = ((ttft_ms.high - ttft_ms.value) / 1e3) ** 2 + (more * (tpot_s.high - tpot_s.value)) ** 2
    return Interval(value, value - below**0.5, value + above**0.5)
