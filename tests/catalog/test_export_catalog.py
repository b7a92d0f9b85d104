"""Exporting gives the shipped files back byte for byte, and what an admin changed stands in the right one of them."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from catalog.importers import export, files, ordering
from catalog.importers.pattern import LAYOUTS
from catalog.models import (
    TABLES,
    Accelerator,
    Calibration,
    CatalogVersion,
    Checkpoint,
    Engine,
    Lab,
    LanguageModel,
    System,
)

pytestmark = pytest.mark.django_db


def run(command, *options):
    out = StringIO()
    call_command(command, *options, stdout=out)
    return out.getvalue().splitlines()


def tree(root):
    return {path.relative_to(root).as_posix(): path.read_bytes() for path in sorted(root.rglob("*.json"))}


def changed_lines(root):
    """{path: (lines that only the shipped file has, lines that only the exported one has)}."""
    shipped, exported = tree(files.DATA), tree(root)
    found = {}
    for path in sorted(shipped.keys() | exported.keys()):
        before, after = (side.get(path, b"").decode().splitlines() for side in (shipped, exported))
        if before != after:
            found[path] = ([x for x in before if x not in after], [x for x in after if x not in before])
    return found


@pytest.fixture
def to(tmp_path):
    return tmp_path / "data"


def add_card(slug="own-card", vendor="NVIDIA", **changes):
    entry = {**Accelerator.objects.get(slug="rtx-4090").to_entry(), "id": slug, "vendor": vendor, **changes}
    card = Accelerator.from_entry(entry)
    card.save()
    return card


def test_an_untouched_database_gives_the_shipped_files_byte_for_byte(to):
    lines = run("export_catalog", "--to", str(to))
    assert tree(to) == tree(files.DATA)
    count = len(tree(files.DATA))
    assert lines == [
        f"{count} of {count} files hold what the shipped ones hold.",
        f"{count} files written to {to}.",
    ]


def test_exporting_onto_the_same_files_writes_none():
    before = {path: path.stat().st_mtime_ns for path in files.DATA.rglob("*.json")}
    assert run("export_catalog")[-1] == f"0 files written to {files.DATA}."
    assert {path: path.stat().st_mtime_ns for path in files.DATA.rglob("*.json")} == before


def test_every_table_has_its_place_in_the_files():
    apart = {"labs", "format_rules"}  # heads of the models' files, and a document of its own
    assert {table.entries for table in TABLES} == set(LAYOUTS) | apart


def test_every_kind_of_file_can_be_asked_for_alone():
    shipped = tree(files.DATA)
    found = export.export()
    texts = [path for kind in export.KINDS for path in found.texts(kind)]
    assert sorted(texts) == sorted(shipped.keys() - {"about.json"})


def test_a_changed_figure_changes_its_line_and_the_day_of_the_catalogue(to):
    Accelerator.objects.filter(slug="rtx-4090").update(tdp_w=431)
    lines = run("export_catalog", "--to", str(to))
    found = changed_lines(to)
    assert set(found) == {"about.json", "accelerators/nvidia.json"}
    assert found["accelerators/nvidia.json"] == (
        [],
        ['      "tdp_w": 431,'],
    )  # other cards have the old figure too
    card = next(
        item
        for item in json.loads((to / "accelerators/nvidia.json").read_text())["items"]
        if item["id"] == "rtx-4090"
    )
    assert card["tdp_w"] == 431
    assert found["about.json"][1] == [f'  "updated": "{CatalogVersion.current().updated}"']
    assert lines[:2] == [
        "accelerators/nvidia.json: 0 added, 1 changed, 0 removed, 125 unchanged",
        "  changed: rtx-4090",
    ]


def test_loading_what_was_exported_changes_nothing(to):
    """What was changed, added and taken away in every table comes back as it is."""
    Accelerator.objects.filter(slug="rtx-4090").update(tdp_w=431, note="lower here")
    add_card("own-card", "New Vendor")
    model = LanguageModel.objects.get(slug="llama-3.1-8b-instruct")
    model.note = "read again"
    model.save()
    model.files.first().delete()
    checkpoint = model.checkpoints.first()
    checkpoint.recipe = "other"
    checkpoint.save()
    Checkpoint.objects.filter(pk=model.checkpoints.last().pk).delete()
    Lab.objects.filter(slug="meta").update(name_zh="元")
    Calibration.objects.filter(engine="vllm").update(cases=7)
    Engine.objects.filter(slug="vllm").update(note="changed")
    System.objects.filter(slug="hgx-h100-8").update(host_ram_gb=2048)
    before = export.export()
    run("export_catalog", "--to", str(to))
    entries = {table.entries: {row.slug: row.to_entry() for row in table.complete()} for table in TABLES}
    version = CatalogVersion.current().version
    lines = run("load_catalog", "--from", str(to))
    assert [line for line in lines[:-1] if ": 0 added, 0 updated, 0 removed, 0 kept" not in line] == []
    assert CatalogVersion.current().version == version
    assert entries == {
        table.entries: {row.slug: row.to_entry() for row in table.complete()} for table in TABLES
    }
    assert (before.emptied, before.left_out) == ([], [])


def test_what_was_added_stands_at_the_end_of_the_right_file(to):
    Lab.from_entry({"id": "new-lab", "name": "New lab", "country": "Iceland"}).save()
    source = LanguageModel.objects.get(slug="llama-3.1-8b-instruct").to_entry()
    plain = {key: value for key, value in source.items() if key not in ("files", "checkpoints")}
    LanguageModel.from_entry({**plain, "id": "new-model", "lab": "new-lab"}).save()
    LanguageModel.from_entry({**plain, "id": "own-llama"}).save()
    row = Checkpoint.from_entry(source["checkpoints"][0], 0)
    row.language_model = LanguageModel.objects.get(slug="new-model")
    row.save()
    add_card("own-card", "NVIDIA")
    add_card("other-card", "Fresh Silicon")
    lines = run("export_catalog", "--to", str(to))
    read = {path: json.loads(text) for path, text in tree(to).items()}
    assert read["accelerators/nvidia.json"]["items"][-1]["id"] == "own-card"
    assert read["models/meta.json"]["items"][-1]["id"] == "own-llama"
    fresh = read["accelerators/fresh-silicon.json"]
    assert (fresh["kind"], fresh["vendor"], [item["id"] for item in fresh["items"]]) == (
        "accelerators",
        "Fresh Silicon",
        ["other-card"],
    )
    lab = read["models/new-lab.json"]
    assert lab["lab"] == {"id": "new-lab", "name": "New lab", "country": "Iceland"}
    assert [item["id"] for item in lab["items"]] == ["new-model"]
    assert "lab" not in lab["items"][0]
    assert [item["model"] for item in read["checkpoints/new-lab.json"]["items"]] == ["new-model"]
    # The keys of a new entry stand in the order of its shape, as those of its neighbours do.
    neighbour = [key for key in read["models/meta.json"]["items"][0] if key in lab["items"][0]]
    assert [key for key in lab["items"][0] if key in neighbour] == neighbour
    assert "models/new-lab.json: 1 added, 0 changed, 0 removed, 0 unchanged" in lines
    assert run("load_catalog", "--from", str(to), "--check")[1:-1] == [
        f"{table.entries}: 0 added, 0 updated, 0 removed, 0 kept, {table.objects.count()} unchanged"
        for table in TABLES
    ]


def test_a_model_that_goes_to_another_lab_goes_to_its_file(to):
    alone = next(
        lab
        for lab in Lab.objects.all()
        if lab.language_models.count() == 1 and not Checkpoint.objects.filter(language_model__lab=lab)
    )
    model = alone.language_models.get()
    model.lab = Lab.objects.get(slug="meta")
    model.save()
    run("export_catalog", "--to", str(to))
    assert not (to / f"models/{alone.slug}.json").exists()
    assert json.loads((to / "models/meta.json").read_text())["items"][-1]["id"] == model.slug
    assert len(files.read_entries(to)["models"]) == LanguageModel.objects.count()


def test_rows_retired_or_added_and_retired_leave_the_files_as_they_are(to):
    Accelerator.objects.filter(slug="rtx-4090").update(retired=True)
    add_card("own-card", retired=True).save()
    Accelerator.objects.filter(slug="own-card").update(retired=True)
    lines = run("export_catalog", "--to", str(to))
    assert tree(to) == tree(files.DATA)
    assert "  left out: accelerators own-card (added here and retired)" in lines


def test_drafts_stay_here_with_what_points_to_them_unless_asked_for():
    add_card("own-card")
    system = System.from_entry(
        {**System.objects.get(slug="hgx-h100-8").to_entry(), "id": "own-box", "accelerator_id": "own-card"}
    )
    system.save()
    Accelerator.objects.filter(slug="rtx-4090").update(tdp_w=431)
    Accelerator.objects.filter(slug__in=["own-card", "rtx-4090"]).update(status="draft")
    result = export.export()
    assert {(each.kind, each.id, each.why) for each in result.left_out} == {
        ("accelerators", "own-card", "a draft"),
        ("accelerators", "rtx-4090", "a draft"),
        ("systems", "own-box", "points to own-card, which is left out"),
    }
    assert {path: text.encode() for path, text in result.texts().items()} == tree(files.DATA)
    with_drafts = export.export(drafts=True)
    assert with_drafts.left_out == []
    assert with_drafts.outcomes["accelerators/nvidia.json"].added == ["own-card"]
    assert with_drafts.outcomes["accelerators/nvidia.json"].changed == ["rtx-4090"]


def test_a_lab_without_a_model_is_left_out_and_named(to):
    Lab.from_entry({"id": "new-lab", "name": "New lab", "country": "Iceland"}).save()
    lines = run("export_catalog", "--to", str(to))
    assert "  left out: labs new-lab (has no model to stand with)" in lines
    assert tree(to) == tree(files.DATA)


def test_a_check_says_what_would_be_written_and_writes_nothing(to):
    add_card()
    lines = run("export_catalog", "--check", "--to", str(to), "--only", "accelerators")
    assert lines == [
        "accelerators/nvidia.json: 1 added, 0 changed, 0 removed, 126 unchanged",
        "  added: own-card",
        "12 of 13 files hold what the shipped ones hold.",
        f"13 files would be written to {to}.",
    ]
    assert not to.exists()


def test_a_row_that_no_file_may_hold_is_named_and_nothing_is_written(to):
    Accelerator.objects.filter(slug="rtx-4090").update(sources=[])
    with pytest.raises(CommandError) as raised:
        run("export_catalog", "--to", str(to))
    assert str(raised.value).startswith(
        "Some rows cannot stand in a file, so nothing was written:\naccelerators/nvidia.json: rtx-4090: sources: "
    )
    assert not to.exists()


def test_files_that_were_not_loaded_are_not_written_over(to):
    CatalogVersion.objects.update(data_digest="1:older")
    with pytest.raises(CommandError, match="catalog/data is not what was loaded last"):
        run("export_catalog", "--to", str(to))
    assert not to.exists()


def test_what_is_the_same_is_written_as_the_file_has_it():
    old = {"b": 0.0, "a": [{"x": 1, "y": 2.0}, {"x": 3}], "gone": 1}
    new = {"a": [{"y": 2, "x": 1}, {"x": 4}], "fresh": None, "b": 0}
    written = ordering.like(new, old)
    assert json.dumps(written) == '{"b": 0.0, "a": [{"x": 1, "y": 2.0}, {"x": 4}], "fresh": null}'


def test_true_is_not_one():
    assert ordering.like({"a": True}, {"a": 1}) == {"a": True}
    assert json.dumps(ordering.like({"a": True}, {"a": 1})) == '{"a": true}'
