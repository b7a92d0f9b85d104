"""Memory of the fullest GPU against context, one curve for each cache type."""

from __future__ import annotations

import math
from bisect import bisect_left, bisect_right
from collections.abc import Sequence
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Literal

from calculator.estimation.terms import Memory, MemoryCurve
from calculator.web import figures
from calculator.web.answer import Answer
from calculator.web.charts import (
    Axis,
    Point,
    apart,
    between,
    compact,
    cut_at_top,
    figure_json,
    polyline,
    powers_of_four,
    round_steps,
)
from calculator.web.panels.bar import percent
from calculator.web.panels.curves import curves_of
from calculator.web.panels.per_snapshot import unless_changed
from calculator.web.panels.shapes import (
    ChartLimit,
    ChartPanel,
    ChartPoint,
    ChartSeries,
    ChartTable,
    ChartTick,
    DrawnChart,
)
from calculator.web.panels.sliders import LEAST_CONTEXT, tick_label
from calculator.web.wording.speech import gettext as _
from calculator.web.wording.text import cache_label

HEAD_ROOM = 1.12  # the chart's top above the highest of physical memory and the present need
LABEL_HEIGHT = 0.085  # of the plot: nearer labels would overlap
RIGHT_HALF = 0.55
LEAST_HIGH = 16_384
END_APART = 3  # a tick nearer to the axis's end than a third of it would touch the end's words
LINES_APART = 0.07  # words find room between two limits
TABLE_ID = "context-table"
LABEL_WIDTH = 0.3  # of the plot: words of a limit, from the left


def chart_panel(
    answer: Answer, memory: Memory, unfolded: AbstractSet[str] | None = None
) -> ChartPanel | None:
    """The chart, None where no curve can be computed. unfolded: ids of what is open on the page of a live update, which
    has the figure and draws the curves itself; None for a page."""
    fragment = unfolded is not None
    users, plan = answer.configuration.workload.users, answer.estimate.configuration.plan
    curves = unless_changed(answer, "curves", (users, plan), lambda: curves_of(answer))
    if not curves:
        return None
    units, physical = answer.units, memory.limit.physical_bytes
    tokens = answer.configuration.workload.context_tokens
    x_axis = Axis(LEAST_CONTEXT, max(curves[0].context_tokens[-1], LEAST_HIGH), log=True)
    # Beyond the model's longest context there is no point to show: the curves' starts settle the height.
    seen = memory.needed.value if x_axis.holds(tokens) else min(curve.needed_bytes[0] for curve in curves)
    top = HEAD_ROOM * (physical if seen <= physical else _stepped(seen))
    y_axis = Axis(0, figures.in_units(top, units))
    drawn = unless_changed(
        answer,
        ("chart", fragment),
        (users, plan, top, memory.limit),
        lambda: _drawn(answer, curves, memory, (x_axis, y_axis), whole=not fragment),
    )
    told = unfolded is None or TABLE_ID in unfolded
    table = unless_changed(
        answer, ("table", told), (users, plan), lambda: _table(curves, answer, x_axis, told=told)
    )
    present = _present_numbers(tokens, memory, units) if x_axis.holds(tokens) else None
    return {
        "id": "context",
        "title": _title(answer, units),
        "description": _description(answer, memory),
        "drawn": drawn,
        "table": table,
        "present": _present(tokens, memory, units, x_axis, y_axis),
        "present_numbers": compact(present),
        "figure": "" if fragment else figure_json("context"),
    }


def _stepped(size: float) -> float:
    """The next 16th of a power of two: an axis that follows what does not fit stands still between them."""
    step = 2.0 ** (math.floor(math.log2(size)) - 4)
    return step * math.ceil(size / step)


def _drawn(
    answer: Answer, curves: Sequence[MemoryCurve], memory: Memory, axes: tuple[Axis, Axis], *, whole: bool
) -> DrawnChart:
    units, (x_axis, y_axis) = answer.units, axes
    points = [_unit_points(curve, units, x_axis, y_axis) for curve in curves]
    limits = _limits(memory, units, y_axis, _at_left(points))
    return {
        "id": "context",
        "note": _note(curves, answer),
        "series": _series(curves, answer, points, whole=whole),
        "x_ticks": _x_ticks(x_axis),
        "y_ticks": _y_ticks(y_axis),
        "limits": limits,
        "fits": _fits(answer, curves, memory, x_axis, y_axis),
        "numbers": _numbers(curves, answer, memory, axes, limits),
    }


def _title(answer: Answer, units: str) -> str:
    unit = figures.unit_name(units)
    if answer.configuration.count > 1:
        return _("{unit} per GPU against context").format(unit=unit)
    return _("{unit} against context").format(unit=unit)


def _label(curve: MemoryCurve, answer: Answer) -> str:
    return cache_label(curve.cache_type, answer.configuration.engine)


