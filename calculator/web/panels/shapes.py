"""What the templates of the calculator expect: one shape for each panel.

The contract between presenters and templates. A presenter fills these dicts with finished text: rounding, units,
separators and sentences are its work, and so is every position in per cent. A template places them and computes nothing.

How text looks here:

- A number is text as a person reads it: `"8,192"`, `"58.3"`, `"573K"`. A unit stands apart (`unit`) wherever it is drawn
  lighter; inside a sentence it follows a no-break space: `"14.6\u00a0GiB"`.
- A position is text with its per cent sign and at most two decimals: `"69.31%"`. Zero is `"0%"`.
- `""` and `[]` mean "nothing to show"; the template then leaves the element out or empty. A key is never missing.
- A `Sentence` is a list of spans, so that a figure can be bold and a way out can be a link without HTML in Python.
- A link is a permalink that begins with `/?`. It holds `units=gb` when the visitor reads GB.
- Names of GPUs and models are plain text; the templates escape them.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Literal, TypedDict

if TYPE_CHECKING:
    from calculator.web.panels.speed_shapes import SpeedPanel

VerdictCode = Literal["fits", "tight", "offload", "does_not_fit", "unsupported"]
"""As the API spells it; it is also the icon's name in `icons.svg` and, after `is-`, the colour's class."""

PartClass = Literal["weights", "kv", "state", "activations", "runtime", "vision", "draft"]
"""The colour of a memory part, after `p-` in the CSS. In a bar, `kv` holds the index cache too, and `runtime` holds
context, communication and graphs; the breakdown table lists each and gives each of them the class of its sum."""


class Span(TypedDict):
    """A piece of a sentence: plain, bold, or a link. Spaces belong to the text: `{"text": "Each GPU needs "}`."""

    text: str
    strong: bool
    href: str


Sentence = list[Span]


# --- The question ---------------------------------------------------------------------------------------------------


class Choice(TypedDict):
    """One option of a select or a segmented control.

    value: as in the query string; `""` leaves it to the engine or the device. label: `"native (MXFP4)"`. The resolved
    `auto` is the option `""` with the label of what it means now: `"vLLM 0.33"`, never the word auto.
    """

    value: str
    label: str


class ChoiceGroup(TypedDict):
    """label: heading of an `<optgroup>` (`"GGUF"`), or `""` for options without a heading."""

    label: str
    choices: list[Choice]


class SelectField(TypedDict):
    """A list of which one is chosen: weights format, engine, flash attention, operating system.

    widget: `"select"`. id: the parameter's name, unique on the page: `"quant"`. value: that of the chosen option. note:
    muted, at the right inside the box, about the chosen one: `"1,454\u00a0GiB"`, `"tensor 32 + expert"`. aside: at the
    right of the label: `"chosen for you"`. help: words below, plain: why it was chosen. problem: see `Problems` below.
    changed: differs from what the engine or the device would choose; draws a dot and *reset* (only in Advanced).
    """

    widget: Literal["select"]
    id: str
    name: str
    label: str
    aside: str
    value: str
    groups: list[ChoiceGroup]
    note: str
    help: str
    problem: Sentence
    changed: bool


class SegmentedField(TypedDict):
    """Two to four short choices side by side: the cache type (`"bf16"`, `"fp8"`; llama.cpp calls bf16 `"f16"`).

    widget: `"segmented"`. More choices, or a label of more than 8 characters: a SelectField; the template takes either
    for `kv`.
    """

    widget: Literal["segmented"]
    id: str
    name: str
    label: str
    aside: str
    value: str
    choices: list[Choice]
    help: str
    problem: Sentence
    changed: bool


class NumberField(TypedDict):
    """A number that may be left to the engine.

    widget: `"number"`. value: `""` while the default holds. placeholder: that default as text (`"0.92"`); where it follows
    another field, in words (`"as the context"`), so that it need not change while a slider moves. unit: `"tokens"` or
    `""`. help: one short sentence or `""`.
    """

    widget: Literal["number"]
    id: str
    name: str
    label: str
    value: str
    placeholder: str
    unit: str
    help: str
    problem: Sentence
    changed: bool


class ToggleField(TypedDict):
    """A switch that is off by default: images, eager mode, a screen on the card. widget: `"toggle"`. It sends `"1"`."""

    widget: Literal["toggle"]
    id: str
    name: str
    label: str
    on: bool
    help: str
    problem: Sentence
    changed: bool


AdvancedField = NumberField | SelectField | SegmentedField | ToggleField


class AdvancedGroup(TypedDict):
    """legend: `"Engine memory"`, `"Parallel plan"`, `"Operating system"`, `"Prompt and answer"`, `"Images"`. Only the
    knobs that the engine, the system and the model have; a group without any is left out."""

    legend: str
    fields: list[AdvancedField]


class PickerOption(TypedDict):
    """One model or device.

    name: `"NVIDIA H100 SXM 80 GB"`. columns: at most three short facts for the row in the list, separated by `"|"`:
    `"79.6\u00a0GiB|3,350\u00a0GB/s"`; `"2.78T|106B active|1M"`. words: what else finds it (aliases, family, lab), separated
    by spaces, without what the name, its group or the id already says.
    """

    value: str
    name: str
    columns: str
    words: str


class PickerGroup(TypedDict):
    """label: the left rail's entry and the `<optgroup>`: `"NVIDIA data centre"`, `"Moonshot AI"`."""

    label: str
    options: list[PickerOption]


