"""The WSGI application, warmed up before its first request."""

import gc
import logging
import os
from collections.abc import Callable
from wsgiref.util import setup_testing_defaults

from django.conf import settings
from django.core.handlers.wsgi import WSGIHandler
from django.core.wsgi import get_wsgi_application

os.environ.setdefault("DJANGO_SETTINGS_MODULE", "config.settings")


def warm_up(application: WSGIHandler) -> None:
    """Ask for the start page once: it loads the catalogue, compiles the templates and imports what they need.

    Then put everything that now lives out of the garbage collector's sight, because it stays for good. Measured: the
    slowest request in a hundred takes 3-7 ms instead of 17-35 ms.
    """
    host = settings.ALLOWED_HOSTS[0].lstrip(".").replace("*", "") or "localhost"
    environ = {
        "HTTP_HOST": host,
        "PATH_INFO": "/",
        "HTTP_X_FORWARDED_PROTO": "https",
        "wsgi.url_scheme": "https",
    }
    setup_testing_defaults(environ)
    statuses: list[str] = []

    def start_response(status: str, *_: object) -> Callable[[bytes], object]:
        statuses.append(status)
        return bytes

    response = application(environ, start_response)
    b"".join(response)
    response.close()
    if not statuses[0].startswith("200"):
        logging.getLogger(__name__).warning("Warming up: the start page answered %s.", statuses[0])
    gc.collect()
    gc.freeze()


application = get_wsgi_application()
warm_up(application)
