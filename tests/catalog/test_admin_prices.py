"""The pages of prices open, say how old a price is, and filter by it; runs of a refresh are only looked at."""

from datetime import date

import pytest
from django.urls import reverse

from catalog import live
from catalog.models import (
    ApiPrice,
    Assumption,
    Colocation,
    DeviceName,
    ElectricityPrice,
    Offer,
    Provider,
    PurchasePrice,
    RefreshRun,
)
from tests.catalog.admin_pages import change, errors_of, listed, text_of, url

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def on_the_first_of_december(monkeypatch):
    monkeypatch.setattr("django.utils.timezone.localdate", lambda: date(2026, 12, 1))
    live.forget()
    yield
    live.forget()


def h100():
    return Offer.objects.get(provider_id="runpod", accelerator_id="h100-sxm", market="secure", gpus=1)


def test_the_form_of_a_new_row_opens(admin_client):
    tables = (ApiPrice, Assumption, Colocation, DeviceName, ElectricityPrice, Offer, Provider, PurchasePrice)
    for table in tables:
        page = admin_client.get(url(table, "add"))
        assert (table, page.status_code) == (table, 200)


def test_a_price_says_how_old_it_is(admin_client):
    row = h100()
    assert "22 days, fresh" in text_of(admin_client.get(url(Offer, "change", row.pk)))
    assert "no date" in text_of(admin_client.get(url(Offer, "changelist"), {"age": "undated"}))


def test_prices_are_found_by_their_age(admin_client):
    row = h100()
    by_age = {age: listed(admin_client, Offer, age=age) for age in ("fresh", "ageing", "stale", "undated")}
    assert row.slug in by_age["fresh"]
    assert sum(map(len, by_age.values())) == Offer.objects.count()
    assert by_age["undated"] == set(Offer.objects.filter(dated=None).values_list("slug", flat=True)) != set()


def test_a_corrected_price_is_shown_and_its_row_is_left_to_the_one_who_wrote_it(admin_client):
    assert errors_of(change(admin_client, h100(), usd_per_hour="3.89", dated="2026-12-01")) == {}
    assert h100().edited_here
    asked = {(row.usd_per_hour, row.as_of) for row in live.refresh().offers_for("h100-sxm")}
    assert (3.89, "2026-12-01") in asked


def test_what_is_wrong_is_told_beside_the_field(admin_client):
    row = PurchasePrice.objects.get(device="rtx-3090", dated="2026-04")
    errors = errors_of(change(admin_client, row, device="rtx-3091", dated="April", low_usd="2000"))
    assert errors["device"] == ["No accelerator and no system has the id rtx-3091."]
    assert errors["dated"][0].startswith("Write a day as 2026-11-30")


def test_runs_are_only_looked_at(admin_client):
    run = RefreshRun.objects.create(
        what="offers", provider="aws", source="aws.csv", dated="2026-12-01", unknown=["X"]
    )
    page = admin_client.get(reverse("admin:catalog_refreshrun_changelist"))
    assert "aws.csv" in text_of(page)
    assert admin_client.get(reverse("admin:catalog_refreshrun_change", args=[run.pk])).status_code == 200
    assert admin_client.get(reverse("admin:catalog_refreshrun_add")).status_code == 403
