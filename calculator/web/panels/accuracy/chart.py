"""The scatter chart: error against the observed size, one mark for each figure of each log."""

from __future__ import annotations

import json
import math
from collections.abc import Mapping, Sequence

from calculator.accuracy.report import Comparison
from calculator.web import figures
from calculator.web.charts import Axis, figure_json, powers_of_four_between
from calculator.web.panels.accuracy.cases import case_id
from calculator.web.panels.accuracy.record import SPEED, Selection, whole_gpus
from calculator.web.panels.accuracy.shapes import Scatter, Series
from calculator.web.panels.accuracy.written import (
    MS_PER_S,
    case_name,
    signed,
    size_of_error,
    unit_words,
)
from calculator.web.panels.bar import percent
from calculator.web.panels.shapes import ChartPoint, ChartTick
from calculator.web.wording import accuracy_speed as speed
from calculator.web.wording.accuracy import figure_name
from calculator.web.wording.speech import gettext as _
from calculator.web.wording.speech import gettext_lazy, ngettext
from catalog.snapshot import Snapshot

FAMILIES: Mapping[int, tuple[object, tuple[str, ...]]] = {
    1: (gettext_lazy("vLLM, SGLang, TensorRT-LLM"), ("vllm", "sglang", "tensorrt-llm")),
    2: (gettext_lazy("llama.cpp, Ollama, LM Studio"), ("llama.cpp", "ollama", "lm-studio")),
    3: (gettext_lazy("MLX"), ("mlx",)),
    4: (gettext_lazy("Transformers and others"), ()),
}
"""Engines that share a colour and a shape, by the number of the series; the last one takes every other."""

BANDS: Mapping[str, float] = {"memory": 0.05, "speed": 0.2}
"""Errors within ± 5 % of memory, ± 20 % of a speed, are what one hopes for."""

ONE_USER_SEES = ("decode", "decode_many")
"""Figures of speed that are drawn where none is chosen."""

REACHES = (0.1, 0.2, 0.5, 1.0, 2.0, 5.0)
"""Ends of the axis of errors, on either side of zero."""

MOST_AT_EDGE = 0.03
"""Share of the marks that may lie beyond the axis's ends; they are drawn at the edge."""

ROOM = 1.4  # sizes keep this factor from the axis's ends
LEAST_WIDE = 40.0  # the axis of sizes spans at least this factor: two powers of four
Y_ROOM = 1.06  # marks drawn at the edge are whole
LAST_TICK = 0.93  # a label with its unit needs room on the right
_FAR_RIGHT = 0.5


def chart_panel(items: Sequence[Comparison], selection: Selection, snapshot: Snapshot) -> Scatter | None:
    """The chart of all sizes among the comparisons; None where there is none."""
    sizes = _shown(items, selection)
    if not sizes:
        return None
    units, band = selection.units, BANDS[selection.kind]
    x_axis, reach = _x_axis(sizes, units), max(_reach(sizes), band)
    y_axis = Axis(-Y_ROOM * _lowest(reach), Y_ROOM * reach)
    unit = unit_words(sizes[0].unit, units)
    worst = max(sizes, key=lambda item: abs(item.error))
    return {
        "id": "errors",
        "title": _title(sizes, unit),
        "description": _description(sizes, band),
        "note": _note(sizes, reach, band),
        "subject": _subject(sizes, selection),
        "series": _series(sizes, units, x_axis, y_axis),
        "x_ticks": _x_ticks(x_axis, unit),
        "y_ticks": [
            {"at": percent(100 * (1 - y_axis.at(value))), "label": _tick_label(value), "anchor": "end"}
            for value in _y_steps(reach)
        ],
        "band_y": percent(100 * (1 - y_axis.at(band))),
        "band_height": percent(100 * (y_axis.at(band) - y_axis.at(-band))),
        "zero_y": percent(100 * (1 - y_axis.at(0))),
        "worst": _worst(worst, units, x_axis, y_axis, snapshot) if worst.error else None,
        "numbers": _numbers(sizes, selection, x_axis, reach, snapshot),
        "figure": figure_json("errors"),
    }


