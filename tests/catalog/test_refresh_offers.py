"""Refreshing prices from small lists: what moves, what stays, what is unknown, and what is remembered."""

import builtins
import json
from datetime import date
from io import StringIO

import pytest
from django.contrib.auth import get_user_model
from django.core.management import CommandError, call_command

from catalog import findings, live
from catalog.models import (
    Accelerator,
    ApiPrice,
    CatalogVersion,
    Offer,
    Provider,
    PurchasePrice,
    RefreshRun,
)
from catalog.models.history import recording

pytestmark = pytest.mark.django_db

HEAD = "instance_name,location,price,cpu,memory,gpu_count,gpu_name,gpu_memory,spot\n"
LIST = HEAD + (
    "p5.48xlarge,us-east-1,60.5,192,2048,8,H100,80,False\n"
    "p5.48xlarge,eu-north-1,58,192,2048,8,H100,80,False\n"
    "g6.xlarge,us-east-1,0.8048,4,16,1,L4,24,False\n"
    "p9.new,us-west-2,12,8,64,1,H200,141,False\n"
    "p9.new,us-east-1,11,8,64,1,H200,141,False\n"
    "p9.new,us-east-1,4,8,64,1,H200,141,True\n"
    "x1.odd,us-east-1,3,8,64,1,Quantum9,64,False\n"
    "c5.large,us-east-1,0.1,2,4,0,,,False\n"
)
DAY = "2026-12-02"


@pytest.fixture(autouse=True)
def cold_process():
    live.forget()
    yield
    live.forget()


@pytest.fixture
def price_list(tmp_path):
    file = tmp_path / "aws.csv"
    file.write_text(LIST)
    return file


def run(*options):
    out, err = StringIO(), StringIO()
    call_command("refresh_offers", *map(str, options), stdout=out, stderr=err)
    return out.getvalue().splitlines()


def offer(instance, market="on-demand"):
    return Offer.objects.get(provider_id="aws", size=instance, market=market)


def test_prices_move_with_their_history_and_new_sizes_are_added(price_list):
    before = offer("p5.48xlarge").to_entry()
    others = {row.slug: row.to_entry() for row in Offer.objects.exclude(provider_id="aws")}
    assert (before["usd_per_hour"], before["region"]) == (55.04, "us-east-1")
    lines = run("--from", price_list, "--as-of", DAY)
    row = offer("p5.48xlarge")
    assert (float(row.usd_per_hour), row.dated, row.source) == (60.5, DAY, "aws.csv")
    assert row.earlier == [{"usd_per_hour": 55.04, "as_of": before["as_of"], "source": before["source"]}]
    new, spot = offer("p9.new"), offer("p9.new", "spot")
    assert (float(new.usd_per_hour), new.region, new.accelerator_id) == (11, "us-east-1", "h200-sxm")
    assert (float(spot.usd_per_hour), spot.gpus, spot.ram_gb) == (4, 1, 64)
    assert lines == [
        "aws: 2 added, 1 changed, 1 confirmed, 0 kept",
        f"  changed: {row.slug}",
        "  unknown, left out: Quantum9 64 GB",
    ]
    assert {row.slug: row.to_entry() for row in Offer.objects.exclude(provider_id="aws")} == others
    record = RefreshRun.objects.get()
    counts = (record.added, record.changed, record.confirmed, record.kept)
    assert (record.provider, record.dated, counts, record.unknown) == (
        "aws",
        DAY,
        (2, 1, 1, 0),
        ["Quantum9 64 GB"],
    )
    prices = {each.instance: each.usd_per_hour for each in live.refresh().offers_for("h200-sxm")}
    assert prices["p9.new"] in (4, 11)


def test_the_history_says_that_a_program_wrote_it(price_list):
    run("--from", price_list, "--as-of", DAY)
    row = offer("p5.48xlarge")
    told = [(record.history_change_reason, record.history_user) for record in row.history.all()]
    assert told[0] == ("refresh_offers took aws.csv.", None)
    assert (row.edited_at, row.edited_here) == (None, False)
    groups = {group.code: {item.id for item in group.items} for group in findings.findings()}
    assert row.slug not in groups["edited"]
    assert offer("p9.new").slug not in groups["added"]


