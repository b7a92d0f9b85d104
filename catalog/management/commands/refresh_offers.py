"""Bring the catalogue's prices up to date from price lists."""

from __future__ import annotations

import difflib
from argparse import ArgumentParser, ArgumentTypeError
from collections.abc import Iterable
from datetime import date
from pathlib import Path
from typing import Any

from django.core.management.base import BaseCommand, CommandError
from django.utils import timezone

from catalog.models import Provider
from catalog.refreshing import api_prices, offers
from catalog.refreshing.lists import ListError, PriceList, from_files, from_library
from catalog.refreshing.outcome import Outcome

WORDS = ("added", "changed", "confirmed", "kept")
SHOWN = 5
"""Ids that a line names before it only counts."""


def day(text: str) -> date:
    try:
        return date.fromisoformat(text)
    except ValueError as error:
        raise ArgumentTypeError(f"{text} is no day; write it as 2026-11-30.") from error


class Command(BaseCommand):
    help = (
        "Take the offers of clouds from the library gpuhunt (it needs the network) or from a file in its format, and API "
        "prices from a file. Prices that moved keep their history, names that are none of our devices are reported, "
        "rows that were edited here are left alone, nothing is deleted. All or nothing."
    )

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument(
            "--provider", action="append", default=[], metavar="ID", help="only this one; may repeat"
        )
        parser.add_argument(
            "--from",
            dest="file",
            type=Path,
            metavar="FILE",
            help="a CSV file in gpuhunt's format, or a folder of them",
        )
        parser.add_argument(
            "--api-prices",
            type=Path,
            metavar="FILE",
            help="API prices in litellm's JSON form, instead of offers",
        )
        parser.add_argument(
            "--as-of", type=day, default=None, metavar="DAY", help="day of the prices; without it, today"
        )
        parser.add_argument("--check", action="store_true", help="say what would change, and change nothing")

    def handle(self, *args: Any, **options: Any) -> None:
        dated: date = options["as_of"] or timezone.localdate()
        if options["file"] and options["api_prices"]:
            raise CommandError(
                "--from holds offers and --api-prices holds API prices; run the command once for each."
            )
        try:
            if options["api_prices"]:
                outcomes = self._api_prices(options, dated)
            else:
                outcomes = self._offers(options, dated)
        except ListError as error:
            raise CommandError(f"{error} Nothing was changed.") from error
        self._report(outcomes, options)

    def _offers(self, options: dict[str, Any], dated: date) -> list[Outcome]:
        providers = chosen(offers.in_use(), options["provider"], "gpuhunt_name")
        if options["file"]:
            prices = from_files(options["file"])
        else:
            prices = from_library([provider.gpuhunt_name for provider in providers])
        self._say_what_is_missing(prices, providers, options)
        return offers.refresh(prices, providers, dated, dry_run=options["check"])

    def _api_prices(self, options: dict[str, Any], dated: date) -> list[Outcome]:
        providers = chosen(api_prices.in_use(), options["provider"], "litellm_name")
        file: Path = options["api_prices"]
        rows = api_prices.read(file)
        return api_prices.refresh(rows, file.name, providers, dated, dry_run=options["check"])

    def _say_what_is_missing(
        self, prices: PriceList, providers: list[Provider], options: dict[str, Any]
    ) -> None:
        """A provider that was asked for by name has to be there; of all others it is enough to say so."""
        missing = {
            provider.slug: prices.not_reached.get(provider.gpuhunt_name, "not in the list")
            for provider in providers
            if not prices.sizes.get(provider.gpuhunt_name)
        }
        if options["provider"] and missing:
            told = "; ".join(f"{name} ({why})" for name, why in missing.items())
            raise ListError(f"There are no prices of {told}.")
        if not options["file"]:
            for name, why in missing.items():
                self.stderr.write(f"{name}: not reached, left as it is ({why})")
        names = {provider.gpuhunt_name for provider in providers}
        others = sorted(set(prices.sizes) - names)
        if others and not options["provider"]:
            self.stderr.write(f"Providers that the catalogue does not have: {', '.join(others)}")

    def _report(self, outcomes: list[Outcome], options: dict[str, Any]) -> None:
        if options["check"]:
            self.stdout.write("Nothing was changed. Refreshing would do this:")
        if not outcomes:
            self.stdout.write("The list holds no prices of these providers.")
        for outcome in outcomes:
            counts = ", ".join(f"{len(getattr(outcome, word))} {word}" for word in WORDS)
            self.stdout.write(f"{outcome.provider}: {counts}")
            for word in ("changed", "kept"):
                if ids := getattr(outcome, word):
                    more = f" and {len(ids) - SHOWN} more" if len(ids) > SHOWN else ""
                    why = " (edited here or newer)" if word == "kept" else ""
                    self.stdout.write(f"  {word}{why}: {', '.join(ids[:SHOWN])}{more}")
            if outcome.unknown:
                self.stdout.write(f"  unknown, left out: {', '.join(sorted(outcome.unknown))}")


def chosen(providers: Iterable[Provider], wanted: list[str], name_in_list: str) -> list[Provider]:
    """The providers of these ids or names in the list; all without any. Raises CommandError for an unknown one."""
    every = list(providers)
    if not wanted:
        return every
    known = {name: row for row in every for name in (getattr(row, name_in_list), row.slug)}
    for name in wanted:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=3, cutoff=0.4)
            hint = (
                f"Perhaps {' or '.join(near)}"
                if near
                else f"There are {', '.join(row.slug for row in every)}"
            )
            raise CommandError(
                f"No provider that can be refreshed is called {name}. {hint}. Nothing was changed."
            )
    return list({known[name].slug: known[name] for name in wanted}.values())
