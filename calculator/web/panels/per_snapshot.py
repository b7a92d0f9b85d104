"""What depends on the catalogue alone, or on a few of its records, is made once for each of its versions."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from django.utils.translation import get_language

from catalog.snapshot import Snapshot

_Made = TypeVar("_Made")

MOST_KEPT = 2000
"""Lists by model, engine and device are many; beyond this the store starts anew."""


class _Kept:
    """What was made for one snapshot; a new snapshot starts an empty one."""

    def __init__(self, snapshot: Snapshot | None) -> None:
        self.snapshot = snapshot
        self.made: dict[Hashable, Any] = {}


_kept = _Kept(None)


def once(snapshot: Snapshot, key: Hashable, make: Callable[[], _Made]) -> _Made:
    """make(), remembered under the key while this snapshot is the present one; each language has its own."""
    global _kept  # noqa: PLW0603 - one assignment swaps it whole, as the snapshot itself
    kept = _kept
    if kept.snapshot is not snapshot:
        kept = _kept = _Kept(snapshot)
    key = (key, get_language())
    if key in kept.made:
        found: _Made = kept.made[key]
        return found
    if len(kept.made) >= MOST_KEPT:
        kept.made.clear()
    kept.made[key] = made = make()
    return made


def per_snapshot(make: Callable[..., _Made], snapshot: Snapshot, *arguments: Hashable) -> _Made:
    """make(snapshot, *arguments), made once."""
    return once(snapshot, (make, *arguments), lambda: make(snapshot, *arguments))
