"""Write catalogue entries as JSON that a person reads and a diff shows well: the same data always give the same text.

Two spaces of indent; what fits on a short line stands on one; lists of very short items are filled like a paragraph.
"""

from __future__ import annotations

import json
from typing import Any

LINE = 100
"""Longest one-line form of an object or a list [characters]."""
_FILLED_ITEM = 24
"""Lists whose items are all at most this long are filled instead of written one item to a line [characters]."""


def dump_json(value: Any) -> str:
    """The text of a catalogue file, with a newline at its end."""
    return _dump(value, 0) + "\n"


def _one_line(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False, allow_nan=False)


def _dump(value: Any, depth: int) -> str:
    line = _one_line(value)
    if depth and len(line) <= LINE:
        return line
    inner, outer = "  " * (depth + 1), "  " * depth
    if isinstance(value, dict) and value:
        rows = [f"{inner}{_one_line(str(key))}: {_dump(item, depth + 1)}" for key, item in value.items()]
        return "{\n" + ",\n".join(rows) + f"\n{outer}}}"
    if isinstance(value, (list, tuple)) and value:
        rows = _filled([_one_line(item) for item in value]) or [_dump(item, depth + 1) for item in value]
        return "[\n" + ",\n".join(inner + row for row in rows) + f"\n{outer}]"
    return line


def _filled(items: list[str]) -> list[str]:
    """Short items joined to lines of at most `LINE` characters; nothing when one of them is long."""
    if max(map(len, items)) > _FILLED_ITEM:
        return []
    rows = [items[0]]
    for item in items[1:]:
        if len(rows[-1]) + 2 + len(item) > LINE:
            rows.append(item)
        else:
            rows[-1] += ", " + item
    return rows
