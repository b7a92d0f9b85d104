"""The curves of the page: speed against context, throughput against users, wait against the prompt (formulas §7.5).

One evaluation over an array each; the arithmetic is that of a single point. PURE.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from calculator.estimation.configuration import Configuration
from calculator.estimation.throughput.decode import decode_step, floor_s
from calculator.estimation.throughput.intervals import spread_of
from calculator.estimation.throughput.load import Load, load_of
from calculator.estimation.throughput.rates import Rates, rates_of
from calculator.estimation.throughput.serving import Served, serve
from calculator.estimation.throughput.speed import step_shares

KNEE_GAIN = 1.25
"""The knee is where doubling the users brings less than a quarter more output."""


@dataclass(frozen=True, slots=True)
class SpeedCurve:
    """Tokens per second that a user sees against what the cache holds when decoding starts."""

    context_tokens: tuple[int, ...]
    tokens_per_s: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class UsersCurve:
    """Served output and latencies against users at once.

    knee_users: from where on doubling the users brings less than a quarter more. memory_limit_users: more than these
    queue for memory. latency_limit_users: most that keep to the targets, None without targets. low, high: of the served
    output.
    """

    users: tuple[int, ...]
    served_output_tokens_per_s: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]
    tokens_per_s_per_user: tuple[float, ...]
    ttft_ms: tuple[float, ...]
    tpot_ms: tuple[float, ...]
    knee_users: int | None
    memory_limit_users: int | None
    latency_limit_users: int | None


@dataclass(frozen=True, slots=True)
class PromptCurve:
    """Time to the first token against the length of the prompt [ms]."""

    prompt_tokens: tuple[int, ...]
    ttft_ms: tuple[float, ...]
    low: tuple[float, ...]
    high: tuple[float, ...]


def _floats(values: Any) -> tuple[float, ...]:
    return tuple(np.asarray(values, dtype=float).tolist())


def _shares(load: Load, rates: Rates, users: float) -> dict[str, float]:
    """Shares of a decode step by what it is spent on."""
    seconds = step_shares(decode_step(load, rates, users))
    whole = sum(seconds.values())
    return {name: part / whole for name, part in seconds.items()}


def _figure(c: Configuration) -> str:
    return "decode" if c.workload.users == 1 else "serving"


def speed_curve(c: Configuration, context_tokens: Sequence[int]) -> SpeedCurve | None:
    """Decode speed of one user at each context, with as many users as the configuration has, prompts left out.

    None where the device's bandwidth is not known. Contexts that do not fit are the caller's to leave out.
    """
    if not c.accelerator.bandwidth_bytes_per_s or c.model.task != "generate":
        return None
    rates, users = rates_of(c), float(c.workload.users)
    load = load_of(c, context_tokens=np.asarray(context_tokens, dtype=float))
    step = np.maximum(decode_step(load, rates, users).total_s, floor_s(load, users))
    low, high = spread_of(c, _figure(c), _shares(load_of(c), rates, users))
    rate = 1.0 / step
    return SpeedCurve(
        tuple(int(tokens) for tokens in context_tokens),
        _floats(rate),
        _floats(rate * low),
        _floats(np.minimum(rate * high, 1.0 / floor_s(load, users))),
    )


def served_at(c: Configuration, users: Sequence[int], memory_limit_users: int | None = None) -> Served | None:
    """The steady state at each number of users; those above the memory's limit wait for a place (formulas §7.5).

    None where the device's bandwidth or compute rate is not known.
    """
    load = load_of(c)
    if not c.accelerator.bandwidth_bytes_per_s or load.flops_per_s is None or c.model.task != "generate":
        return None
    wanted = np.asarray(users, dtype=float)
    inside = wanted if memory_limit_users is None else np.minimum(wanted, max(1.0, float(memory_limit_users)))
    served = serve(load, rates_of(c), inside)
    waiting = (wanted - inside) / inside * served.request_s
    return replace(served, users=wanted, ttft_s=served.ttft_s + waiting)


def users_curve(
    c: Configuration,
    users: Sequence[int],
    *,
    memory_limit_users: int | None = None,
    ttft_ms: float | None = None,
    tpot_ms: float | None = None,
) -> UsersCurve | None:
    """Throughput and latency at each number of users, with knee and limits; None as `served_at`.

    memory_limit_users: most requests that the memory holds (`Capacity.max_users`). ttft_ms, tpot_ms: latency targets.
    """
    served = served_at(c, users, memory_limit_users)
    if served is None:
        return None
    output = np.asarray(served.output_tokens_per_s)
    low, high = spread_of(c, "serving", _shares(load_of(c), rates_of(c), float(max(users))))
    limit = None
    if ttft_ms is not None or tpot_ms is not None:
        limit = most_users_within(c, ttft_ms=ttft_ms, tpot_ms=tpot_ms, most=memory_limit_users or max(users))
    return UsersCurve(
        users=tuple(int(number) for number in users),
        served_output_tokens_per_s=_floats(output),
        low=_floats(output * low),
        high=_floats(output * high),
        tokens_per_s_per_user=_floats(1.0 / served.tpot_s),
        ttft_ms=_floats(1e3 * served.ttft_s),
        tpot_ms=_floats(1e3 * served.tpot_s),
        knee_users=knee(c, memory_limit_users or max(users)),
        memory_limit_users=memory_limit_users,
        latency_limit_users=limit,
    )


def knee(c: Configuration, most: int) -> int | None:
    """The fewest users from which on doubling them brings less than a quarter more output; None up to `most`."""
    numbers = np.unique(np.round(np.geomspace(1, max(1, most), 65)))
    load, rates = load_of(c), rates_of(c)
    gain = (
        serve(load, rates, 2 * numbers).output_tokens_per_s / serve(load, rates, numbers).output_tokens_per_s
    )
    found = np.nonzero(gain < KNEE_GAIN)[0]
    return int(numbers[found[0]]) if found.size else None


def most_users_within(
    c: Configuration, *, ttft_ms: float | None = None, tpot_ms: float | None = None, most: int = 65_536
) -> int:
    """Most users with TTFT ≤ x and TPOT ≤ y, up to `most` (the memory's limit); 0 when not even one keeps to them.

    Both times grow with users, so the search halves the range.
    """
    load = load_of(c)
    if not c.accelerator.bandwidth_bytes_per_s or load.flops_per_s is None:
        return 0
    rates = rates_of(c)

    def within(users: int) -> bool:
        served = serve(load, rates, float(users))
        slow = ttft_ms is not None and 1e3 * served.ttft_s > ttft_ms
        return not slow and not (tpot_ms is not None and 1e3 * served.tpot_s > tpot_ms)

    return _largest(within, most)


def _largest(holds: Callable[[int], bool], most: int) -> int:
    """The largest number up to `most` for which a property holds that larger ones lose; 0 when 1 does not."""
    if most < 1 or not holds(1):
        return 0
    low, high = 1, most
    while low < high:
        middle = (low + high + 1) // 2
        if holds(middle):
            low = middle
        else:
            high = middle - 1
    return low


def prompt_curve(c: Configuration, prompt_tokens: Sequence[int]) -> PromptCurve | None:
    """Time to the first token for each length of prompt, with as many users as the configuration has."""
    lengths = np.asarray(prompt_tokens, dtype=float)
    load = load_of(c, prompt_tokens=lengths)
    if not c.accelerator.bandwidth_bytes_per_s or load.flops_per_s is None or c.model.task != "generate":
        return None
    times = 1e3 * np.asarray(serve(load, rates_of(c), np.full(lengths.shape, float(c.workload.users))).ttft_s)
    low, high = spread_of(c, "ttft", {})
    lengths_asked = tuple(int(tokens) for tokens in prompt_tokens)
    return PromptCurve(lengths_asked, _floats(times), _floats(times / high), _floats(times / low))
