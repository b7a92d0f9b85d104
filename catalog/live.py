"""The catalogue that this process computes with, in memory.

    snapshot = live.current()      # once, at the top of a view, an API call or a command

Then hand the snapshot on as an argument. A request that asked twice could get two states of the catalogue; code below
the view never imports this module.

`current` asks the database only when nothing is loaded yet. A server calls `warm` once: from then on a thread of each
process compares the version row once a second, builds the new snapshot aside and swaps it in by one assignment.
Commands and tests have no thread; they call `refresh` when they have written.
"""

from __future__ import annotations

import gc
import logging
import os
import threading
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import cast

from django.db import DatabaseError, close_old_connections, connection

from catalog.models import TABLES, CatalogRow, CatalogVersion, Entry
from catalog.models.drafts import Status
from catalog.snapshot import Snapshot, build_snapshot

CHECK_EVERY_S = 1.0
WITH_DRAFTS = "+drafts"
"""Ends the version of a snapshot that holds what is not published."""
MOST_READS = 3
"""How often the tables are read again when somebody writes meanwhile."""

log = logging.getLogger(__name__)


class _State:
    """What this process holds. A forked child keeps the snapshot; thread and locks are its own."""

    def __init__(self) -> None:
        self.snapshot: Snapshot | None = None
        self.drafts: Snapshot | None = None
        self.watching = False
        self.failing = (
            ""  # the version that cannot be read, so that it is neither tried nor logged every second
        )
        self.after_fork()

    def after_fork(self) -> None:
        self.watcher: threading.Thread | None = None
        self.stop = threading.Event()
        self.lock = threading.RLock()


_state = _State()
_held = threading.local()
os.register_at_fork(after_in_child=_state.after_fork)


def current() -> Snapshot:
    """The snapshot to answer this request with, from start to end."""
    if _state.watching and _state.watcher is None:
        _start_watcher()
    return _state.snapshot or refresh()


def refresh() -> Snapshot:
    """Read the database again if it has another version than the snapshot; for commands, tests and after a write."""
    if snapshot := getattr(_held, "snapshot", None):
        return cast(Snapshot, snapshot)
    with _state.lock:
        version = CatalogVersion.current()
        if _state.snapshot is None or _state.snapshot.version != str(version.version):
            _state.snapshot = _read(version)
        return _state.snapshot


@contextmanager
def held() -> Iterator[Snapshot]:
    """One snapshot for many questions of this thread: within it, `refresh` does not ask the database again."""
    _held.snapshot = refresh()
    try:
        yield _held.snapshot
    finally:
        _held.snapshot = None


def warm() -> None:
    """For a server: load the catalogue and follow the database with a thread in each process, also after a fork.

    A database that is not ready yet does not keep the server from starting: /readyz says what is missing.
    """
    _state.watching = True
    was_closed = connection.connection is None
    try:
        refresh()
    except DatabaseError:
        log.exception("The catalogue cannot be read yet.")
    if was_closed:
        connection.close()  # a process forked from this one must not share it


def forget() -> None:
    """Drop the snapshot and end the thread, as in a new process."""
    _state.stop.set()
    if _state.watcher:
        _state.watcher.join()
    _state.__init__()  # type: ignore[misc]


def with_drafts() -> Snapshot:
    """The catalogue as it will be once everything that waits is published, for somebody who edits it.

    It reads the database, and is kept until the catalogue changes; nobody else's answers come from it.
    """
    version = CatalogVersion.current()
    name = f"{version.version}{WITH_DRAFTS}"
    kept = _state.drafts
    if kept is None or kept.version != name:
        _state.drafts = kept = build_snapshot(read_entries(drafts=True), name, version.updated.isoformat())
    return kept


