"""What is possible but unusual: a figure far from those of all comparable rows. It asks the database."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db import models

FEWEST = 3
"""With fewer comparable rows nothing can be said about what is usual."""


@dataclass(frozen=True, slots=True)
class Usual:
    """A column whose values lie together among rows that are equal in another column.

    room: a value may lie beyond the lowest and the highest of the others by this factor. per: a column that the figure
    grows with, by which it is divided before it is compared; each: what that
    column counts.
    """

    column: str
    among: str
    room: float
    unit: str
    per: str = ""
    each: str = ""


def unusual(row: models.Model, rules: tuple[Usual, ...]) -> Iterator[tuple[str, str]]:
    """(column, sentence) for each figure that no comparable published row comes near."""
    for rule in rules:
        own = _figure(row, rule)
        if own is None:
            continue
        names = [rule.column, *([rule.per] if rule.per else [])]
        rows = type(row)._default_manager.filter(**{rule.among: getattr(row, rule.among)}).exclude(pk=row.pk)  # noqa: SLF001
        others = [
            float(values[0]) / float(values[1] if rule.per else 1)
            for values in rows.exclude(**{f"{rule.column}__isnull": True}).values_list(*names)
            if not rule.per or values[1]
        ]
        if len(others) < FEWEST:
            continue
        low, high = min(others), max(others)
        if not low / rule.room <= own <= high * rule.room:
            yield rule.column, _sentence(row, rule, own, low, high, len(others))


def _figure(row: models.Model, rule: Usual) -> float | None:
    value = getattr(row, rule.column)
    divisor: Any = getattr(row, rule.per) if rule.per else 1
    return float(value) / float(divisor) if value is not None and divisor else None


def _sentence(row: models.Model, rule: Usual, own: float, low: float, high: float, count: int) -> str:
    each = f" per {rule.each}" if rule.each else ""
    among = f"{rule.among.replace('_', ' ').removesuffix(' id')} {getattr(row, rule.among)}"
    return f"{own:,.5g} {rule.unit}{each} is unusual: the {count} others with {among} have {low:,.5g} to {high:,.5g}."
