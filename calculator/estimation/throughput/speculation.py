"""Speculative decoding: what drafts may gain, as a toggle with a range, never in the default figures (formulas §7.6). PURE."""

from __future__ import annotations

from calculator.estimation.configuration import Configuration
from calculator.estimation.terms import Interval, Speculation, Speed
from calculator.estimation.throughput.decode import decode_step, touched_share
from calculator.estimation.throughput.load import load_of
from calculator.estimation.throughput.rates import rates_of

MANY_USERS = 8
"""From about so many users on, drafts cost what they bring, outside tuned data-centre stacks (formulas §7.6)."""


def expected_tokens(acceptance: float, drafted: int) -> float:
    """Tokens of one step with independent acceptances: (1 − α^(γ + 1))/(1 − α) [1].

    >>> round(expected_tokens(0.8, 3), 3)
    2.952
    """
    if acceptance >= 1:
        return drafted + 1.0
    return (1 - acceptance ** (drafted + 1)) / (1 - acceptance)


def gain_ceiling(tokens_per_step: float, drafted: int, verify: float, draft: float) -> float:
    """Upper bound of the gain: tokens of a step ÷ its cost. verify, draft: in ordinary steps [1].

    >>> round(gain_ceiling(expected_tokens(0.8, 3), 3, 1.0, 0.05), 3)
    2.567
    """
    return tokens_per_step / (verify + drafted * draft)


def speculated(
    c: Configuration, speed: Speed, *, drafted: int | None = None, acceptance: float | None = None
) -> Speculation | None:
    """What `drafted` tokens per step may gain over `speed`; None without drafts.

    The range is of measured gains, for one user by kind of model, from eight users on around none; between them it
    narrows towards the second. It never exceeds the ceiling at this acceptance.
    """
    drafted = c.knobs.drafted_tokens if drafted is None else drafted
    if drafted <= 0:
        return None
    usual = c.constants["speed_mtp_acceptance"].value
    acceptance = usual if acceptance is None else acceptance
    tokens = expected_tokens(acceptance, drafted)
    ceiling = gain_ceiling(tokens, drafted, _verify_cost(c, drafted), 1.0 / c.model.architecture.layer_count)
    alone = c.constants["speed_mtp_moe" if c.model.architecture.is_moe else "speed_mtp_dense"]
    many = c.constants["speed_mtp_many"]
    share = min(1.0, (c.workload.users - 1) / (MANY_USERS - 1))
    value, low, high = (
        min(ceiling, (1 - share) * getattr(alone, end) + share * getattr(many, end))
        for end in ("value", "low", "high")
    )
    base = speed.decode_tokens_per_s_per_user
    gained = Interval(base.value * value, base.low * low, base.high * high)
    return Speculation(drafted, acceptance, tokens, ceiling, Interval(value, low, high), gained)


def _verify_cost(c: Configuration, drafted: int) -> float:
    """A step that verifies γ + 1 tokens of each request, in ordinary steps: more experts are touched, more computed [1]."""
    load, rates, users = load_of(c), rates_of(c), float(c.workload.users)
    step = decode_step(load, rates, users)
    requests = max(1.0, users / c.plan.dp)
    touched = touched_share(load.routed_share, requests)
    further = touched_share(load.routed_share, requests * (drafted + 1)) - touched
    weights = load.expert_bytes * further / (rates.experts * rates.weights * load.bandwidth_bytes_per_s)
    return float((step.total_s + weights + drafted * step.compute_s) / step.total_s)
