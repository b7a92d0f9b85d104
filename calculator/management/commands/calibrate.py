"""Fit the constants of the arithmetic to measured runs and write them into the catalogue's file: `manage.py calibrate`."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand

from calculator.accuracy.fit import Fitted, fitted, key_of, table
from catalog.entries import constant_record
from catalog.importers.dump import dump_json
from catalog.importers.files import DATA, snapshot_from_files
from catalog.records import Constant

COLUMNS = ("engine", "name", "versions", "device", "cases", "groups", "before", "after")


class Command(BaseCommand):
    help = (
        "Fit the constants of memory to the measured runs of the catalogue's files (the share `fit`), print before and "
        "after, and write them to calibration.json. The same runs give the same bytes."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--data", type=Path, default=DATA, help="the folder of the catalogue's files")
        parser.add_argument("--dry-run", action="store_true", help="print only, write nothing")
        parser.add_argument("--date", help="the day that changed constants get, today when left out")

    def handle(self, *args: Any, **options: Any) -> None:
        snapshot_from_files.cache_clear()
        snapshot = snapshot_from_files(options["data"])
        today = options["date"] or datetime.now(tz=UTC).date().isoformat()
        results = fitted(snapshot, snapshot.measurements, today)
        self._print(results)
        path = options["data"] / "calibration.json"
        before = path.read_text(encoding="utf-8")
        after = dump_json(merged(json.loads(before), results))
        changed = sum(item.before != item.after for item in results)
        if before == after:
            self.stdout.write(f"{len(results)} constants fitted; nothing changed.")
        elif options["dry_run"]:
            self.stdout.write(f"{changed} of {len(results)} constants would change; nothing was written.")
        else:
            path.write_text(after, encoding="utf-8")
            snapshot_from_files.cache_clear()
            self.stdout.write(
                f"{changed} of {len(results)} constants changed, in {path.name}; load_catalog makes them live."
            )

    def _print(self, results: tuple[Fitted, ...]) -> None:
        rows = [dict.fromkeys(COLUMNS, ""), *table(results)]
        rows[0] = {name: name for name in COLUMNS}
        widths = [max(len(str(row[name])) for row in rows) for name in COLUMNS]
        for row in rows:
            cells = (str(row[name]).ljust(width) for name, width in zip(COLUMNS, widths, strict=True))
            self.stdout.write("  ".join(cells).rstrip())


def merged(data: dict[str, Any], results: tuple[Fitted, ...]) -> dict[str, Any]:
    """The file's content with the fitted constants in their places, new ones at the end of their engine's."""
    fresh = {key_of(item.after): item.after for item in results}
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


def entry_of(constant: Constant) -> dict[str, Any]:
    """A constant as an entry of the file."""
    return {
        name: getattr(constant, name)
        for name in (
            "engine", "name", "value", "low", "high", "unit", "version_from", "version_until", "device_class",
            "backend", "cases", "basis", "source", "date",
        )
    }  # fmt: skip
