"""Measured speeds as questions: a run and the Scenario that it answers, with how it was measured. PURE."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from calculator.resolve import resolve
from calculator.scenario import Problem, Scenario, parse
from catalog.records import Conditions, Measurement
from catalog.snapshot import Snapshot

GAPS = frozenset({"context_above_maximum", "lengths_above_context"})
"""Problems that a run may have: it was measured all the same."""

OUTPUT_TOKENS = 128
"""Length of the answer where a source does not say it [tokens]: llama-bench's."""


@dataclass(frozen=True, slots=True)
class SpeedCase:
    """One measured run, as a question and its observed figures.

    observed: tokens/s for decode (of one user), prefill and throughput, seconds for ttft and tpot. context_tokens: what
    one request holds while it decodes, on average. start_tokens: what the cache holds before the measured prompt. batch:
    requests in one forward pass, tokens of all of them in the prefill figure. weights_bytes: size of the file where the
    source gives it.
    """

    id: str
    group: str
    split: str
    scenario: Scenario
    observed: Mapping[str, float]
    users: int
    prompt_tokens: int
    output_tokens: int
    context_tokens: float
    start_tokens: int
    weights_bytes: int | None
    host_bandwidth_bytes_per_s: float | None


@dataclass(frozen=True, slots=True)
class SkippedCase:
    """A run that cannot be asked, and why (a code; of runs that are not comparable, the source's own words)."""

    id: str
    split: str
    reason: str


def read_case(run: Measurement, snapshot: Snapshot) -> SpeedCase | SkippedCase:
    """The question and the observed figures of a run, or why it cannot be asked."""
    if not run.comparable:
        return SkippedCase(run.id, run.split, run.why_not[0] if run.why_not else "not_comparable")
    if reason := _missing(run, snapshot):
        return SkippedCase(run.id, run.split, reason)
    scenario, unreadable = parse(run.scenario)
    if _refused((*unreadable, *resolve(scenario, snapshot).problems)):
        return SkippedCase(run.id, run.split, "not_askable")
    observed = _observed(run)
    if not observed:
        return SkippedCase(run.id, run.split, "no_part_to_compare")
    return _case(run, scenario, observed)


def _missing(run: Measurement, snapshot: Snapshot) -> str:
    """What of the question the catalogue does not have (a code), empty when it has all of it."""
    asked = run.scenario
    if asked.get("model") not in snapshot.models:
        return "model_not_in_catalogue"
    if asked.get("engine") not in snapshot.engines:
        return "engine_not_in_catalogue"
    if snapshot.weights_format(asked.get("quant", "")) is None:
        return "format_not_in_catalogue"
    return "" if snapshot.hosts(asked.get("gpu", "")) else "device_not_in_catalogue"


def _refused(problems: Iterable[Problem]) -> bool:
    """Something of the question could not be taken as it was given."""
    return any(problem.code not in GAPS for problem in problems)


def _observed(run: Measurement) -> dict[str, float]:
    """The figures to compare [tokens/s, s]; a time per token is the decode rate of one user."""
    found = {o.part: o.amount for o in run.observed if o.part in run.compare}
    tpot_s = found.pop("tpot", None)
    return {"decode": 1 / tpot_s, **found} if tpot_s else found


def _case(run: Measurement, scenario: Scenario, observed: Mapping[str, float]) -> SpeedCase:
    given = run.conditions or Conditions()
    output = scenario.output or OUTPUT_TOKENS
    return SpeedCase(
        id=run.id,
        group=run.group,
        split=run.split,
        scenario=scenario,
        observed=observed,
        users=given.users or 1,
        prompt_tokens=scenario.prompt or 1,
        output_tokens=output,
        context_tokens=(given.depth_tokens or 0) + output / 2,
        start_tokens=given.start_tokens or 0,
        weights_bytes=given.weights_bytes,
        host_bandwidth_bytes_per_s=given.host_bandwidth_bytes_per_s,
    )