class PickerField(TypedDict):
    """Model or hardware. groups depend on the catalogue and the units only: build them once per snapshot and units.

    In a fragment `groups` is not read and may be `[]`. chosen_name: the closed picker's first line. chosen_facts: its
    second, most telling first, separated by `" · "`: `"79.6\u00a0GiB · 3,350\u00a0GB/s · FP8 · NVLink 900\u00a0GB/s"`.
    """

    id: str
    name: str
    label: str
    value: str
    chosen_name: str
    chosen_facts: str
    groups: list[PickerGroup]
    problem: Sentence


class CountField(TypedDict):
    """How many. value: `"32"`. note: `"4 nodes of 8 · fits from 32"`. steps: where − and + stop, ascending, separated by
    spaces: `"1 2 4 8 16 24 32 40"`."""

    id: str
    name: str
    label: str
    value: str
    note: str
    steps: str
    problem: Sentence


class Tick(TypedDict):
    """x: `"33.33%"`. value: whole number as in the query: `"16384"`. label: `"16K"`. anchor: `"start"` for the first,
    `"end"` for the last, else `"middle"`."""

    x: str
    value: str
    label: str
    anchor: str


class SliderField(TypedDict):
    """Context or users on a log2 scale, with its number field.

    value: `"8,192"`. unit: `"tokens"`, `"requests"`. low, high: ends of the scale as in the query (`"1024"`, `"1048576"`).
    fit: up to here the verdict is `fits` (`"573440"`); tight: up to here it is `tight`, never below fit; both `"0"` when
    nothing fits, `""` when no limit is known (a refused combination): the track is then drawn without colours. maximum: the model's, `""` when there is none. words: the same in words, with numbers that can be typed:
    `"Fits up to 573,440. Model’s maximum 1,048,576."` longest: whole number that the link *longest* sets (context only), `""` for no link;
    longest_href: the same as a permalink, for browsers without JavaScript.
    """

    id: str
    name: str
    label: str
    value: str
    unit: str
    low: str
    high: str
    ticks: list[Tick]
    fit: str
    tight: str
    maximum: str
    words: str
    longest: str
    longest_href: str
    problem: Sentence


class QuestionNotes(TypedDict):
    """What stands beside the lists; the same object as long as none of it changes."""

    quant: SelectField
    engine: SelectField
    advanced_summary: str


class QuestionPanel(TypedDict):
    """Every field, in the order of the page.

    advanced_summary: `"all at the engine’s defaults"`, `"2 changed"`. reset_href: `"/"`.
    choices_key: short text that changes when any of the lists in quant, kv, engine or advanced would look different
    (their choices, wording of `auto`, placeholders, changed), and not when only a slider moved. The browser sends
    the key of what it shows as the header `Stowage-Choices`; send_choices is True when that differs from choices_key,
    and the fragment then carries those fields again. On a full page send_choices is not read.
    carried: what differs from the defaults and has no field here, as name and text, so that no change of a field loses it.
    """

    model: PickerField
    quant: SelectField
    gpu: PickerField
    n: CountField
    ctx: SliderField
    users: SliderField
    kv: SegmentedField | SelectField
    engine: SelectField
    advanced: list[AdvancedGroup]
    advanced_summary: str
    units: str
    reset_href: str
    notes: QuestionNotes
    choices_key: str
    send_choices: bool
    carried: list[tuple[str, str]]


class FieldProblem(TypedDict):
    """A problem for a field of any group: its id, and the sentence that the field shows too."""

    id: str
    sentence: Sentence


