"""Data health: the worst first, each row linked to where it is edited, for the staff; the public part as JSON."""

import csv
import io
from dataclasses import replace
from datetime import date, timedelta

import pytest
from django.contrib.auth import get_user_model
from django.urls import reverse

from calculator.web import health
from catalog import live
from catalog.models import Accelerator, CatalogVersion
from tests.web.test_bad_input import faults_of

TODAY = date(2026, 12, 1)


@pytest.fixture
def edits(db):
    """What a test edits is rolled back; the snapshot that holds it goes too."""
    yield
    live.forget()


@pytest.fixture
def staff(client, edits):
    client.force_login(get_user_model().objects.create_superuser("ada", "ada@example.org", "x"))
    return client


def group(groups, code):
    return next(each for each in groups if each.code == code)


def changed(snapshot, kind, slug, **values):
    rows = dict(getattr(snapshot, kind))
    rows[slug] = replace(rows[slug], **values)
    return replace(snapshot, **{kind: rows})


def test_the_shipped_catalogue_is_judged_worst_first(snapshot):
    groups = health.findings_of(snapshot)
    assert [each.code for each in groups] == [
        "missing_figure",
        "wrong_sum",
        "odd_size",
        "no_source",
        "unknown_reference",
        "unknown_checkpoint_format",
        "old_constant",
    ]
    for each in groups:
        weights = [finding.weight for finding in each.findings]
        assert weights == sorted(weights, reverse=True)
    assert [each.code for each in groups if each.error] == ["unknown_reference"]
    assert group(groups, "unknown_reference").findings == ()
    sizes = group(groups, "odd_size")
    assert 0 < len(sizes.findings) < sizes.looked_at
    assert sizes.findings[0].weight > 100
    assert [each.id for each in group(groups, "wrong_sum").findings] == ["ministral-3-3b-instruct-2512"]


def test_what_is_missing_in_a_row_is_named(snapshot):
    card = changed(snapshot, "accelerators", "rtx-4090", bandwidth_bytes_per_s=None, process_bytes=None)
    model = changed(card, "models", "gpt-oss-20b", license=None, released=None)
    found = {each.id: each.text for each in health.group_of("missing_figure", model).findings}
    assert found["rtx-4090"] == "no memory bandwidth, so no speed; no memory that a process sees"
    assert found["gpt-oss-20b"] == "no licence; no release date"


def test_a_sum_that_differs_is_given_in_percent(snapshot):
    model = snapshot.models["gpt-oss-20b"]
    off = changed(snapshot, "models", model.id, parameters=model.architecture.parameters * 2)
    worst = health.group_of("wrong_sum", off).findings[0]
    assert (worst.id, worst.weight) == ("gpt-oss-20b", 50)
    assert worst.text.startswith(f"our sum {model.architecture.parameters:,} is −50.00 % from the published")


