"""Blocks of the answer: what the page shows already is left out of a live update, and nothing else."""

import re

import pytest

from calculator.web import blocks
from calculator.web.blocks import Blocks
from tests.web.asking import plain

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}
TWO_CARDS = "/?model=llama-3.3-70b-instruct&gpu=rtx-3090&n=2"


def keys(html):
    """Key by id of every block of a response, whole or left out."""
    return dict(re.findall(r'<\w+ id="([\w-]+)" data-key="(\w+)"', html))


def left_out(html):
    return set(re.findall(r'<\w+ id="([\w-]+)" data-key="\w+" data-same></\w+>', html))


def live(client, address, shown=(), unfolded=()):
    headers = {**HTMX, blocks.HEADER: " ".join(shown), blocks.OPEN_HEADER: " ".join(unfolded)}
    return client.get(address, headers=headers).content.decode()


def test_what_the_page_shows_is_left_out_and_what_moved_is_sent(client):
    shown = keys(live(client, f"{TWO_CARDS}&ctx=8192"))
    moved = live(client, f"{TWO_CARDS}&ctx=9216", shown.values())
    assert left_out(moved) == {"part-weights", "part-context", "why-weights", "why-kv_cache", "why-activations", "why-context", "context-curves", "context-table", "speed-table"}  # fmt: skip
    assert {"part-kv_cache", "part-activations"} <= keys(moved).keys() - left_out(moved)
    assert 'id="advanced-summary"' not in moved


def test_a_block_has_one_key_for_one_look(client):
    first, again = (keys(live(client, TWO_CARDS)) for _ in range(2))
    assert first == again
    other = keys(live(client, f"{TWO_CARDS}&units=gb"))
    assert other["part-weights"] != first["part-weights"]
    assert len(set(first.values())) == len(first)


def test_a_page_holds_every_block_whole(client):
    shown = keys(live(client, TWO_CARDS))
    page = client.get(TWO_CARDS, headers={blocks.HEADER: " ".join(shown.values())}).content.decode()
    assert left_out(page) == set()
    assert "data-folded" not in page
    assert 'points="' in page


def test_a_live_update_brings_explanations_that_are_unfolded_alone(client):
    html = live(client, TWO_CARDS, unfolded=["why-kv_cache", "context-table", "why-nonsense"])
    assert "attention layers ×" in plain(html)
    assert "bits per weight" not in html
    assert re.search(r'id="why-weights" data-key="\w+" class="why" data-folded', html)
    assert "<td>16,384</td>" in html


@pytest.mark.parametrize("header", ["x" * 100_000, "\x00 é", "a,b;c", " "])
def test_a_strange_header_leaves_nothing_out(client, header):
    assert left_out(live(client, TWO_CARDS, [header], [header])) == set()


def test_a_block_begins_with_an_element_that_has_an_id():
    with pytest.raises(AssertionError, match="must begin with an element"):
        Blocks().put("calculator/words.html", {})


def test_what_would_fit_follows_the_live_update(client):
    address = f"{TWO_CARDS}&ctx=32768"
    html = live(client, address)
    later = re.search(r'id="would-fit" [^>]*data-later="([^"]+)"', html)[1].replace("&amp;", "&")
    assert "12,288 tokens of context" not in html
    rows = client.get(later).content.decode()
    assert "12,288 tokens of context" in rows
    assert rows.strip().startswith('<section class="card section would-fit" id="would-fit"')
    assert "data-later" not in rows
    assert "12,288 tokens of context" in client.get(address).content.decode()


def test_what_would_fit_does_not_follow_where_all_is_well(client):
    assert "would-fit" not in live(client, "/")
    assert client.get("/would-fit/").content == b""


def test_what_is_one_change_away_follows_the_live_update(client):
    html = live(client, TWO_CARDS)
    later = re.search(r'id="one-change" [^>]*data-later="([^"]+)"', html)[1].replace("&amp;", "&")
    link = 'href="/?model=llama-3.3-70b-instruct&amp;gpu=rtx-3090&amp;v=1#verdict">1 × GeForce RTX 3090 instead</a>'
    assert link not in html
    links = client.get(later).content.decode()
    assert link in links
    assert links.strip().startswith('<section class="one-change" id="one-change"')
    assert "data-later" not in links
    assert link in client.get(TWO_CARDS).content.decode()


def test_nothing_is_one_change_away_where_the_answer_is_no(client):
    address = f"{TWO_CARDS}&ctx=32768"
    assert "one-change" not in live(client, address)
    assert client.get(address.replace("/?", "/one-change/?")).content == b""