class ProblemsPanel(TypedDict):
    """The note above the answer that counts the fields with a problem, and the problems by field.

    sentence: `"Two values of this link were out of range and were replaced. They are marked."`, `""` without problems.
    fields: one for each control on the page that has a problem (in a fragment they update the controls). others: for
    parameters without a control, one sentence each: `"hours: not computed yet."`
    """

    sentence: str
    fields: list[FieldProblem]
    others: list[Sentence]


# --- The answer -----------------------------------------------------------------------------------------------------


class VerdictPanel(TypedDict):
    """The card's head.

    chip: `"Fits"`, `"Tight"`, `"Needs offload"`, `"Does not fit"`, `"Not supported"`. question: `"Kimi K3.1 Pro · native ·
    8,192 tokens · 1 request · 32 × H100 SXM · vLLM 0.33"`. sentence: `"Fits, with 14.6 GiB to spare on every GPU."` ground:
    at most two sentences as one list of spans; for `unsupported` the ways out as links. spoken: for screen readers at rest:
    the sentence and `"58.3 of 72.9 GiB"`. permalink: of this question: `"/?model=…&v=1"`, as it belongs in the address bar.
    evidence: the record of the engine's sums, where the ranges come from.
    """

    code: VerdictCode
    chip: str
    question: str
    sentence: str
    ground: Sentence
    spoken: str
    permalink: str
    evidence: str


class BarPart(TypedDict):
    """A rectangle of the bar. x, width: `"0%"`, `"69.12%"` (never thinner than 0.12%, gaps of 0.12% taken off).
    label: `"Weights 55.0"` when it has room, else `""`. wide_only: True when it has room only on a wide page (13–26%)."""

    part: PartClass
    x: str
    width: str
    label: str
    wide_only: bool


class BarRange(TypedDict):
    """A stretch of the bar that is hatched, dotted or covered. x, width: per cent."""

    x: str
    width: str


class LegendEntry(TypedDict):
    """part, name, value: `"KV cache"`, `"0.21"`."""

    part: PartClass
    name: str
    value: str


class BarPanel(TypedDict):
    """The fullest GPU, drawn to scale. Full width = physical memory, or 1.06 × the need when that is more.

    title: `"Fullest GPU, drawn to scale (GiB)"`. aside: `"all 32 hold the same"`. aria: `"Memory of the fullest GPU: 58.3 of
    72.9 usable and 79.6 GiB physical"`. usable_x, physical_x: the two limits. usable_label: `"usable 72.9"` (bold),
    physical_label: `"of 79.6 physical"`; both stand above, at physical_x: before it (limit_anchor `"end"`), or after it
    (`"start"`) when it lies left of the middle. hatch: between usable and physical. dots: the free part that a server
    will occupy, None otherwise. over: what lies beyond usable, None when nothing does. whisker_x1, whisker_x2: the 90% range of the total; whisker_label: `"58.3 GiB, 90% 57.6–59.4"` at
    whisker_label_x with whisker_anchor (`"end"`: the high end; `"start"`: the low end, when the high end is left of 45%).
    """

    title: str
    aside: str
    aria: str
    parts: list[BarPart]
    usable_x: str
    physical_x: str
    usable_label: str
    physical_label: str
    limit_anchor: Literal["start", "end"]
    hatch: BarRange | None
    dots: BarRange | None
    over: BarRange | None
    whisker_x1: str
    whisker_x2: str
    whisker_label: str
    whisker_label_x: str
    whisker_anchor: Literal["start", "end"]
    legend: list[LegendEntry]


class RackCell(TypedDict):
    """A GPU, filled from the floor: y is the top of the level from above, height the level: `"27.3%"`, `"72.7%"`."""

    y: str
    height: str
    fullest: bool


class RackNode(TypedDict):
    """label: `"node 1"`, `""` for a single machine; beyond 64 GPUs one node, `"node 1 × 12 alike"`."""

    label: str
    cells: list[RackCell]


class RackBar(TypedDict):
    """One of up to four GPUs that differ, as a small bar; all have one scale. name: `"GPU 1"`, an unequal card's own name
    (`"RTX 3060 12 GB"`), or `"System RAM, 119\u00a0GiB"`. note: `"layers 1–40"`, value: `"22.9 of 23.1"`. track: where the
    card's physical memory ends; hatch: between its usable and physical memory."""

    name: str
    note: str
    value: str
    parts: list[BarPart]
    usable_x: str
    over: BarRange | None
    hatch: BarRange | None
    track: str


