"""Data health for the staff: the page and the same as a file."""

from __future__ import annotations

import csv

from django.contrib.admin.views.decorators import staff_member_required
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.cache import never_cache

from calculator.web.health import all_findings
from calculator.web.panels.health import health_page
from catalog import live
from config.reading import only_read


@only_read
@staff_member_required
@never_cache
def data_health(request: HttpRequest) -> HttpResponse:
    """Counts and tables of the present state: a row that was just edited is looked at already."""
    snapshot = live.refresh()
    page = health_page(all_findings(snapshot, timezone.localdate()), snapshot)
    return render(request, "health/page.html", {"page": page})


@only_read
@staff_member_required
@never_cache
def data_health_csv(request: HttpRequest) -> HttpResponse:  # noqa: ARG001 - Django passes it
    """Every finding as a row (RFC 4180)."""
    snapshot = live.refresh()
    response = HttpResponse(content_type="text/csv; charset=utf-8")
    response["Content-Disposition"] = 'attachment; filename="data-health.csv"'
    out = csv.writer(response)
    out.writerow(["group", "error", "kind", "id", "finding", "catalogue"])
    for group in all_findings(snapshot, timezone.localdate()):
        for each in group.findings:
            out.writerow([group.code, int(group.error), each.kind, each.id, each.text, snapshot.version])
    return response