def test_the_same_list_again_changes_nothing(price_list):
    run("--from", price_list, "--as-of", DAY)
    version = CatalogVersion.current().version
    assert run("--from", price_list, "--as-of", DAY)[0] == "aws: 0 added, 0 changed, 0 confirmed, 0 kept"
    assert CatalogVersion.current().version == version
    assert len(offer("p5.48xlarge").earlier) == 1


def test_what_a_person_wrote_stays(price_list):
    own = offer("p5.48xlarge")
    own.usd_per_hour = 40
    with recording(get_user_model().objects.create(username="ada"), "our contract"):
        own.save()
    gone = offer("g6.xlarge")
    gone.retired = True
    gone.save()
    price_list.write_text(LIST.replace("0.8048", "0.9"))
    lines = run("--from", price_list, "--as-of", DAY)
    assert lines[0] == "aws: 2 added, 0 changed, 0 confirmed, 2 kept"
    assert (float(offer("p5.48xlarge").usd_per_hour), offer("p5.48xlarge").dated) == (40, own.dated)
    assert float(offer("g6.xlarge").usd_per_hour) == 0.8048
    new = offer("p9.new")  # what a refresh added and a person then changed is that person's too
    new.usd_per_hour = 9
    new.save()
    run("--from", price_list, "--as-of", "2026-12-03")
    assert float(offer("p9.new").usd_per_hour) == 9


def test_an_older_list_does_not_undo_a_newer_price(price_list):
    run("--from", price_list, "--as-of", DAY)
    price_list.write_text(LIST.replace(",11,", ",10,"))
    assert "1 kept" in run("--from", price_list, "--as-of", "2026-11-02")[0]
    assert float(offer("p9.new").usd_per_hour) == 11


def test_a_refreshed_price_is_no_draft_and_loading_the_files_keeps_it(price_list):
    run("--from", price_list, "--as-of", DAY)
    call_command("load_catalog", "--force", verbosity=0)
    assert float(offer("p5.48xlarge").usd_per_hour) == 60.5


def test_a_trial_says_what_it_would_do(price_list):
    before = {row.slug: row.to_entry() for row in Offer.objects.all()}
    lines = run("--from", price_list, "--as-of", DAY, "--check")
    assert lines[:2] == [
        "Nothing was changed. Refreshing would do this:",
        "aws: 2 added, 1 changed, 1 confirmed, 0 kept",
    ]
    assert {row.slug: row.to_entry() for row in Offer.objects.all()} == before
    assert not RefreshRun.objects.exists()


def refused(*options):
    before = CatalogVersion.current().version
    with pytest.raises(CommandError) as raised:
        run(*options)
    assert (CatalogVersion.current().version, RefreshRun.objects.count()) == (before, 0)
    return str(raised.value)


def test_what_cannot_be_read_is_told_and_nothing_is_changed(price_list, tmp_path):
    assert refused("--provider", "rumpod").startswith(
        "No provider that can be refreshed is called rumpod. Perhaps runpod"
    )
    assert refused("--from", tmp_path / "none.csv").endswith("Nothing was changed.")
    price_list.write_text(LIST.replace("gpu_count", "cards"))
    assert refused("--from", price_list) == "aws.csv has no column gpu_count. Nothing was changed."
    price_list.write_text(LIST.replace("0.8048", "cheap"))
    assert refused("--from", price_list).startswith("aws.csv, line 4: a figure cannot be read")
    price_list.write_text(LIST)
    told = "There are no prices of runpod (not in the list). Nothing was changed."
    assert refused("--from", price_list, "--provider", "runpod") == told


def test_without_the_network_it_says_so(monkeypatch):
    import gpuhunt

    def nobody():
        raise OSError("Name or service not known")

    monkeypatch.setattr(gpuhunt, "default_catalog", nobody)
    told = "The price lists cannot be fetched (Name or service not known). Nothing was changed."
    assert refused() == told


def test_without_the_library_it_says_what_to_do(monkeypatch):
    real = builtins.__import__

    def without(name, *args, **kwargs):
        if name.startswith("gpuhunt"):
            raise ImportError(name)
        return real(name, *args, **kwargs)

    monkeypatch.setattr(builtins, "__import__", without)
    assert refused().startswith("The library gpuhunt is not installed. Run: pip install -r requirements.txt")