class RackPanel(TypedDict):
    """From 2 GPUs on. aria: `"32 GPUs in 4 nodes, each filled to 73%"`. limit_y: the load line (usable memory) from above:
    `"8.4%"`. Either nodes or bars has entries. all_alike: every GPU holds the same."""

    aria: str
    limit_y: str
    nodes: list[RackNode]
    bars: list[RackBar]


class Figure(TypedDict):
    """A key figure: `"Per GPU, of 72.9 usable"`, `"58.3"`, `"GiB"`, then the range and the other unit in detail:
    `"57.6–59.4 · 62.6 GB"`, or `"exact"`. Figures that are not built are left
    out of the list. title: the exact number where value is shortened (`"573,440 tokens"`), else `""`."""

    label: str
    value: str
    unit: str
    detail: str
    title: str


FiguresPanel = list[Figure]


class WayOut(TypedDict):
    """Something that would fit: code of its verdict, name `"16 × H100"`, note `"two nodes of 8"`, needs `"44.6 of 72.9 GiB"`,
    href: its permalink."""

    code: VerdictCode
    name: str
    note: str
    needs: str
    href: str


class WouldFitPanel(TypedDict):
    """Below the card when the answer is no: smallest change first. later: `"?model=…&v=1"` where the rows follow, else
    empty."""

    rows: list[WayOut]
    later: str


class OneChange(TypedDict):
    """A neighbour of a question that works: code and verdict (`"Fits"`) of the changed question, title `"16 × H200 instead"`,
    detail `"103 of 128.6 GiB · 58 tok/s · $73.00 an hour of 2026-09, 43% less"`, href: its permalink."""

    code: VerdictCode
    verdict: str
    title: str
    detail: str
    href: str


class OneChangePanel(TypedDict):
    """Up to four of them, below the card when the answer is yes. later: as in WouldFitPanel."""

    changes: list[OneChange]
    later: str


class MemoryRow(TypedDict):
    """A part of the breakdown.

    id: the part's name in the API, for `why-<id>`: `"kv_cache"`. name: `"KV cache"`. note: `"24 MLA layers · same copy on
    every GPU"`. per_gpu: `"0.211"`, with equal decimals in a column where that is honest. range: `"54.9–55.2"` or
    `"exact"`. evidence: its record on the page of accuracy. total: over all GPUs. why: the explanation; source: one word and where (`"config file"`, `"rule, llama.cpp
    b11434"`), a span with href when there is a page. exact: the bytes in full: `"226,492,416 bytes"`. folded: these three
    are left out, because nobody has unfolded them.
    """

    id: str
    part: PartClass
    name: str
    note: str
    per_gpu: str
    range: str
    evidence: str
    total: str
    folded: bool
    why: Sentence
    exact: str
    source: Sentence


class MemoryPanel(TypedDict):
    """per_gpu_head: `"Per GPU, GiB"` (`"In this Mac, GiB"`); total_head: `"All, GiB"`, `""` with one GPU (no column).
    needed: the last row, `"Needed"`: its why and source are empty. remarks: sentences below the
    table (assumptions, host memory), or `[]`."""

    per_gpu_head: str
    total_head: str
    rows: list[MemoryRow]
    needed: MemoryRow
    remarks: list[Sentence]


class ChartSeries(TypedDict):
    """A curve, number 1 to 4 (colour and dash). points: for `<polyline>` in a box of 0–1000 by 0–1000, y downwards, whole
    numbers: `"0,270 16,270 31,269"`; what lies above the chart's top is cut off; empty in a live
    update. end_label: `"bf16 85.1"`, at end_y."""

    number: int
    name: str
    points: str
    end_label: str
    end_y: str


class ChartTick(TypedDict):
    """at: `"25%"` along the axis. label: `"16K"`, `"40"`."""

    at: str
    label: str
    anchor: str


class ChartLimit(TypedDict):
    """A horizontal line: kind `usable` (solid) or `physical` (dashed). y, label `"usable 72.9"`. below: the words stand
    under the line, because another limit or a curve is close above it."""

    kind: Literal["usable", "physical"]
    y: str
    label: str
    below: bool


class ChartPoint(TypedDict):
    """x, y: per cent from the left and the top. label: `"8,192 tokens: 58.3"`, `"fits to 573K"`. anchor: `"start"` or
    `"end"`, away from the nearer edge."""

    x: str
    y: str
    label: str
    anchor: Literal["start", "end"]


