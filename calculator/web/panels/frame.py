"""What surrounds the answer: the title that says it, the links that lead elsewhere with it."""

from __future__ import annotations

from calculator.web import figures
from calculator.web.answer import Answer
from calculator.web.panels.links import link_to, query_of
from calculator.web.panels.names import hardware_words
from calculator.web.panels.per_snapshot import unmoved
from calculator.web.panels.shapes import PageFrame
from calculator.web.panels.speed_words import short_speed
from calculator.web.panels.verdict import question_words
from calculator.web.wording.speech import gettext as _
from calculator.web.wording.verdicts import verdict_sentence


def page_frame(answer: Answer, canonical: str) -> PageFrame:
    """Title, description and links of this question."""
    configuration = answer.configuration
    words = verdict_sentence(answer.estimate, answer.units)

    def where() -> str:
        hardware = hardware_words(configuration, answer.snapshot, answer.scenario.gpu)
        return _("{model} on {hardware}").format(model=configuration.model.name, hardware=hardware)

    on = unmoved(answer, "where", where)
    return {
        "title": f"{words.rstrip('.。')} · {on}",
        "description": f"{words} {question_words(answer)}.{_needs(answer)}",
        "canonical": canonical,
        "catalogue": answer.snapshot.updated[:10],
        "catalogue_version": answer.snapshot.version,
        "api_href": f"/api/v1/estimate?{query_of(answer)}",
        "units": "gb" if answer.units == "gb" else "gib",
        "gib_href": link_to(answer, units="gib"),
        "gb_href": link_to(answer, units="gb"),
    }


def _needs(answer: Answer) -> str:
    memory = answer.estimate.memory
    if memory is None:
        return ""
    needed = figures.size(memory.needed.value, answer.units)
    usable = figures.size(memory.limit.usable.value, answer.units)
    needs = " " + _("Needs {needed} of {usable} usable.").format(needed=needed, usable=usable)
    speed = short_speed(answer)
    return needs + " " + _("{speed} for one user.").format(speed=speed) if speed else needs
