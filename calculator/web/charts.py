"""Charts: one description for each kind, from which come the SVG's numbers and the Plotly figure.

The figure (traces, layout, names of colour tokens) is built and validated once by plotly.py and sent once; what changes
with an answer is numbers only.
"""

from __future__ import annotations

import json
import math
from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import pairwise
from typing import Any

BOX = 1000
"""The curves' own square: 0–1000 from the left and from the top."""

MOST_SERIES = 4
DASHES = ("solid", "7px,4px", "2px,3px", "7px,4px,2px,4px")

Point = tuple[float, float]


@dataclass(frozen=True, slots=True)
class Axis:
    """A range on a line of 0 to 1; `log` for tokens and users."""

    low: float
    high: float
    log: bool = False

    def at(self, value: float) -> float:
        """Where a value lies, 0 at `low`, 1 at `high`; beyond the ends it is less or more."""
        if not self.log:
            return (value - self.low) / (self.high - self.low)
        return math.log(value / self.low) / math.log(self.high / self.low)

    def holds(self, value: float) -> bool:
        return self.low <= value <= self.high


def powers_of_four(axis: Axis) -> list[int]:
    """Ticks of an axis of tokens or users: 4K, 16K, 64K, 256K, 1M."""
    return [int(tick) for tick in powers_of_four_between(axis)]


def powers_of_four_between(axis: Axis) -> list[float]:
    """Ticks of an axis that may begin below one: 0.0625, 0.25, 1, 4."""
    first = math.ceil(math.log(axis.low, 4) - 1e-9)
    last = math.floor(math.log(axis.high, 4) + 1e-9)
    return [4.0**power for power in range(first, last + 1)]


def round_steps(high: float, most: int = 5) -> list[float]:
    """Ticks from 0 up to `high` at 1, 2 or 5 times a power of ten, at most `most` + 1 of them."""
    if high <= 0:
        return [0.0]
    rough = high / most
    power: float = 10.0 ** math.floor(math.log10(rough))
    step = next(factor * power for factor in (1, 2, 5, 10) if factor * power >= rough * (1 - 1e-9))
    return [index * step for index in range(int(high / step + 1e-9) + 1)]


def cut_at_top(points: Sequence[Point]) -> list[Point]:
    """A curve in the unit square (y upwards) without what lies above it; it ends where it leaves through the top."""
    if all(y <= 1 for _, y in points):
        return list(points)
    out: list[Point] = [points[0]] if points[0][1] <= 1 else []
    for (x1, y1), (x2, y2) in pairwise(points):
        if y1 <= 1 < y2:
            out.append((x1 + (x2 - x1) * (1 - y1) / (y2 - y1), 1.0))
        elif y1 > 1 >= y2:
            out += [(x1 + (x2 - x1) * (1 - y1) / (y2 - y1), 1.0), (x2, y2)]
        elif y2 <= 1:
            out.append((x2, y2))
    return out


def polyline(points: Iterable[Point]) -> str:
    """Points of the unit square for an SVG polyline in the box, y downwards, whole numbers."""
    return " ".join([f"{x * BOX:.0f},{(1 - y) * BOX:.0f}" for x, y in points])


def apart(positions: Sequence[float], least: float) -> list[float]:
    """Positions from 0 to 1 moved apart, in their order, so that no two labels overlap."""
    if not positions:
        return []
    order = sorted(range(len(positions)), key=positions.__getitem__)
    out = list(positions)
    for before, after in pairwise(order):
        out[after] = max(out[after], out[before] + least)
    if out[order[-1]] > 1:
        out[order[-1]] = 1.0
        for after, before in pairwise(reversed(order)):
            out[before] = min(out[before], out[after] - least)
    return out


def between(x: float, xs: Sequence[float], ys: Sequence[float]) -> float:
    """The value at x of a curve that is straight between its points."""
    at = bisect_left(xs, x)
    if at == 0:
        return ys[0]
    if at == len(xs):
        return ys[-1]
    (x1, x2), (y1, y2) = xs[at - 1 : at + 1], ys[at - 1 : at + 1]
    return y1 + (y2 - y1) * (x - x1) / (x2 - x1)


