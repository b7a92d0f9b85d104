"""What need not be made anew: by the catalogue alone, and by a question without the places of its sliders.

All of it belongs to one version of the catalogue and is dropped with it. Nothing here outlives what it was made from: a
key holds everything that the value depends on, so a page reads the same whoever asked before.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable
from functools import lru_cache
from operator import attrgetter
from typing import Any, TypeVar

from calculator.scenario import DEFAULTS
from calculator.web.answer import Answer
from calculator.web.wording.speech import language
from catalog.snapshot import Snapshot

_Made = TypeVar("_Made")

MOST_KEPT = 2000
"""Lists by model, engine and device are many; beyond this the store starts anew."""

MOST_QUESTIONS = 256
"""Questions whose unmoved parts are kept; the one that was asked longest ago goes first."""

SLIDERS = ("ctx", "users")

_unmoved = attrgetter(*(name for name in DEFAULTS if name not in SLIDERS))


class _Kept:
    """What was made for one snapshot; a new snapshot starts an empty one."""

    def __init__(self, snapshot: Snapshot | None) -> None:
        self.snapshot = snapshot
        self.made: dict[Hashable, Any] = {}
        self.question: Callable[..., dict[Hashable, Any]] = lru_cache(maxsize=MOST_QUESTIONS)(_nothing_yet)


def _nothing_yet(*_key: Hashable) -> dict[Hashable, Any]:
    return {}


_kept = _Kept(None)


def _kept_for(snapshot: Snapshot) -> _Kept:
    global _kept  # noqa: PLW0603 - one assignment swaps it whole, as the snapshot itself
    kept = _kept
    if kept.snapshot is not snapshot:
        kept = _kept = _Kept(snapshot)
    return kept


def forget() -> None:
    """Drop everything that is kept, as a new snapshot does."""
    global _kept  # noqa: PLW0603
    _kept = _Kept(None)


def once(snapshot: Snapshot, key: Hashable, make: Callable[[], _Made]) -> _Made:
    """make(), remembered under the key while this snapshot is the present one; each language has its own."""
    kept = _kept_for(snapshot)
    key = (key, language())
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


def _of_question(answer: Answer) -> dict[Hashable, Any]:
    """What is kept of the question without context and users: its machine, every other value, the language."""
    kept: dict[Hashable, Any] | None = answer.found.get("unmoved")
    if kept is None:
        question = _kept_for(answer.snapshot).question
        kept = question(language(), answer.configuration.machine, _unmoved(answer.scenario))
        answer.found["unmoved"] = kept
    return kept


def unmoved(answer: Answer, name: Hashable, make: Callable[[], _Made]) -> _Made:
    """make(), for what neither context nor users nor a problem of a field changes."""
    kept = _of_question(answer)
    if name in kept:
        found: _Made = kept[name]
        return found
    kept[name] = made = make()
    return made


def unless_changed(answer: Answer, name: Hashable, value: object, make: Callable[[], _Made]) -> _Made:
    """make(), for what depends on `value` and on what `unmoved` takes for given; the last value's is kept."""
    kept = _of_question(answer)
    last = kept.get(name)
    if last is not None and last[0] == value:
        found: _Made = last[1]
        return found
    made = make()
    kept[name] = (value, made)
    return made
