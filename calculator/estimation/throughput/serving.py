"""Many users at once: prompts of the others inside the time per token, and the wait for the first (formulas §7.5).

A copy is a closed queue of two stations: reading prompts, one at a time, and decoding, all together. PURE.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from calculator.estimation.numbers import most, root
from calculator.estimation.throughput.decode import step_s
from calculator.estimation.throughput.load import Load
from calculator.estimation.throughput.prefill import prompt_s, prompt_work_s
from calculator.estimation.throughput.rates import Rates

ROUNDS = 6
"""Rounds of the fixed point between waiting and decoding; five give six digits."""


@dataclass(frozen=True, slots=True)
class Served:
    """A steady state of `users` requests. decoding: those of them that decode at a time. step_s: a decode step at that
    number, without prompts. prompt_s: the work of one prompt."""

    users: Any
    ttft_s: Any
    tpot_s: Any
    decoding: Any
    step_s: Any
    prompt_s: Any
    output_tokens: Any

    @property
    def request_s(self) -> Any:
        """A whole request [s]."""
        return self.ttft_s + (self.output_tokens - 1) * self.tpot_s

    @property
    def output_tokens_per_s(self) -> Any:
        """Generated tokens of all users: R_s = C·OSL/(TTFT + (OSL − 1)·TPOT) [tokens/s]."""
        return self.users * self.output_tokens / self.request_s

    @property
    def decode_tokens_per_s(self) -> Any:
        """The pure decode rate of those that decode: R_d = C_d/t_step [tokens/s]."""
        return self.decoding / self.step_s


def decoding_users(users: Any, output_tokens: Any, ttft_s: Any, tpot_s: Any) -> Any:
    """Users that decode at a time, the others wait for their first token: C·OSL·TPOT/(TTFT + (OSL − 1)·TPOT) [1]."""
    return users * output_tokens * tpot_s / (ttft_s + (output_tokens - 1) * tpot_s)


def time_at_prompts_s(work_s: Any, users: Any, elsewhere_s: Any) -> Any:
    """Time of a request at the prompt station with its queue, in a closed network (Schweitzer's approximation) [s].

    R = p·(1 + (C − 1)/C·Q) with Q = C·R/(R + Z), solved for R: p alone when Z is long, C·p − Z when prompts are all.
    """
    excess = work_s * users - elsewhere_s
    return (excess + root(excess * excess + 4.0 * work_s * elsewhere_s)) / 2.0


def serve(load: Load, rates: Rates, users: Any) -> Served:
    """The steady state with `users` requests at once."""
    own = most(users / load.copies, users * 0 + 1.0)
    work = prompt_work_s(load, rates)
    alone = prompt_s(load, rates)
    first = step_s(load, rates, load.copies * 1.0)
    output = load.output_tokens
    decoding = own * 1.0
    ttft = alone + 0.0 * own
    tpot = first + 0.0 * own
    for _ in range(ROUNDS if np.any(own > 1) else 1):
        together = step_s(load, rates, most(decoding * load.copies, load.copies * 1.0))
        tpot = together + rates.interference * work * decoding * (own > 1) / output
        queued = time_at_prompts_s(work, own, (output - 1) * tpot + 1e-9)
        waves = rates.prompt_wave * work * (own - 1.0) / 2.0
        ttft = alone + most(rates.prompt_queue * (queued - work), waves)
        decoding = decoding_users(own, output, ttft, tpot)
    together = step_s(load, rates, most(decoding * load.copies, load.copies * 1.0))
    return Served(users, ttft, tpot, decoding * load.copies, together, work, output)