def _memory_against_context() -> str:
    """GiB per GPU against context: up to four cache types, then the present point."""
    import plotly.graph_objects as go  # 190 ms, and only for full pages

    traces = [
        go.Scatter(
            mode="lines",
            line={"width": 2, "dash": DASHES[number]},
            meta={"token": f"c-{number + 1}"},
            hovertemplate="%{y:,.3s}<extra>%{fullData.name}</extra>",
        )
        for number in range(MOST_SERIES)
    ]
    traces.append(
        go.Scatter(
            mode="markers",
            marker={"size": 9},
            meta={"token": "here"},
            hoverinfo="skip",
            showlegend=False,
            name="",
        )
    )
    layout = go.Layout(
        template=None,
        showlegend=False,
        hovermode="x unified",
        margin={"l": 40, "r": 72, "t": 8, "b": 28},
        xaxis={"type": "log", "fixedrange": False, "tickmode": "array", "zeroline": False},
        yaxis={"rangemode": "tozero", "zeroline": False},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
    )
    return _frame(go.Figure(data=traces, layout=layout))


SYMBOLS = ("circle", "square", "triangle-up", "diamond")
"""Shapes of the marks of a scatter chart, as the server draws them too."""


def _errors_against_size() -> str:
    """Error against the observed size: one trace of marks for each family of engines."""
    import plotly.graph_objects as go

    traces = [
        go.Scatter(
            mode="markers",
            marker={"size": 8, "symbol": symbol, "opacity": 0.8},
            meta={"token": f"c-{number}"},
            hovertemplate="%{text}<extra></extra>",
        )
        for number, symbol in enumerate(SYMBOLS, start=1)
    ]
    layout = go.Layout(
        template=None,
        showlegend=False,
        hovermode="closest",
        margin={"l": 48, "r": 12, "t": 8, "b": 28},
        xaxis={"type": "log", "fixedrange": False, "tickmode": "array", "zeroline": False},
        yaxis={"tickmode": "array", "zeroline": False},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
    )
    return _frame(go.Figure(data=traces, layout=layout))


def _speed() -> str:
    """A curve with its band: low end, high end filled down to it, the curve, measured results, the present point."""
    import plotly.graph_objects as go

    edge = {"mode": "lines", "line": {"width": 0}, "hoverinfo": "skip"}
    traces = [
        go.Scatter(**edge, meta={"token": "c-1", "band": True}),
        go.Scatter(**edge, fill="tonexty", meta={"token": "c-1", "band": True}),
        go.Scatter(mode="lines", line={"width": 2}, meta={"token": "c-1"}),
        go.Scatter(
            mode="markers", marker={"size": 9, "symbol": "square"}, meta={"token": "c-1"}, hoverinfo="skip"
        ),
        go.Scatter(mode="markers", marker={"size": 9}, meta={"token": "here"}, hoverinfo="skip"),
    ]
    layout = go.Layout(
        template=None,
        showlegend=False,
        hovermode="x unified",
        margin={"l": 40, "r": 16, "t": 8, "b": 28},
        xaxis={"type": "log", "fixedrange": False, "tickmode": "array", "zeroline": False},
        yaxis={"rangemode": "tozero", "zeroline": False},
        paper_bgcolor="rgba(0,0,0,0)",
        plot_bgcolor="rgba(0,0,0,0)",
    )
    return _frame(go.Figure(data=traces, layout=layout))


compact = json.JSONEncoder(separators=(",", ":")).encode
"""Numbers as JSON text without spaces."""


def _frame(figure: Any) -> str:
    """A figure as JSON text, without plotly's own template: ours are the tokens of the page."""
    plain = figure.to_plotly_json()
    plain["layout"].pop("template", None)
    return compact(plain)


_FIGURES: dict[str, Callable[[], str]] = {
    "context": _memory_against_context,
    "errors": _errors_against_size,
    "speed": _speed,
}


@cache
def figure_json(kind: str) -> str:
    """The Plotly figure of a chart kind as JSON text: built once for each process."""
    return _FIGURES[kind]()
