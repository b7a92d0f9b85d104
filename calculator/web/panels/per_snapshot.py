"""Lists that depend on the catalogue alone are built once for each of its versions."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any, TypeVar

from django.utils.translation import get_language

from catalog.snapshot import Snapshot

_Made = TypeVar("_Made")


class _Kept:
    """What was made for one snapshot; a new snapshot starts an empty one."""

    def __init__(self, snapshot: Snapshot | None) -> None:
        self.snapshot = snapshot
        self.made: dict[Hashable, Any] = {}


_kept = _Kept(None)


def per_snapshot(make: Callable[..., _Made], snapshot: Snapshot, *arguments: Hashable) -> _Made:
    """make(snapshot, *arguments), remembered while this snapshot and language are the present ones."""
    global _kept  # noqa: PLW0603 - one assignment swaps it whole, as the snapshot itself
    kept = _kept
    if kept.snapshot is not snapshot:
        kept = _kept = _Kept(snapshot)
    key = (make, get_language(), *arguments)
    if key not in kept.made:
        kept.made[key] = make(snapshot, *arguments)
    return kept.made[key]
