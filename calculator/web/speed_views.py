"""The section Speed by itself, which follows a live update, and its tables."""

from __future__ import annotations

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from calculator.web import blocks
from calculator.web.answer import answer
from calculator.web.conditional import same_until_changed, snapshot_of
from calculator.web.exports import errors
from calculator.web.exports.rows import CURVES, curve_rows, speed_rows
from calculator.web.panels.page import speed_section
from calculator.web.preview import drafts_for, private
from calculator.web.views import csv_response, given
from catalog import live
from catalog.snapshot import Snapshot
from config.language import speaking
from config.reading import only_read

SECTION = "calculator/partials/speed.html"


@only_read
def section(request: HttpRequest) -> HttpResponse:
    """The whole section: explanations, the open curve, measured results; nothing where memory cannot be computed."""
    drafts = drafts_for(request)
    result = answer(given(request), drafts or live.current())
    if result.estimate.memory is None:
        response = HttpResponse()
    else:
        with speaking():
            context = {"speed": speed_section(result), "blocks": blocks.Blocks()}
            response = render(request, SECTION, context)
    return private(response) if drafts else response


@only_read
def table(request: HttpRequest) -> HttpResponse:
    """The figures of speed as a table, or with `over` one of the curves, point by point."""
    drafts = drafts_for(request)
    return private(_table(request, drafts)) if drafts else _public_table(request)


@same_until_changed
def _public_table(request: HttpRequest) -> HttpResponse:
    return _table(request, snapshot_of(request))


def _table(request: HttpRequest, snapshot: Snapshot) -> HttpResponse:
    asked = given(request)
    over = asked.pop("over", "")
    result = answer(asked, snapshot)
    refused = errors.refused(result.problems)
    if over and over not in CURVES:
        refused = errors.not_one_of("over", over, list(CURVES))
    if over:
        return csv_response(f"speed-{over}.csv", lambda: curve_rows(result, over), refused)
    return csv_response("speed.csv", lambda: speed_rows(result), refused)
