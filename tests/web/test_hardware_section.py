"""The section Hardware: what it lists, names first, narrows and orders; well-known pairs are held by tests/planner."""

import csv
import io

import pytest

from calculator.web.panels import per_snapshot
from calculator.web.panels.hardware import FIRST, hardware_panel
from tests.web.asking import asked, plain

pytestmark = pytest.mark.django_db

SEVENTY = "model=llama-3.3-70b-instruct&gpu=rtx-3090&n=2"


def panel(snapshot, query=SEVENTY, **view):
    return hardware_panel(asked(query, snapshot), view)


def rows_of(snapshot, query=SEVENTY, **view):
    return {row["name"]: row for row in panel(snapshot, query, all="1", **view)["rows"]}


def test_seventy_billion_weights_in_four_bits_take_two_cards_of_24_gb(snapshot):
    """One does not hold the 42.5 GB file of Llama 3.3 70B Q4_K_M, two do."""
    row = rows_of(snapshot)["GeForce RTX 3090"]
    assert (row["count"], row["code"], row["mine"]) == ("2", "fits", True)
    assert row["memory"] == plain(row["memory"]).replace(" ", "\u00a0") == "24\u00a0GB"
    assert (row["price"], row["price_note"]) == ("$1,400", "used, of 2026-06")
    assert row["href"] == "/?model=llama-3.3-70b-instruct&gpu=rtx-3090&n=2&v=1"


def test_a_row_that_does_not_run_says_why_and_has_no_speed(snapshot):
    rows = rows_of(snapshot, "model=deepseek-r1&quant=fp8&gpu=rtx-4090")
    row = rows["GeForce RTX 3060 12 GB"]
    assert row["code"] in ("does_not_fit", "unsupported")
    assert row["why"]
    assert (row["speed"], row["context"]) == ("—", "—")


def test_the_first_rows_and_the_present_device_below_them(snapshot):
    found = panel(snapshot)
    assert len(found["rows"]) == FIRST + 1
    assert found["rows"][-1]["mine"]
    assert found["more_label"] == "Show all 345"
    assert found["more_view"] == "all=1"


def test_a_module_has_no_price_of_its_own(snapshot):
    """A V100 SXM for 78 USD is no machine; the PCIe card is a card."""
    rows = rows_of(snapshot)
    assert rows["NVIDIA B200 180 GB (HGX)"]["price"] == "—"


@pytest.mark.parametrize(
    ("view", "left"),
    [
        ({"kind": "apple"}, "apple"),
        ({"vendor": "amd"}, "AMD"),
        ({"memory_min": "128"}, 128),
    ],
)
def test_filters_narrow_the_list(snapshot, view, left):
    found = panel(snapshot, all="1", **view)
    assert 0 < len(found["rows"]) < 345
    if left == 128:
        assert all(int(row["memory"].split("\u00a0")[0].replace(",", "")) >= 128 for row in found["rows"])
    current = [pill["label"] for pills in found["pills"] for pill in pills["pills"] if pill["current"]]
    assert len(current) == 4


def test_an_order_is_kept_by_the_filters_and_named_at_its_head(snapshot):
    found = panel(snapshot, sort="price", kind="consumer")
    prices = [
        float(row["price"].lstrip("$").replace(",", ""))
        for row in found["rows"]
        if row["price"] != "—" and not row["mine"]
    ]
    assert prices == sorted(prices)
    assert [head["label"] for head in found["heads"] if head["sorted"]] == ["Price"]
    assert all("sort=price" in pill["view"] for pills in found["pills"] for pill in pills["pills"])


def test_what_cannot_be_understood_of_a_view_is_left_out(snapshot):
    assert panel(snapshot, sort="beauty", kind="toaster", memory_min="much")["view"] == ""


def test_what_is_named_first_has_its_rule_and_a_price_its_day(snapshot):
    named = {pick["title"]: pick for pick in panel(snapshot)["recommended"]}
    assert {"Best single card", "Best value", "Best shared memory", "Smallest server"} <= set(named)
    assert named["Best value"]["price"].startswith("$")
    assert ", of 20" in named["Best value"]["price"]
    assert all(pick["rule"] for pick in named.values())


def test_where_nothing_works_the_closest_is_named(snapshot):
    """Kimi K3 is 1,454 GiB in its published format: no desktop card that is sold holds it in any count here."""
    found = panel(snapshot, "model=kimi-k3", kind="consumer")
    assert found["nearest"].startswith("Nothing fits.")
    assert all(pick["rule"].endswith("more is needed") for pick in found["recommended"])
    assert found["recommended"]


def test_the_section_answers_alone_and_in_the_page(client):
    alone = client.get(f"/section/hardware/?{SEVENTY}").content.decode()
    page = client.get(f"/?{SEVENTY}&show=hardware&sort=speed").content.decode()
    assert 'class="hardware-table"' in alone
    assert 'aria-sort="descending"' in page
    assert 'data-view-now="sort=speed"' in page


def test_a_settled_question_outlives_what_is_kept_beside_it(snapshot):
    """Hosts are known by identity: a fleet that was made anew must not be asked of an older settling."""
    panel(snapshot)
    per_snapshot.forget()
    assert panel(snapshot)["rows"]


def test_the_table_as_csv(client):
    answer = client.get(f"/hardware.csv?{SEVENTY}&kind=consumer")
    assert answer["Content-Type"].startswith("text/csv")
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert {row["kind"] for row in rows} == {"consumer"}
    card = next(row for row in rows if row["id"] == "rtx-3090")
    assert (card["units"], card["verdict"], card["price_usd"]) == ("2", "fits", "1400.00")
    assert float(card["decode_low_tokens_per_s"]) < float(card["decode_tokens_per_s"])


def test_a_csv_of_a_bad_question_is_refused(client):
    assert client.get("/hardware.csv?ctx=abc").status_code == 422
