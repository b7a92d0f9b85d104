"""The strip at the bottom of a phone: the verdict and the bar without words."""

from __future__ import annotations

from calculator.estimation.terms import Memory
from calculator.web import figures
from calculator.web.answer import Answer
from calculator.web.panels.bar import bar_parts, fullest_parts, over_range, percent, scale_of
from calculator.web.panels.shapes import DockPanel
from calculator.web.wording.speech import gettext as _
from calculator.web.wording.verdicts import NAMES


def of_usable(memory: Memory, units: str) -> str:
    """`58.3 of 72.9 GiB`."""
    return _("{needed} of {usable}").format(
        needed=figures.bare_size(memory.needed.value, units),
        usable=figures.size(memory.limit.usable.value, units),
    )


def dock_panel(answer: Answer) -> DockPanel:
    """The dock; without memory it holds the verdict alone."""
    memory, code = answer.estimate.memory, answer.estimate.verdict
    panel: DockPanel = {
        "code": code,
        "chip": str(NAMES[code]),
        "figures": "",
        "parts": [],
        "usable_x": "100%",
        "over": None,
    }
    if memory is not None:
        scale = scale_of(memory)
        panel |= {
            "figures": of_usable(memory, answer.units),
            "parts": bar_parts(fullest_parts(memory), scale, answer.units, labels=False),
            "usable_x": percent(scale.at(memory.limit.usable.value)),
            "over": over_range(memory, scale),
        }
    return panel
