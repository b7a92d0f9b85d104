"""Say what is missing, unverified or odd in the catalogue."""

import json
from argparse import ArgumentParser
from dataclasses import asdict
from typing import Any

from django.core.management.base import BaseCommand, CommandError

from catalog.findings import Group, findings
from catalog.models import CatalogVersion


class Command(BaseCommand):
    help = "Say what is missing, unverified or odd in the catalogue. Fails only when the calculator cannot work with it."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("--verbose-list", action="store_true", help="name every row, not only the counts")
        parser.add_argument("--json", action="store_true", help="print one JSON object with every row")

    def handle(self, *args: Any, **options: Any) -> None:
        groups = findings()
        errors, oddities = (
            sum(len(group.items) for group in groups if group.error == error) for error in (True, False)
        )
        if options["json"]:
            self._print_json(groups, errors, oddities)
        else:
            self.stdout.write(f"{CatalogVersion.current()}: {errors} errors, {oddities} oddities")
            for group in groups:
                self._print_group(group, with_items=options["verbose_list"] or group.error)
        if errors:
            raise CommandError(f"{errors} errors: the calculator cannot work with this catalogue as it is.")

    def _print_json(self, groups: list[Group], errors: int, oddities: int) -> None:
        rows = [{**asdict(group), "count": len(group.items)} for group in groups]
        version = CatalogVersion.current().version
        report = {"catalog": version, "errors": errors, "oddities": oddities, "groups": rows}
        self.stdout.write(json.dumps(report, ensure_ascii=False, indent=2))

    def _print_group(self, group: Group, *, with_items: bool) -> None:
        if not group.items:
            return
        mark = "error" if group.error else "     "
        self.stdout.write(f"{len(group.items):6} {mark} {group.label}")
        for item in group.items if with_items else ():
            self.stdout.write(f"             {item.kind} {item.id}: {item.text}")
