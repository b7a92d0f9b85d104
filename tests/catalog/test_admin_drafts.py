"""Editors prepare, publishers show: a draft and a change that waits reach no page before they are published."""

import json
from datetime import timedelta

import pytest
from django.apps import apps
from django.contrib.admin.models import LogEntry
from django.contrib.auth.models import Group
from django.core.exceptions import ValidationError
from django.core.management import call_command
from django.db import connection
from django.db.migrations.state import ProjectState
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from catalog import live, publishing, roles
from catalog.admin.accelerators import AcceleratorAdmin
from catalog.models import (
    TABLES,
    Accelerator,
    CatalogRow,
    CatalogVersion,
    Checkpoint,
    Lab,
    LanguageModel,
    PublishedFile,
    System,
    WeightsFormat,
)
from catalog.models.row import digest
from tests.catalog.admin_pages import (
    act,
    card,
    change,
    errors_of,
    form_of,
    listed,
    llama,
    messages,
    own_card,
    person,
    text_of,
    url,
)

pytestmark = pytest.mark.django_db
WAITS = "Saved. It waits for a publisher and is not shown in the calculator yet."


@pytest.fixture(autouse=True)
def cold_process():
    live.forget()
    yield
    live.forget()


@pytest.fixture
def editor(django_user_model):
    return person(django_user_model, "editor")


@pytest.fixture
def publisher(django_user_model):
    return person(django_user_model, "publisher")


def shown(slug="rtx-4090"):
    """The card as the calculator has it now."""
    return live.refresh().accelerators.get(slug)


def test_shipped_rows_are_published_as_of_the_day_of_the_files():
    for table in TABLES:
        assert set(table.objects.values_list("status", flat=True)) == {"published"}
    assert card().as_of == CatalogVersion.current().updated


def test_both_groups_have_their_rights_on_every_table_and_no_more():
    rights = {
        name: set(Group.objects.get(name=name).permissions.values_list("codename", flat=True))
        for name in ("editor", "publisher")
    }
    tables = [table._meta.model_name for table in (*TABLES, PublishedFile, Checkpoint)]
    edits = {f"{verb}_{table}" for table in tables for verb in ("view", "add", "change")}
    assert rights["editor"] == edits | {"view_catalogversion", "view_refreshrun"}
    parts = {"publishedfile", "checkpoint"}
    shows = {f"publish_{table}" for table in tables if table not in parts}
    assert rights["publisher"] == edits | {f"delete_{table}" for table in tables} | shows | {
        "view_catalogversion",
        "view_refreshrun",
    }


def test_the_groups_follow_the_tables_with_each_migration():
    Group.objects.get(name="editor").permissions.clear()
    call_command("migrate", verbosity=0)
    assert Group.objects.get(name="editor").permissions.filter(codename="change_accelerator").count() == 1


def test_a_migration_that_stops_before_the_tables_of_groups_makes_none(django_assert_num_queries):
    with django_assert_num_queries(0):
        roles.make_groups(apps.get_app_config("catalog"), apps=ProjectState().apps)


def test_an_editors_change_of_a_published_row_waits(editor):
    response = change(editor, card(), tdp_w="420", bandwidth_gb_s="1010")
    assert messages(response)[0] == WAITS
    assert (card().tdp_w, card().proposed) == (450, {"tdp_w": 420.0, "bandwidth_gb_s": 1010.0})
    assert (shown().tdp_w, card().edited_at) == (450, None)
    page = editor.get(url(Accelerator, "change", card().pk))
    assert page.context["adminform"].form["tdp_w"].value() == 420
    assert "tdp_w 450 420" in text_of(page)


def test_an_editor_goes_on_where_the_change_was_left(editor):
    change(editor, card(), tdp_w="420")
    change(editor, card(), bandwidth_gb_s="1010")
    assert card().proposed == {"tdp_w": 420.0, "bandwidth_gb_s": 1010.0}
    change(editor, card(), tdp_w="450", bandwidth_gb_s="1008")
    assert card().proposed == {}


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.entries)
def test_a_page_that_an_editor_saves_unchanged_leaves_nothing_waiting(editor, table):
    row = table.objects.order_by("pk").first()
    before = row.to_entry()
    assert errors_of(change(editor, row)) == {}
    after = table.objects.get(pk=row.pk)
    assert (after.proposed, after.to_entry()) == ({}, before)


