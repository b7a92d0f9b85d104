"""Who changed what, when and why, one record for each row of one act; and an old state that comes back."""

import json

import pytest
from django.core.management import call_command
from django.db import IntegrityError

from catalog.changes import Change, changes
from catalog.models import TABLES, Accelerator, CatalogVersion, LanguageModel
from catalog.models.history import BEFORE, recording, state
from tests.catalog.admin_pages import card, change, form_of, llama, messages, own_card, person, text_of, url

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(admin_client):
    return admin_client


def told(row):
    """(kind, author, reason) of every record, the newest first."""
    return [
        (
            record.history_type,
            record.history_user and record.history_user.username,
            record.history_change_reason,
        )
        for record in row.history.all()
    ]


def tiny():
    return LanguageModel.complete().get(slug="tinyllama-1.1b-chat")


def test_loading_the_catalogue_writes_no_record():
    assert [table.history.count() for table in TABLES] == [0] * len(TABLES)
    call_command("load_catalog", force=True, verbosity=0)
    assert [table.history.count() for table in TABLES] == [0] * len(TABLES)


def test_a_row_that_the_files_change_has_a_record_with_what_stood_there(tmp_path):
    from catalog.importers import files, write

    entries = files.read_entries()
    entry = next(entry for entry in entries["accelerators"] if entry["id"] == "rtx-4090")
    entry["tdp_w"] = 455
    write.load(entries, "newer", CatalogVersion.current().updated)
    assert told(card()) == [("~", None, "load_catalog brought the files newer."), ("+", None, BEFORE)]
    assert [state(record)["tdp_w"] for record in card().history.all()] == [455, 450]
    assert Accelerator.history.count() == 2


def test_trying_a_load_out_writes_no_record():
    from catalog.importers import files, write

    entries = files.read_entries()
    entries["accelerators"][0]["tdp_w"] = 1
    write.load(entries, "newer", CatalogVersion.current().updated, dry_run=True)
    assert Accelerator.history.count() == 0


def test_a_change_in_the_admin_has_author_time_and_reason(admin, admin_user):
    change(admin, card(), tdp_w="420", change_reason="New datasheet")
    assert told(card()) == [("~", admin_user.username, "New datasheet"), ("+", None, BEFORE)]
    page = text_of(admin.get(url(Accelerator, "history", card().pk)))
    assert f"changed by {admin_user.username} New datasheet figure before after tdp_w 450 420" in page


def test_saving_without_a_change_writes_no_record(admin):
    change(admin, card(), change_reason="Nothing")
    change(admin, llama())
    assert (card().history.count(), llama().history.count()) == (1, 1)
    assert told(card()) == [("+", None, BEFORE)]


def test_a_model_saved_with_three_files_is_one_record(admin, admin_user):
    data = form_of(admin, tiny())
    data |= {f"files-{index}-precision": "exact, edited" for index in range(3)}
    admin.post(url(LanguageModel, "change", tiny().pk), {**data, "note": "Edited."}, follow=True)
    assert told(tiny()) == [("~", admin_user.username, ""), ("+", None, BEFORE)]
    newer, older = (state(record) for record in tiny().history.all())
    places = {change.place for change in changes(older, newer)}
    assert places == {"note", *(f"files[{number}].precision" for number in (1, 2, 3))}


def test_a_new_and_a_deleted_row_have_records(admin_user):
    with recording(admin_user, "Made for a test"):
        own = own_card()
    assert told(own) == [("+", admin_user.username, "Made for a test")]
    key = own.pk
    own.delete()
    assert [record.history_type for record in Accelerator.history.filter(id=key)] == ["-", "+"]


def test_an_act_that_fails_leaves_no_record(admin_user):
    row = card()
    row.tdp_w = -1  # the database refuses it
    with pytest.raises(IntegrityError), recording(admin_user, "Fails"):
        row.save()
    assert (card().tdp_w, card().history.count()) == (450, 0)


