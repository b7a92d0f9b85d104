"""The memory of the fullest GPU, drawn to scale: every rectangle as text in per cent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

from calculator.estimation.terms import Memory
from calculator.web import figures
from calculator.web.answer import Answer
from calculator.web.panels.names import card_name, gpus_used, settled
from calculator.web.panels.shapes import BarPanel, BarPart, BarRange, LegendEntry, PartClass
from calculator.web.wording.parts import BAR_NAMES
from calculator.web.wording.speech import gettext as _
from calculator.web.wording.speech import ngettext

PART_CLASSES: Mapping[str, PartClass] = {
    "weights": "weights",
    "kv_cache": "kv",
    "index_cache": "kv",
    "recurrent_state": "state",
    "activations": "activations",
    "graphs": "runtime",
    "communication": "runtime",
    "context": "runtime",
    "vision": "vision",
    "draft": "draft",
}
"""The colour of each part of the arithmetic; parts of one colour are drawn as one."""

LEAST = 0.12  # per cent: thinner is not seen
GAP = 0.12
LABEL_ALWAYS = 26
LABEL_WIDE = 13
WHISKER_LEFT = 45  # the high end stands left of this: the words go to the right
LIMIT_LEFT = 50  # physical memory lies left of this: its words go to the right
OVER_SHARE = 1.06


@dataclass(frozen=True, slots=True)
class Scale:
    """Bytes to per cent of the bar's width."""

    full_bytes: float

    def at(self, size_bytes: float) -> float:
        return min(max(100 * size_bytes / self.full_bytes, 0.0), 100.0)


def percent(value: float) -> str:
    """A position: at most two decimals, `0%` for zero."""
    return f"{value:.2f}".rstrip("0").rstrip(".") + "%"


def scale_of(memory: Memory) -> Scale:
    """The bar's full width: physical memory, or a little more than the need when that is more."""
    return Scale(max(memory.limit.physical_bytes, OVER_SHARE * memory.needed.value, 1.0))


def by_colour(part_bytes: Mapping[str, int]) -> dict[PartClass, int]:
    """Parts summed by colour, in the order of drawing, empty ones left out."""
    sums: dict[PartClass, int] = {}
    for name, part in PART_CLASSES.items():
        if size := part_bytes.get(name, 0):
            sums[part] = sums.get(part, 0) + size
    return sums


def fullest_parts(memory: Memory) -> dict[PartClass, int]:
    """What the fullest GPU holds, by colour [B]."""
    return by_colour({part.name: part.per_gpu_bytes for part in memory.parts})


def bar_parts(parts: Mapping[PartClass, int], scale: Scale, units: str, *, labels: bool) -> list[BarPart]:
    """The rectangles from left to right."""
    out: list[BarPart] = []
    column = _column(parts, units)
    start = 0
    for part, size in parts.items():
        x, share = scale.at(start), 100 * size / scale.full_bytes
        label = (
            f"{BAR_NAMES[part]} {_as_in_table(size, units, column)}" if labels and share >= LABEL_WIDE else ""
        )
        out.append(
            {
                "part": part,
                "x": percent(x),
                "width": percent(max(share - GAP, LEAST)),
                "label": label,
                "wide_only": bool(label) and share < LABEL_ALWAYS,
            }
        )
        start += size
    return out


def stretch(scale: Scale, from_bytes: float, until_bytes: float) -> BarRange | None:
    """A stretch of the bar, None when it is empty."""
    x, end = scale.at(from_bytes), scale.at(until_bytes)
    return {"x": percent(x), "width": percent(end - x)} if end > x else None


def over_range(memory: Memory, scale: Scale) -> BarRange | None:
    """What lies beyond the usable memory."""
    return stretch(scale, memory.limit.usable.value, memory.needed.value)


