"""What the templates of the record of accuracy expect; text, links and positions are finished (see panels/shapes.py)."""

from __future__ import annotations

from typing import Literal, TypedDict

from calculator.web.panels.shapes import ChartPoint, ChartTick, Choice, Sentence


class KindLink(TypedDict):
    """One of the records. here: it is the one that is shown."""

    href: str
    name: str
    here: bool


class AccuracyFrame(TypedDict):
    """The words of the head, and the links that keep what is chosen. here: the address of what is shown.
    kinds: the records that can be chosen, memory and speed (link, name, whether it is this one). has_sizes: the units of
    sizes can be switched.
    """

    title: str
    description: str
    canonical: str
    catalogue: str
    units: Literal["gib", "gb"]
    here: str
    gib_href: str
    gb_href: str
    kinds: list[KindLink]
    has_sizes: bool


class Filter(TypedDict):
    """One choice of the form. id: the parameter's name."""

    id: str
    label: str
    value: str
    choices: list[Choice]


class Filters(TypedDict):
    """shares: the two shares of the logs, as radio buttons. hidden: parameters that the form keeps (name, value).
    words: what is shown. clear_href: the page without filters, `""` when none is set. problems: choices that the page
    does not offer."""

    share: Filter
    lists: list[Filter]
    hidden: list[tuple[str, str]]
    words: str
    left_out: str
    clear_href: str
    problems: list[str]
    flatters: str


class GroupRow(TypedDict):
    """A line of a table of errors. id: its anchor. note: small, below the name. held: `91% ± 4`, or `exact in 97%`;
    of: `64 of 70`, or `""`. here: it is the one that is filtered by."""

    id: str
    name: str
    href: str
    note: str
    logs: str
    figures: str
    median: str
    p90: str
    bias: str
    held: str
    of: str


class GroupTable(TypedDict):
    """missing: `No data: KTransformers, LM Studio.`. remarks: sentences below."""

    id: str
    title: str
    first_head: str
    rows: list[GroupRow]
    missing: str
    remarks: list[str]


class Mark(TypedDict):
    """A point of the scatter chart; where it leads."""

    x: str
    y: str


class Series(TypedDict):
    """Points of one family of engines: number chooses colour and shape."""

    number: int
    name: str
    marks: list[Mark]


class Scatter(TypedDict):
    """The chart of errors. subject: which figures are drawn. band: top and height of the band around zero. worst: the labelled point. numbers: what
    Plotly needs, as JSON text; figure: the frame that it fills."""

    id: str
    title: str
    description: str
    note: str
    subject: str
    series: list[Series]
    x_ticks: list[ChartTick]
    y_ticks: list[ChartTick]
    band_y: str
    band_height: str
    zero_y: str
    worst: ChartPoint | None
    numbers: str
    figure: str


class SourceLink(TypedDict):
    """Where a log stands: text, its address (`""` where none is known), and the rest of the reference."""

    text: str
    href: str
    rest: str


class CaseRow(TypedDict):
    """One figure of one log. asked_href: the calculator with the log's question, `""` where it cannot be asked."""

    id: str
    name: str
    facts: str
    part: str
    part_note: str
    observed: str
    predicted: str
    range: str
    unit: str
    error: str
    outside: str
    why: str
    source: SourceLink
    asked_href: str
    asked_words: str


class Cases(TypedDict):
    """title, the rows, and the link that shows the rest (`""`: all are there)."""

    rows: list[CaseRow]
    shown: str
    more_href: str
    more_words: str
    csv_href: str


class LeftOutLog(TypedDict):
    id: str
    name: str
    source: SourceLink


class LeftOutRow(TypedDict):
    """A reason, how many logs (or figures) it holds for, and which."""

    reason: str
    count: str
    logs: list[LeftOutLog]


class LeftOut(TypedDict):
    sentence: str
    rows: list[LeftOutRow]
    parts_sentence: str
    parts_rows: list[LeftOutRow]


class Nothing(TypedDict):
    """Said instead of tables when nothing is left of the record: the sentence and ways out of it."""

    sentence: str
    ways: Sentence


class AccuracyPage(TypedDict):
    """left, right: further tables of errors, below the chart and beside it."""

    frame: AccuracyFrame
    headline: str
    ground: list[Sentence]
    filters: Filters
    nothing: Nothing | None
    chart: Scatter | None
    by_figure: GroupTable | None
    by_engine: GroupTable | None
    by_attention: GroupTable | None
    left: list[GroupTable]
    right: list[GroupTable]
    cases: Cases | None
    left_out: LeftOut
