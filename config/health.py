"""Answers for load balancers and browsers that ask outside the pages."""

import logging

from django.contrib.staticfiles.storage import staticfiles_storage
from django.db import DatabaseError, connection
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.views.decorators.cache import never_cache

from catalog import live
from config.reading import only_read

log = logging.getLogger(__name__)


@only_read
@never_cache
def healthz(request: HttpRequest) -> HttpResponse:  # noqa: ARG001 - Django passes it
    """Say that this process answers. Touch nothing else, so that a slow database does not restart it."""
    return HttpResponse("ok\n", content_type="text/plain")


@only_read
@never_cache
def readyz(request: HttpRequest) -> JsonResponse:  # noqa: ARG001 - Django passes it
    """Say whether this process can do its work: the database answers and the catalogue holds models."""
    problems = {name: problem for name, check in CHECKS.items() if (problem := check())}
    return JsonResponse({"ready": not problems, "problems": problems}, status=503 if problems else 200)


@only_read
def favicon(request: HttpRequest) -> HttpResponseRedirect:  # noqa: ARG001 - Django passes it
    """Send a browser that asks for the old fixed address to the file."""
    return HttpResponseRedirect(staticfiles_storage.url("favicon.ico"))


def _database_problem() -> str:
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except DatabaseError:
        log.exception("The database does not answer.")
        return "The database does not answer. Check DATABASE_URL."
    return ""


def _catalogue_problem() -> str:
    try:
        loaded = bool(live.current().models)
    except DatabaseError:
        log.exception("The catalogue cannot be read.")
        loaded = False
    return "" if loaded else "The catalogue is empty. Run: manage.py migrate, then manage.py load_catalog."


CHECKS = {"database": _database_problem, "catalogue": _catalogue_problem}
