"""Loading brings the shipped entries in, follows them, and never undoes what an admin did."""

import copy
import json
import shutil
from datetime import date
from io import StringIO

import pytest
from django.core.management import CommandError, call_command
from django.db import IntegrityError

from catalog.importers import files, write
from catalog.models import TABLES, Accelerator, CatalogVersion, LanguageModel, PublishedFile

pytestmark = pytest.mark.django_db

SHIPPED = files.read_entries()
DAY = date(2026, 12, 1)


def load_catalog(*options):
    out = StringIO()
    call_command("load_catalog", *options, stdout=out)
    return out.getvalue().splitlines()


@pytest.fixture
def entries():
    return copy.deepcopy(SHIPPED)


def find(entries, kind, slug):
    return next(entry for entry in entries[kind] if entry["id"] == slug)


def load(entries, *, dry_run=False):
    """Load other files and return only what was done: {kind: {word: ids}}."""
    outcomes = write.load(entries, "other files", DAY, dry_run=dry_run)
    words = ("added", "updated", "removed", "kept")
    done = {kind: {w: getattr(outcome, w) for w in words} for kind, outcome in outcomes.items()}
    return {
        kind: {w: ids for w, ids in rows.items() if ids} for kind, rows in done.items() if any(rows.values())
    }


def version():
    return CatalogVersion.current().version


def edit(slug="rtx-4090", **changes):
    card = Accelerator.objects.get(slug=slug)
    for name, value in changes.items():
        setattr(card, name, value)
    card.save()
    return card


def test_the_first_load_is_version_1_of_the_day_of_the_figures():
    CatalogVersion.objects.all().delete()
    for table in reversed(TABLES):
        table.objects.all().delete()
    CatalogVersion.objects.all().delete()
    lines = load_catalog()
    assert f"models: {len(SHIPPED['models'])} added, 0 updated, 0 removed, 0 kept, 0 unchanged" in lines
    assert lines[-1] == f"Catalogue 1 of {files.data_updated()}"


def test_loading_the_same_files_again_reads_one_row(django_assert_num_queries):
    before = version()
    with django_assert_num_queries(1):
        lines = load_catalog()
    assert lines == [
        f"{CatalogVersion.current()}: the files are those that were loaded last, so there is nothing to do."
    ]
    assert version() == before


def test_comparing_every_row_again_changes_nothing(entries):
    before = version()
    rows = list(LanguageModel.objects.values("pk", "slug", "shipped_digest", "edited_at"))
    lines = load_catalog("--force")
    assert f"models: 0 added, 0 updated, 0 removed, 0 kept, {len(SHIPPED['models'])} unchanged" in lines
    assert load(entries) == {}
    assert list(LanguageModel.objects.values("pk", "slug", "shipped_digest", "edited_at")) == rows
    assert version() == before


def test_an_untouched_row_follows_the_files_and_the_version_rises_once(entries):
    before = version()
    find(entries, "accelerators", "rtx-4090")["tdp_w"] = 431
    find(entries, "models", "llama-3.1-8b-instruct")["note"] = "new"
    assert load(entries) == {
        "accelerators": {"updated": ["rtx-4090"]},
        "models": {"updated": ["llama-3.1-8b-instruct"]},
    }
    card = Accelerator.objects.get(slug="rtx-4090")
    assert (card.tdp_w, card.origin, card.edited_at) == (431, "shipped", None)
    assert (version(), CatalogVersion.current().updated) == (before + 1, DAY)
    assert load(entries) == {}


def test_the_files_of_an_untouched_model_follow_the_data_files(entries):
    entry = next(entry for entry in entries["models"] if len(entry.get("files", ())) > 2)
    entry["files"] = [{**entry["files"][1], "bytes": entry["files"][1]["bytes"] + 7}]
    assert load(entries) == {"models": {"updated": [entry["id"]]}}
    model = LanguageModel.objects.get(slug=entry["id"])
    assert model.to_entry() == entry
    assert model.differs_from_shipped() is False


def test_a_row_that_an_admin_changed_is_kept_and_said_so(entries):
    edit(tdp_w=300)
    find(entries, "accelerators", "rtx-4090")["tdp_w"] = 431
    assert load(entries) == {"accelerators": {"kept": ["rtx-4090"]}}
    assert Accelerator.objects.get(slug="rtx-4090").tdp_w == 300
    assert "  kept (changed here, so left as they are): rtx-4090" in load_catalog("--force")


def test_a_row_changed_past_the_admin_is_kept_too(entries):
    Accelerator.objects.filter(slug="rtx-4090").update(tdp_w=300)
    find(entries, "accelerators", "rtx-4090")["tdp_w"] = 431
    assert load(entries) == {"accelerators": {"kept": ["rtx-4090"]}}


def test_a_changed_file_keeps_its_model(entries):
    file = PublishedFile.objects.filter(exact=True).select_related("language_model").first()
    file.size_bytes += 1
    file.save()
    slug = file.language_model.slug
    find(entries, "models", slug)["note"] = "new"
    assert load(entries) == {"models": {"kept": [slug]}}


def test_a_row_with_digests_of_an_older_program_goes_by_its_edit_alone(entries):
    Accelerator.objects.filter(slug__in=["rtx-4090", "rtx-3090"]).update(shipped_digest="0:older", tdp_w=300)
    Accelerator.objects.filter(slug="rtx-3090").update(edited_at="2026-11-30T12:00:00Z")
    assert load(entries) == {"accelerators": {"updated": ["rtx-4090"], "kept": ["rtx-3090"]}}


