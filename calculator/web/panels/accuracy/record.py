"""The record that the page is made from: computed once for a snapshot, then cut to what a reader chose to see."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock, Thread
from urllib.parse import urlencode

from calculator.accuracy.compare import memory_report
from calculator.accuracy.report import Comparison, Report, Skipped
from catalog.records import Measurement
from catalog.snapshot import Snapshot

CHECK, FIT = "check", "fit"
PATH = "/accuracy/"
CSV_PATH = "/accuracy.csv"

WHOLE = ("parts", "total")
"""What a GPU holds in all, best first: the sum of a log's parts, else the total that the log prints."""

_one_at_a_time = Lock()
_log = logging.getLogger(__name__)


def record_of(snapshot: Snapshot) -> Report:
    """The record of memory for a snapshot: about half a second the first time, kept while the snapshot is the present one."""
    with _one_at_a_time:
        return _computed(snapshot)


@lru_cache(maxsize=1)
def _computed(snapshot: Snapshot) -> Report:
    return memory_report(snapshot, snapshot.measurements)


def forget() -> None:
    """Drop what is kept, as a new snapshot does."""
    _computed.cache_clear()


def compute_aside(current: Callable[[], Snapshot]) -> Thread:
    """Start computing the record beside the requests, so that no visitor waits for it; a failure is logged."""
    thread = Thread(target=_compute_logged, args=(current,), name="accuracy-record", daemon=True)
    thread.start()
    return thread


def _compute_logged(current: Callable[[], Snapshot]) -> None:
    try:
        record_of(current())
    except Exception:  # noqa: BLE001 - whatever it is, the first visitor meets it again, with its page
        _log.exception("The record of accuracy cannot be computed.")


@dataclass(frozen=True, slots=True)
class Selection:
    """What a reader looks at. Empty: all of them. every: all rows of the list of cases instead of the worst."""

    engine: str = ""
    part: str = ""
    attention: str = ""
    share: str = CHECK
    every: bool = False
    units: str = "gib"

    def link(self, anchor: str = "", path: str = PATH, **changes: object) -> str:
        """The page's address with some choices changed; only what differs from the defaults stands in it."""
        wanted = replace(self, **changes)  # type: ignore[arg-type]
        pairs = [
            ("share", wanted.share if wanted.share != CHECK else ""),
            ("engine", wanted.engine),
            ("part", wanted.part),
            ("attention", wanted.attention),
            ("all", "1" if wanted.every else ""),
            ("units", wanted.units if wanted.units != "gib" else ""),
        ]
        query = urlencode([pair for pair in pairs if pair[1]])
        return f"{path}{'?' if query else ''}{query}{'#' if anchor else ''}{anchor}"

    def holds(self, item: Comparison) -> bool:
        """Whether a comparison belongs to what is looked at."""
        return self.part in ("", item.part) and self.holds_log(item.measurement)

    def holds_log(self, log: Measurement) -> bool:
        """The same for a log, whatever part of it."""
        return (
            log.split == self.share
            and self.engine in ("", log.engine)
            and self.attention in ("", log.attention)
        )


@dataclass(frozen=True, slots=True)
class Misread:
    """A choice that the page does not offer: the parameter and what was given."""

    field: str
    given: str


def selection_of(
    given: Mapping[str, str], known: Mapping[str, Iterable[str]]
) -> tuple[Selection, tuple[Misread, ...]]:
    """Read a query. known: the values of engine, part and attention; others mean all of them and are named."""
    chosen: dict[str, str] = {}
    misread = []
    for name, values in known.items():
        value = given.get(name, "").strip()
        if value and value not in values:
            misread.append(Misread(name, value))
        chosen[name] = value if value in values else ""
    share = given.get("share", "")
    if share not in ("", CHECK, FIT):
        misread.append(Misread("share", share))
    made = Selection(
        **chosen,
        share=FIT if share == FIT else CHECK,
        every=given.get("all") == "1",
        units="gb" if given.get("units") == "gb" else "gib",
    )
    return made, tuple(misread)


def whole_gpus(comparisons: Iterable[Comparison]) -> list[Comparison]:
    """One comparison for each GPU of each log: what it holds in all."""
    best: dict[tuple[str, str | None], Comparison] = {}
    for item in comparisons:
        if item.part not in WHOLE:
            continue
        key = (item.measurement.id, item.device)
        held = best.get(key)
        if held is None or WHOLE.index(item.part) < WHOLE.index(held.part):
            best[key] = item
    return list(best.values())


def left_out(report: Report, selection: Selection) -> list[Skipped]:
    """Whole logs that are not compared."""
    return [item for item in report.skipped if item.part is None and selection.holds_log(item.measurement)]


def parts_left_out(report: Report, selection: Selection) -> list[Skipped]:
    """Figures of compared logs that are not."""
    return [
        item for item in report.skipped if item.part is not None and selection.holds_log(item.measurement)
    ]