def read_entries(*, drafts: bool = False) -> dict[str, list[Entry]]:
    """Every entry in use, by kind; what only makes sense with one that is not goes with it. drafts: with what waits."""
    entries = {
        table.entries: [row.draft_entry() if drafts else row.to_entry() for row in _in_use(table, drafts)]
        for table in TABLES
    }
    labs, devices, engines = (
        {entry["id"] for entry in entries[kind]} for kind in ("labs", "accelerators", "engines")
    )
    entries["models"] = [entry for entry in entries["models"] if entry["lab"] in labs]
    models = {entry["id"] for entry in entries["models"]}
    entries["systems"] = [entry for entry in entries["systems"] if entry["accelerator_id"] in devices]
    entries["engines"] = [
        entry
        for entry in entries["engines"]
        if entry.get("rules", {}).get("classes_from", entry["id"]) in engines
    ]
    for entry in entries["models"]:
        if entry.get("computed_as") not in models:
            entry.pop("computed_as", None)
    hosts = devices | {entry["id"] for entry in entries["systems"]}
    _leave_out_prices(entries, devices, models, hosts)
    entries["measurements"] = [
        entry for entry in entries["measurements"] if _can_be_asked(entry["scenario"], models, engines, hosts)
    ]
    return entries


def _leave_out_prices(
    entries: dict[str, list[Entry]], devices: set[str], models: set[str], hosts: set[str]
) -> None:
    """Drop the prices of what is not in use, and those of providers that are not."""
    providers = {entry["id"] for entry in entries["providers"]}
    for kind, key, known in (
        ("offers", "provider", providers),
        ("offers", "accelerator", devices),
        ("purchase_prices", "device", hosts),
        ("api_prices", "provider", providers),
        ("api_prices", "model", models),
    ):
        entries[kind] = [entry for entry in entries[kind] if entry[key] in known]


def _can_be_asked(scenario: Entry, models: set[str], engines: set[str], hosts: set[str]) -> bool:
    """What a question names is in use; without one, nothing can be missing."""
    cards = {card.strip().partition(":")[0] for card in scenario.get("gpu", "").split(",") if card}
    named = ((scenario.get("model"), models), (scenario.get("engine"), engines))
    return cards <= hosts and all(name is None or name in known for name, known in named)


def _in_use(table: type[CatalogRow], drafts: bool) -> Iterable[CatalogRow]:  # noqa: FBT001
    rows = table.complete() if drafts else table.complete().filter(status=Status.PUBLISHED)
    return rows.filter(retired=False) if table.retirable else rows


def _read(version: CatalogVersion) -> Snapshot:
    """The snapshot of one state. Several tables cannot be read at once without a lock, so look whether it stayed."""
    for _ in range(MOST_READS):
        entries = read_entries()
        after = CatalogVersion.current()
        if after.version == version.version:
            break
        version = after
    return build_snapshot(entries, str(version.version), version.updated.isoformat())


def _start_watcher() -> None:
    with _state.lock:
        if _state.watcher is None:
            _state.watcher = threading.Thread(
                target=_watch, args=(_state.stop,), name="catalogue watcher", daemon=True
            )
            _state.watcher.start()


def _watch(stop: threading.Event) -> None:
    while not stop.wait(CHECK_EVERY_S):
        if _look():
            # What was just built stays: out of the collector's sight, it does not slow down requests.
            gc.collect()
            gc.freeze()
    connection.close()


def _look() -> bool:
    """Swap in a newer state if there is one. Whatever goes wrong is logged once, and the old snapshot stays."""
    close_old_connections()  # keeps a good one for CONN_MAX_AGE, as a request does
    version = ""
    try:
        version = str(CatalogVersion.current().version)
        if version in (_state.failing, _state.snapshot and _state.snapshot.version):
            return False
        refresh()
    except Exception:
        if _state.failing != (version or "none"):
            log.exception("The catalogue cannot be read; this process keeps the one it has.")
        _state.failing = version or "none"
        connection.close()
        return False
    _state.failing = ""
    log.info("Catalogue %s is in use.", version)
    return True