def test_a_published_size_is_compared_with_the_rule_and_not_with_itself(snapshot):
    model = snapshot.models["llama-3.1-8b-instruct"]
    file = next(each for each in model.files if each.weights_format == "q4_k_m" and each.exact)
    half = replace(file, size_bytes=file.size_bytes // 2)
    off = replace(snapshot, models={model.id: replace(model, files=(half,), checkpoints=())})
    found = [each for each in health.group_of("odd_size", off).findings if each.id == model.id]
    assert len(found) == 1
    assert found[0].text.startswith("q4_k_m: by rule 4,9")
    assert found[0].weight == pytest.approx(100, abs=1)


def test_a_reference_to_nothing_is_an_error(snapshot):
    system = changed(snapshot, "systems", "hgx-h100-8", accelerator_id="h1000")
    found = health.group_of("unknown_reference", system)
    assert (found.error, found.findings[0].text) == (True, "made of h1000, which does not exist")


def test_a_row_without_a_source_is_named(snapshot):
    found = health.group_of("no_source", changed(snapshot, "models", "gpt-oss-20b", sources=()))
    assert [(each.kind, each.id) for each in found.findings] == [("models", "gpt-oss-20b")]


def test_constants_of_other_versions_say_which(snapshot):
    found = health.group_of("old_constant", snapshot).findings
    vllm = [each.text for each in found if each.id.startswith("vllm--")]
    assert vllm
    assert all(text.endswith(f"the engine is at {snapshot.engines['vllm'].version}") for text in vllm)


@pytest.mark.django_db
def test_figures_grow_old_by_their_kind():
    Accelerator.objects.update(as_of=TODAY)
    Accelerator.objects.filter(slug="rtx-4090").update(as_of=TODAY - timedelta(days=366))
    Accelerator.objects.filter(slug="rtx-3090").update(as_of=TODAY - timedelta(days=365))
    found = health.overdue(TODAY).findings
    text = f"checked 366 days ago, on {TODAY - timedelta(days=366)}; after 365 it is old"
    assert [(each.id, each.text) for each in found] == [("rtx-4090", text)]
    later = health.overdue(TODAY + timedelta(days=91))
    assert {each.kind for each in later.findings} == {"accelerators", "systems", "engines"}


@pytest.mark.parametrize("name", ["data-health", "data-health-csv"])
def test_only_the_staff_may_look(client, db, name):
    answer = client.get(reverse(name))
    assert (answer.status_code, answer.headers["Location"].partition("?")[0]) == (302, "/admin/login/")
    client.force_login(get_user_model().objects.create_user("bob", "bob@example.org", "x"))
    assert client.get(reverse(name)).status_code == 302


def test_the_page_counts_and_links_each_row_to_its_form(staff):
    card = Accelerator.objects.get(slug="rtx-4090")
    Accelerator.objects.filter(pk=card.pk).update(tdp_w=None)
    answer = staff.get(reverse("data-health"))
    html = answer.content.decode()
    assert (answer.status_code, faults_of(html)) == (200, [])
    assert "style-src" in answer.headers["Content-Security-Policy"]
    assert f'<a href="/admin/catalog/accelerator/{card.pk}/change/">rtx-4090</a>' in html
    assert "no power" in html
    assert f"Catalogue {CatalogVersion.current().version} of" in html


def test_the_work_is_done_once_for_each_state(staff, monkeypatch):
    staff.get(reverse("data-health"))
    monkeypatch.setattr(health, "_all", lambda *_: pytest.fail("worked out again"))
    monkeypatch.setattr(health, "group_of", lambda *_: pytest.fail("worked out again"))
    assert staff.get(reverse("data-health")).status_code == 200


def test_the_file_holds_every_finding(staff):
    rows = list(csv.DictReader(io.StringIO(staff.get(reverse("data-health-csv")).content.decode())))
    groups = health.all_findings(live.current(), date.today())  # noqa: DTZ011 - the site's day is UTC's
    assert len(rows) == sum(len(each.findings) for each in groups)
    assert {row["group"] for row in rows} == {each.code for each in groups if each.findings}
    assert {row["catalogue"] for row in rows} == {live.current().version}


def test_the_admin_links_to_it(staff):
    assert '<a href="/data-health/">Data health</a>' in staff.get("/admin/").content.decode()


def test_the_public_part_is_json_without_a_query(client, db, django_assert_num_queries):
    live.current()
    with django_assert_num_queries(0):
        answer = client.get("/api/v1/health/catalog").json()
    groups = health.findings_of(live.current())
    assert [(each["code"], each["count"]) for each in answer["findings"]] == [
        (each.code, len(each.findings)) for each in groups
    ]
    assert {key for each in answer["findings"] for item in each["items"] for key in item} == {
        "kind",
        "id",
        "text",
    }


def test_a_draft_is_not_told_in_public(client, edits):
    Accelerator.objects.filter(slug="rtx-4090").update(status="draft", sources=[])
    live.refresh()
    assert "rtx-4090" not in [
        item["id"]
        for each in client.get("/api/v1/health/catalog").json()["findings"]
        for item in each["items"]
        if each["code"] == "no_source"
    ]
