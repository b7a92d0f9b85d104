"""The curves of speed: tokens per second against context, output against users, first token against the prompt."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from calculator.estimation.throughput import prompt_curve, speed_curve, users_curve
from calculator.web import figures
from calculator.web.answer import Answer
from calculator.web.charts import Axis, between, polyline, powers_of_four, round_steps
from calculator.web.panels.bar import percent
from calculator.web.panels.latency import MOST_USERS, most_users_of
from calculator.web.panels.links import query_of
from calculator.web.panels.names import settled
from calculator.web.panels.shapes import ChartPoint, ChartTable, ChartTick
from calculator.web.panels.sliders import tick_label
from calculator.web.panels.speed_measured import Beside
from calculator.web.panels.speed_shapes import CurveLine, CurveMark, CurvePanel, CurveTab
from calculator.web.wording.speech import gettext as _
from calculator.web.wording.speech import gettext_lazy, ngettext

POINTS = 33
LEAST_CONTEXT = 512
LEAST_PROMPT = 64
LEAST_USERS = 8
BEYOND = 1.25  # the axis goes on so far behind where the memory is full
HEAD_ROOM = 1.12
RIGHT_HALF = 0.5
FIRST_LABEL, LABEL_STEP = 10, 16  # px from the top of the plot: the words of lines stand below one another

CSV = "/speed.csv"

Kind = Literal["memory", "knee", "targets"]


@dataclass(frozen=True, slots=True)
class Line:
    """A limit at a value of x, in words."""

    kind: Kind
    x: float
    label: str


@dataclass(frozen=True, slots=True)
class Curve:
    """What a tab shows, before it is placed: points with their band, limits, the present point, a table.

    end: where the axis ends. sets: the field that a click sets. unit: of y. more: further series of the table, by their
    heads. columns: names of y, its ends and the further series for other programs.
    """

    title: str
    note: str
    head: tuple[str, str]
    unit: str
    x: Sequence[int]
    y: Sequence[float]
    low: Sequence[float]
    high: Sequence[float]
    present: tuple[float, float]
    sets: str
    end: float
    lines: tuple[Line, ...] = ()
    more: Mapping[str, Sequence[float]] = field(default_factory=dict)
    columns: tuple[str, ...] = ()


NAMES: Mapping[str, object] = {
    "context": gettext_lazy("Context"),
    "users": gettext_lazy("Users"),
    "prompt": gettext_lazy("Prompt"),
}
SHOW = {f"speed-{name}": name for name in NAMES}
"""Values of `show` that open a tab without JavaScript."""


def open_tab(answer: Answer) -> str:
    """The tab that the question opens."""
    return SHOW.get(str(answer.scenario.show), "context")


def curve_tabs(answer: Answer) -> list[CurveTab]:
    """The tabs, each a link to the page that opens it."""
    now = open_tab(answer)
    return [
        {
            "name": name,
            "label": str(label),
            "href": f"{answer.permalink(show=f'speed-{name}')}#speed",
            "current": name == now,
        }
        for name, label in NAMES.items()
    ]


def curve_of(answer: Answer, name: str) -> Curve | None:
    """The curve of a tab; None without a speed, or where the figures for it are missing."""
    return _CURVES[name](answer) if answer.estimate.speed else None


def _spaced(low: float, high: float, *more: float) -> list[int]:
    """Whole numbers from low to high, evenly on a log scale, with others that must be among them."""
    steps = np.geomspace(max(1, low), max(low, high), POINTS)
    return sorted({*(round(step) for step in steps.tolist()), *(round(value) for value in more)})


def _context(answer: Answer) -> Curve | None:
    c, capacity = settled(answer), answer.estimate.capacity
    held = c.workload.prompt_tokens + c.workload.output_tokens / 2
    longest = c.model.max_context_tokens or int(max(held, c.workload.context_tokens))
    fits = min(longest, max(capacity.max_context_tokens, c.workload.context_tokens) if capacity else longest)
    low = min(LEAST_CONTEXT, max(1, fits // 4))
    here = min(max(held, low), fits)
    curve = speed_curve(c, _spaced(low, fits, here))
    if curve is None:
        return None
    full = fits < longest
    lines = (Line("memory", fits, _full_at(fits)),) if full else ()
    users = c.workload.users
    note = _("Tokens in the cache while the answer is written. Weights format and users as set.")
    if users > 1:
        note = _(
            "Tokens in the cache of each request while answers are written, without the prompts of others."
        )
    return Curve(
        title=_("Tokens per second of one user against context"),
        note=note,
        head=(_("Tokens held"), _("tok/s")),
        unit="tok/s",
        x=curve.context_tokens,
        y=curve.tokens_per_s,
        low=curve.low,
        high=curve.high,
        present=(round(here), between(round(here), curve.context_tokens, curve.tokens_per_s)),
        sets="ctx",
        end=min(longest, fits * BEYOND) if full else fits,
        lines=lines,
        columns=("tokens_per_s", "low", "high"),
    )


def _full_at(tokens: int) -> str:
    return _("memory full at {tokens}").format(tokens=figures.tokens(tokens, down=True))


def _users(answer: Answer) -> Curve | None:
    c, capacity, scenario = settled(answer), answer.estimate.capacity, answer.scenario
    most = max(1, capacity.max_users) if capacity else None
    users = c.workload.users
    last = min(MOST_USERS, max(2 * (most or 1), 2 * users, LEAST_USERS))
    curve = users_curve(c, _spaced(1, last, users, most or 1), memory_limit_users=most)
    if curve is None:
        return None
    lines = []
    if curve.knee_users and curve.knee_users < (most or last):
        knee = _("little more from {users}")
        lines.append(Line("knee", curve.knee_users, knee.format(users=figures.whole(curve.knee_users))))
    within = most_users_of(answer) if (scenario.ttft or scenario.tpot) else None
    if within:
        targets = _("targets kept to {users}").format(users=figures.whole(within))
        lines.append(Line("targets", within, targets))
    if most is not None:
        words = ngettext("memory full at {users} user", "memory full at {users} users", most)
        lines.append(Line("memory", most, words.format(users=figures.whole(most))))
    return Curve(
        title=_("Tokens per second of all users against users"),
        note=_(
            "Output with prompts read in between. From the knee on, twice the users bring less than a quarter more; "
            "beyond full memory they wait for a place."
        ),
        head=(_("Users"), _("all, tok/s")),
        unit="tok/s",
        x=curve.users,
        y=curve.served_output_tokens_per_s,
        low=curve.low,
        high=curve.high,
        present=(users, between(users, curve.users, curve.served_output_tokens_per_s)),
        sets="users",
        end=last,
        lines=tuple(lines),
        more={
            _("each, tok/s"): curve.tokens_per_s_per_user,
            _("first token, ms"): curve.ttft_ms,
            _("per token, ms"): curve.tpot_ms,
        },
        columns=("served_output_tokens_per_s", "low", "high", "tokens_per_s_per_user", "ttft_ms", "tpot_ms"),
    )


def _prompt(answer: Answer) -> Curve | None:
    c = settled(answer)
    longest = max(c.workload.prompt_tokens, c.workload.context_tokens - c.workload.output_tokens)
    low = min(LEAST_PROMPT, longest)
    curve = prompt_curve(c, _spaced(low, longest, c.workload.prompt_tokens))
    if curve is None:
        return None
    factor, unit = (1e-3, "s") if curve.high[-1] >= 1000 else (1.0, "ms")
    x, y = curve.prompt_tokens, [factor * time for time in curve.ttft_ms]
    return Curve(
        title=_("Time to the first token against the prompt"),
        note=_("Prompts up to what the context leaves beside the answer. Users as set."),
        head=(_("Prompt"), f"{_('first token')}, {unit}"),
        unit=unit,
        x=x,
        y=y,
        low=[factor * time for time in curve.low],
        high=[factor * time for time in curve.high],
        present=(c.workload.prompt_tokens, between(c.workload.prompt_tokens, x, y)),
        sets="prompt",
        end=longest,
        columns=(f"ttft_{unit}", "low", "high"),
    )


_CURVES: Mapping[str, Callable[[Answer], Curve | None]] = {
    "context": _context,
    "users": _users,
    "prompt": _prompt,
}


# --- placing ----------------------------------------------------------------------------------------------------------


def curve_panel(answer: Answer, measured: Sequence[Beside] = ()) -> CurvePanel | None:
    """The open tab's curve, placed; None where the figures for it are missing."""
    name = open_tab(answer)
    curve = curve_of(answer, name)
    if curve is None:
        return None
    marks = _marks(answer, measured, curve) if name == "context" else []
    x_axis = Axis(float(curve.x[0]), float(max(curve.end, curve.x[0] + 1)), log=True)
    top = (
        HEAD_ROOM * max(*curve.high, *(value for _x, value in marks))
        if marks
        else HEAD_ROOM * max(curve.high)
    )
    y_axis = Axis(0, top)
    lines = _lines(curve, x_axis)
    placed = [
        _mark(x, y, x_axis, y_axis, below=y < between(x, curve.x, curve.y), named=not at)
        for at, (x, y) in enumerate(marks)
    ]
    above = placed[0]["below"] if placed else _free_above(curve, x_axis)
    label = f"{figures.whole(curve.present[0])}: {figures.rate(curve.present[1])}"
    return {
        "title": curve.title,
        "note": curve.note,
        "description": _description(curve),
        "line": _points(curve.x, curve.y, x_axis, y_axis),
        "band": f"{_points(curve.x, curve.low, x_axis, y_axis)} "
        f"{_points(curve.x[::-1], list(curve.high)[::-1], x_axis, y_axis)}",
        "x_ticks": _x_ticks(x_axis),
        "y_ticks": _y_ticks(y_axis),
        "lines": lines,
        "marks": placed,
        "present": _present(curve.present, label, x_axis, y_axis),
        "present_above": above,
        "sets": curve.sets,
        "numbers": _numbers(curve, x_axis, y_axis, lines, placed, marks, label, above=above),
        "table": _table(curve),
        "csv_href": f"{CSV}?over={'ctx' if name == 'context' else name}&{query_of(answer)}",
    }