def _shown(items: Sequence[Comparison], selection: Selection) -> list[Comparison]:
    """What is drawn: of the chosen figure, else what each GPU holds in all, or what each user sees."""
    if selection.kind == SPEED:
        return [item for item in items if selection.part or item.part in ONE_USER_SEES]
    sizes = [item for item in items if item.unit == "bytes" and item.observed > 0]
    return sizes if selection.part else whole_gpus(sizes) or sizes


def _title(sizes: Sequence[Comparison], unit: str) -> str:
    if sizes[0].unit == "bytes":
        return _("Error against observed {unit} per GPU").format(unit=unit)
    if sizes[0].unit == "s":
        return _("Error against the observed time")
    return _("Error against observed {unit}").format(unit=unit)


def _amount(item: Comparison, units: str) -> float:
    """The observed figure in the unit of the axis."""
    if item.unit == "bytes":
        return figures.in_units(item.observed, units)
    return item.observed * MS_PER_S if item.unit == "s" else item.observed


def _subject(sizes: Sequence[Comparison], selection: Selection) -> str:
    if selection.part:
        return figure_name(selection.part)
    if selection.kind == SPEED:
        return str(speed.EVERY_FIGURE)
    if whole_gpus(sizes):
        return _("What a GPU holds in all, one mark for each GPU of each log")
    return _("Every size that is printed")


def family_of(engine: str) -> int:
    """The number of the engine's series."""
    return next((number for number, (_name, engines) in FAMILIES.items() if engine in engines), max(FAMILIES))


def _x_axis(sizes: Sequence[Comparison], units: str) -> Axis:
    """From a little below the smallest to a little above the largest size."""
    seen = [_amount(item, units) for item in sizes]
    low, high = min(seen) / ROOM, max(seen) * ROOM
    middle, half = math.sqrt(low * high), math.sqrt(max(high / low, LEAST_WIDE))
    return Axis(middle / half, middle * half, log=True)


def _reach(sizes: Sequence[Comparison]) -> float:
    """The smallest end of the axis beyond which few marks lie."""
    ordered = sorted(abs(item.error) for item in sizes)
    kept = ordered[max(0, math.ceil((1 - MOST_AT_EDGE) * len(ordered)) - 1)]
    return next((reach for reach in REACHES if kept <= reach), REACHES[-1])


def _ticks(axis: Axis) -> list[float]:
    """Powers of four that leave room for their labels, every second one where more than six would crowd."""
    ticks = [value for value in powers_of_four_between(axis) if axis.at(value) <= LAST_TICK]
    step = math.ceil(len(ticks) / 6)
    return ticks[:: step or 1]


def _x_ticks(axis: Axis, unit: str) -> list[ChartTick]:
    """The ticks with their numbers; the last one names the unit."""
    values = _ticks(axis)
    return [
        {
            "at": percent(100 * axis.at(value)),
            "label": f"{figures.plain(value)}{figures.NO_BREAK}{unit}"
            if value == values[-1]
            else figures.plain(value),
            "anchor": "middle",
        }
        for value in values
    ]


def _lowest(reach: float) -> float:
    """How far the axis goes below zero: nothing is calculated below − 100 %."""
    return min(reach, 1.0)


def _y_steps(reach: float) -> list[float]:
    if reach > 1:
        return [-1.0, 0.0, reach / 2, reach]
    return [reach * step / 2 for step in (-2, -1, 0, 1, 2)]


def _tick_label(value: float) -> str:
    if not value:
        return "0"
    text = figures.plain(100 * abs(value))
    return f"+{text}%" if value > 0 else f"{figures.MINUS}{text}%"


def _held(error: float, reach: float) -> float:
    """The error where it is drawn: at the edge when it lies beyond."""
    return max(-_lowest(reach), min(reach, error))


