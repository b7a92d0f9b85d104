"""What the section Speed is given. All text is finished: translated, rounded, with its unit."""

from __future__ import annotations

from typing import Literal, TypedDict

from calculator.web.panels.shapes import ChartPoint, ChartTable, ChartTick, Sentence


class SpeedRow(TypedDict):
    """A figure of speed.

    id: for `why-<id>`. name: `"Decode"`, note: `"each of 8 users"`. value, unit: `"15.7"`, `"tok/s"`; `"—"` without a
    unit where there is none, and `sets` says why. range: `"14.2–17.2"`. evidence: its record on the page of accuracy, or `""`. sets: what sets it: `"reading the weights, 64% of a
    step"`. explained: it has a row of `why`. why: the multiplication, `""` where nobody has
    unfolded it.
    """

    id: str
    name: str
    note: str
    value: str
    unit: str
    range: str
    evidence: str
    sets: str
    explained: bool
    why: str


class SpeedTable(TypedDict):
    """The rows, the same object as long as nothing in them changes. ttft_s, rate: slow, middle and fast for the
    simulator: `"1.28 0.58 0.34"`, `"103 125 144"`; both `""` where no first token is known."""

    rows: list[SpeedRow]
    ttft_s: str
    rate: str


class TargetField(TypedDict):
    """A latency target: a number field of the question that stands in this section."""

    id: str
    label: str
    value: str
    problem: Sentence


class CurveTab(TypedDict):
    """A tab of the curves. name: `context`, `users`, `prompt`. href: the page with this one open."""

    name: str
    label: str
    href: str
    current: bool


class CurveLine(TypedDict):
    """A vertical limit: kind `memory`, `knee` or `targets`; x in per cent, top: where it begins, dy: where its
    words stand, from the top of the plot [px]."""

    kind: Literal["memory", "knee", "targets"]
    x: str
    top: int
    dy: int
    label: str
    anchor: Literal["start", "end"]


class CurveMark(TypedDict):
    """A measured result in the chart: x, y in per cent, label `"measured 17.1"`, `""` for all but the
    nearest to the question. below: the words stand under it."""

    x: str
    y: str
    label: str
    below: bool
    anchor: Literal["start", "end"]


class CurvePanel(TypedDict):
    """One curve with its band. line, band: points in a box of 0–1000 by 0–1000. sets: the field that a click sets.
    numbers: JSON text for Plotly. table, csv_href: the same in figures."""

    title: str
    note: str
    description: str
    line: str
    band: str
    x_ticks: list[ChartTick]
    y_ticks: list[ChartTick]
    lines: list[CurveLine]
    marks: list[CurveMark]
    present: ChartPoint | None
    present_above: bool
    sets: str
    numbers: str
    table: ChartTable
    csv_href: str


class MeasuredRow(TypedDict):
    """A measured result beside the estimate: `"17.1 tok/s"`, then its conditions and its source; estimate: what is computed
    for these conditions, or `""`; caveat: why it says little about this question, or `""`."""

    value: str
    estimate: str
    conditions: str
    caveat: str
    source: str
    href: str


class SpeedSide(TypedDict):
    """What follows when the section is looked at: tabs, the open curve, measured results."""

    tabs: list[CurveTab]
    curve: CurvePanel | None
    measured: list[MeasuredRow]
    feel: str


class SpeedPanel(TypedDict):
    """The section. reason: why there is no speed, or `""`. short: `"52 tok/s"` for dock and section bar, or `""`.
    remarks: what the ranges rest on, drafts. within: how many users keep to the targets. side: None in a live update.
    href: the address of the whole section, `"?model=…"`."""

    reason: str
    short: str
    table: SpeedTable | None
    remarks: list[Sentence]
    within: str
    targets: list[TargetField]
    side: SpeedSide | None
    figure: str
    href: str
