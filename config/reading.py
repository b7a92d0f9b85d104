"""Addresses that are only read: GET and HEAD are answered, everything else gets a page that says so."""

from collections.abc import Callable
from functools import wraps
from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.csrf import csrf_exempt

View = Callable[..., HttpResponse]
READING = ("GET", "HEAD")


def only_read(view: View) -> View:
    """Refuse other methods kindly, before the protection of forms would refuse them with a page about cookies."""

    @csrf_exempt
    @wraps(view)
    def read(request: HttpRequest, *args: Any, **kwargs: Any) -> HttpResponse:
        if request.method in READING:
            return view(request, *args, **kwargs)
        response = render(request, "405.html", status=405)
        response["Allow"] = ", ".join(READING)
        return response

    return read


def form_refused(request: HttpRequest, reason: str = "") -> HttpResponse:  # noqa: ARG001 - Django passes it
    """A form that came without its token, such as one kept open for days."""
    return render(request, "403_csrf.html", status=403)
