"""Hold measured runs against the arithmetic: `manage.py validate --kind speed`, `manage.py validate --cases FILE --json`."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from calculator.accuracy.cases import measurements_of
from calculator.accuracy.compare import memory_report
from calculator.accuracy.report import Report
from calculator.accuracy.speed_compare import speed_report
from calculator.accuracy.speed_left_out import left_out_of
from calculator.accuracy.speed_rows import FIELDS, speeds_of
from calculator.accuracy.written import left_out_json, left_out_lines, report_json, report_lines
from catalog import live
from catalog.records import Measurement
from catalog.snapshot import Snapshot

MOST_BYTES = 64 * 1024 * 1024
"""Largest file of cases that is read."""

REPORTS: Mapping[str, Callable[[Snapshot, Iterable[Measurement]], Report]] = {
    "memory": memory_report,
    "speed": speed_report,
}
"""The record of each kind of measurement."""

SPEEDS = frozenset(field for field, _unit, _scale in FIELDS.values())
"""Fields of cases that measure speed."""


class Command(BaseCommand):
    help = (
        "Say how far what is calculated is from measured runs: those of the catalogue's share `check`, or those of a "
        "file in the form of the case files, which may be of memory or of speed."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--kind",
            choices=tuple(REPORTS),
            help="memory or speed; memory when left out, and what a file holds",
        )
        parser.add_argument("--cases", type=Path, help="a JSON list of cases; all of its rows are looked at")
        parser.add_argument(
            "--split",
            choices=("check", "fit", "all"),
            help="which share; check of the catalogue, all of a file",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        snapshot = live.current()
        kind, path = options["kind"] or "memory", options["cases"]
        rows: Iterable[Measurement] = snapshot.measurements
        if path:
            kind, rows = self._from_file(path, snapshot, options["kind"])
        split = options["split"] or ("all" if path else "check")
        report = REPORTS[kind](snapshot, [row for row in rows if split in ("all", row.split)])
        left_out = left_out_of(snapshot) if kind == "speed" else {}
        if options["json"]:
            found = report_json(report) | left_out_json(left_out)
            self.stdout.write(json.dumps(found, ensure_ascii=False, indent=1))
        else:
            self.stdout.write("\n".join([*report_lines(report), *left_out_lines(left_out)]))

    def _from_file(
        self, path: Path, snapshot: Snapshot, wanted: str | None
    ) -> tuple[str, tuple[Measurement, ...]]:
        """(kind, its rows) of a file of cases."""
        rows = self._read(path)
        kind = "speed" if any(_is_speed(row) for row in rows) else "memory"
        if wanted not in (None, kind):
            raise CommandError(f"{path} holds cases of {kind}, not of {wanted}.")
        try:
            return kind, (speeds_of if kind == "speed" else measurements_of)(rows, snapshot)
        except ValueError as error:
            raise CommandError(f"{path}: {error}") from error

    def _read(self, path: Path) -> list[Any]:
        try:
            if path.stat().st_size > MOST_BYTES:
                raise CommandError(f"{path} is larger than {MOST_BYTES // 1024**2} MiB.")
            rows = json.loads(path.read_text(encoding="utf-8"))
        except OSError as error:
            raise CommandError(f"{path} cannot be read: {error.strerror}.") from error
        except ValueError as error:
            raise CommandError(f"{path} is not valid JSON: {error}.") from error
        if not isinstance(rows, list):
            raise CommandError(f"{path} holds no list of cases.")
        return rows


def _is_speed(row: Any) -> bool:
    return isinstance(row, dict) and "observed" not in row and bool(SPEEDS & row.keys())
