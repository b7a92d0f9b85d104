"""A question with its answer: what page, API, CSV and terminal are all made from."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from calculator.estimation import estimate
from calculator.estimation.configuration import Configuration
from calculator.estimation.economics import Costed, Owned, cost_of, ownership_of
from calculator.estimation.terms import Estimate, Reason
from calculator.resolve import Resolved, resolve
from calculator.scenario import Problem, Scenario, parse
from catalog.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Answer:
    """One snapshot of the catalogue, the question as it was understood, and the Estimate.

    found: what was looked for once and is shown in several places, by name.
    """

    snapshot: Snapshot
    resolved: Resolved
    estimate: Estimate
    problems: tuple[Problem, ...]
    found: dict[str, Any] = field(default_factory=dict, compare=False)

    @property
    def scenario(self) -> Scenario:
        return self.resolved.scenario

    @property
    def configuration(self) -> Configuration:
        return self.resolved.configuration

    @property
    def costed(self) -> Costed:
        """What a million tokens cost, or why there is no cost; computed once."""
        return self._money("costed", cost_of)

    @property
    def owned(self) -> Owned:
        """What owning costs and when it pays, or why not; computed once."""
        return self._money("owned", ownership_of)

    def _money(self, name: str, compute: Callable[..., Any]) -> Any:
        if name not in self.found:
            e = self.estimate
            assert e.configuration.money is not None, "resolve prices every question"
            self.found[name] = compute(e.configuration, e.speed, e.energy, e.configuration.money)
        return self.found[name]

    @property
    def units(self) -> str:
        return self.scenario.units

    @property
    def reasons(self) -> tuple[Reason, ...]:
        """The Estimate's reasons, models by their names."""
        models = self.snapshot.models
        return tuple(
            Reason(reason.code, {**reason.factors, "relative": models[str(relative)].name})
            if (relative := reason.factors.get("relative")) in models
            else reason
            for reason in self.estimate.reasons
        )

    def permalink(self, **changes: object) -> str:
        """The link of this question, or of one with some values changed."""
        return permalink(self.scenario.replace(**changes))  # type: ignore[arg-type]


def permalink(scenario: Scenario) -> str:
    """A question's address on this site."""
    return f"/?{scenario.query()}"


def answer(given: Mapping[str, str] | Iterable[tuple[str, str]], snapshot: Snapshot) -> Answer:
    """Read a query, settle what it leaves open, compute."""
    scenario, problems = parse(given)
    return answer_to(scenario, snapshot, problems)


def answer_to(scenario: Scenario, snapshot: Snapshot, problems: tuple[Problem, ...] = ()) -> Answer:
    """Settle and compute a question that was read before."""
    resolved = resolve(scenario, snapshot)
    return Answer(snapshot, resolved, estimate(resolved.configuration), (*problems, *resolved.problems))
