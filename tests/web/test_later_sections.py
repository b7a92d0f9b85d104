"""Sections that are filled later: closed with a plain link, filled by `show`, left alone by a live update."""

import re

import pytest
from django.test import Client

from calculator.web import later_sections
from calculator.web.later_sections import LaterSection

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}


@pytest.fixture
def stub(monkeypatch):
    """One section that says the context and the view that it was asked for, with `hours` as its field."""
    section = LaterSection(
        name="hardware",
        title="Hardware",
        invitation="Show hardware",
        template="calculator/blocks/chart_table.html",
        panel=lambda answer, asked: {
            "title": f"{answer.scenario.ctx} {asked.get('sort', '-')}",
            "head": [],
            "rows": [],
        },
        fields=("hours",),
    )
    monkeypatch.setattr(later_sections, "SECTIONS", (section,))


def shown(client: Client, address: str, **headers: str) -> str:
    return client.get(address, headers=headers).content.decode()


def inside(html: str) -> str:
    return re.search(r'id="hardware-body"[^>]*>(.*?)</section>', html, re.DOTALL)[1]


def test_a_closed_section_is_a_link_that_opens_it(client, stub):
    html = shown(client, "/?ctx=4096")
    assert 'href="/?ctx=4096&amp;show=hardware&amp;v=1#hardware">Show hardware</a>' in inside(html)
    assert 'data-section="/section/hardware/?ctx=4096&amp;v=1"' in html
    assert '<a href="#hardware">Hardware</a>' in html


def test_a_live_update_names_its_address_and_leaves_its_inside_alone(client, stub):
    html = shown(client, "/?ctx=4096&show=hardware", **HTMX)
    assert 'data-section="/section/hardware/?ctx=4096' in html
    assert not inside(html).replace("</div>", "").strip()


def test_no_section_of_another_name(client, stub):
    assert client.get("/section/hardware-not/").status_code == 404


@pytest.mark.parametrize("query", ["draft=x&seq=4096", "region=de&lang=en"])
def test_what_has_no_field_on_the_page_is_handed_on_by_the_form(client, query):
    html = shown(client, f"/?{query}&ctx=4096")
    carried = re.search(r'<div id="carried" hidden>(.*?)</div>', html)[1]
    pairs = re.findall(r'<input type="hidden" name="(\w+)" value="([^"]*)">', carried)
    assert sorted(f"{name}={value}" for name, value in pairs) == sorted(query.split("&"))


def test_a_knob_of_another_engine_is_carried_until_its_field_is_back(client):
    """`ubatch` is a knob of llama.cpp: vLLM shows no field for it, and the value waits in the form."""
    name = 'name="ubatch" value="256"'
    with_field = shown(client, "/?engine=llama.cpp&ubatch=256")
    assert f'<input type="hidden" {name}>' not in with_field
    assert with_field.count(name) == 1
    without = shown(client, "/?engine=vllm&ubatch=256", **HTMX)
    assert f'<input type="hidden" {name}>' in without


def test_an_open_section_shows_its_fields_and_the_form_carries_none_of_them(client):
    """Else a field that is cleared without a script would come back from the carried one."""
    closed = shown(client, "/?hours=4&price=2000")
    assert '<input type="hidden" name="hours" value="4">' in closed
    opened = shown(client, "/?hours=4&price=2000&show=cost")
    assert '<input type="hidden" name="hours"' not in opened
    assert opened.count('name="hours"') == 1