def test_the_library_s_rows_are_taken_as_those_of_a_file(monkeypatch):
    import gpuhunt

    item = gpuhunt.CatalogItem(
        provider="runpod",
        instance_name="NVIDIA H100 PCIe",
        location="EU-RO-1",
        price=2.89,
        cpu=16,
        memory=188.0,
        gpu_count=1,
        gpu_name="H100",
        gpu_memory=79.6,
        spot=False,
        disk_size=None,
        gpu_vendor=gpuhunt.AcceleratorVendor.NVIDIA,
    )

    class Store:
        def query(self, provider):
            if provider != "runpod":
                raise OSError("no route to host")
            return [item]

    monkeypatch.setattr(gpuhunt, "default_catalog", Store)
    assert run("--as-of", DAY)[0].startswith("runpod: 1 added, 0 changed")
    row = Offer.objects.get(size="NVIDIA H100 PCIe", source__startswith="gpuhunt==")
    assert (row.accelerator_id, float(row.usd_per_hour), row.market) == ("h100-pcie", 2.89, "on-demand")
    assert set(RefreshRun.objects.values_list("provider", flat=True)) == {"runpod"}


def test_api_prices_come_from_a_file(tmp_path):
    (row,) = ApiPrice.objects.filter(provider_id="moonshot-ai", language_model_id="kimi-k3.1-pro")
    file = tmp_path / "prices.json"
    tokens = {"litellm_provider": "moonshot", "mode": "chat", "output_cost_per_token": 9e-6}
    other = {
        **tokens,
        "litellm_provider": "deepinfra",
        "input_cost_per_token": 1e-7,
        "max_input_tokens": 32768,
    }
    file.write_text(
        json.dumps(
            {
                "sample_spec": {"mode": "one of chat, embedding"},
                f"moonshot/{row.api_id}": {
                    **tokens,
                    "input_cost_per_token": 2e-6,
                    "cache_read_input_token_cost": 2e-7,
                },
                "moonshot/never-heard-of": {**tokens, "input_cost_per_token": 1e-6},
                "deepinfra/HuggingFaceTB/SmolLM3-3B": other,
            }
        )
    )
    lines = run("--api-prices", file, "--as-of", DAY)
    row.refresh_from_db()
    prices = (row.usd_per_million_input_tokens, row.usd_per_million_cached_input_tokens)
    assert [float(price) for price in (*prices, row.usd_per_million_output_tokens)] == [2, 0.2, 9]
    assert [(past["usd_per_million_output_tokens"], past["as_of"]) for past in row.earlier] == [
        (10, "2026-11")
    ]
    new = ApiPrice.objects.get(provider_id="deepinfra", language_model_id="smollm3-3b")
    assert (float(new.usd_per_million_input_tokens), new.context_tokens) == (0.1, 32768)
    assert "moonshot-ai: 0 added, 1 changed, 0 confirmed, 0 kept" in lines
    assert "  unknown, left out: never-heard-of" in lines
    assert set(RefreshRun.objects.values_list("what", "provider")) == {
        ("api_prices", "moonshot-ai"),
        ("api_prices", "deepinfra"),
    }


def test_a_provider_that_is_retired_is_not_asked(price_list):
    Provider.objects.filter(slug="aws").update(retired=True)
    assert "aws" in refused("--from", price_list, "--provider", "aws")
    assert live.refresh().offers_for("inferentia2") == ()


def told(code):
    return {item.id: item.text for group in findings.findings() if group.code == code for item in group.items}


def test_data_health_names_old_prices_and_those_of_nothing(price_list, monkeypatch):
    monkeypatch.setattr("django.utils.timezone.localdate", lambda: date(2026, 12, 2))
    run("--from", price_list, "--as-of", DAY)
    old = offer("g6e.xlarge")
    PurchasePrice.objects.filter(device="rtx-3090", dated="2026-06-29").update(device="rtx-3090-pro")
    Accelerator.objects.filter(slug="inferentia2").update(retired=True)
    stale, pointless = told("stale_price"), told("pointless_price")
    assert stale[old.slug] == "of 2026-01-20: 316 days old, more than 90"
    assert offer("p5.48xlarge").slug not in stale
    assert stale[Offer.objects.filter(dated=None).first().slug] == "the source has no date"
    assert "rtx-3090-pro does not exist or is not in use" in pointless.values()
    assert pointless[offer("inf2.xlarge").slug] == "inferentia2 does not exist or is not in use"
    assert told("unknown_name")["aws"].endswith(": Quantum9 64 GB")
    assert told("unsourced_price") == {}
