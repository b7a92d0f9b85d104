"""Write the database's catalogue into files of the layout of catalog/data."""

from argparse import ArgumentParser
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from catalog.importers import export, files, write
from catalog.importers.schema import CatalogueError
from catalog.models import CatalogVersion

SHOWN = 5
"""Ids that a line names before it only counts."""


class Command(BaseCommand):
    help = (
        "Write the database's catalogue into files as they ship, so that what an admin changed can go back with a pull "
        "request. Unchanged entries keep their bytes; load_catalog after it changes nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--to",
            type=Path,
            default=files.DATA,
            metavar="DIR",
            help="where to write; without it catalog/data itself",
        )
        parser.add_argument("--only", choices=export.KINDS, default="", help="only the files of one kind")
        parser.add_argument("--drafts", action="store_true", help="drafts too; without it they stay here")
        parser.add_argument(
            "--check", action="store_true", help="say what would be written, and write nothing"
        )

    def handle(self, *args: Any, **options: Any) -> None:
        if CatalogVersion.current().data_digest != write.stamp(files.data_version()):
            raise CommandError(
                "catalog/data is not what was loaded last, so its newer figures would be written over. "
                "Run: manage.py load_catalog, then export again."
            )
        found = export.export(drafts=options["drafts"], root=files.DATA)
        try:
            texts = found.texts(options["only"])
        except CatalogueError as error:
            raise CommandError(
                "Some rows cannot stand in a file, so nothing was written:\n" + "\n".join(error.faults)
            ) from error
        written = [path for path, text in texts.items() if self._write(options, path, text)]
        emptied = [path for path in found.emptied if not options["only"] and self._remove(options, path)]
        self._tell(options, found, list(texts), len(written))
        if emptied and options["verbosity"]:
            self.stdout.write(
                f"Without an entry now, so {'to be ' * options['check']}removed: {', '.join(emptied)}."
            )

    def _write(self, options: dict[str, Any], path: str, text: str) -> bool:
        """Write one file unless it says the same already; whether it did, or would."""
        target: Path = options["to"] / path
        if target.exists() and target.read_bytes() == text.encode():
            return False
        if not options["check"]:
            target.parent.mkdir(parents=True, exist_ok=True)
            target.write_bytes(text.encode())
        return True

    def _remove(self, options: dict[str, Any], path: str) -> bool:
        """Take away a file whose entries all went to others; whether it was there."""
        target: Path = options["to"] / path
        found = target.exists()
        if found and not options["check"]:
            target.unlink()
        return found

    def _tell(self, options: dict[str, Any], found: export.Export, paths: list[str], written: int) -> None:
        """What differs from the shipped files, file by file, and what stays here."""
        if not options["verbosity"]:
            return
        same = 0
        for path in paths:
            outcome = found.outcomes.get(path)
            if outcome is None or not outcome.differs:
                same += 1
                continue
            counts = {word: getattr(outcome, word) for word in ("added", "changed", "removed")}
            told = ", ".join(f"{len(names)} {word}" for word, names in counts.items())
            self.stdout.write(f"{path}: {told}, {outcome.unchanged} unchanged")
            for word, names in counts.items():
                self._name(options, word, names)
        self.stdout.write(f"{same} of {len(paths)} files hold what the shipped ones hold.")
        for each in found.left_out:
            self.stdout.write(f"  left out: {each.kind} {each.id} ({each.why})")
        verb = "would be written" if options["check"] else "written"
        self.stdout.write(f"{written} files {verb} to {options['to']}.")

    def _name(self, options: dict[str, Any], word: str, names: list[str]) -> None:
        if names:
            shown = names if options["verbosity"] > 1 else names[:SHOWN]
            more = f" and {len(names) - len(shown)} more" if len(names) > len(shown) else ""
            self.stdout.write(f"  {word}: {', '.join(shown)}{more}")
