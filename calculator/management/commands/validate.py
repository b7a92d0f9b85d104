"""Hold measured runs against the arithmetic: `manage.py validate`, `manage.py validate --cases FILE --json`."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from calculator.accuracy.cases import measurements_of
from calculator.accuracy.compare import memory_report
from calculator.accuracy.report import Report
from calculator.accuracy.written import report_json, report_lines
from catalog import live
from catalog.records import Measurement
from catalog.snapshot import Snapshot

MOST_BYTES = 64 * 1024 * 1024
"""Largest file of cases that is read."""


SPEEDS = frozenset({"prefill_tok_s", "decode_tok_s_per_user", "total_output_tok_s", "ttft_ms"})
"""Fields of cases that measure speed."""


class Command(BaseCommand):
    help = (
        "Say how far the calculated memory is from measured runs: those of the catalogue's share `check`, or those of a "
        "file in the form of the case files."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--cases", type=Path, help="a JSON list of cases; all of its rows are looked at")
        parser.add_argument(
            "--split",
            choices=("check", "fit", "all"),
            help="which share; check of the catalogue, all of a file",
        )
        parser.add_argument("--json", action="store_true", help="print one JSON object")

    def handle(self, *args: Any, **options: Any) -> None:
        snapshot = live.current()
        path, split = options["cases"], options["split"]
        rows = self._from_file(path, snapshot) if path else snapshot.measurements
        split = split or ("all" if path else "check")
        chosen = [row for row in rows if split in ("all", row.split)]
        report: Report = memory_report(snapshot, chosen)
        if options["json"]:
            self.stdout.write(json.dumps(report_json(report), ensure_ascii=False, indent=1))
        else:
            self.stdout.write("\n".join(report_lines(report)))

    def _from_file(self, path: Path, snapshot: Snapshot) -> tuple[Measurement, ...]:
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
        if any(isinstance(row, dict) and "observed" not in row and SPEEDS & row.keys() for row in rows):
            raise CommandError(f"{path} holds measured speeds; only memory is compared so far.")
        try:
            return measurements_of(rows, snapshot)
        except ValueError as error:
            raise CommandError(f"{path}: {error}") from error