def _free_above(curve: Curve, x_axis: Axis) -> bool:
    """Whether the words of the present point are clear of the curve above it: beside it they stand towards the middle."""
    rising, at_left = curve.y[-1] > curve.y[0], x_axis.at(curve.present[0]) > RIGHT_HALF
    return rising == at_left


def _points(x: Sequence[int], y: Sequence[float], x_axis: Axis, y_axis: Axis) -> str:
    return polyline((x_axis.at(place), y_axis.at(value)) for place, value in zip(x, y, strict=True))


def _description(curve: Curve) -> str:
    first, last = figures.rate(curve.y[0]), figures.rate(curve.y[-1])
    return _("{first} {unit} at {low}, {last} {unit} at {high}.").format(
        first=first,
        last=last,
        unit=curve.unit,
        low=figures.whole(curve.x[0]),
        high=figures.whole(curve.x[-1]),
    )


def _anchor(at: float) -> str:
    if at < 0.02:
        return "start"
    return "end" if at > 0.98 else "middle"


def _x_ticks(axis: Axis) -> list[ChartTick]:
    values = powers_of_four(axis)
    return [
        {"at": percent(100 * axis.at(value)), "label": tick_label(value), "anchor": _anchor(axis.at(value))}
        for value in values
    ]


def _y_ticks(axis: Axis) -> list[ChartTick]:
    steps = round_steps(axis.high, most=5)
    places = figures.decimals_of(steps[1], 1) if len(steps) > 1 else 0
    return [
        {"at": percent(100 * (1 - axis.at(value))), "label": figures.number(value, places), "anchor": "end"}
        for value in steps
    ]