class ChartTable(TypedDict):
    """The same in figures, at the ticks: head `["Context", "bf16, GiB", "fp8, GiB"]`, rows of finished text. id: of the
    chart. folded: both are left out, because nobody has unfolded them."""

    id: str
    folded: bool
    head: list[str]
    rows: list[list[str]]


class DrawnChart(TypedDict):
    """What stays of a chart while only the present point moves; the same object as long as nothing in it changes.

    id: `"context"`. note: `"KV cache type bf16 (solid) and fp8 (dashed). Weights format and users as set."` fits: where
    the present curve meets *usable*, None outside the chart.

    numbers: JSON text for Plotly, only numbers and labels:
    `{"x": [1024, …], "series": [{"name": "bf16", "thousandths": [58100, …]}], "limits": [{"kind": "usable", "value": 72.9, "label":
    "usable 72.9"}], "x_ticks": {"values": [4096, …], "labels": ["4K", …]}, "x_range": [1024, 1048576], "y_range":
    [0, 88]}`. In a live update the page draws the curves from them (charts.js), and series have no points.
    """

    id: str
    note: str
    series: list[ChartSeries]
    x_ticks: list[ChartTick]
    y_ticks: list[ChartTick]
    limits: list[ChartLimit]
    fits: ChartPoint | None
    numbers: str


class ChartPanel(TypedDict):
    """GiB per GPU against context.

    id: `"context"`. title: `"GiB per GPU against context"`. description: one sentence for screen readers. present: where
    the visitor stands, None outside; present_numbers: the same for Plotly as JSON text, `{"x": 8192, "y": 58.3, "label":
    "8,192 tokens: 58.3"}` or `null`.

    figure: JSON text of the Plotly figure, the same for every answer and sent only with the full page: `{"data": [one
    trace for each of up to 4 series, then the present point], "layout": {…}}`, without any colour; a trace names its
    colour token in `meta`: `{"token": "c-1"}`, the present point `{"token": "here"}`.
    """

    id: str
    title: str
    description: str
    drawn: DrawnChart
    table: ChartTable
    present: ChartPoint | None
    present_numbers: str
    figure: str


class DockPanel(TypedDict):
    """The strip at the bottom of a phone: chip `"Fits"` (bold), figures `"58.3 of 72.9 GiB"`, and the bar without words."""

    code: VerdictCode
    chip: str
    figures: str
    parts: list[BarPart]
    usable_x: str
    over: BarRange | None


class PageFrame(TypedDict):
    """What surrounds the answer.

    title: `"Fits, with 14.6 GiB to spare on every GPU · Kimi K3.1 Pro on 32 × H100 SXM"` (the site's name is added).
    description: one or two sentences for search engines and previews. canonical: full address of the page without a
    question. catalogue: `"2026-11-30"`, for "Computed with the catalogue of …". api_href: `/api/v1/estimate?…` of this
    question. units: `"gib"` or `"gb"`; gib_href, gb_href: permalinks of this question in either.
    """

    title: str
    description: str
    canonical: str
    catalogue: str
    catalogue_version: str
    api_href: str
    units: Literal["gib", "gb"]
    gib_href: str
    gb_href: str


class LaterBox(TypedDict):
    """A section that is filled when somebody comes near: `calculator/partials/later.html`.

    href: the page with this section filled, empty in a live update, which leaves the inside alone. query: the question, for the section's own address. panel: what its template
    shows, None while it is closed.
    """

    name: str
    title: str
    invitation: str
    template: str
    href: str
    query: str
    panel: Any


class CalculatorPage(TypedDict):
    """The whole context of `calculator/page.html`, and of `calculator/answer.html` in it.

    fragment: True when only the answer is asked for; the answer then adds what the form must learn, out of band. bar is
    None when memory cannot be computed, rack with one GPU or when bar is None; memory, chart and speed are None with bar.
    preview: computed with drafts.
    """

    fragment: bool
    preview: bool
    frame: PageFrame
    question: QuestionPanel
    problems: ProblemsPanel
    verdict: VerdictPanel
    bar: BarPanel | None
    rack: RackPanel | None
    host: RackBar | None
    figures: FiguresPanel
    one_change: OneChangePanel | None
    would_fit: WouldFitPanel | None
    memory: MemoryPanel | None
    chart: ChartPanel | None
    speed: SpeedPanel | None
    sections: list[LaterBox]
    dock: DockPanel
