"""How a test asks: the query of a link in, the resolved question and its estimate out."""

from dataclasses import dataclass

from calculator.estimation import estimate
from calculator.estimation.configuration import Configuration
from calculator.estimation.terms import Capacity, Estimate, Memory, Reason, Term
from calculator.resolve import Resolved, resolve
from calculator.scenario import Problem, parse
from catalog.importers.files import snapshot_from_files
from catalog.records import GIB, MIB

SNAPSHOT = snapshot_from_files()
H100 = "h100-sxm"


@dataclass(frozen=True)
class Answer:
    """One question with everything that came of it."""

    resolved: Resolved
    estimate: Estimate
    problems: tuple[Problem, ...]

    @property
    def configuration(self) -> Configuration:
        return self.resolved.configuration

    @property
    def verdict(self) -> str:
        return self.estimate.verdict

    @property
    def reasons(self) -> dict[str, Reason]:
        return {reason.code: reason for reason in self.estimate.reasons}

    @property
    def memory(self) -> Memory:
        assert self.estimate.memory is not None
        return self.estimate.memory

    @property
    def capacity(self) -> Capacity:
        assert self.estimate.capacity is not None
        return self.estimate.capacity

    @property
    def needed_gib(self) -> float:
        return self.memory.needed.value / GIB

    @property
    def usable_gib(self) -> float:
        return self.memory.limit.usable.value / GIB

    @property
    def usable_mib(self) -> float:
        return self.memory.limit.usable.value / MIB

    def part(self, name: str) -> int:
        """Bytes of a part on the fullest GPU, 0 when there is none."""
        return next((part.per_gpu_bytes for part in self.memory.parts if part.name == name), 0)

    def term(self, code: str) -> Term:
        """A term on the fullest GPU."""
        return next(term for part in self.memory.parts for term in part.terms if term.code == code)

    def has_term(self, code: str) -> bool:
        return any(term.code == code for part in self.memory.parts for term in part.terms)

    @property
    def plan(self) -> tuple[int, int]:
        return self.configuration.plan.tp, self.configuration.plan.pp


def ask(**query: object) -> Answer:
    """Parse, resolve and estimate, as the page does with a link."""
    scenario, unreadable = parse({name: str(value) for name, value in query.items()})
    resolved = resolve(scenario, SNAPSHOT)
    return Answer(resolved, estimate(resolved.configuration), unreadable + resolved.problems)


def architecture(model_id: str):
    return SNAPSHOT.models[model_id].architecture
