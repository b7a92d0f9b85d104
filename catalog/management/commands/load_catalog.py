"""Bring the shipped catalogue into the database."""

from argparse import ArgumentParser
from datetime import date
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from catalog.importers import files, write
from catalog.importers.schema import CatalogueError
from catalog.models import CatalogVersion

SHOWN = 5
"""Ids that a line names before it only counts."""


class Command(BaseCommand):
    help = (
        "Load catalog/data into the database: add what is new, update what nobody changed here, keep what an admin "
        "changed or retired. All or nothing; running it again changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--check", action="store_true", help="say what would change, and change nothing")
        parser.add_argument(
            "--from",
            dest="root",
            type=Path,
            default=files.DATA,
            metavar="DIR",
            help="files of the same layout elsewhere, such as export_catalog wrote",
        )
        parser.add_argument(
            "--force", action="store_true", help="compare every row, although these files were loaded before"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        root: Path = options["root"]
        if not (root / "about.json").is_file():
            raise CommandError(f"{root} holds no catalogue: there is no about.json.")
        data_version = files.data_version(root)
        version = CatalogVersion.current()
        if version.data_digest == write.stamp(data_version) and not options["force"]:
            self._say(
                options, f"{version}: the files are those that were loaded last, so there is nothing to do."
            )
            return
        try:
            entries = files.read_entries(root)
        except CatalogueError as error:
            raise CommandError(
                "The files have faults, so nothing was loaded:\n" + "\n".join(error.faults)
            ) from error
        updated = date.fromisoformat(files.data_updated(root))
        outcomes = write.load(entries, data_version, updated, dry_run=options["check"])
        if options["check"]:
            self._say(options, "Nothing was changed. Loading would do this:")
        for kind, outcome in outcomes.items():
            self._say(options, f"{kind}: {_counts(outcome)}")
            for word in ("added", "updated", "removed", "kept"):
                self._name(options, word, getattr(outcome, word), of=outcome)
        self._say(options, str(CatalogVersion.current()))

    def _name(self, options: dict[str, Any], word: str, slugs: list[str], of: write.Outcome) -> None:
        """Name the rows, unless all of them are new; those that were kept always."""
        if not slugs or (word == "added" and not of.unchanged):
            return
        shown = slugs if word == "kept" or options["verbosity"] > 1 else slugs[:SHOWN]
        more = f" and {len(slugs) - len(shown)} more" if len(slugs) > len(shown) else ""
        why = " (changed here, so left as they are)" if word == "kept" else ""
        self._say(options, f"  {word}{why}: {', '.join(shown)}{more}")

    def _say(self, options: dict[str, Any], line: str) -> None:
        if options["verbosity"]:
            self.stdout.write(line)


def _counts(outcome: write.Outcome) -> str:
    counts = {word: len(getattr(outcome, word)) for word in ("added", "updated", "removed", "kept")}
    return ", ".join(f"{count} {word}" for word, count in {**counts, "unchanged": outcome.unchanged}.items())
