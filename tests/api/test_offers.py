"""Offers of clouds as JSON: published prices, filters, ages, and problem details for a filter that is none."""

from datetime import date

import pytest

from calculator.web.exports.offers import offers_json
from catalog import live

pytestmark = pytest.mark.django_db
TODAY = date(2026, 12, 1)


def found(given, today=TODAY):
    return offers_json(live.current(), given, today)["items"]


def test_runpod_asked_3_99_dollars_for_an_h100_sxm_on_9_november():
    """Its price page of 2026-11-09: 3.99 USD an hour in its own data centres, 2.69 in those of others."""
    asked = {"provider": "runpod", "accelerator": "h100-sxm"}
    (secure,) = [row for row in found({**asked, "market": "secure"}) if row["gpus"] == 1]
    (community,) = [row for row in found({**asked, "market": "community"}) if row["gpus"] == 1]
    assert (secure["usd_per_hour"], community["usd_per_hour"]) == (3.99, 2.69)
    assert (secure["as_of"], secure["age"]) == ("2026-11-09", {"days": 22, "freshness": "fresh"})
    assert [(row["usd_per_hour"], row["as_of"]) for row in secure["earlier"]] == [(3.29, "2026-05-24")]


def test_the_price_of_a_gpu_is_its_share_of_the_size():
    (row,) = [
        each
        for each in found({"provider": "coreweave", "market": "on-demand"})
        if each["instance"] == "HGX B200"
    ]
    assert (row["usd_per_hour"], row["gpus"], row["usd_per_gpu_hour"]) == (68.8, 8, 8.6)


def test_an_age_leaves_out_what_is_older_and_what_has_no_date():
    every = found({})
    young = found({"max_age_days": "90"})
    assert {row["age"]["freshness"] for row in every} == {"fresh", "ageing", "stale", "undated"}
    assert {row["age"]["freshness"] for row in young} == {"fresh", "ageing"}
    assert [row["id"] for row in young] == [row["id"] for row in every if row in young]
    assert found({"max_age_days": "0"}, date(2026, 11, 9))[0]["as_of"] == "2026-11-09"


@pytest.mark.parametrize(
    ("query", "status", "told"),
    [
        ("market=spott", 422, {"field": "market", "given": "spott", "nearest": "spot"}),
        ("max_age_days=-3", 422, {"field": "max_age_days", "given": "-3", "nearest": 0}),
        ("max_age_days=99999", 422, {"field": "max_age_days", "given": "99999", "nearest": 36500}),
        ("provider=rumpod", 404, {"field": "provider", "given": "rumpod", "nearest": "runpod"}),
        ("accelerator=h100-smx", 404, {"field": "accelerator", "given": "h100-smx", "nearest": "h100-sxm"}),
    ],
)
def test_a_filter_that_is_none_is_told(client, query, status, told):
    answer = client.get(f"/api/v1/offers?{query}")
    assert (answer.status_code, answer.headers["Content-Type"]) == (status, "application/problem+json")
    assert {name: answer.json()[name] for name in told} == told


def test_an_answer_holds_for_the_day(client, monkeypatch):
    first = client.get("/api/v1/offers?provider=runpod")
    again = client.get("/api/v1/offers?provider=runpod", headers={"If-None-Match": first["ETag"]})
    monkeypatch.setattr("django.utils.timezone.localdate", lambda: date(2027, 6, 1))
    later = client.get("/api/v1/offers?provider=runpod", headers={"If-None-Match": first["ETag"]})
    assert (first.status_code, again.status_code, later.status_code) == (200, 304, 200)
    assert {row["age"]["freshness"] for row in later.json()["items"]} == {"stale"}
