"""Answers that other programs keep: not sent again while neither the catalogue nor the program has changed."""

from __future__ import annotations

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse, HttpResponseNotModified
from django.utils import timezone
from django.utils.http import parse_etags

from calculator.web.release import release
from catalog import live
from catalog.snapshot import Snapshot

View = Callable[..., HttpResponse]


def same_until_changed(view: View) -> View:
    """Answer 304 while neither the catalogue nor the program has changed; hand the view its snapshot."""
    return _conditional(view, lambda: "")


def same_until_tomorrow(view: View) -> View:
    """The same for an answer that says how old things are today."""
    return _conditional(view, lambda: f"-{timezone.localdate()}")


def _conditional(view: View, moment: Callable[[], str]) -> View:
    @wraps(view)
    def conditional(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        snapshot = live.current()
        request.snapshot = snapshot  # type: ignore[attr-defined]
        etag = f'"{snapshot.version}-{release()}{moment()}"'
        if etag in parse_etags(request.headers.get("If-None-Match", "")):
            response: HttpResponse = HttpResponseNotModified()
        else:
            response = view(request, *args, **kwargs)
        if response.status_code in (200, 304):
            response["ETag"] = etag
            response["Cache-Control"] = "public, max-age=0, must-revalidate"
        return response

    return conditional


def snapshot_of(request: HttpRequest) -> Snapshot:
    snapshot: Snapshot = request.snapshot  # type: ignore[attr-defined]
    return snapshot
