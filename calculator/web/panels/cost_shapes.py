"""What the template of the section Cloud & cost finds: finished strings and places in per cent."""

from __future__ import annotations

from typing import TypedDict

from calculator.web.panels.shapes import Choice, Sentence


class MoneyField(TypedDict):
    """An input of money. choices: empty for a number. placeholder: what is taken while it is left open."""

    id: str
    label: str
    value: str
    placeholder: str
    unit: str
    choices: list[Choice]
    problem: Sentence


class CostRow(TypedDict):
    """One figure of a million tokens, or of energy, with the multiplication behind it."""

    name: str
    value: str
    range: str
    why: str


class WayRow(TypedDict):
    """Rent, own or API for the same tokens. cheapest: the first of them."""

    name: str
    per_month: str
    per_month_range: str
    per_million: str
    cheapest: bool


class PaybackRow(TypedDict):
    """When owning pays instead of another way, in months; NPV over the horizon."""

    name: str
    simple: str
    discounted: str
    with_resale: str
    npv: str
    npv_range: str
    words: str


class MoneyLine(TypedDict):
    """A line of the chart: its points in thousandths, its label at its end."""

    name: str
    kind: str
    points: str
    band: str
    label_y: str


class MoneyTick(TypedDict):
    """A tick of an axis, in per cent."""

    at: str
    label: str


class MoneyChart(TypedDict):
    """Cumulative cost over the months of the horizon. meets: where owning has paid for itself."""

    description: str
    lines: list[MoneyLine]
    x_ticks: list[MoneyTick]
    y_ticks: list[MoneyTick]
    meets_x: str
    meets_label: str


class TornadoRow(TypedDict):
    """What an input moved by a fifth does to the NPV, or to the cost per token."""

    name: str
    low: str
    high: str
    x: str
    width: str


class CostPanel(TypedDict):
    """The whole section. words: why there are no figures, else what to know beside them. verdict: whether owning pays."""

    fields: list[MoneyField]
    more: list[MoneyField]
    verdict: list[str]
    rows: list[CostRow]
    ways: list[WayRow]
    paybacks: list[PaybackRow]
    energy: list[CostRow]
    chart: MoneyChart | None
    tornado: list[TornadoRow]
    tornado_note: str
    prices: list[str]
    words: list[str]
