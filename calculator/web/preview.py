"""See the effect: the calculator with everything that waits for a publisher, for one person of the staff.

A signed cookie says that this browser asked for it; it holds only while its owner is logged in as staff. Without the
cookie nothing here runs, and no query is asked. Answers of a preview are never kept by anybody.
"""

from __future__ import annotations

import logging

from django.conf import settings
from django.contrib import messages
from django.contrib.admin.views.decorators import staff_member_required
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect
from django.urls import reverse
from django.utils.http import urlencode

from calculator.scenario import DEFAULTS
from catalog import live
from catalog.snapshot import Snapshot
from config.reading import only_read

COOKIE = "stowage_drafts"
LASTS_S = 3600
"""How long one preview lasts."""

log = logging.getLogger(__name__)


def drafts_for(request: HttpRequest) -> Snapshot | None:
    """The catalogue with what waits, if this request is a preview; None for everybody else."""
    if COOKIE not in request.COOKIES:
        return None
    owner = request.get_signed_cookie(COOKIE, default=None, salt=COOKIE, max_age=LASTS_S)
    user = request.user
    if owner is None or not user.is_staff or str(user.pk) != owner:
        return None
    try:
        return live.with_drafts()
    except Exception:
        log.exception("The catalogue with drafts cannot be put together.")
        return None


def private(response: HttpResponse) -> HttpResponse:
    """An answer with drafts stays with the one who asked."""
    response["Cache-Control"] = "private, no-store"
    return response


@only_read
@staff_member_required
def see_effect(request: HttpRequest) -> HttpResponse:
    """Begin a preview and open the calculator with a row in the question."""
    try:
        live.with_drafts()
    except Exception as error:  # noqa: BLE001 - whatever it is, the editor has to hear of it
        sentence = f"The catalogue with drafts cannot be put together ({type(error).__name__}: {error})."
        messages.error(request, sentence)
        return HttpResponseRedirect(reverse("admin:index"))
    response = _to_calculator(request)
    response.set_signed_cookie(
        COOKIE,
        str(request.user.pk),
        salt=COOKIE,
        max_age=LASTS_S,
        httponly=True,
        samesite="Lax",
        secure=settings.SESSION_COOKIE_SECURE,
    )
    return private(response)


@only_read
def leave(request: HttpRequest) -> HttpResponse:
    """End a preview: the same question with what is published."""
    response = _to_calculator(request)
    response.delete_cookie(COOKIE, samesite="Lax")
    return private(response)


def _to_calculator(request: HttpRequest) -> HttpResponse:
    asked = {name: str(value) for name, value in request.GET.items() if name in DEFAULTS or name == "v"}
    return HttpResponseRedirect(f"{reverse('calculator')}?{urlencode(asked)}")