def test_a_row_that_says_what_the_files_say_now_follows_them_again(entries):
    edit(tdp_w=300)
    find(entries, "accelerators", "rtx-4090")["tdp_w"] = 300
    assert load(entries) == {}
    assert Accelerator.objects.get(slug="rtx-4090").edited_at is None
    find(entries, "accelerators", "rtx-4090")["tdp_w"] = 431
    assert load(entries) == {"accelerators": {"updated": ["rtx-4090"]}}


def test_a_retired_row_stays_retired_and_still_follows_the_files(entries):
    edit(retired=True)
    find(entries, "accelerators", "rtx-4090")["tdp_w"] = 431
    assert load(entries) == {"accelerators": {"updated": ["rtx-4090"]}}
    card = Accelerator.objects.get(slug="rtx-4090")
    assert (card.retired, card.tdp_w) == (True, 431)


def test_a_row_that_was_added_here_is_kept_when_the_files_bring_one_of_its_name(entries):
    own = Accelerator.from_entry({**find(entries, "accelerators", "rtx-4090"), "id": "own-card"})
    own.save()
    entries["accelerators"].append({**own.to_entry(), "tdp_w": 1})
    assert load(entries) == {"accelerators": {"kept": ["own-card"]}}
    assert Accelerator.objects.get(slug="own-card").origin == "admin"


def test_a_row_that_the_files_no_longer_have_goes_unless_it_was_changed_or_is_needed(entries):
    edit("rtx-3090-ti", tdp_w=300)
    gone = ["rtx-3090-ti", "h100-sxm", "rx-6600"]
    entries["accelerators"] = [entry for entry in entries["accelerators"] if entry["id"] not in gone]
    assert load(entries) == {"accelerators": {"removed": ["rx-6600"], "kept": ["rtx-3090-ti", "h100-sxm"]}}


def test_a_new_entry_is_added_beside_its_lab(entries):
    entries["labs"].append({"id": "new-lab", "name": "New lab", "country": "Iceland"})
    model = {**find(entries, "models", "llama-3.1-8b-instruct"), "id": "new-model", "lab": "new-lab"}
    entries["models"].append(model)
    assert load(entries) == {"labs": {"added": ["new-lab"]}, "models": {"added": ["new-model"]}}
    assert LanguageModel.objects.get(slug="new-model").to_entry() == model


def test_a_load_that_fails_leaves_everything_as_it_was(entries):
    before = version()
    find(entries, "accelerators", "rtx-4090")["tdp_w"] = 431
    find(entries, "systems", "hgx-h100-8")["count"] = 0
    with pytest.raises(IntegrityError):
        load(entries)
    assert Accelerator.objects.get(slug="rtx-4090").tdp_w == 450
    assert version() == before


def test_a_dry_run_says_what_would_change_and_changes_nothing(entries):
    before = version()
    find(entries, "accelerators", "rtx-4090")["tdp_w"] = 431
    assert load(entries, dry_run=True) == {"accelerators": {"updated": ["rtx-4090"]}}
    assert Accelerator.objects.get(slug="rtx-4090").tdp_w == 450
    assert version() == before


def test_the_command_s_dry_run_says_so(monkeypatch, entries):
    find(entries, "accelerators", "rtx-4090")["tdp_w"] = 431
    monkeypatch.setattr(files, "read_entries", lambda _: entries)
    monkeypatch.setattr(files, "data_version", lambda _: "other files")
    lines = load_catalog("--check")
    assert lines[0] == "Nothing was changed. Loading would do this:"
    assert "  updated: rtx-4090" in lines
    assert Accelerator.objects.get(slug="rtx-4090").tdp_w == 450


def test_files_from_elsewhere_are_loaded_the_same_way(tmp_path):
    shutil.copytree(files.DATA, tmp_path / "data")
    path = tmp_path / "data/accelerators/nvidia.json"
    data = json.loads(path.read_text())
    next(item for item in data["items"] if item["id"] == "rtx-4090")["tdp_w"] = 431
    path.write_text(json.dumps(data))
    assert "  updated: rtx-4090" in load_catalog("--from", str(tmp_path / "data"))
    assert Accelerator.objects.get(slug="rtx-4090").tdp_w == 431


def test_a_folder_without_a_catalogue_is_named(tmp_path):
    with pytest.raises(CommandError) as raised:
        load_catalog("--from", str(tmp_path))
    assert str(raised.value) == f"{tmp_path} holds no catalogue: there is no about.json."


def test_faults_in_the_files_are_named_and_nothing_is_loaded(monkeypatch):
    def broken(_):
        raise files.CatalogueError(["models/meta.json: llama: repo: it is missing."])

    monkeypatch.setattr(files, "read_entries", broken)
    monkeypatch.setattr(files, "data_version", lambda _: "other files")
    with pytest.raises(CommandError) as raised:
        load_catalog()
    assert str(raised.value) == (
        "The files have faults, so nothing was loaded:\nmodels/meta.json: llama: repo: it is missing."
    )


def test_shipped_figures_can_be_taken_back(entries):
    card = edit(tdp_w=300)
    own = Accelerator.from_entry({**find(entries, "accelerators", "rtx-4090"), "id": "own-card"})
    own.save()
    before = version()
    assert write.restore([card, own], entries) == ([card], [own])
    restored = Accelerator.objects.get(slug="rtx-4090")
    assert (restored.tdp_w, restored.edited_at) == (450, None)
    assert version() == before + 1