def needed_words(memory: Memory, units: str) -> str:
    """`58.3 GiB, 90% 57.6–59.4`, or the value alone when it is exact."""
    value = figures.size(memory.needed.value, units)
    if memory.needed.exact:
        return value
    ends = figures.size_range(memory.needed.low, memory.needed.high, units)
    return f"{value}, {figures.percent(0.9)} {ends}"


def _column(parts: Mapping[PartClass, int], units: str) -> int:
    """Decimals that the table's column has for the same parts."""
    return figures.column_decimals(figures.in_units(sum(parts.values()), units))


def _as_in_table(size_bytes: float, units: str, column: int) -> str:
    """A part with the digits that it has in the table."""
    return figures.bare_size(
        size_bytes, units, figures.cell_decimals(figures.in_units(size_bytes, units), column)
    )


def legend(parts: Mapping[PartClass, int], units: str) -> list[LegendEntry]:
    """The parts with their sizes, digit for digit as in the table."""
    column = _column(parts, units)
    return [
        {"part": part, "name": str(BAR_NAMES[part]), "value": _as_in_table(size, units, column)}
        for part, size in parts.items()
    ]


def _aside(memory: Memory) -> str:
    gpus = sum(load.gpus for load in memory.gpus)
    if gpus < 2:
        return ""
    if len(memory.gpus) == 1:
        return ngettext("all {count} hold the same", "all {count} hold the same", gpus).format(count=gpus)
    return _("{count} GPUs that hold different shares").format(count=gpus)


def _title(answer: Answer, memory: Memory) -> str:
    configuration = answer.configuration
    unit = figures.unit_name(answer.units)
    if settled(answer).cards:
        card = card_name(settled(answer).cards[memory.fullest])
        return _("{card}, the card with the least room, drawn to scale ({unit})").format(card=card, unit=unit)
    if gpus_used(answer) > 1:
        return _("Fullest GPU, drawn to scale ({unit})").format(unit=unit)
    if configuration.accelerator.kind == "apple":
        return _("This Mac, drawn to scale ({unit})").format(unit=unit)
    if configuration.accelerator.unified:
        return _("This machine, drawn to scale ({unit})").format(unit=unit)
    return _("This GPU, drawn to scale ({unit})").format(unit=unit)


def bar_panel(answer: Answer, memory: Memory) -> BarPanel:
    """Everything that the bar shows."""
    units, scale, limit = answer.units, scale_of(memory), memory.limit
    parts = fullest_parts(memory)
    needed, usable = memory.needed, limit.usable.value
    high = scale.at(needed.high)
    to_the_right = high < WHISKER_LEFT
    occupied = memory.occupied_bytes > needed.value
    size = {
        "needed": figures.bare_size(needed.value, units),
        "usable": figures.bare_size(usable, units),
        "physical": figures.bare_size(limit.physical_bytes, units),
    }
    return {
        "title": _title(answer, memory),
        "aside": _aside(memory),
        "aria": _(
            "Memory of the fullest GPU: {needed} of {usable} usable and {physical} {unit} physical"
        ).format(unit=figures.unit_name(units), **size),
        "parts": bar_parts(parts, scale, units, labels=True),
        "usable_x": percent(scale.at(usable)),
        "physical_x": percent(scale.at(limit.physical_bytes)),
        "usable_label": _("usable {usable}").format(**size),
        "physical_label": _("of {physical} physical").format(**size),
        "limit_anchor": "end" if scale.at(limit.physical_bytes) >= LIMIT_LEFT else "start",
        "hatch": stretch(scale, usable, limit.physical_bytes),
        "dots": stretch(scale, needed.value, usable) if occupied else None,
        "over": over_range(memory, scale),
        "whisker_x1": percent(scale.at(needed.low)),
        "whisker_x2": percent(high),
        "whisker_label": needed_words(memory, units),
        "whisker_label_x": percent(scale.at(needed.low) if to_the_right else high),
        "whisker_anchor": "start" if to_the_right else "end",
        "legend": legend(parts, units),
    }
