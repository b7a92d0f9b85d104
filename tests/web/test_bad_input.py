"""Whatever stands in a link, the page opens, says what it did not take, and is whole."""

import csv
import io
from html.parser import HTMLParser

import pytest
from hypothesis import given, settings

from calculator.scenario import BY_NAME, parse, parse_number
from tests.web.asking import SEARCH
from tests.web.nasty import LISTS, LONG, QUERIES, VALUES, written

pytestmark = pytest.mark.django_db

HTMX = {"HX-Request": "true"}
VOID = {"area", "base", "br", "col", "hr", "img", "input", "link", "meta", "source", "wbr"}


class Nesting(HTMLParser):
    """Reads HTML and notes every tag that closes another than the one that is open, and ids that stand twice."""

    def __init__(self):
        super().__init__()
        self.open, self.faults, self.ids = [], [], set()

    def handle_starttag(self, tag, attrs):
        if tag not in VOID:
            self.open.append(tag)
        if (identity := dict(attrs).get("id")) in self.ids and identity:
            self.faults.append(f"the id {identity} stands twice")
        self.ids.add(identity)
        self.faults += [f"{name} on {tag}" for name, _ in attrs if name.startswith("on") or name == "style"]

    def handle_startendtag(self, tag, attrs):
        """An empty element of SVG."""

    def handle_endtag(self, tag):
        if not self.open or self.open.pop() != tag:
            self.faults.append(f"</{tag}> closes nothing")


def faults_of(html):
    reader = Nesting()
    reader.feed(html)
    reader.close()
    return reader.faults + [f"<{tag}> is not closed" for tag in reader.open]


def ask(client, address, query, **options):
    return client.get(address, QUERY_STRING=query, **options)


def test_the_reader_of_html_sees_what_is_wrong():
    assert faults_of("<p id=a><b></b></p><br><p id=a></p>") == ["the id a stands twice"]
    assert faults_of("<p><b></p></b>") == ["</p> closes nothing", "</b> closes nothing"]
    assert faults_of("<p onclick=x>") == ["onclick on p", "<p> is not closed"]


@settings(SEARCH, max_examples=120)
@given(query=QUERIES)
def test_any_query_opens_the_page_and_the_fragment(client, query):
    for headers in ({}, HTMX):
        answer = ask(client, "/", query, headers=headers)
        assert answer.status_code == 200
        faults = faults_of(answer.content.decode())
        # Beside a list that a fragment sends anew stands what belongs to its field: the later one is taken.
        assert [fault for fault in faults if headers == {} or "stands twice" not in fault] == []


@pytest.mark.parametrize("query", LONG, ids=lambda query: query[:12])
@pytest.mark.parametrize("address", ["/", "/memory.csv", "/api/v1/estimate"])
def test_a_query_of_100_kilobytes_is_answered(client, address, query):
    assert ask(client, address, query).status_code in ((200,) if address == "/" else (200, 404, 422))


@settings(SEARCH, max_examples=60)
@given(query=QUERIES)
def test_any_query_has_a_table_or_a_sentence(client, query):
    answer = ask(client, "/memory.csv", query)
    assert answer.status_code in (200, 404, 422)
    text = answer.content.decode()
    if answer.status_code == 200:
        rows = list(csv.reader(io.StringIO(text)))
        assert {len(row) for row in rows} == {len(rows[0])}
    else:
        assert text.endswith((".\n", "…\n"))


@pytest.mark.parametrize(
    "name", [name for name, known in BY_NAME.items() if known.kind in ("whole", "number")]
)
def test_every_bad_number_is_named_and_the_nearest_valid_one_used(name):
    known = BY_NAME[name]
    for text in VALUES:
        scenario, problems = parse({name: text})
        value, number = getattr(scenario, name), parse_number(text.encode(errors="replace").decode())
        named = {problem.code for problem in problems if problem.field == name} - {
            "not_computed_yet",
            "lengths_above_context",
        }
        if not text.strip():
            assert (value, named) == (known.default, set())
        elif number is None:
            assert (value, named) == (known.default, {"not_a_number"})
        elif not known.low <= number <= known.high:
            assert (value, named) == (known.low if number < known.low else known.high, {"out_of_range"})
        else:
            assert known.low <= value <= known.high
            assert (named == set()) == (value == number)


@pytest.mark.parametrize("cards", LISTS, ids=lambda cards: cards[:30])
def test_a_list_of_cards_beyond_its_limits_is_named(client, cards):
    answer = client.get("/api/v1/estimate", {"gpu": cards})
    named = answer.json() if answer.status_code != 200 else {"errors": answer.json()["problems"]}
    assert {problem["field"] for problem in named["errors"]} == {"gpu"}
    assert len(named["errors"]) <= 7


def test_what_was_typed_is_shown_as_text_and_nothing_else(client):
    for text in ("<script>alert(1)</script>", '"><img src=x onerror=alert(1)>', "{{7*7}}", "{given}"):
        html = ask(client, "/", f"model={written(text)}&{written(text)}=1").content.decode()
        assert "<script>alert" not in html
        assert "<img" not in html
        assert "“49”" not in html
        assert faults_of(html) == []