def _note(curves: Sequence[MemoryCurve], answer: Answer) -> str:
    names = ", ".join(_label(curve, answer) for curve in curves)
    if len(curves) == 1:
        return _("KV cache type {names}. Weights format and users as set.").format(names=names)
    return _("KV cache types {names}. Weights format and users as set.").format(names=names)


def _description(answer: Answer, memory: Memory) -> str:
    units = answer.units
    factors = {
        "needed": figures.size(memory.needed.value, units),
        "tokens": figures.whole(answer.configuration.workload.context_tokens),
        "usable": figures.size(memory.limit.usable.value, units),
    }
    return _("Memory grows with the context: {needed} at {tokens} tokens, of {usable} usable.").format(
        **factors
    )


def _unit_points(curve: MemoryCurve, units: str, x_axis: Axis, y_axis: Axis) -> list[tuple[float, float]]:
    full = y_axis.high / figures.in_units(1, units)
    inside, places = _places(curve.context_tokens, x_axis)
    return [(x, size / full) for x, size in zip(places, curve.needed_bytes[inside], strict=True)]


@lru_cache(maxsize=256)
def _places(tokens: tuple[int, ...], axis: Axis) -> tuple[slice, tuple[float, ...]]:
    """Which of a curve's contexts lie on the axis, and where: the same for every curve of a model."""
    first = bisect_left(tokens, axis.low)
    last = bisect_right(tokens, axis.high)
    return slice(first, last), tuple(axis.at(value) for value in tokens[first:last])


def _series(
    curves: Sequence[MemoryCurve], answer: Answer, drawn: Sequence[Sequence[Point]], *, whole: bool
) -> list[ChartSeries]:
    last = sorted(curve.needed_bytes[-1] for curve in curves)
    # Curves that leave through the top end at the same height: the higher one's label stands above.
    ends = apart(
        [
            min(points[-1][1] if points else 1.0, 1.0) + 1e-9 * last.index(curve.needed_bytes[-1])
            for curve, points in zip(curves, drawn, strict=True)
        ],
        LABEL_HEIGHT,
    )
    return [
        {
            "number": number,
            "name": _label(curve, answer),
            "points": polyline(cut_at_top(points)) if whole else "",
            "end_label": f"{_label(curve, answer)} {figures.bare_size(curve.needed_bytes[-1], answer.units)}",
            "end_y": percent(100 * (1 - end)),
        }
        for number, (curve, points, end) in enumerate(zip(curves, drawn, ends, strict=True), start=1)
    ]


def _anchor(at: float) -> str:
    if at < 0.02:
        return "start"
    return "end" if at > 0.98 else "middle"


@lru_cache(maxsize=256)
def _x_ticks(axis: Axis) -> list[ChartTick]:
    return [
        {
            "at": percent(100 * axis.at(value)),
            "label": tick_label(value),
            "anchor": _anchor(axis.at(value)),
        }
        for value in _labelled(axis)
    ]


@lru_cache(maxsize=256)
def _labelled(axis: Axis) -> list[int]:
    """Powers of four and the axis's end; below 4K only where nothing else would be labelled."""
    end = int(axis.high)
    ticks = [*(tick for tick in powers_of_four(axis) if tick * END_APART < end), end]
    return ticks if len(ticks) <= 5 else [tick for tick in ticks if tick >= 4096]


@lru_cache(maxsize=256)
def _y_ticks(axis: Axis) -> list[ChartTick]:
    steps = round_steps(axis.high, most=6)
    places = figures.decimals_of(steps[1], 1) if len(steps) > 1 else 0
    return [
        {"at": percent(100 * (1 - axis.at(value))), "label": figures.number(value, places), "anchor": "end"}
        for value in steps
    ]


def _at_left(drawn: Sequence[Sequence[Point]]) -> list[float]:
    """How high the curves run where the limits' words stand."""
    return [y for points in drawn for x, y in points if x <= LABEL_WIDTH]


def _limits(memory: Memory, units: str, axis: Axis, curves: Sequence[float]) -> list[ChartLimit]:
    """The lines with their words, each above its line, or below it where a curve or the other's words are."""
    usable, physical = memory.limit.usable.value, memory.limit.physical_bytes
    at_usable, at_physical = (axis.at(figures.in_units(size, units)) for size in (usable, physical))
    near = at_physical - at_usable < 2 * LABEL_HEIGHT
    below = _below(at_usable, curves, first=near)
    size = figures.bare_size(usable, units)
    lines = [_limit("usable", at_usable, _("usable {size}").format(size=size), below=below)]
    if physical > usable:
        room = at_physical - at_usable >= (LINES_APART if below else LINES_APART + LABEL_HEIGHT)
        under = room and _below(at_physical, curves, first=False)
        size = figures.bare_size(physical, units)
        lines.append(_limit("physical", at_physical, _("physical {size}").format(size=size), below=under))
    return lines