def _lines(curve: Curve, axis: Axis) -> list[CurveLine]:
    """The limits, each from its words down. Those of the right half have them at their left, so the rightmost stands
    highest; then those of the left half, from the left."""
    out: list[CurveLine] = []
    held = [(axis.at(line.x), line) for line in curve.lines if axis.holds(line.x)]
    held.sort(
        key=lambda placed: (placed[0] <= RIGHT_HALF, -placed[0] if placed[0] > RIGHT_HALF else placed[0])
    )
    for at, line in held:
        anchor: Literal["start", "end"] = "end" if at > RIGHT_HALF else "start"
        out.append(
            {
                "kind": line.kind,
                "x": percent(100 * at),
                "top": LABEL_STEP * len(out),
                "dy": FIRST_LABEL + LABEL_STEP * len(out),
                "label": line.label,
                "anchor": anchor,
            }
        )
    return out


def _marks(answer: Answer, measured: Sequence[Beside], curve: Curve) -> list[tuple[float, float]]:
    """(tokens held, tokens per second) of measured results with the question's users, where the chart holds them."""
    users = settled(answer).workload.users
    return [
        (float(each.held_tokens), each.value)
        for each in measured
        if each.figure == "decode" and each.users == users and each.held_tokens is not None
        if curve.x[0] <= each.held_tokens <= curve.end
    ]