def test_every_kind_of_column_can_wait_and_be_published(editor, publisher):
    model = llama()
    architecture = {**model.architecture, "order_basis": "config file"}
    changes = {
        "name": "Llama 3.1 8B (edited)",
        "license": "",
        "lab": Lab.objects.get(slug="upstage").pk,
        "reasoning": "true",
        "max_context_tokens": "100000",
        "architecture": json.dumps(architecture),
    }
    lab = form_of(editor, model)["lab"]
    changes["lab"] = "upstage" if lab == "meta" else changes["lab"]
    assert errors_of(change(editor, model, **changes)) == {}
    assert sorted(llama().proposed) == [
        "architecture", "lab_id", "license", "max_context_tokens", "name", "reasoning",
    ]  # fmt: skip
    act(publisher, "publish", model)
    after = llama()
    assert (after.name, after.license, after.lab_id, after.reasoning) == (
        "Llama 3.1 8B (edited)", None, "upstage", True,
    )  # fmt: skip
    assert (after.max_context_tokens, after.architecture, after.proposed) == (100_000, architecture, {})


def test_money_waits_without_losing_a_cent(editor, publisher):
    change(editor, card(), msrp_usd="1599.95")
    assert card().proposed == {"msrp_usd": "1599.95"}
    act(publisher, "publish", card())
    assert str(card().msrp_usd) == "1599.95"


def test_a_publishers_change_is_shown_at_once_or_waits_on_request(publisher):
    change(publisher, card(), tdp_w="420", _aside="1")
    assert (card().tdp_w, card().proposed) == (450, {"tdp_w": 420.0})
    change(publisher, card())
    assert (card().tdp_w, card().proposed, shown().tdp_w) == (420, {}, 420)


def test_a_new_row_is_a_draft_until_it_is_published(editor, publisher):
    data = {**form_of(editor, card()), "slug": "own-card", "name": "Own card"}
    assert errors_of(editor.post(url(Accelerator, "add"), data, follow=True)) == {}
    own = card("own-card")
    assert (own.status, shown("own-card")) == ("draft", None)
    assert "This is a draft." in text_of(editor.get(url(Accelerator, "change", own.pk)))
    change(publisher, own, name="Own card, checked", _publish="1")
    assert (card("own-card").status, shown("own-card").name) == ("published", "Own card, checked")


def test_a_draft_lab_keeps_its_models_out_and_a_draft_card_its_machines():
    Lab.objects.filter(slug="upstage").update(status="draft")
    Accelerator.objects.filter(slug="rtx-4090").update(status="draft")
    snapshot = live.refresh()
    assert not [model for model in snapshot.models.values() if model.lab == "Upstage"]
    assert not [system for system in snapshot.systems.values() if system.accelerator_id == "rtx-4090"]
    everything = live.with_drafts()
    assert "rtx-4090" in everything.accelerators
    assert len(everything.models) == LanguageModel.objects.count() > len(snapshot.models)


def test_the_snapshot_with_drafts_has_what_waits_and_leaves_the_other_alone():
    own_card(status="draft")
    Accelerator.objects.filter(slug="rtx-4090").update(proposed={"tdp_w": 420.0})
    model = llama()
    PublishedFile.objects.filter(language_model=model).update(status="draft")
    files = len(live.refresh().models[model.slug].files)
    drafts = live.with_drafts()
    assert (drafts.accelerators["rtx-4090"].tdp_w, shown().tdp_w) == (420, 450)
    assert ("own-card" in drafts.accelerators, shown("own-card")) == (True, None)
    assert (files, len(drafts.models[model.slug].files)) == (0, model.files.count())
    assert drafts.version == f"{CatalogVersion.current().version}+drafts"
    assert live.with_drafts() is drafts
    Accelerator.objects.filter(slug="rtx-4090").update(proposed={"tdp_w": 430.0})
    assert live.with_drafts().accelerators["rtx-4090"].tdp_w == 430


def test_an_editors_files_of_a_published_model_wait_and_published_ones_are_not_the_editors(editor, publisher):
    model = LanguageModel.objects.get(slug="tinyllama-1.1b-chat")
    before, count = model.to_entry(), model.files.count()
    data = form_of(editor, model)
    assert str(data["files-INITIAL_FORMS"]) == "0"
    added = {
        "weights_format": "q4_1", "format_as_published": "Q4_1", "size_bytes": "701000000", "exact": "on",
        "precision": "exact bytes", "source": "a hub page", "kind": "measured",
    }  # fmt: skip
    data |= {"files-TOTAL_FORMS": "1"} | {f"files-0-{name}": value for name, value in added.items()}
    assert errors_of(editor.post(url(LanguageModel, "change", model.pk), data, follow=True)) == {}
    assert model.files.count() == count + 1
    assert LanguageModel.complete().get(pk=model.pk).to_entry() == before
    act(publisher, "publish", model)
    after = LanguageModel.complete().get(pk=model.pk).to_entry()
    assert len(after["files"]) == count + 1


