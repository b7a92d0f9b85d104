"""Answer one question in the terminal: `manage.py estimate model=kimi-k3 gpu=h100-sxm n=32`, or a link's query."""

from __future__ import annotations

import json
from argparse import ArgumentParser
from typing import Any
from urllib.parse import parse_qsl, urlsplit

from django.core.management.base import BaseCommand, CommandError

from calculator.web.answer import answer
from calculator.web.exports.estimate import estimate_json
from calculator.web.exports.terminal import lines
from catalog import live


class Command(BaseCommand):
    help = "Say whether a model fits, and what of it goes where. Parameters as in the site's links."

    def add_arguments(self, parser: ArgumentParser) -> None:
        parser.add_argument("question", nargs="*", help="name=value …, a query string, or a whole link")
        parser.add_argument("--json", action="store_true", help="print the API's JSON")

    def handle(self, *args: Any, **options: Any) -> None:
        result = answer(pairs_of(options["question"]), live.current())
        if options["json"]:
            self.stdout.write(json.dumps(estimate_json(result), indent=2, ensure_ascii=False))
        else:
            self.stdout.write("\n".join(lines(result)))


def pairs_of(words: list[str]) -> list[tuple[str, str]]:
    """Name and value of each word; a word may be a whole query string or link."""
    pairs: list[tuple[str, str]] = []
    for word in words:
        query = urlsplit(word).query or word.lstrip("/?")
        found = parse_qsl(query)
        if not found:
            raise CommandError(f"“{word}” is not written as name=value.")
        pairs += found
    return pairs
