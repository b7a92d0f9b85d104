"""The description holds: whatever schemathesis makes of it, answers have the described shape and errors are problems."""

import pytest
import schemathesis
from django.core.wsgi import get_wsgi_application
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from calculator.api import api
from catalog import live
from tests.web.asking import SEARCH
from tests.web.nasty import QUERIES, VALUES, written

pytestmark = pytest.mark.django_db

FUZZ = settings(
    deadline=None,
    derandomize=True,
    max_examples=30,
    suppress_health_check=list(HealthCheck),
)
CHECKS = [not_a_server_error, status_code_conformance, content_type_conformance, response_schema_conformance]

schema = schemathesis.openapi.from_wsgi("/api/openapi.json", get_wsgi_application())


@pytest.fixture(autouse=True)
def loaded(db):
    live.current()


HARDWARE = "/api/v1/hardware"


@schema.exclude(path=HARDWARE).parametrize()
@FUZZ
def test_every_operation_keeps_to_its_description(case):
    case.call_and_validate(checks=CHECKS, headers={"Accept-Encoding": "identity"})


@schema.include(path=HARDWARE).parametrize()
@settings(FUZZ, max_examples=10)
def test_the_list_of_hardware_keeps_to_its_description(case):
    """One maker's devices: every question is settled anew, which for all of them takes its time."""
    case.query = {**(case.query or {}), "vendor": "intel"}
    case.call_and_validate(checks=CHECKS, headers={"Accept-Encoding": "identity"})


PATHS = [path for path in api.get_openapi_schema()["paths"] if "{" in path]


def is_problem(answer):
    """An error says what is wrong in the form of RFC 9457."""
    problem = answer.json()
    return (
        answer.headers["Content-Type"] == "application/problem+json"
        and problem["status"] == answer.status_code
        and problem["detail"].endswith((".", "…"))
        and {"type", "title"} <= problem.keys()
    )


@settings(SEARCH, max_examples=120)
@given(query=QUERIES)
def test_any_query_is_answered_or_refused_as_a_problem(client, query):
    answer = client.get("/api/v1/estimate", QUERY_STRING=query)
    assert answer.status_code == 200 or (answer.status_code in (404, 422) and is_problem(answer))
    if answer.status_code == 200:
        assert all(problem["message"] for problem in answer.json()["problems"])
    else:
        assert {"field", "given", "allowed", "nearest"} <= answer.json().keys()


@settings(SEARCH, max_examples=60)
@given(path=st.sampled_from(PATHS), value=st.sampled_from(VALUES) | st.text(max_size=20), query=QUERIES)
def test_any_id_is_found_or_a_404_with_near_names(client, path, value, query):
    address = path[: path.index("{")] + written(value).replace("+", "%20").replace("%00", "")
    answer = client.get(address, QUERY_STRING=query)
    assert answer.status_code in (200, 301, 404)
    assert answer.status_code != 404 or is_problem(answer)


@settings(SEARCH, max_examples=40)
@given(
    query=QUERIES,
    path=st.sampled_from(["models", "accelerators", "systems", "engines", "formats", "health/catalog"]),
)
def test_a_list_does_not_mind_a_query(client, query, path):
    assert client.get(f"/api/v1/{path}", QUERY_STRING=query).status_code == 200


@pytest.mark.parametrize(("path", "errors"), [("estimate", {"404", "422"}), ("models/{model_id}", {"404"})])
def test_errors_are_described(path, errors):
    described = api.get_openapi_schema()["paths"][f"/api/v1/{path}"]["get"]["responses"]
    assert set(described) == errors | {"200"}
    for status in errors:
        assert list(described[status]["content"]) == ["application/problem+json"]