def test_an_old_state_is_shown_and_restored(admin, admin_user):
    before = card().to_entry()
    change(admin, card(), tdp_w="420", dense_tflops=json.dumps({**card().dense_tflops, "fp16": 100}))
    first = card().history.last()
    address = url(Accelerator, "record", card().pk, first.history_id)
    page = admin.get(address)
    assert page.context["changes"] == [
        Change("dense_tflops.fp16", "100", "165.2"),
        Change("tdp_w", "420", "450"),
    ]
    version = CatalogVersion.current().version
    done = admin.post(address, {"change_reason": "The old one was right"}, follow=True)
    assert messages(done)[0].startswith("GeForce RTX 4090 is as of 20")
    assert (card().to_entry(), card().edited_at) == (before, None)
    assert told(card())[0] == ("~", admin_user.username, "The old one was right")
    assert CatalogVersion.current().version == version + 1
    assert "The row has these figures now." in text_of(admin.get(address))


def test_files_that_were_removed_come_back_with_their_model(admin):
    before = tiny().to_entry()
    data = form_of(admin, tiny())
    admin.post(
        url(LanguageModel, "change", tiny().pk),
        {**data, "files-0-DELETE": "on", "files-1-size_bytes": "592500097", "files-1-exact": "on"},
        follow=True,
    )
    assert tiny().to_entry()["files"] != before["files"]
    record = tiny().history.last()
    admin.post(url(LanguageModel, "record", tiny().pk, record.history_id), follow=True)
    assert tiny().to_entry() == before


def test_a_state_that_would_be_wrong_today_is_not_restored(admin):
    change(admin, card(), tdp_w="420")
    record = card().history.last()
    type(record).objects.filter(pk=record.pk).update(bandwidth_gb_s=8000)
    done = admin.post(url(Accelerator, "record", card().pk, record.history_id), follow=True)
    assert messages(done)[0].startswith("Not restored: 8,000 GB/s is out of range")
    assert card().tdp_w == 420


def test_restoring_leaves_a_row_retired_or_published_as_it_is(admin):
    change(admin, card(), tdp_w="420")
    change(admin, card(), retired="on")
    record = card().history.last()
    admin.post(url(Accelerator, "record", card().pk, record.history_id))
    assert (card().tdp_w, card().retired) == (450, True)


def test_a_record_is_that_rows_own(admin):
    change(admin, card(), tdp_w="420")
    record = card().history.first()
    assert admin.get(url(Accelerator, "record", card("rtx-3090").pk, record.history_id)).status_code == 404
    assert admin.get(url(Accelerator, "history", 10**9)).status_code == 404


def test_a_long_history_has_pages(admin):
    for watts in range(300, 345):
        row = card()
        row.tdp_w = watts
        row.save()
    first = admin.get(url(Accelerator, "history", card().pk))
    last = admin.get(url(Accelerator, "history", card().pk), {"p": 2})
    assert (len(first.context["records"]), len(last.context["records"])) == (40, 6)
    # The last one of a page is compared with the first one of the next.
    assert first.context["records"][-1][1] == [Change("tdp_w", "304", "305")]
    assert last.context["records"][-1][1] == []


def test_an_editor_looks_at_the_history_and_cannot_restore(django_user_model, admin):
    change(admin, card(), tdp_w="420")
    editor = person(django_user_model, "editor")
    record = card().history.last()
    page = text_of(editor.get(url(Accelerator, "record", card().pk, record.history_id)))
    assert "A publisher can restore it." in page


@pytest.mark.parametrize(
    ("before", "after", "expected"),
    [
        ({"a": 1}, {"a": 1}, []),
        ({"a": 1}, {"a": 2}, [Change("a", "1", "2")]),
        ({"a": 1}, {"a": True}, [Change("a", "1", "true")]),
        ({}, {"a": "x"}, [Change("a", "–", "x")]),
        ({"a": {"b": 1, "c": 2}}, {"a": {"b": 1}}, [Change("a.c", "2", "–")]),
        ({"a": [1, 2]}, {"a": [1, 3]}, [Change("a", "[1, 2]", "[1, 3]")]),
        ({"a": [{"b": "x" * 90}]}, {"a": [{"b": "y"}]}, [Change("a[1].b", "x" * 90, "y")]),
        ({"a": "x" * 300}, {"a": None}, [Change("a", "x" * 240 + "…", "–")]),
    ],
)
def test_changes_name_the_figure_that_differs(before, after, expected):
    assert changes(before, after) == expected
