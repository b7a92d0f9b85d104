"""Sections below Speed: each a closed box with a plain link, filled when a reader comes near it or opens its link.

A section has a name (its anchor, its value of `show`, its address /section/<name>/), a presenter and a template. The
presenter gets the answer and the query as it was asked, for what the section alone understands (sorting, filters); the
template finds what it returns as `panel`. Fields of the question that stand in a section are named here, so that their
problems are said beside them while it is open.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from calculator.web.answer import Answer
from calculator.web.panels.cost import FIELDS, cost_panel
from calculator.web.panels.hardware import hardware_panel
from calculator.web.panels.links import query_of
from calculator.web.panels.shapes import LaterBox
from calculator.web.wording.speech import gettext_lazy
from calculator.web.wording.text import Template


@dataclass(frozen=True, slots=True)
class LaterSection:
    """title: its heading and its place in the section bar. invitation: the words of the link that opens it."""

    name: str
    title: Template
    invitation: Template
    template: str
    panel: Callable[[Answer, Mapping[str, str]], Any]
    fields: tuple[str, ...] = ()


SECTIONS: tuple[LaterSection, ...] = (
    LaterSection(
        name="hardware",
        title=gettext_lazy("Hardware"),
        invitation=gettext_lazy("Show hardware"),
        template="calculator/partials/hardware.html",
        panel=hardware_panel,
    ),
    LaterSection(
        name="cost",
        title=gettext_lazy("Cloud & cost"),
        invitation=gettext_lazy("Show cost"),
        template="calculator/partials/cost.html",
        panel=cost_panel,
        fields=FIELDS,
    ),
)
"""In the order of the page."""


def section_named(name: str) -> LaterSection | None:
    """The section of this name, if there is one."""
    return next((section for section in SECTIONS if section.name == name), None)


def boxes(answer: Answer, asked: Mapping[str, str], *, fragment: bool) -> list[LaterBox]:
    """Every section's box; what `show` names is filled, but never in a live update: that leaves its inside alone."""
    query = query_of(answer)
    return [
        {
            "name": section.name,
            "title": str(section.title),
            "invitation": str(section.invitation),
            "template": section.template,
            "href": "" if fragment else answer.permalink(show=section.name) + f"#{section.name}",
            "query": f"?{query}",
            "panel": section.panel(answer, asked)
            if not fragment and asked.get("show") == section.name
            else None,
        }
        for section in SECTIONS
    ]


def fields_of(names: frozenset[str]) -> frozenset[str]:
    """Ids of the question's fields that stand in these sections."""
    return frozenset(field for section in SECTIONS if section.name in names for field in section.fields)
