"""The calculator's pages: read the question, compute, present, render. No physics and no sentence here."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable, Mapping
from time import perf_counter
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, JsonResponse
from django.shortcuts import render
from django.views.decorators.vary import vary_on_headers

from calculator.web import blocks, later_sections
from calculator.web.answer import answer
from calculator.web.conditional import same_until_changed, snapshot_of
from calculator.web.exports import errors
from calculator.web.exports.accuracy import comparison_rows, speed_rows
from calculator.web.exports.hardware_rows import hardware_rows
from calculator.web.exports.rows import breakdown_rows
from calculator.web.panels.accuracy.page import accuracy_page
from calculator.web.panels.accuracy.record import SHARES, SPEED, kind_of, record_of
from calculator.web.panels.page import LiveUpdate, calculator_page, one_change_links, would_fit_rows
from calculator.web.panels.picker_verdicts import hardware_verdicts, model_verdicts
from calculator.web.preview import drafts_for, private
from catalog import live
from catalog.snapshot import Snapshot
from config.language import speaking
from config.reading import only_read

PAGE = "calculator/page.html"
ANSWER = "calculator/answer.html"  # which the page includes
ONE_CHANGE = "calculator/partials/one_change.html"
WOULD_FIT = "calculator/partials/would_fit.html"


def wants_fragment(request: HttpRequest) -> bool:
    """True for a live update; a step back in the history asks for the whole page."""
    return "HX-Request" in request.headers and "HX-History-Restore-Request" not in request.headers


def given(request: HttpRequest) -> dict[str, str]:
    """The query's pairs; the last of repeated names wins."""
    return {name: str(value) for name, value in request.GET.items()}


@only_read
@vary_on_headers("HX-Request", "Stowage-Choices", blocks.HEADER, blocks.OPEN_HEADER)
def calculator(request: HttpRequest) -> HttpResponse:
    """The calculator, or the fragment with its answer."""
    started = perf_counter()
    drafts = drafts_for(request)
    asked = given(request)
    result = answer(asked, drafts or live.current())
    computed = perf_counter()
    fragment = wants_fragment(request)
    shown = request.headers.get("Stowage-Choices", "")
    page = calculator_page(
        result,
        canonical=request.build_absolute_uri("/"),
        live=LiveUpdate(shown, blocks.named(request.headers.get(blocks.OPEN_HEADER, "")))
        if fragment
        else None,
        preview=drafts is not None,
        asked=asked,
    )
    presented = perf_counter()
    there = blocks.named(request.headers.get(blocks.HEADER, "")) if fragment else frozenset()
    context = {**page, "blocks": blocks.Blocks(there)}
    with speaking():
        response = render(request, ANSWER if fragment else PAGE, context)
    stages = {
        "compute": computed - started,
        "present": presented - computed,
        "render": perf_counter() - presented,
    }
    response["Server-Timing"] = ", ".join(f"{name};dur={1000 * took:.2f}" for name, took in stages.items())
    return private(response) if drafts else response


@only_read
def would_fit(request: HttpRequest) -> HttpResponse:
    """The section of what would fit instead, which follows a live update; nothing where all is well or nothing helps."""
    drafts = drafts_for(request)
    panel = would_fit_rows(answer(given(request), drafts or live.current()))
    response = render(request, WOULD_FIT, {"would_fit": panel}) if panel else HttpResponse()
    return private(response) if drafts else response


@only_read
def one_change(request: HttpRequest) -> HttpResponse:
    """The links one change away, which follow a live update; nothing where the answer is no or nothing lies near."""
    drafts = drafts_for(request)
    panel = one_change_links(answer(given(request), drafts or live.current()))
    response = render(request, ONE_CHANGE, {"one_change": panel}) if panel else HttpResponse()
    return private(response) if drafts else response


@only_read
def picker_verdicts(request: HttpRequest, field: str) -> HttpResponse:
    """Verdicts beside the names of a list, for the present question: asked for when the list is opened."""
    drafts = drafts_for(request)
    asked = given(request)
    result = answer(asked, drafts or live.current())
    with speaking():
        if field == "gpu":
            found = hardware_verdicts(result, asked.get("yours", ""))
        else:
            found = model_verdicts(result)
    response = JsonResponse(found)
    return private(response) if drafts else response


@only_read
def section(request: HttpRequest, name: str) -> HttpResponse:
    """The inside of a section that is filled later; it follows the question while it is open."""
    found = later_sections.section_named(name)
    if found is None:
        raise Http404
    drafts = drafts_for(request)
    asked = given(request)
    result = answer(asked, drafts or live.current())
    with speaking():
        context = {"panel": found.panel(result, asked), "blocks": blocks.Blocks()}
        response = render(request, found.template, context)
    return private(response) if drafts else response


@only_read
def memory_csv(request: HttpRequest) -> HttpResponse:
    """The breakdown as a table of bytes (RFC 4180); what the API would refuse is refused here in words."""
    drafts = drafts_for(request)
    return private(_memory_csv(request, drafts)) if drafts else _public_memory_csv(request)


@same_until_changed
def _public_memory_csv(request: HttpRequest) -> HttpResponse:
    return _memory_csv(request, snapshot_of(request))


def _memory_csv(request: HttpRequest, snapshot: Snapshot) -> HttpResponse:
    result = answer(given(request), snapshot)
    return csv_response("memory.csv", lambda: breakdown_rows(result), errors.refused(result.problems))


def csv_response(
    name: str, rows: Callable[[], Iterable[Iterable[object]]], refused: Mapping[str, Any] | None
) -> HttpResponse:
    """A table (RFC 4180) that pages of other sites may read, or a refusal in words."""
    if refused:
        response = HttpResponse(
            f"{refused['detail']}\n", content_type="text/plain; charset=utf-8", status=refused["status"]
        )
    else:
        response = HttpResponse(content_type="text/csv; charset=utf-8")
        response["Content-Disposition"] = f'attachment; filename="{name}"'
        csv.writer(response).writerows(rows())
    response["Access-Control-Allow-Origin"] = "*"
    return response


@only_read
@same_until_changed
def hardware_csv(request: HttpRequest) -> HttpResponse:
    """Every device for the question as a table (RFC 4180), narrowed and ordered as the section shows it."""
    asked = given(request)
    result = answer(asked, snapshot_of(request))
    return csv_response("hardware.csv", lambda: hardware_rows(result, asked), errors.refused(result.problems))


@only_read
@same_until_changed
def accuracy(request: HttpRequest) -> HttpResponse:
    """How right the calculator is: its figures beside those of measured logs."""
    page = accuracy_page(
        given(request), snapshot_of(request), canonical=request.build_absolute_uri(request.path)
    )
    return render(request, "accuracy/page.html", dict(page))


@only_read
@same_until_changed
def accuracy_csv(request: HttpRequest) -> HttpResponse:
    """Every comparison as a table (RFC 4180), of both shares: of memory, or with `kind=speed` of speed."""
    snapshot = snapshot_of(request)
    if kind_of(given(request)) == SPEED:
        found = [item for share in SHARES for item in record_of(snapshot, SPEED, share).worst]
        rows = speed_rows(found)
    else:
        rows = comparison_rows(record_of(snapshot).worst)
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="accuracy.csv"'
    csv.writer(response).writerows(rows)
    response["Access-Control-Allow-Origin"] = "*"
    return response
