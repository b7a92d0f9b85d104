"""Fit the constants of the arithmetic to measured runs and write them into the catalogue's file: `manage.py calibrate`."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Iterable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from calculator.accuracy.fit import Fitted, fitted, key_of, table
from calculator.accuracy.speed_cases import SpeedCase, read_case
from calculator.accuracy.speed_left_out import PREFIX
from calculator.accuracy.speed_predict import prepare
from catalog.entries import constant_record
from catalog.importers.dump import dump_json
from catalog.importers.files import DATA, snapshot_from_files
from catalog.records import Constant
from catalog.snapshot import Snapshot

COLUMNS = ("engine", "name", "versions", "device", "cases", "groups", "before", "after")
KINDS = ("memory", "speed", "all")


class Command(BaseCommand):
    help = (
        "Fit the constants of memory and speed to the measured runs of the catalogue's files (the share `fit`), print "
        "before and after, and write them to calibration.json. The same runs give the same bytes. Speed takes about two "
        "minutes."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--kind", choices=KINDS, default="all", help="which constants; all when left out")
        parser.add_argument("--data", type=Path, default=DATA, help="the folder of the catalogue's files")
        parser.add_argument("--dry-run", action="store_true", help="print only, write nothing")
        parser.add_argument("--date", help="the day that changed constants get, today when left out")

    def handle(self, *args: Any, **options: Any) -> None:
        snapshot_from_files.cache_clear()
        snapshot = snapshot_from_files(options["data"])
        today = options["date"] or datetime.now(tz=UTC).date().isoformat()
        path, kind = options["data"] / "calibration.json", options["kind"]
        before = path.read_text(encoding="utf-8")
        data, changes, count = json.loads(before), 0, 0
        if kind in ("memory", "all"):
            results = fitted(snapshot, snapshot.measurements, today)
            self._print(results)
            changes, count = sum(item.before != item.after for item in results), len(results)
            data = merged(data, [item.after for item in results])
        if kind in ("speed", "all"):
            found = speed_constants(snapshot, today)
            changes, count = changes + self._print_speeds(snapshot, found), count + len(found)
            data = without_former(merged(data, found), found)
        after = dump_json(data)
        self._write(path, before, after, f"{changes} of {count} constants", dry_run=options["dry_run"])

    def _write(self, path: Path, before: str, after: str, changed: str, *, dry_run: bool) -> None:
        if before == after:
            self.stdout.write("Every constant came out as it was; nothing changed.")
        elif dry_run:
            self.stdout.write(f"{changed} would change; nothing was written.")
        else:
            path.write_text(after, encoding="utf-8")
            snapshot_from_files.cache_clear()
            self.stdout.write(f"{changed} changed, in {path.name}; load_catalog makes them live.")

    def _print(self, results: tuple[Fitted, ...]) -> None:
        rows = [dict.fromkeys(COLUMNS, ""), *table(results)]
        rows[0] = {name: name for name in COLUMNS}
        widths = [max(len(str(row[name])) for row in rows) for name in COLUMNS]
        for row in rows:
            cells = (str(row[name]).ljust(width) for name, width in zip(COLUMNS, widths, strict=True))
            self.stdout.write("  ".join(cells).rstrip())

    def _print_speeds(self, snapshot: Snapshot, found: Iterable[Constant]) -> int:
        """Say which constants of speed change; returns how many."""
        before = {key_of(row): row for row in snapshot.constants}
        changed = [row for row in found if before.get(key_of(row)) != row]
        for row in changed:
            old = before.get(key_of(row))
            place = "  ".join(part for part in (row.engine, row.name, row.backend, row.device_class) if part)
            self.stdout.write(f"{place}: {f'{old.value:g}' if old else 'new'} → {row.value:g}")
        return len(changed)


def speed_constants(snapshot: Snapshot, today: str) -> list[Constant]:
    """The constants of speed that the `fit` share of the catalogue's runs gives; one that is as before keeps its date."""
    from calculator.accuracy.speed_constants import fitted_constants  # noqa: PLC0415 - SciPy, for this command alone

    cases = (read_case(run, snapshot) for run in snapshot.measurements if run.task == "speed")
    asked = [case for case in cases if isinstance(case, SpeedCase)]
    found = fitted_constants([row for case in asked if (row := prepare(case, snapshot))], today)
    before = {key_of(row): row for row in snapshot.constants}
    return [_dated(row, before.get(key_of(row))) for row in found]


def _dated(row: Constant, old: Constant | None) -> Constant:
    return old if old and replace(row, date=old.date) == old else row


def merged(data: Mapping[str, Any], results: Iterable[Constant]) -> dict[str, Any]:
    """The file's content with the fitted constants in their places, new ones at the end of their engine's."""
    fresh = {key_of(constant): constant for constant in results}
    items = [
        entry_of(found) if (found := fresh.pop(key_of(constant_record(item)), None)) else item
        for item in data["items"]
    ]
    for constant in fresh.values():
        last = max(
            (i for i, item in enumerate(items) if item["engine"] == constant.engine), default=len(items) - 1
        )
        items.insert(last + 1, entry_of(constant))
    return {**data, "items": items}


def without_former(data: Mapping[str, Any], results: Iterable[Constant]) -> dict[str, Any]:
    """The content without fitted speeds that the fit no longer gives (a class that came to agree with its broader one).
    What is assumed, derived by hand, or of engines that were not fitted stays."""
    from calculator.accuracy.speed_constants import FITTED_ON  # noqa: PLC0415 - SciPy, as above

    found = list(results)
    keys = {key_of(row) for row in found}
    engines = {row.engine for row in found if not row.name.startswith(PREFIX)}

    def stays(item: dict[str, Any]) -> bool:
        ours = item["name"].startswith("speed_") and item["source"].startswith(FITTED_ON)
        return not ours or item["engine"] not in engines or key_of(constant_record(item)) in keys

    return {**data, "items": [item for item in data["items"] if stays(item)]}


def entry_of(constant: Constant) -> dict[str, Any]:
    """A constant as an entry of the file."""
    return {
        name: getattr(constant, name)
        for name in (
            "engine", "name", "value", "low", "high", "unit", "version_from", "version_until", "device_class",
            "backend", "cases", "basis", "source", "date",
        )
    }  # fmt: skip
