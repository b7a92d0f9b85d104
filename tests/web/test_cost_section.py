"""The section Cloud & cost: figures of the arithmetic (tested in tests/estimation/economics) with the prices of one
question, each with its day, and words where there is no figure."""

import re

import pytest

from calculator.web.panels.cost import FIELDS, cost_panel
from tests.web.asking import asked, plain

pytestmark = pytest.mark.django_db

PAIR = "model=llama-3.3-70b-instruct&gpu=rtx-3090&n=2"


def panel(snapshot, query=PAIR):
    return cost_panel(asked(query, snapshot), {})


def usd(text):
    return float(re.sub(r"[$,]", "", text.replace("−", "-")))


def test_the_cheapest_way_is_said_first_and_marked(snapshot):
    found = panel(snapshot)
    assert found["verdict"][0] == "The API is the cheapest way to these tokens."
    assert [row["name"] for row in found["ways"] if row["cheapest"]] == ["API"]
    months = [usd(row["per_month"]) for row in found["ways"]]
    assert months == sorted(months)


def test_two_cards_of_700_dollars_against_their_rent(snapshot):
    """0.18 USD an hour each, 243.2 hours a month: 87.55 USD; what is saved pays 1,400 USD."""
    found = panel(snapshot)
    rent = next(row for row in found["ways"] if row["name"] == "Rent")
    assert usd(rent["per_month"]) == pytest.approx(2 * 0.18 * 8 * 30.4, abs=0.01)
    electricity = next(row for row in found["energy"] if row["name"] == "Electricity a month")
    running = usd(electricity["value"]) + 1400 * 0.03 / 12
    simple = found["paybacks"][0]["simple"]
    assert float(simple.split()[0]) == pytest.approx(1400 / (87.55 - running), abs=0.2)


def test_prices_say_who_when_and_what_to_check(snapshot):
    words = " ".join(panel(snapshot)["prices"])
    assert "Purchase: $700, used, of 2026-06" in words
    assert "per kWh, United States (average), households, of 2026-02; check" in words


def test_every_figure_has_its_multiplication(snapshot):
    rows = {row["name"]: row for row in panel(snapshot)["rows"]}
    assert list(rows) == [
        "Input, 1M tokens",
        "Output, 1M tokens",
        "Blended, 1M tokens",
        "One request",
        "One paid hour",
    ]
    assert all(row["why"] for row in rows.values())
    assert plain(rows["Blended, 1M tokens"]["why"]).endswith(
        f"4,608 tokens, in and out = {rows['Blended, 1M tokens']['value']} per million."
    )


def test_a_shared_prefix_is_a_row_of_its_own(snapshot):
    rows = {row["name"] for row in panel(snapshot, f"{PAIR}&prefix=1000")["rows"]}
    assert "Cached input, 1M tokens" in rows


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ("hours=0", "The machine is never on: no token is served, so none has a cost."),
        ("gpu=rx-7900-xtx&source=rent", "No rent is known for AMD Radeon RX 7900 XTX 24 GB."),
        ("model=deepseek-r1&gpu=rtx-4090", "What does not fit does not run: it has no cost."),
    ],
)
def test_where_there_is_no_figure_there_is_a_reason_and_the_fields_stay(snapshot, query, words):
    found = panel(snapshot, query)
    assert found["rows"] == []
    assert words in found["words"]
    assert [field["id"] for field in (*found["fields"], *found["more"])] == list(FIELDS)


def test_an_open_field_shows_what_is_taken(snapshot):
    fields = {field["id"]: field for field in panel(snapshot)["fields"]}
    assert (fields["price"]["value"], fields["price"]["placeholder"]) == ("", "1,400")
    assert fields["region"]["value"] == "us"
    assert fields["hours"]["placeholder"] == "8"


@pytest.mark.parametrize(
    "query", [PAIR, "gpu=h100-sxm&n=8", "gpu=mac-m3-ultra-512", "years=0.25", "years=20"]
)
def test_the_chart_stays_in_its_box(snapshot, query):
    chart = panel(snapshot, query)["chart"]
    for line in chart["lines"]:
        for point in line["points"].split():
            x, y = map(float, point.split(","))
            assert 0 <= x <= 1000
            assert 0 <= y <= 1000
    for tick in (*chart["x_ticks"], *chart["y_ticks"]):
        assert 0 <= float(tick["at"].rstrip("%")) <= 100


def test_the_widest_bar_comes_first(snapshot):
    widths = [float(row["width"].rstrip("%")) for row in panel(snapshot)["tornado"]]
    assert widths == sorted(widths, reverse=True)
    assert widths[0] <= 100


def test_the_section_answers_alone_and_names_a_bad_value_at_its_field(client):
    html = client.get(f"/section/cost/?{PAIR}&hours=30").content.decode()
    problem = re.search(r'id="hours-problem">(.*?)</p>', html, re.DOTALL)[1]
    assert "Hours a day goes from 0 to 24. The answer uses 24." in plain(problem)
    page = client.get(f"/?{PAIR}&show=cost&region=de").content.decode()
    assert '<option value="de" selected>' in page
    assert 'name="region"' in page
    assert '<input type="hidden" name="hours"' not in page
