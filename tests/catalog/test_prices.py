"""Prices that ship: published figures by their look-ups, how old a price is, and what a file of prices may say."""

from datetime import date

import pytest

from catalog.importers.files import read_entries, snapshot_from_files
from catalog.importers.schema import CatalogueError, check_file
from catalog.prices import PriceAge, price_age

SNAPSHOT = snapshot_from_files()
TODAY = date(2026, 12, 1)


@pytest.mark.parametrize(
    ("as_of", "days", "freshness"),
    [
        ("2026-12-01", 0, "fresh"),
        ("2026-11-01", 30, "fresh"),
        ("2026-10-31", 31, "ageing"),
        ("2026-11", 30, "fresh"),
        ("2026-09-02", 90, "ageing"),
        ("2026-09-01", 91, "stale"),
        ("2026-Q4", 61, "ageing"),
        ("2026-H2", 153, "stale"),
        ("2026", 334, "stale"),
        ("2027-01-01", 0, "fresh"),
        (None, None, "undated"),
    ],
)
def test_a_price_is_fresh_for_30_days_and_stale_after_90(as_of, days, freshness):
    assert price_age(as_of, TODAY) == PriceAge(days, freshness)


def test_what_is_known_to_the_year_stands_behind_what_is_known_to_the_day():
    """RTX 3090, used: 600 to 800 USD on 2026-06-29; mean of the three cheapest listings 1,049 in April, 599 in January."""
    rows = SNAPSHOT.purchase_prices_for("rtx-3090")
    dated = next((row.as_of, row.usd, row.low_usd, row.high_usd) for row in rows if row.condition == "used")
    assert dated == ("2026-06-29", 700, 600, 800)
    mixed = [(row.as_of, row.usd) for row in rows if row.condition == "mixed"]
    assert mixed == [("2026-04", 1049), ("2026-03", 849), ("2026-02", 691), ("2026-01", 599)]
    assert rows[0].as_of == "2026-06-29"


def test_a_server_is_bought_as_a_system():
    """8 × H100: 310,000 to 317,000 USD with InfiniBand cards in August 2024."""
    rows = {row.as_of: row for row in SNAPSHOT.purchase_prices_for("hgx-h100-8")}
    node = rows["2024-08"]
    assert (node.condition, node.low_usd, node.high_usd) == ("server", 310_000, 317_000)
    assert SNAPSHOT.purchase_prices_for("no-such-device") == ()


def test_hosted_prices_of_kimi_k31_pro():
    """Its maker's list of November 2026: 2.00 in, 0.20 cached, 10.00 out, by the million."""
    (own,) = [row for row in SNAPSHOT.api_prices_for("kimi-k3.1-pro") if row.provider == "moonshot-ai"]
    assert own.usd_per_million_input_tokens == 2
    assert own.usd_per_million_cached_input_tokens == 0.2
    assert own.usd_per_million_output_tokens == 10


def test_electricity_of_texas_and_of_a_region_with_another_currency():
    """Texas in January 2026: 15.69 and 7.25 cents (EIA). United Kingdom from October 2025: 26.35 pence (Ofgem)."""
    texas = [(row.customer, row.usd_per_kwh, row.as_of) for row in SNAPSHOT.electricity("us-tx")]
    assert texas == [("residential", 0.1569, "2026-01"), ("industrial", 0.0725, "2026-01")]
    home = SNAPSHOT.electricity("gb")[0]
    assert (home.converted.amount, home.converted.currency, home.converted.usd_per_unit) == (
        0.2635,
        "GBP",
        1.267,
    )
    assert home.usd_per_kwh == pytest.approx(0.2635 * 1.267, rel=1e-3)


def test_what_a_cost_starts_from():
    """Surveyed PUE 1.54 (Uptime 2025); an 8 × H100 node keeps 25 to 35 % of its price after 36 months."""
    assumptions = SNAPSHOT.prices.assumptions
    assert assumptions["pue-surveyed"].value == 1.54
    kept = assumptions["resale-h100-node-36-months"]
    assert (kept.low, kept.high, kept.unit) == (0.25, 0.35, "fraction")
    assert {row.as_of for row in SNAPSHOT.prices.colocation if row.usd_per_kw_month == 194.95} == {"2025-H2"}


def test_every_price_points_to_what_the_catalogue_has():
    devices = SNAPSHOT.accelerators.keys() | SNAPSHOT.systems.keys()
    prices = SNAPSHOT.prices
    assert {row.accelerator_id for row in prices.offers} <= SNAPSHOT.accelerators.keys()
    assert {row.device_id for row in prices.purchases} <= devices
    assert {row.model_id for row in prices.api_prices} <= SNAPSHOT.models.keys()
    assert {row.provider for row in (*prices.offers, *prices.api_prices)} <= prices.providers.keys()
    assert {row["accelerator"] for row in read_entries()["device_names"]} <= SNAPSHOT.accelerators.keys()


OFFER = next(entry for entry in read_entries()["offers"] if entry["market"] == "on-demand")
TARIFF = next(entry for entry in read_entries()["electricity"] if entry["region"] == "gb")


@pytest.mark.parametrize(
    ("kind", "entry", "sentence"),
    [
        ("offers", {**OFFER, "usd_per_hour": 0}, "usd_per_hour: input should be greater than 0 (given: 0)."),
        (
            "offers",
            {**OFFER, "market": "reserved"},
            "the entry: a reserved offer, and no other, says commitment_months.",
        ),
        ("electricity", {**TARIFF, "usd_per_unit": 1.4}, "the entry: 0.2635 × 1.4 is not 0.3339."),
        (
            "electricity",
            {key: value for key, value in TARIFF.items() if key != "rate_as_of"},
            "the entry: a price of another currency needs local_per_kwh, currency, usd_per_unit, rate_as_of and rate_kind.",
        ),
    ],
)
def test_a_price_that_cannot_be_is_refused(kind, entry, sentence):
    with pytest.raises(CatalogueError) as raised:
        check_file("f.json", {"kind": kind, "schema": 1, "items": [entry]})
    assert raised.value.faults == [f"f.json: {entry['id']}: {sentence}"]
