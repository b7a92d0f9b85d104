"""What the template of the section Hardware finds: finished strings."""

from __future__ import annotations

from typing import TypedDict


class Head(TypedDict):
    """A column's head: a link that orders by it. sorted: ascending or descending where the table stands in this order, else empty. number: aligned to the right."""

    label: str
    href: str
    view: str
    sorted: str
    number: bool


class Pill(TypedDict):
    """One value of a filter. view: the section's own query with it."""

    label: str
    href: str
    view: str
    current: bool


class Pills(TypedDict):
    """A filter with its values."""

    label: str
    name: str
    pills: list[Pill]


class HardwareLine(TypedDict):
    """One device or system in its smallest count that works. mine: the one of the question. announced: said of a device that is not sold yet. tight: a smaller count that is
    tight. why: stands in place of speed and context where it does not run."""

    name: str
    href: str
    mine: bool
    plan: str
    count: str
    tight: str
    memory: str
    bandwidth: str
    announced: str
    needs: str
    usable: str
    code: str
    chip: str
    speed: str
    range: str
    context: str
    why: str
    price: str
    price_note: str


class Recommended(TypedDict):
    """A device that is named first, with the rule that chose it."""

    title: str
    rule: str
    name: str
    href: str
    memory: str
    price: str
    code: str


class HardwarePanel(TypedDict):
    """The whole section. view: its own query as it stands. nearest: the sentence above what comes closest."""

    view: str
    heads: list[Head]
    pills: list[Pills]
    rows: list[HardwareLine]
    recommended: list[Recommended]
    nearest: str
    count: str
    more_label: str
    more_view: str
    more_href: str
    csv_query: str