def _series(sizes: Sequence[Comparison], units: str, x_axis: Axis, y_axis: Axis) -> list[Series]:
    out: list[Series] = []
    for number, (name, _engines) in FAMILIES.items():
        own = [item for item in sizes if family_of(item.measurement.engine) == number]
        if own:
            places = dict.fromkeys(_place(item, units, x_axis, y_axis) for item in own)
            out.append({"number": number, "name": str(name), "marks": [{"x": x, "y": y} for x, y in places]})
    return out


def _place(item: Comparison, units: str, x_axis: Axis, y_axis: Axis) -> tuple[str, str]:
    """Where a mark stands, to a tenth of a per cent."""
    x = x_axis.at(_amount(item, units))
    y = 1 - y_axis.at(_held(item.error, y_axis.high / Y_ROOM))
    return percent(round(100 * x, 1)), percent(round(100 * y, 1))


def _worst(item: Comparison, units: str, x_axis: Axis, y_axis: Axis, snapshot: Snapshot) -> ChartPoint:
    x, y = _place(item, units, x_axis, y_axis)
    far = x_axis.at(_amount(item, units)) > _FAR_RIGHT
    label = f"{case_name(item.measurement, snapshot)}: {signed(item.error)}"
    return {"x": x, "y": y, "label": label, "anchor": "end" if far else "start"}


def _description(sizes: Sequence[Comparison], band: float) -> str:
    inside = sum(abs(item.error) <= band for item in sizes)
    text = _(
        "{inside} of {count} sizes lie within {band} of what was observed; the table by figure says the same in numbers"
    )
    if sizes[0].unit != "bytes":
        text = _(
            "{inside} of {count} marks lie within {band} of what was observed; the table by figure says the same in numbers"
        )
    return text.format(inside=figures.whole(inside), count=figures.whole(len(sizes)), band=_band(band))


def _band(band: float) -> str:
    return f"± {figures.plain(100 * band)}%"


def _note(sizes: Sequence[Comparison], reach: float, band: float) -> str:
    words = _("Band: {band}.").format(band=_band(band))
    beyond = sum(abs(item.error) > reach for item in sizes)
    if beyond:
        words += " " + ngettext(
            "{count} mark at the edge lies beyond it, at most {most}.",
            "{count} marks at the edge lie beyond it, at most {most}.",
            beyond,
        ).format(count=figures.whole(beyond), most=size_of_error(max(abs(item.error) for item in sizes)))
    return words


def _numbers(
    sizes: Sequence[Comparison], selection: Selection, x_axis: Axis, reach: float, snapshot: Snapshot
) -> str:
    """What Plotly needs: for each series sizes, errors where they are drawn, words, and the anchors of their rows."""
    series = []
    for number, (name, _engines) in FAMILIES.items():
        own = [item for item in sizes if family_of(item.measurement.engine) == number]
        if not own:
            continue
        series.append(
            {
                "number": number,
                "name": str(name),
                "x": [float(f"{_amount(item, selection.units):.4g}") for item in own],
                "y": [round(_held(item.error, reach), 4) for item in own],
                "text": [
                    f"{case_name(item.measurement, snapshot)}<br>{figure_name(item.part)}: {signed(item.error)}"
                    for item in own
                ],
                "rows": [case_id(item) for item in own],
            }
        )
    ticks = _ticks(x_axis)
    unit = unit_words(sizes[0].unit, selection.units)
    steps = _y_steps(reach)
    numbers = {
        "series": series,
        "x_range": [x_axis.low, x_axis.high],
        "x_ticks": {"values": ticks, "labels": [tick["label"] for tick in _x_ticks(x_axis, unit)]},
        "y_range": [-Y_ROOM * _lowest(reach), Y_ROOM * reach],
        "y_ticks": {"values": steps, "labels": [_tick_label(value) for value in steps]},
        "band": BANDS[selection.kind],
        "every": selection.link(every=True),
    }
    return json.dumps(numbers, separators=(",", ":"))
