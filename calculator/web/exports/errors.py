"""What is wrong with a request, as RFC 9457 problem details."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from calculator.scenario import BY_NAME, Parameter, Problem
from calculator.web.wording.problems import near_ids, refusal_words, shown_text
from calculator.web.wording.speech import gettext as _

NOT_FOUND = ("unknown_id",)
NOT_UNDERSTOOD = ("not_a_number", "not_a_choice", "not_a_switch", "not_a_count")
"""Problems that a page answers with the nearest value, and an API with an error."""


def refused(
    problems: Iterable[Problem], parameters: Mapping[str, Parameter] = BY_NAME
) -> dict[str, Any] | None:
    """The error that these problems are, None when all of them can be answered. parameters: of the question, and those
    that an operation has beside them."""
    found = list(problems)
    for status, codes, title in (
        (404, NOT_FOUND, _("Nothing has this id")),
        (422, NOT_UNDERSTOOD, _("A value cannot be understood")),
    ):
        named = [problem for problem in found if problem.code in codes]
        if named:
            details = [_detail(problem, parameters) for problem in named]
            return {"type": "about:blank", "title": title, "status": status, **details[0], "errors": details}
    return None


def _detail(problem: Problem, parameters: Mapping[str, Parameter] = BY_NAME) -> dict[str, Any]:
    """The field, the bad value, what is allowed and the nearest valid value."""
    parameter = parameters.get(problem.field)
    near = near_ids(problem)
    detail: dict[str, Any] = {
        "detail": refusal_words(problem),
        "field": problem.field,
        "given": shown_text(problem.given),
        "allowed": _allowed(parameter) if parameter else None,
        "nearest": _nearest(parameter, problem),
    }
    if problem.code in NOT_FOUND:
        detail |= {"near": near, "nearest": near[0] if near else None}
    return detail


def _allowed(parameter: Parameter) -> Any:
    if parameter.kind == "choice":
        return list(parameter.choices)
    if parameter.kind == "switch":
        return ["1", "0", "on", "off"]
    if parameter.kind == "id":
        return None
    return {"low": parameter.low, "high": parameter.high, "unit": parameter.unit}


def _nearest(parameter: Parameter | None, problem: Problem) -> Any:
    if parameter and parameter.kind == "choice":
        close = difflib.get_close_matches(problem.given.lower(), parameter.choices, n=1, cutoff=0.4)
        return close[0] if close else problem.used
    return problem.used


def not_found(field: str, given: str, near: Sequence[str]) -> dict[str, Any]:
    """What the catalogue does not hold, with near names."""
    problem = Problem(field, given, None, "unknown_id", (("near", ", ".join(near)),))
    return {"type": "about:blank", "title": _("Nothing has this id"), "status": 404, **_detail(problem)}


def not_one_of(field: str, given: str, allowed: Sequence[str]) -> dict[str, Any]:
    """A word that is none of those that exist, or without one that it is missing."""
    near, names = difflib.get_close_matches(given.lower(), allowed, n=1, cutoff=0.4), ", ".join(allowed)
    detail = _("“{given}” is none of {allowed}.").format(given=shown_text(given), allowed=names)
    if not given:
        detail = _("“{field}” is missing. It is one of {allowed}.").format(field=field, allowed=names)
    return _not_understood(field, given, detail, list(allowed), near[0] if near else None)


def not_a_whole_number(field: str, given: str, low: int, high: int, unit: str) -> dict[str, Any]:
    """A number of a filter that is none, or out of its range; the nearest is the end that it lies beyond."""
    detail = _("“{given}” is no whole number from {low} to {high}.").format(
        given=shown_text(given), low=low, high=high
    )
    nearest = low if given.strip().startswith("-") else high
    return _not_understood(field, given, detail, {"low": low, "high": high, "unit": unit}, nearest)


def _not_understood(field: str, given: str, detail: str, allowed: Any, nearest: Any) -> dict[str, Any]:
    told = {"field": field, "given": shown_text(given), "allowed": allowed, "nearest": nearest}
    title = _("A value cannot be understood")
    return {"type": "about:blank", "title": title, "status": 422, "detail": detail, **told}


def no_address(path: str, near: Sequence[str]) -> dict[str, Any]:
    """An address that no operation has, with the ones that it may have meant."""
    detail = _("No operation has the address {path}. All of them stand at /api/docs.").format(
        path=shown_text(path)
    )
    return {
        "type": "about:blank",
        "title": _("Nothing has this address"),
        "status": 404,
        "detail": detail,
        "near": list(near),
    }


def not_allowed(method: str, allowed: Sequence[str]) -> dict[str, Any]:
    """A method that an address does not take."""
    detail = _("{method} is not answered here; {allowed} is.").format(
        method=shown_text(method), allowed=", ".join(allowed)
    )
    return {
        "type": "about:blank",
        "title": _("This method is not answered here"),
        "status": 405,
        "detail": detail,
        "allowed": list(allowed),
    }


def bad_body(detail: str) -> dict[str, Any]:
    """A body that is no JSON object of names and values."""
    return {"type": "about:blank", "title": _("The body cannot be read"), "status": 422, "detail": detail}
