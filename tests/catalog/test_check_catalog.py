"""The check says what is odd without failing, and fails when the calculator cannot work."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from catalog import findings, live
from catalog.models import (
    Accelerator,
    ApiPrice,
    CatalogVersion,
    CountLadder,
    LanguageModel,
    Measurement,
    System,
)

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def cold_process():
    live.forget()
    yield
    live.forget()


def check(*options):
    out = StringIO()
    call_command("check_catalog", *options, stdout=out)
    return out.getvalue()


def items(code):
    """What one check of the report finds now."""
    return list(getattr(findings, code)(findings.Catalogue()))


def ids(code):
    return [item.id for item in items(code)]


def failing(*options):
    out = StringIO()
    with pytest.raises(CommandError) as raised:
        call_command("check_catalog", *options, stdout=out)
    return out.getvalue(), str(raised.value), raised.value.returncode


def test_the_shipped_catalogue_has_no_errors():
    report = json.loads(check("--json"))
    assert report["errors"] == 0
    assert report["catalog"] == CatalogVersion.current().version
    assert report["oddities"] == sum(group["count"] for group in report["groups"])
    assert [group["code"] for group in report["groups"]] == [
        "empty",
        "unusable",
        "unbuildable",
        "wrong_sum",
        "missing_figure",
        "no_driver_total",
        "no_exact_file",
        "unknown_format",
        "no_source",
        "from_memory",
        "assumed_order",
        "unasked",
        "outside_catalogue",
        "split_groups",
        "stale_price",
        "unsourced_price",
        "pointless_price",
        "unknown_name",
        "edited",
        "added",
        "waiting",
        "retired",
    ]


def test_counts_come_first_and_rows_only_when_asked_for():
    short = check().splitlines()
    assert short[0].startswith(f"{CatalogVersion.current()}: 0 errors, ")
    assert short[1] == "     1       Parameter counts more than 0.5 % from the sum of the layers"
    assert not any("models ministral" in line for line in short)
    long = check("--verbose-list").splitlines()
    assert long[2].startswith("             models ministral-3-3b-instruct-2512: our sum 3,")


def test_the_only_assumed_order_of_layers_is_named():
    assert ids("assumed_order") == ["lfm2-24b-a2b"]


def test_missing_figures_are_named():
    Accelerator.objects.filter(slug="rtx-4090").update(
        bandwidth_gb_s=None, reported_mib=None, cuda_total_mib=None
    )
    LanguageModel.objects.filter(slug="llama-3.1-8b-instruct").update(native_format=None)
    missing = [(item.id, item.text) for item in items("missing_figure")]
    assert ("rtx-4090", "no memory bandwidth, so no speed") in missing
    assert ("llama-3.1-8b-instruct", "no native format") in missing
    assert "rtx-4090" in ids("no_driver_total")


def test_figures_from_memory_are_named_until_somebody_reads_them():
    system = System.objects.filter(power_kind="from memory").first()
    assert system.slug in ids("from_memory")
    sources = [{**source, "kind": "datasheet"} for source in system.sources]
    System.objects.filter(pk=system.pk).update(power_kind="datasheet", sources=sources)
    assert system.slug not in ids("from_memory")


def said_of(code, identity):
    return [item.text for item in items(code) if item.id == identity]


def test_measurements_outside_of_the_catalogue_are_named():
    run = Measurement.objects.filter(engine="vllm", comparable=True).first()
    scenario = {**run.scenario, "model": "no-model", "quant": "iq4_ks_r4"}
    Measurement.objects.filter(pk=run.pk).update(model_slug="no-model", engine="no-engine", scenario=scenario)
    no_model, no_engine, no_format = said_of("outside_catalogue", run.slug)
    assert (no_model, no_engine) == ("no model has the id no-model", "no engine has the id no-engine")
    assert no_format.startswith("quant: nothing here is called “iq4_ks_r4”.")
    assert said_of("unasked", run.slug)[0].startswith("model: nothing here is called “no-model”.")


def test_measurements_without_a_model_of_the_catalogue_are_named():
    unknown = Measurement.objects.filter(model_slug=None)
    found = items("outside_catalogue")
    named = {item.id for item in found if item.text.startswith("no model of this architecture: ")}
    assert named == set(unknown.values_list("slug", flat=True)) != set()


def test_a_question_of_a_measurement_that_cannot_be_asked_is_named_and_no_error():
    assert ids("unasked") == []
    Accelerator.objects.filter(slug="rtx-3060-12").update(retired=True)
    runs = {row.slug for row in Measurement.objects.all() if row.scenario.get("gpu") == "rtx-3060-12"}
    assert set(ids("unasked")) == runs != set()


def test_a_group_of_measurements_in_both_splits_is_named():
    assert ids("split_groups") == []
    group = next(
        group
        for group in Measurement.objects.values_list("group", flat=True)
        if Measurement.objects.filter(group=group, split="fit").count() > 1
    )
    first = Measurement.objects.filter(group=group).first()
    Measurement.objects.filter(pk=first.pk).update(split="check")
    assert set(ids("split_groups")) == set(
        Measurement.objects.filter(group=group).values_list("slug", flat=True)
    )


def test_what_was_done_here_is_listed():
    Accelerator.objects.filter(slug="rtx-3060-12").update(retired=True)
    card = Accelerator.objects.get(slug="rtx-4090")
    card.tdp_w = 300
    card.save()
    own = Accelerator.from_entry({**card.to_entry(), "id": "own-card"})
    own.save()
    assert (ids("edited"), ids("added"), ids("retired")) == (["rtx-4090"], ["own-card"], ["rtx-3060-12"])


def test_a_row_without_a_source_is_odd_and_unusable():
    Accelerator.objects.filter(slug="rtx-4090").update(sources=[])
    out, _, _ = failing("--json")
    found = {group["code"]: [item["id"] for item in group["items"]] for group in json.loads(out)["groups"]}
    assert (found["no_source"], found["unusable"]) == (["rtx-4090"], ["rtx-4090"])


def test_a_row_that_cannot_be_used_fails_and_is_named_without_asking():
    LanguageModel.objects.filter(slug="llama-3.1-8b-instruct").update(architecture={"hidden_size": 4096})
    out, error, code = failing()
    assert (
        "             models llama-3.1-8b-instruct: architecture: Architecture needs vocabulary_size." in out
    )
    assert error == "2 errors: the calculator cannot work with this catalogue as it is."
    assert code == 1


def test_a_catalogue_that_cannot_be_put_together_fails():
    CountLadder.objects.filter(slug="consumer").delete()
    out, _, _ = failing()
    assert "No snapshot can be built: ValueError: Accelerator " in out


def test_an_empty_catalogue_fails_and_says_what_to_run():
    ApiPrice.objects.all().delete()
    System.objects.all().delete()
    LanguageModel.objects.all().delete()
    out, error, _ = failing()
    assert "There are no models or no accelerators. Run: manage.py load_catalog." in out
    assert error == "1 errors: the calculator cannot work with this catalogue as it is."
