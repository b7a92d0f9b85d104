"""Values that could not be taken as they were given: a sentence at each field, and a note that counts them."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from typing import Any, TypeVar

from calculator.scenario import Problem
from calculator.web.answer import Answer, permalink
from calculator.web.panels.shapes import ProblemsPanel, Sentence
from calculator.web.panels.spans import HOLE, filled, link, plain, sentence
from calculator.web.wording.problems import near_ids, problem_words, problems_note

_Field = TypeVar("_Field", bound=Mapping[str, Any])

KEPT = (
    "not_computed_yet",
    "link_above_slot",
    "link_unused",
    "context_above_maximum",
    "lengths_above_context",
)
"""Problems whose value is kept: nothing was replaced."""


def problem_sentence(problem: Problem, answer: Answer) -> Sentence:
    """The words at the field; near names are links that ask the question with them."""
    near = near_ids(problem)
    text = problem_words(problem, answer.units, near_names=HOLE if near else "")
    links = []
    for at, name in enumerate(near):
        if at:
            links.append(plain(", "))
        links.append(link(name, permalink(answer.scenario.replace(**{problem.field: name}))))
    return filled(text, links) if near else sentence(text)


def field_problem(answer: Answer, field: str) -> Sentence:
    """The sentence of one field, empty without a problem."""
    for problem in answer.problems:
        if problem.field == field:
            return problem_sentence(problem, answer)
    return []


def with_problem(field: _Field, answer: Answer) -> _Field:
    """The field with its own sentence; as it is without a problem."""
    sentence = field_problem(answer, field["id"]) if answer.problems else []
    return {**field, "problem": sentence} if sentence else field  # type: ignore[return-value]


def problems_panel(answer: Answer, controls: Collection[str]) -> ProblemsPanel:
    """All problems; controls: ids of the fields that stand on the page."""
    shown: dict[str, Sentence] = {}
    others: list[Sentence] = []
    for problem in answer.problems:
        words = problem_sentence(problem, answer)
        if problem.field in controls:
            shown.setdefault(problem.field, words)
        else:
            others.append(words)
    replaced = [problem.field for problem in answer.problems if problem.code not in KEPT]
    marked = sum(field in controls for field in replaced)
    return {
        "sentence": problems_note(len(replaced), marked) if replaced else "",
        "fields": [{"id": field, "sentence": words} for field, words in shown.items()],
        "others": others,
    }
