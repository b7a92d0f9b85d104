"""Context and users on their log scales, with the limits that colour the tracks."""

from __future__ import annotations

from calculator.estimation.terms import Capacity
from calculator.web import figures
from calculator.web.answer import Answer
from calculator.web.charts import Axis, powers_of_four
from calculator.web.panels.bar import percent
from calculator.web.panels.links import link_to
from calculator.web.panels.per_snapshot import unmoved
from calculator.web.panels.problems import with_problem
from calculator.web.panels.shapes import SliderField, Tick
from calculator.web.wording.fields import label_of
from calculator.web.wording.speech import gettext as _
from calculator.web.wording.speech import gettext_lazy

LEAST_CONTEXT = 1024
MOST_CONTEXT = 1_048_576
MOST_USERS = 1024
_NOT_COMPUTED = gettext_lazy("No limits are known for what is refused.")
STEP = 1024  # *longest* is rounded down to a multiple


def ticks(axis: Axis) -> list[Tick]:
    """Powers of four along the scale; the first and last labels are anchored inward."""
    values = powers_of_four(axis)
    return [
        {
            "x": percent(100 * axis.at(value)),
            "value": str(value),
            "label": tick_label(value),
            "anchor": "start" if value == axis.low else "end" if value == axis.high else "middle",
        }
        for value in values
    ]


def tick_label(value: int) -> str:
    """A tick, short from 1,024 on: 1K 4K 16K."""
    return f"{value // STEP}K" if STEP <= value < STEP * STEP else figures.tokens(value)


def context_slider(answer: Answer) -> SliderField:
    """The context: its scale is the same for all models, longer only where one takes more."""
    field = unmoved(answer, "ctx", lambda: _unmoved_context(answer))
    capacity, maximum = answer.estimate.capacity, answer.configuration.model.max_context_tokens
    longest = _longest(capacity)
    moved: SliderField = {
        **field,
        "value": figures.whole(answer.configuration.workload.context_tokens),
        "fit": str(capacity.max_context_fits_tokens) if capacity else "",
        "tight": str(_tight(capacity.max_context_fits_tokens, capacity.max_context_tokens))
        if capacity
        else "",
        "words": _context_words(answer, capacity, maximum),
        "longest": str(longest) if longest else "",
        "longest_href": link_to(answer, ctx=longest) if longest else "",
    }
    return with_problem(moved, answer)


def _unmoved_context(answer: Answer) -> SliderField:
    maximum = answer.configuration.model.max_context_tokens
    axis = Axis(LEAST_CONTEXT, max(MOST_CONTEXT, maximum or 0), log=True)
    return {
        "id": "ctx",
        "name": "ctx",
        "label": label_of("ctx"),
        "value": "",
        "unit": _("tokens"),
        "low": str(LEAST_CONTEXT),
        "high": str(int(axis.high)),
        "ticks": ticks(axis),
        "fit": "0",
        "tight": "0",
        "maximum": str(maximum) if maximum else "",
        "words": "",
        "longest": "",
        "longest_href": "",
        "problem": [],
    }


def users_slider(answer: Answer) -> SliderField:
    """Requests at once."""
    capacity = answer.estimate.capacity
    moved: SliderField = {
        **unmoved(answer, "users", _unmoved_users),
        "value": figures.whole(answer.configuration.workload.users),
        "fit": str(capacity.max_users_fits) if capacity else "",
        "tight": str(_tight(capacity.max_users_fits, capacity.max_users)) if capacity else "",
        "words": _users_words(capacity),
    }
    return with_problem(moved, answer)


def _unmoved_users() -> SliderField:
    axis = Axis(1, MOST_USERS, log=True)
    return {
        "id": "users",
        "name": "users",
        "label": label_of("users"),
        "value": "",
        "unit": _("requests"),
        "low": "1",
        "high": str(MOST_USERS),
        "ticks": ticks(axis),
        "fit": "0",
        "tight": "0",
        "maximum": "",
        "words": "",
        "longest": "",
        "longest_href": "",
        "problem": [],
    }


def _tight(fits: int, tight: int) -> int:
    return max(fits, tight)


def _longest(capacity: Capacity | None) -> int:
    """What *longest* sets: what fits outright, else what should fit, in whole steps; 0 for no link."""
    if capacity is None:
        return 0
    tokens = capacity.max_context_fits_tokens or capacity.max_context_tokens
    return tokens // STEP * STEP or tokens


def _context_words(answer: Answer, capacity: Capacity | None, maximum: int | None) -> str:
    if capacity is None:
        words = str(_NOT_COMPUTED)
        if maximum:
            words += " " + _("Model’s maximum {maximum}.").format(maximum=figures.whole(maximum))
        return words
    fits, tight = capacity.max_context_fits_tokens, capacity.max_context_tokens
    if maximum and fits >= maximum:
        return _("Fits up to the model’s maximum of {maximum}.").format(maximum=figures.whole(maximum))
    if fits:
        words = _("Fits up to {tokens}.").format(tokens=figures.whole(fits))
    elif tight:
        words = _("Tight up to {tokens}.").format(tokens=figures.whole(tight))
    elif any(reason.code == "weights_alone_too_large" for reason in answer.estimate.reasons):
        words = _("No context fits: the weights alone are too large.")
    else:
        words = _("No context fits.")
    if maximum:
        words += " " + _("Model’s maximum {maximum}.").format(maximum=figures.whole(maximum))
    return words


def _users_words(capacity: Capacity | None) -> str:
    if capacity is None:
        return str(_NOT_COMPUTED)
    if capacity.max_users_fits:
        return _("Fits up to {users}.").format(users=figures.whole(capacity.max_users_fits))
    if capacity.max_users:
        return _("Tight up to {users}.").format(users=figures.whole(capacity.max_users))
    return _("Not one request of this context fits.")
