"""What differs between two states of a row, figure by figure, in words that a person reads."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

LONGEST = 240
"""Characters of a value that are shown."""
ONE_LINE = 80
"""A list that is as short as this in both states is shown whole."""
NOTHING = "–"


@dataclass(frozen=True, slots=True)
class Change:
    """One figure: its place in the entry, what was there and what is there now."""

    place: str
    before: str
    after: str


def changes(before: Mapping[str, Any], after: Mapping[str, Any]) -> list[Change]:
    """Every figure that differs, in the order of the later state; what is gone comes last."""
    return list(_inside("", before, after))


def _inside(place: str, before: Any, after: Any) -> Iterator[Change]:
    if _written(before) == _written(after):
        return
    if isinstance(before, Mapping) and isinstance(after, Mapping):
        for key in dict.fromkeys([*after, *before]):
            inner = f"{place}.{key}" if place else str(key)
            yield from _inside(inner, before.get(key), after.get(key))
    elif isinstance(before, list) and isinstance(after, list) and not _short(before, after):
        for index in range(max(len(before), len(after))):
            pair = (rows[index] if index < len(rows) else None for rows in (before, after))
            yield from _inside(f"{place}[{index + 1}]", *pair)
    else:
        yield Change(place, shown(before), shown(after))


def _written(value: Any) -> str:
    """As JSON, in which 1 is not true."""
    return json.dumps(value, sort_keys=True, default=str)


def _short(before: list[Any], after: list[Any]) -> bool:
    return all(len(json.dumps(rows, ensure_ascii=False)) <= ONE_LINE for rows in (before, after))


def shown(value: Any) -> str:
    """A value for a cell of a table of changes."""
    if value is None or value in ("", [], {}):
        return NOTHING
    text = value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)
    return text if len(text) <= LONGEST else f"{text[:LONGEST]}…"
