"""The record that the page is made from: computed once for a snapshot, then cut to what a reader chose to see."""

from __future__ import annotations

import logging
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, replace
from functools import lru_cache
from threading import Lock, Thread
from urllib.parse import urlencode

from calculator.accuracy.compare import memory_report
from calculator.accuracy.report import KEYS, Comparison, Report, Skipped
from calculator.accuracy.speed_compare import speed_report
from catalog.records import Measurement
from catalog.snapshot import Snapshot

CHECK, FIT = SHARES = ("check", "fit")
MEMORY, SPEED = "memory", "speed"
PATH = "/accuracy/"
CSV_PATH = "/accuracy.csv"

WHOLE = ("parts", "total")
"""What a GPU holds in all, best first: the sum of a log's parts, else the total that the log prints."""

TRAITS = ("device", "backend", "architecture", "users")
"""What runs of speed are grouped by beside engine and figure."""

FILTERS: Mapping[str, tuple[str, ...]] = {
    MEMORY: ("engine", "part", "attention"),
    SPEED: ("engine", "part", *TRAITS),
}
"""What can be chosen of each kind of record."""

_one_at_a_time = Lock()
_log = logging.getLogger(__name__)


def record_of(snapshot: Snapshot, kind: str = MEMORY, share: str = CHECK) -> Report:
    """The record of a snapshot, kept while the snapshot is the present one. That of memory holds both shares and takes
    half a second the first time; that of speed holds one share, check in two seconds and fit in five."""
    with _one_at_a_time:
        return _computed(snapshot) if kind == MEMORY else _speeds(snapshot, share)


@lru_cache(maxsize=1)
def _computed(snapshot: Snapshot) -> Report:
    return memory_report(snapshot, snapshot.measurements)


@lru_cache(maxsize=2)
def _speeds(snapshot: Snapshot, share: str) -> Report:
    return speed_report(snapshot, [run for run in snapshot.measurements if run.split == share])


def forget() -> None:
    """Drop what is kept, as a new snapshot does."""
    _computed.cache_clear()
    _speeds.cache_clear()


def compute_aside(current: Callable[[], Snapshot]) -> Thread:
    """Start computing the record beside the requests, so that no visitor waits for it; a failure is logged."""
    thread = Thread(target=_compute_logged, args=(current,), name="accuracy-record", daemon=True)
    thread.start()
    return thread


def _compute_logged(current: Callable[[], Snapshot]) -> None:
    try:
        for kind in FILTERS:
            record_of(current(), kind)
    except Exception:  # noqa: BLE001 - whatever it is, the first visitor meets it again, with its page
        _log.exception("The record of accuracy cannot be computed.")


@dataclass(frozen=True, slots=True)
class Selection:
    """What a reader looks at. kind: memory or speed. Empty: all of them. every: all rows of the list of cases instead of
    the worst."""

    kind: str = MEMORY
    engine: str = ""
    part: str = ""
    attention: str = ""
    device: str = ""
    backend: str = ""
    architecture: str = ""
    users: str = ""
    share: str = CHECK
    every: bool = False
    units: str = "gib"

    def link(self, anchor: str = "", path: str = PATH, **changes: object) -> str:
        """The page's address with some choices changed; only what differs from the defaults stands in it."""
        wanted = replace(self, **changes)  # type: ignore[arg-type]
        pairs = [
            ("kind", wanted.kind if wanted.kind != MEMORY else ""),
            ("share", wanted.share if wanted.share != CHECK else ""),
            *((name, getattr(wanted, name)) for name in FILTERS[wanted.kind]),
            ("all", "1" if wanted.every else ""),
            ("units", wanted.units if wanted.units != "gib" else ""),
        ]
        query = urlencode([pair for pair in pairs if pair[1]])
        return f"{path}{'?' if query else ''}{query}{'#' if anchor else ''}{anchor}"

    @property
    def chosen(self) -> dict[str, str]:
        """The filters that are set, by name."""
        return {name: getattr(self, name) for name in FILTERS[self.kind] if getattr(self, name)}

    def without_filters(self, **changes: object) -> str:
        """The address with everything shown."""
        return self.link(**dict.fromkeys(FILTERS[self.kind], ""), every=False, **changes)  # type: ignore[arg-type]

    def holds(self, item: Comparison) -> bool:
        """Whether a comparison belongs to what is looked at."""
        if not self.holds_log(item.measurement):
            return False
        return all(KEYS[name](item) == value for name, value in self.chosen.items())

    def holds_log(self, log: Measurement) -> bool:
        """The same for a log, whatever part of it. What a run that is left out ran on in our terms is not asked."""
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
    """Read a query. known: the values of each filter; others mean all of them and are named."""
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
    if given.get("kind", "") not in ("", *FILTERS):
        misread.append(Misread("kind", given["kind"]))
    made = Selection(
        kind=kind_of(given),
        **chosen,
        share=share_of(given),
        every=given.get("all") == "1",
        units="gb" if given.get("units") == "gb" else "gib",
    )
    return made, tuple(misread)


def kind_of(given: Mapping[str, str]) -> str:
    """Which record a query asks for; memory for a kind that there is not."""
    kind = given.get("kind", "")
    return kind if kind in FILTERS else MEMORY


def share_of(given: Mapping[str, str]) -> str:
    """Which share of the logs a query asks for."""
    return FIT if given.get("share") == FIT else CHECK


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
