"""Write an entry the way a file writes it already: the same order of keys, the same 0.0, so that a diff shows what changed."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

from catalog.models.row import plain
from catalog.models.shapes import SHAPES


def same(first: Any, second: Any) -> bool:
    """Equal whatever the order of keys and whether a number is written 8 or 8.0; true is not 1."""
    if isinstance(first, dict):
        return (
            isinstance(second, dict)
            and first.keys() == second.keys()
            and all(same(value, second[key]) for key, value in first.items())
        )
    if isinstance(first, list):
        return isinstance(second, list) and len(first) == len(second) and all(map(same, first, second))
    return isinstance(first, bool) == isinstance(second, bool) and bool(plain(first) == plain(second))


def like(new: Any, old: Any) -> Any:
    """`new`, with everything that it has in common with `old` written as `old` writes it."""
    if same(new, old):
        return old
    if isinstance(new, dict) and isinstance(old, dict):
        return {key: like(new[key], old[key]) if key in old else new[key] for key in _keys(new, old)}
    if isinstance(new, list) and isinstance(old, list):
        return [_item_like(item, position, old) for position, item in enumerate(new)]
    return new


def _item_like(item: Any, position: int, old: list[Any]) -> Any:
    """An item of a list like its equal, else like the one that stood in its place."""
    for other in old:
        if same(item, other):
            return other
    return like(item, old[position]) if position < len(old) else item


def _keys(new: Iterable[str], old: Iterable[str]) -> list[str]:
    """The keys of `new` in the order of `old`; each that is new stands behind the one before it in `new`."""
    wanted = list(new)
    keys = [key for key in old if key in wanted]
    for position, key in enumerate(wanted):
        if key not in keys:
            before = next((each for each in reversed(wanted[:position]) if each in keys), None)
            keys.insert(keys.index(before) + 1 if before else 0, key)
    return keys


def in_order_of_shape(kind: str, entry: dict[str, Any]) -> dict[str, Any]:
    """The entry with its keys in the order of the kind's typed shape; keys that the shape does not name come last."""
    named = SHAPES[kind].model_fields
    return {
        key: entry[key] for key in [*(k for k in named if k in entry), *(k for k in entry if k not in named)]
    }


def merged(
    kind: str, entry: dict[str, Any], shipped: dict[str, Any], normal: dict[str, Any]
) -> dict[str, Any]:
    """What a row holds, written like the file's entry. normal: that entry as a row would give it back; what it leaves
    out (a null, a default) stays in the file as long as the row leaves it out too."""
    if same(entry, normal):
        return shipped
    unsaid = {key: value for key, value in shipped.items() if key not in normal and key not in entry}
    written: dict[str, Any] = like(in_order_of_shape(kind, {**entry, **unsaid}), shipped)
    return written