def test_an_editor_has_no_way_to_publish_retire_restore_or_delete(editor):
    own = own_card(status="draft")
    page = editor.get(url(Accelerator, "changelist"))
    choices = [name for name, _ in page.context["action_form"].fields["action"].choices]
    assert choices == ["", "discard", "checked_today", "export_csv", "export_json"]
    for action in ("publish", "retire", "take_shipped_figures"):
        act(editor, action, own)
    change(editor, own, retired="on", status="published", _publish="1")
    assert editor.post(url(Accelerator, "delete", own.pk), {"post": "yes"}).status_code == 403
    own.refresh_from_db()
    assert (own.status, own.retired) == ("draft", False)
    record = own.history.first()
    assert editor.post(url(Accelerator, "record", own.pk, record.history_id)).status_code == 403


def test_publishing_is_one_version_logged_and_recorded(publisher):
    own = own_card(status="draft")
    before = CatalogVersion.current().version
    assert messages(act(publisher, "publish", own, card())) == ["Published: Own card."]
    assert CatalogVersion.current().version == before + 1
    assert LogEntry.objects.latest("pk").get_change_message() == "Published."
    assert own.history.first().history_user == publisher.user
    assert messages(act(publisher, "publish", own)) == ["Nothing of these rows waits; all is published."]


def test_what_needs_a_draft_is_published_after_it_or_with_it(publisher):
    own = own_card(status="draft")
    entry = System.objects.filter(accelerator_id="rtx-4090").first().to_entry()
    machine = System.from_entry(
        {**entry, "id": "own-machine", "name": "Own machine", "accelerator_id": own.slug}
    )
    machine.status = "draft"
    machine.save()
    (said,) = messages(act(publisher, "publish", machine))
    assert said == "Own machine is not published: it needs Own card, to be published first."
    done, refused = publishing.publish([machine, own], publisher.user, "")
    assert ({row.slug for row in done}, refused) == ({"own-card", "own-machine"}, [])
    assert live.refresh().systems["own-machine"].accelerator_id == "own-card"


def test_a_draft_with_a_wrong_figure_is_not_published(publisher):
    own = own_card(status="draft")
    Accelerator.objects.filter(pk=own.pk).update(bandwidth_gb_s=8000)
    (said,) = messages(act(publisher, "publish", own))
    assert said.startswith("Own card is not published: 8,000 GB/s is out of range for GDDR6X")
    assert shown("own-card") is None


def test_changes_that_wait_are_dropped(editor):
    change(editor, card(), tdp_w="420")
    assert messages(act(editor, "discard", card())) == ["Dropped what waited: GeForce RTX 4090."]
    assert (card().tdp_w, card().proposed) == (450, {})


def test_taking_the_shipped_figures_again_drops_what_waits_too(editor, publisher):
    change(editor, card(), tdp_w="420")
    act(publisher, "take_shipped_figures", card())
    assert (card().tdp_w, card().proposed) == (450, {})


def test_a_shipped_row_is_no_draft():
    row = card()
    row.status = "draft"
    with pytest.raises(ValidationError, match="A shipped row is no draft"):
        row.full_clean()


def test_a_draft_that_ships_with_the_next_files_is_published(django_user_model):
    entry = card().to_entry()
    Accelerator.objects.filter(slug="rtx-4090").update(
        status="draft", origin=CatalogRow.Origin.ADMIN, shipped_digest=""
    )
    call_command("load_catalog", force=True, verbosity=0)
    assert (card().status, card().origin, card().shipped_digest) == ("published", "shipped", digest(entry))