def _below(line: float, curves: Sequence[float], *, first: bool) -> bool:
    """Whether words stand below their line: as proposed, unless a curve runs there and not on the other side."""

    def taken(*, below: bool) -> bool:
        low, high = (line - LABEL_HEIGHT, line) if below else (line, line + LABEL_HEIGHT)
        return any(low <= y <= high for y in curves)

    return not first if taken(below=first) and not taken(below=not first) else first


def _limit(kind: Literal["usable", "physical"], at: float, label: str, *, below: bool) -> ChartLimit:
    return {"kind": kind, "y": percent(100 * (1 - at)), "label": label, "below": below}


def _point(x: float, y: float, label: str) -> ChartPoint:
    anchor = "end" if x > RIGHT_HALF else "start"
    return {"x": percent(100 * x), "y": percent(100 * (1 - y)), "label": label, "anchor": anchor}  # type: ignore[typeddict-item]


def _present_label(tokens: int, memory: Memory, units: str) -> str:
    return _("{tokens} tokens: {size}").format(
        tokens=figures.whole(tokens), size=figures.bare_size(memory.needed.value, units)
    )


def _present(tokens: int, memory: Memory, units: str, x_axis: Axis, y_axis: Axis) -> ChartPoint | None:
    if not x_axis.holds(tokens):
        return None
    y = y_axis.at(figures.in_units(memory.needed.value, units))
    return _point(x_axis.at(tokens), y, _present_label(tokens, memory, units))


def _present_curve(answer: Answer, curves: Sequence[MemoryCurve]) -> MemoryCurve | None:
    return next((curve for curve in curves if curve.cache_type == answer.configuration.cache_type), None)


def _fits(
    answer: Answer, curves: Sequence[MemoryCurve], memory: Memory, x_axis: Axis, y_axis: Axis
) -> ChartPoint | None:
    """Where the present curve meets the usable memory: the last context whose value, without its range, still fits."""
    curve = _present_curve(answer, curves)
    if curve is None or not x_axis.holds(curve.max_context_tokens):
        return None
    sizes = between(curve.max_context_tokens, curve.context_tokens, curve.needed_bytes)
    usable = memory.limit.usable.value
    if sizes < 0.97 * usable or curve.max_context_tokens >= curve.context_tokens[-1]:
        return None  # the model's maximum comes first: the curve meets no limit
    label = _("full at {tokens}").format(tokens=figures.tokens(curve.max_context_tokens, down=True))
    return _point(
        x_axis.at(curve.max_context_tokens), y_axis.at(figures.in_units(usable, answer.units)), label
    )


def _table(curves: Sequence[MemoryCurve], answer: Answer, axis: Axis, *, told: bool) -> ChartTable:
    if not told:
        return {"id": "context", "folded": True, "head": [], "rows": []}
    units = answer.units
    unit = figures.unit_name(units)
    rows = []
    for tokens in powers_of_four(axis):
        sizes = [between(tokens, curve.context_tokens, curve.needed_bytes) for curve in curves]
        rows.append([figures.whole(tokens), *(figures.bare_size(size, units) for size in sizes)])
    head = [_("Context"), *(f"{_label(curve, answer)}, {unit}" for curve in curves)]
    return {"id": "context", "folded": False, "head": head, "rows": rows}


def _present_numbers(tokens: int, memory: Memory, units: str) -> dict[str, object]:
    return {
        "x": tokens,
        "y": round(figures.in_units(memory.needed.value, units), 3),
        "label": _present_label(tokens, memory, units),
    }


def _numbers(
    curves: Sequence[MemoryCurve],
    answer: Answer,
    memory: Memory,
    axes: tuple[Axis, Axis],
    lines: Sequence[ChartLimit],
) -> str:
    """What Plotly needs of this answer, but for the present point, as JSON text."""
    units, (x_axis, y_axis) = answer.units, axes
    ticks = _labelled(x_axis)
    limits = {"usable": memory.limit.usable.value, "physical": memory.limit.physical_bytes}
    one = figures.in_units(1, units)
    thousandths = 1000 * one
    numbers = {
        "x": curves[0].context_tokens,
        "series": [
            {
                "name": _label(curve, answer),
                "thousandths": [int(size * thousandths + 0.5) for size in curve.needed_bytes],
            }
            for curve in curves
        ],
        "limits": [
            {
                "kind": line["kind"],
                "value": round(limits[line["kind"]] * one, 3),
                "label": line["label"],
            }
            for line in lines
        ],
        "x_ticks": {"values": ticks, "labels": [tick_label(value) for value in ticks]},
        "x_range": [x_axis.low, x_axis.high],
        "y_range": [0, round(y_axis.high, 3)],
    }
    return compact(numbers)
