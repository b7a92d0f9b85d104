"""Whether the question of a measurement can be asked. The catalogue does not know the questions: whoever does registers a
check here, and without one nothing is checked.

A fault is a slip of the editor's (no such parameter, a value out of range, an id that nothing has). A gap is a value that
was measured and that the calculator does not have, such as a fork's weights format: it is kept, and comparisons leave out
the parts that hang on it.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Remark:
    """What is wrong with one parameter of a question, as a sentence for the person who edits it."""

    field: str
    sentence: str
    gap: bool = False


Check = Callable[[Mapping[str, str]], Iterable[Remark]]

_checks: list[Check] = []


def register(check: Check | None) -> Check | None:
    """Let `check` judge questions from now on; None: nothing is checked. Returns the check of before."""
    before = _checks.pop() if _checks else None
    if check is not None:
        _checks.append(check)
    return before


def scenario_remarks(query: Mapping[str, str]) -> list[Remark]:
    """Everything about a question that cannot be taken as it is written."""
    return [remark for check in _checks for remark in check(query)]


def scenario_faults(query: Mapping[str, str]) -> list[str]:
    """Sentences for the parameters of a question that somebody has to correct."""
    return [remark.sentence for remark in scenario_remarks(query) if not remark.gap]


def scenario_gaps(query: Mapping[str, str]) -> list[str]:
    """Sentences for values that were measured and that the calculator does not have."""
    return [remark.sentence for remark in scenario_remarks(query) if remark.gap]