def test_checked_today_is_a_day_and_finds_no_edit(editor):
    Accelerator.objects.update(as_of=timezone.localdate() - timedelta(days=100))
    assert messages(act(editor, "checked_today", card()))[0].endswith(": 1 rows.")
    assert (card().as_of, card().edited_at) == (timezone.localdate(), None)
    record = card().history.first()
    assert record.history_change_reason == f"Checked on {timezone.localdate()}."
    stale = listed(editor, Accelerator, checked="90")
    assert len(stale) == Accelerator.objects.count() - 1
    assert "rtx-4090" not in stale
    assert listed(editor, Accelerator, checked="180") == set()
    Accelerator.objects.filter(slug="rtx-3090").update(as_of=None)
    assert listed(editor, Accelerator, checked="never") == {"rtx-3090"}
    assert "rtx-3090" in listed(editor, Accelerator, checked="180")


def test_lists_are_filtered_by_what_is_shown(editor):
    own_card(status="draft")
    Accelerator.objects.filter(slug="rtx-4090").update(proposed={"tdp_w": 420.0})
    assert listed(editor, Accelerator, shown="draft") == {"own-card"}
    assert listed(editor, Accelerator, shown="waiting") == {"rtx-4090"}
    assert len(listed(editor, Accelerator, shown="published")) == Accelerator.objects.count() - 1
    page = text_of(editor.get(url(Accelerator, "changelist"), {"shown": "draft"}))
    assert "Own card draft, added here" in page


def test_old_street_prices_are_found(editor):
    priced = Accelerator.objects.exclude(street_usd=None).first()
    day = timezone.localdate() - timedelta(days=91)
    price = {**priced.street_usd, "as_of": timezone.localdate().isoformat()}
    Accelerator.objects.exclude(street_usd=None).update(street_usd=price)
    assert listed(editor, Accelerator, street="90") == set()
    Accelerator.objects.filter(pk=priced.pk).update(street_usd={**price, "as_of": day.isoformat()})
    assert listed(editor, Accelerator, street="90") == {priced.slug}
    assert listed(editor, Accelerator, street="180") == set()


@pytest.mark.parametrize("table", [Accelerator, LanguageModel, WeightsFormat])
def test_a_list_with_drafts_asks_as_many_queries_for_one_row_as_for_all(editor, table):
    table.objects.update(proposed={"note": "waits"})
    counts = []
    for last in (table.objects.order_by("pk").first().pk, 10**9):
        with CaptureQueriesContext(connection) as queries:
            editor.get(url(table, "changelist"), {"id__lte": last})
        counts.append(len(queries))
    assert counts[0] == counts[1]


def test_an_unusual_figure_is_saved_once_it_is_confirmed(editor):
    own = own_card(status="draft")
    refused = change(editor, own, tdp_w="4500")
    (sentence,) = errors_of(refused)["tdp_w"]
    assert sentence.startswith("4,500 W is unusual: the ")
    assert "The unusual figures are right" in text_of(refused)
    assert errors_of(change(editor, own, tdp_w="4500", confirm_unusual="on")) == {}
    # Another change does not ask again about a figure that was confirmed.
    assert errors_of(change(editor, own, idle_w="12")) == {}
    assert (card("own-card").tdp_w, card("own-card").idle_w) == (4500, 12)


def test_few_shipped_figures_are_unusual():
    doubted = [row.slug for table in TABLES for row in table.complete() if list(row.doubts())]
    assert 0 < len(doubted) <= 12


@pytest.mark.parametrize(
    ("columns", "field", "sentence"),
    [
        ({"max_context_tokens": 10**9}, "max_context_tokens", "1,000,000,000 tokens are more than any published model takes."),
        ({"released": "2099-01"}, "released", "2099-01 lies in the future."),
        ({"native_format": "bf16", "native_weight_bytes": 4 * 10**9}, "native_weight_bytes", "These are 3.98 bits per weight; bf16 has about 16."),
    ],
)  # fmt: skip
def test_what_is_unusual_about_a_model_is_said(columns, field, sentence):
    model = llama()
    for column, value in columns.items():
        setattr(model, column, value)
    assert dict(model.doubts())[field] == sentence


def test_bits_far_from_their_label_are_unusual():
    q4 = WeightsFormat.objects.get(slug="q4_k_m")
    q4.bits_file_llama3_8b = 49
    assert dict(q4.doubts()) == {
        "bits_file_llama3_8b": f"49 bits per weight is far from the {q4.bits_nominal:g} of the label."
    }


def test_whoever_may_publish_is_asked_of_the_table(editor, publisher, admin_user):
    asked = [roles.may_publish(user, Accelerator) for user in (editor.user, publisher.user, admin_user)]
    assert asked == [False, True, True]
    assert AcceleratorAdmin.effect == "gpu"
