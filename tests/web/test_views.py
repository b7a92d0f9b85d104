"""The calculator's addresses: one page, one fragment, no query, no 500."""

import csv
import io
import re

import pytest
from django.test import Client
from hypothesis import given, settings
from hypothesis import strategies as st

from calculator.scenario import PARAMETERS
from catalog import live
from tests.web.asking import SEARCH

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


def test_the_page_is_whole(client):
    answer = client.get("/?ctx=4096")
    assert answer.status_code == 200
    html = answer.content.decode()
    assert html.lstrip().startswith("<!DOCTYPE html>")
    assert 'id="question"' in html
    assert 'data-permalink="/?ctx=4096&amp;v=1"' in html


def test_a_live_update_is_the_answer_alone(client):
    html = client.get("/?ctx=4096", headers=HTMX).content.decode()
    assert "<html" not in html
    assert 'id="verdict-card"' in html
    assert "<form" not in html


def test_a_step_back_is_a_whole_page(client):
    html = client.get("/", headers={**HTMX, "HX-History-Restore-Request": "true"}).content.decode()
    assert "<html" in html


def test_a_cache_keeps_page_and_fragment_apart(client):
    vary = {part.strip() for part in client.get("/").headers["Vary"].split(",")}
    assert {"HX-Request", "Stowage-Choices"} <= vary


def test_the_stages_are_timed(client):
    timing = client.get("/").headers["Server-Timing"]
    assert re.fullmatch(r"compute;dur=[\d.]+, present;dur=[\d.]+, render;dur=[\d.]+", timing)


@pytest.mark.parametrize("headers", [{}, HTMX])
def test_no_query_is_made(client, headers, django_assert_num_queries):
    live.current()
    with django_assert_num_queries(0):
        client.get("/?model=kimi-k3&gpu=h100-sxm&n=32", headers=headers)


@pytest.mark.parametrize(
    "address", ["/", "/accuracy/", "/accuracy.csv", "/memory.csv", "/healthz", "/readyz", "/favicon.ico"]
)
def test_only_reading_is_allowed(address):
    client = Client(enforce_csrf_checks=True)  # as outside the tests
    for method in ("post", "put", "delete"):
        answer = getattr(client, method)(address)
        assert (answer.status_code, answer.headers["Allow"]) == (405, "GET, HEAD")
        assert "This address can only be read." in answer.content.decode()
    assert client.head(address).status_code in (200, 302)


def test_a_form_without_its_token_gets_our_page():
    answer = Client(enforce_csrf_checks=True).post("/admin/login/", {"username": "a", "password": "b"})
    assert answer.status_code == 403
    assert "This form is out of date." in answer.content.decode()


def test_the_lists_are_sent_when_the_browser_shows_others(client):
    page = client.get("/").content.decode()
    key = re.search(r'data-choices="(\w+)"', page)[1]
    same = client.get("/?ctx=4096", headers={**HTMX, "Stowage-Choices": key}).content.decode()
    other = client.get("/?gpu=h100-sxm", headers={**HTMX, "Stowage-Choices": key}).content.decode()
    assert 'id="quant-field"' not in same
    assert 'id="quant-field"' in other


def test_breakdown_as_csv(client):
    answer = client.get("/memory.csv?model=llama-3.1-8b-instruct")
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert [row["part"] for row in rows] == ["weights", "kv_cache", "activations", "context", "needed"]
    assert rows[1]["per_gpu_bytes"] == "1073741824"
    asked = {(row["model"], row["hardware"], row["question"]) for row in rows}
    assert asked == {("Llama 3.1 8B Instruct", "GeForce RTX 4090", "/?v=1")}
    again = client.get("/memory.csv", headers={"If-None-Match": answer.headers["ETag"]})
    assert (again.status_code, answer.headers["Access-Control-Allow-Origin"]) == (304, "*")


def test_a_csv_of_an_unknown_model_is_a_404_with_near_names(client):
    answer = client.get("/memory.csv?model=kimi-k3.1-por")
    assert (answer.status_code, answer.headers["Content-Type"]) == (404, "text/plain; charset=utf-8")
    assert "kimi-k3.1-pro" in answer.content.decode()


def test_a_question_without_memory_has_a_csv_too(client):
    rows = list(
        csv.reader(
            io.StringIO(client.get("/memory.csv?engine=vllm&model=kolibri-1&quant=native").content.decode())
        )
    )
    assert len(rows) == 1


# Real ids make real answers; the rest is what people and robots type.
IDS = {
    "model": [
        "kimi-k3.1-pro",
        "gpt-oss-20b",
        "deepseek-v4-pro",
        "qwen3.5-27b",
        "bge-m3",
        "gemma-3-27b-it",
        "custom",
    ],
    "gpu": [
        "h100-sxm",
        "rtx-3090",
        "mac-m4-max-128",
        "hgx-h100-8",
        "gb200",
        "tpu-v7x",
        "rtx-3090:2,rtx-3060-12:1",
        ":",
        ",",
    ],
    "quant": ["native", "q4_k_m", "iq2_xxs", "nvfp4", "mlx-4bit", "ud-q4_k_xl", "exl3-4.0bpw"],
    "seqs": ["engine", "64", "0"],
}
JUNK = st.text(max_size=12) | st.sampled_from(
    ["-1", "0", "1e400", "nan", "99999999999999999999", "½", "0x10", "\x00", "1k", "∞"]
)


def values_of(parameter):
    known = st.sampled_from(IDS[parameter.name]) if parameter.name in IDS else JUNK
    if parameter.kind == "choice":
        known = st.sampled_from(parameter.choices)
    elif parameter.kind in ("whole", "number"):
        known = st.integers(-5, 10**8).map(str) | st.floats(allow_nan=False).map(str)
    return known | JUNK


QUERIES = st.fixed_dictionaries(
    {}, optional={p.name: values_of(p) for p in PARAMETERS if p.built}
) | st.dictionaries(st.sampled_from([p.name for p in PARAMETERS]) | st.text(max_size=6), JUNK, max_size=6)


@settings(SEARCH, max_examples=120)
@given(query=QUERIES, fragment=st.booleans())
def test_no_query_string_breaks_the_page(client, query, fragment):
    answer = client.get("/", query, headers=HTMX if fragment else {})
    assert answer.status_code == 200


@settings(SEARCH, max_examples=30)
@given(query=QUERIES)
def test_no_query_string_breaks_the_csv(client, query):
    assert client.get("/memory.csv", query).status_code in (200, 404, 422)
