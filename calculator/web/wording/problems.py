"""What is said beside a field whose value could not be taken as it was given."""

from __future__ import annotations

from collections.abc import Mapping

from calculator.scenario import BY_NAME, Problem, text_of
from calculator.web import figures
from calculator.web.wording.fields import label_of
from calculator.web.wording.speech import gettext_lazy as _
from calculator.web.wording.speech import ngettext
from calculator.web.wording.text import Factor, Template, say_code

PROBLEMS: Mapping[str, Template] = {
    "not_a_number": _("“{given}” is not a number. The answer uses {used}."),
    "not_whole": _("{field} is a whole number. The answer uses {used}."),
    "out_of_range": _("{field} goes from {low} to {high}. The answer uses {used}."),
    "not_a_switch": _("“{given}” is neither on nor off. The answer uses {used}."),
    "not_a_choice": _("“{given}” is none of {allowed}. The answer uses {used}."),
    "unknown_id": _("Nothing here is called “{given}”. The answer uses {used}."),
    "unknown_id_near": _("Nothing here is called “{given}”. Near names: {near}. The answer uses {used}."),
    "unknown_id_left_out": _("Nothing here is called “{given}”; that card is left out."),
    "unknown_ids_left_out": _("Further unknown names in the list, left out too: {number}."),
    "not_a_count": _("“{given}” does not say how many cards. The answer counts one."),
    "count_replaced": _("“{given}” is no whole number of cards from 1 on. The answer counts {count}."),
    "too_many_cards": _(
        "A list holds at most {most} cards. What goes beyond, from “{given}” on, is left out."
    ),
    "os_not_on_device": _("{device} does not run “{given}”. The answer uses {used}."),
    "maxlen_below_context": _("The longest request cannot be below the context. The answer uses {used}."),
    "sequences_below_users": _("The server must take all {users} users. The answer uses {used}."),
    "context_above_maximum": _("{name} takes at most {maximum} tokens. The answer is computed for {used}."),
    "version_unreadable": _("“{given}” is no version. The answer is for {version}."),
    "no_fast_link": _("{device} has no fast link to its neighbours. The answer uses its slot."),
    "link_above_slot": _("{device} has {slot}: the answer is computed with that."),
    "link_unused": _("All devices stand in one machine: nothing goes over this network."),
    "not_computed_yet": _("{field} is kept in the link but not computed yet."),
    "unknown_version": _("Links of version “{given}” are not known here, only v=1. The answer uses v=1."),
    "lengths_above_context": _(
        "Prompt and answer together ({prompt} + {output} tokens) are longer than the context of {context}."
    ),
    "prefix_above_prompt": _(
        "The shared prefix is a part of the prompt of {prompt} tokens. The answer uses {used}."
    ),
    "unknown_parameter": _("No parameter is called “{given}”. It was ignored."),
    "unknown_parameter_near": _("No parameter is called “{given}”. Near names: {near}. It was ignored."),
}

REFUSED: Mapping[str, Template] = {
    "not_a_number": _("“{given}” is not a number."),
    "not_a_switch": _("“{given}” is neither on nor off."),
    "not_a_choice": _("“{given}” is none of {allowed}."),
    "not_a_count": _("“{given}” does not say how many cards."),
    "unknown_id": _("Nothing here is called “{given}”."),
    "unknown_id_near": _("Nothing here is called “{given}”. Near names: {near}."),
}
"""The same where no answer is given instead: errors of the API."""

_FALLBACK = _("This value was replaced.")
_DEFAULT_USED = _("the default")
_SHOWN = 60  # characters of what was given


def near_ids(problem: Problem) -> list[str]:
    """Ids that an unknown one may have meant."""
    near = str(dict(problem.factors).get("near", ""))
    return [name.strip() for name in near.split(",") if name.strip()]


def shown_text(text: str) -> str:
    """What a visitor typed, short and without control characters."""
    bare = "".join(character for character in text if character.isprintable()).strip()
    return bare if len(bare) <= _SHOWN else bare[:_SHOWN] + "…"


def problem_words(problem: Problem, units: str, near_names: str = "") -> str:
    """The sentence at the field. near_names: how the near names are written, for links; empty for their plain ids."""
    return say_code(PROBLEMS, _code(problem), _factors(problem, near_names), units, _FALLBACK)


def refusal_words(problem: Problem) -> str:
    """The sentence of an error."""
    return say_code(REFUSED, _code(problem), _factors(problem, ""), "gib", _FALLBACK)


def _code(problem: Problem) -> str:
    with_near = problem.code in ("unknown_id", "unknown_parameter") and near_ids(problem)
    return f"{problem.code}_near" if with_near else problem.code


def _factors(problem: Problem, near_names: str) -> dict[str, Factor]:
    factors: dict[str, Factor] = dict(problem.factors)
    near = near_ids(problem)
    parameter = BY_NAME.get(problem.field)
    numeric = parameter is not None and parameter.kind in ("whole", "number")
    used: Factor = problem.used if numeric else text_of(problem.used)
    if problem.code == "unknown_id" and factors.get("name"):
        used = factors["name"]
    factors |= {
        "field": label_of(problem.field),
        "given": shown_text(problem.given),
        "used": str(_DEFAULT_USED) if used in ("", None) else used,
        "near": near_names or ", ".join(near),
    }
    return factors


def problems_note(count: int, marked: int) -> str:
    """The note above the answer that counts the replaced values; marked: those that a field on the page shows."""
    if marked < count:
        text = ngettext(
            "One value of this link was replaced.", "{count} values of this link were replaced.", count
        )
        return text.format(count=figures.whole(count))
    text = ngettext(
        "One value of this link was replaced. It is marked.",
        "{count} values of this link were replaced. They are marked.",
        count,
    )
    return text.format(count=figures.whole(count))
