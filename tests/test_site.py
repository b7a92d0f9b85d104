"""What operators and browsers ask for outside the pages."""

import pytest

from catalog import live
from config.wsgi import warm_up


def test_healthz_answers_without_the_database(client):
    answer = client.get("/healthz")
    assert (answer.status_code, answer.content) == (200, b"ok\n")


@pytest.mark.django_db
def test_readyz_says_that_the_catalogue_is_loaded(client):
    answer = client.get("/readyz")
    assert (answer.status_code, answer.json()) == (200, {"ready": True, "problems": {}})


@pytest.mark.django_db
def test_readyz_says_what_to_run_when_the_catalogue_is_empty(client, monkeypatch):
    class Empty:
        models = ()

    monkeypatch.setattr(live, "current", Empty)
    answer = client.get("/readyz")
    assert answer.status_code == 503
    assert answer.json() == {
        "ready": False,
        "problems": {
            "catalogue": "The catalogue is empty. Run: manage.py migrate, then manage.py load_catalog."
        },
    }


@pytest.mark.django_db
@pytest.mark.parametrize(
    "address",
    [
        "/",
        "/api/docs",
        "/admin/login/",
        "/healthz",
        "/readyz",
        "/accuracy/",
        "/memory.csv",
        "/no-such-page",
        "/api/v1/estimate",
        "/api/v1/estimate?kv=fp9",
        "/api/no-such-address",
    ],
)
def test_every_page_carries_the_strict_policy(client, address):
    policy = client.get(address).headers["Content-Security-Policy"]
    directives = dict(part.split(" ", 1) for part in policy.split("; "))
    assert directives == {
        "default-src": "'self'",
        "script-src": "'self'",
        "style-src": "'self' 'sha256-47DEQpj8HBSa+/TImW+5JCeuQeRkm5NMpJWZG3hSuFU='",
        "img-src": "'self' data:",
        "font-src": "'self'",
        "connect-src": "'self'",
        "object-src": "'none'",
        "base-uri": "'none'",
        "form-action": "'self'",
        "frame-ancestors": "'none'",
    }


def test_old_favicon_address_leads_to_the_file(client):
    answer = client.get("/favicon.ico")
    assert (answer.status_code, answer.headers["Location"]) == (302, "/static/favicon.ico")


def test_warming_up_asks_for_the_start_page_under_an_allowed_name(settings):
    settings.ALLOWED_HOSTS = [".stowage.example"]
    asked = {}

    class Response(list):
        def close(self):
            asked["closed"] = True

    def application(environ, start_response):
        asked.update(host=environ["HTTP_HOST"], path=environ["PATH_INFO"], scheme=environ["wsgi.url_scheme"])
        start_response("200 OK", [])
        return Response([b""])

    warm_up(application)
    assert asked == {"host": "stowage.example", "path": "/", "scheme": "https", "closed": True}