def _mark(x: float, y: float, x_axis: Axis, y_axis: Axis, *, below: bool, named: bool) -> CurveMark:
    """below: the result lies under the curve, and so do its words. named: it has words."""
    at = x_axis.at(x)
    return {
        "x": percent(100 * at),
        "y": percent(100 * (1 - y_axis.at(y))),
        "label": _("measured {value}").format(value=figures.rate(y)) if named else "",
        "below": below,
        "anchor": "end" if at > RIGHT_HALF else "start",
    }


def _present(point: tuple[float, float], label: str, x_axis: Axis, y_axis: Axis) -> ChartPoint | None:
    at = x_axis.at(point[0])
    if not x_axis.holds(point[0]):
        return None
    return {
        "x": percent(100 * at),
        "y": percent(100 * (1 - y_axis.at(point[1]))),
        "label": label,
        "anchor": "end" if at > RIGHT_HALF else "start",
    }


def _table(curve: Curve) -> ChartTable:
    """The curve at its ticks, with its range and whatever else is known there."""
    axis = Axis(float(curve.x[0]), float(curve.x[-1]), log=True)
    values = (
        sorted({*powers_of_four(axis), int(curve.present[0])}) if curve.x[0] < curve.x[-1] else [curve.x[0]]
    )
    rows = []
    for x in values:
        low, high = between(x, curve.x, curve.low), between(x, curve.x, curve.high)
        more = [figures.rate(between(x, curve.x, series)) for series in curve.more.values()]
        rows.append(
            [
                figures.whole(x),
                figures.rate(between(x, curve.x, curve.y)),
                figures.rate_range(low, high),
                *more,
            ]
        )
    return {"id": "speed-curve", "folded": False, "head": [*curve.head, "90%", *curve.more], "rows": rows}


def _numbers(
    curve: Curve,
    x_axis: Axis,
    y_axis: Axis,
    lines: Sequence[CurveLine],
    placed: Sequence[CurveMark],
    marks: Sequence[tuple[float, float]],
    label: str,
    *,
    above: bool,
) -> str:
    """What Plotly needs, as JSON text."""
    ticks, steps = powers_of_four(x_axis), round_steps(y_axis.high, most=5)
    values = {line.label: line.x for line in curve.lines}
    numbers = {
        "x": list(curve.x),
        "y": _rounded(curve.y),
        "low": _rounded(curve.low),
        "high": _rounded(curve.high),
        "unit": curve.unit,
        "lines": [{**line, "x": values[line["label"]]} for line in lines],
        "marks": [
            {"x": x, "y": y, "label": mark["label"], "below": mark["below"]}
            for mark, (x, y) in zip(placed, marks, strict=True)
        ],
        "present": {"x": curve.present[0], "y": curve.present[1], "label": label, "below": not above},
        "y_ticks": {"values": steps, "labels": [tick["label"] for tick in _y_ticks(y_axis)]},
        "x_ticks": {"values": ticks, "labels": [tick_label(value) for value in ticks]},
        "x_range": [x_axis.low, x_axis.high],
        "y_range": [0, round(y_axis.high, 3)],
    }
    return json.dumps(numbers, separators=(",", ":"))


def _rounded(values: Sequence[float]) -> list[float]:
    return [float(f"{value:.4g}") for value in values]
