"""The whole page: every panel of one answer."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from calculator.web import later_sections
from calculator.web.answer import Answer
from calculator.web.panels.bar import bar_panel
from calculator.web.panels.chart import chart_panel
from calculator.web.panels.dock import dock_panel
from calculator.web.panels.frame import page_frame
from calculator.web.panels.key_figures import figures_panel
from calculator.web.panels.memory import memory_panel
from calculator.web.panels.one_change import one_change_panel
from calculator.web.panels.problems import problems_panel
from calculator.web.panels.question import controls_of, question_panel
from calculator.web.panels.rack import host_panel, rack_panel
from calculator.web.panels.shapes import CalculatorPage, OneChangePanel, WouldFitPanel
from calculator.web.panels.speed import speed_panel
from calculator.web.panels.speed_shapes import SpeedPanel
from calculator.web.panels.verdict import verdict_panel
from calculator.web.panels.would_fit import would_fit_panel
from calculator.web.wording.speech import speaking


@dataclass(frozen=True, slots=True)
class LiveUpdate:
    """What the page that asks for an answer alone shows: the key of its choices, and what is unfolded on it."""

    choices_key: str = ""
    unfolded: frozenset[str] = frozenset()


def calculator_page(
    answer: Answer,
    *,
    canonical: str,
    live: LiveUpdate | None = None,
    preview: bool = False,
    asked: Mapping[str, str] | None = None,
) -> CalculatorPage:
    """The context of the calculator's template.

    live: only the answer is asked for, by a page that shows this. preview: the answer is computed with drafts. asked: the
    query as it was given, for the sections that are filled later.
    """
    with speaking():
        return _page(answer, canonical, live, asked or {}, preview=preview)


def one_change_links(answer: Answer) -> OneChangePanel | None:
    """What is one change away, for the section that follows a live update."""
    with speaking():
        return one_change_panel(answer)


def would_fit_rows(answer: Answer) -> WouldFitPanel | None:
    """What would fit, for the section that follows a live update."""
    with speaking():
        return would_fit_panel(answer)


def speed_section(answer: Answer) -> SpeedPanel:
    """The whole section Speed, which follows where somebody looks at it."""
    with speaking():
        return speed_panel(answer)


def _page(
    answer: Answer, canonical: str, live: LiveUpdate | None, asked: Mapping[str, str], *, preview: bool
) -> CalculatorPage:
    memory = answer.estimate.memory
    fragment, unfolded = live is not None, live.unfolded if live else None
    opened = live.unfolded if live else frozenset((asked.get("show", ""),))
    elsewhere = later_sections.fields_of(opened)
    shown_key = live.choices_key if live else ""
    question = question_panel(answer, fragment=fragment, shown_key=shown_key, elsewhere=elsewhere)
    return {
        "fragment": fragment,
        "preview": preview,
        "frame": page_frame(answer, canonical),
        "question": question,
        "problems": problems_panel(answer, controls_of(question) | elsewhere),
        "verdict": verdict_panel(answer),
        "bar": bar_panel(answer, memory) if memory else None,
        "rack": rack_panel(answer, memory) if memory else None,
        "host": host_panel(answer, memory) if memory else None,
        "figures": figures_panel(answer),
        "one_change": one_change_panel(answer, later=fragment),
        "would_fit": would_fit_panel(answer, later=fragment),
        "memory": memory_panel(answer, memory, unfolded) if memory else None,
        "chart": chart_panel(answer, memory, unfolded) if memory else None,
        "speed": speed_panel(answer, unfolded) if memory else None,
        "sections": later_sections.boxes(answer, asked, fragment=fragment),
        "dock": dock_panel(answer),
    }
