"""Tables go out as files and come back; a preview names every figure that changes and every row that is wrong."""

import csv
import io
import json
import re
from contextlib import suppress

import pytest
from django.core.files.uploadedfile import SimpleUploadedFile
from hypothesis import given
from hypothesis import strategies as st

from catalog import live
from catalog.models import (
    TABLES,
    Accelerator,
    Calibration,
    CatalogVersion,
    FormatRules,
    Lab,
    LanguageModel,
    System,
)
from catalog.transfer import cells, run
from catalog.transfer.upload import UploadError, read_table
from tests.catalog.admin_pages import card, confirm, llama, messages, own_card, person, text_of, upload, url

pytestmark = pytest.mark.django_db


@pytest.fixture(autouse=True)
def cold_process():
    live.forget()
    yield
    live.forget()


@pytest.fixture
def admin(admin_client):
    return admin_client


@pytest.fixture
def editor(django_user_model):
    return person(django_user_model, "editor")


def said(response):
    """(where, kind, what) for each row of a preview that is not as it is already."""
    return [
        (
            row.where,
            row.id,
            row.kind,
            [(change.place, change.before, change.after) for change in row.changes] or row.sentences,
        )
        for row in response.context["report"].rows
        if row.kind != "unchanged"
    ]


def why_not(response):
    return list(response.context["form"].errors["file"])


@pytest.mark.parametrize("kind", ["csv", "json"])
@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.entries)
def test_what_is_exported_comes_back_without_a_change(table, kind):
    report = run.preview(table, kind, run.export(table, kind), may_publish=True)
    assert report.counts() == [(table.objects.count(), "unchanged")]


def test_a_row_lost_from_the_database_comes_back_whole_from_its_file():
    model = LanguageModel.objects.get(slug="tinyllama-1.1b-chat")
    before = model.to_entry()
    assert len(before["files"]) > 1
    text = run.export(LanguageModel, "csv", LanguageModel.complete().filter(pk=model.pk))
    model.delete()
    report = run.run(LanguageModel, "csv", text, may_publish=True, user=None, reason="")
    back = LanguageModel.complete().get(slug="tinyllama-1.1b-chat")
    assert (report.done, back.to_entry(), back.status) == (True, before, "published")


def test_an_export_has_the_rows_and_filters_of_the_list(admin):
    answer = admin.get(url(Accelerator, "export", "csv"), {"vendor": "AMD", "q": "7900"})
    rows = list(csv.DictReader(io.StringIO(answer.content.decode())))
    found = Accelerator.objects.filter(vendor="AMD", name__contains="7900")
    assert {row["id"] for row in rows} == set(found.values_list("slug", flat=True)) != set()
    assert answer.headers["Content-Disposition"] == 'attachment; filename="accelerators.csv"'
    assert "no-store" in answer.headers["Cache-Control"]


def test_an_export_as_json_has_figures_not_texts(admin):
    answer = admin.get(url(Accelerator, "export", "json"), {"q": "rtx-4090"})
    (row,) = [row for row in json.loads(answer.content) if row["id"] == "rtx-4090"]
    assert {key: row[key] for key in ("bandwidth_gb_s", "reported_mib", "exists", "dense_tflops")} == {
        key: getattr(card(), key) for key in ("bandwidth_gb_s", "reported_mib", "exists", "dense_tflops")
    }


def test_an_export_with_filters_that_are_none_leads_to_the_list(admin):
    answer = admin.get(url(Accelerator, "export", "csv"), {"nonsense": "1"})
    assert (answer.status_code, answer.url) == (302, f"{url(Accelerator, 'changelist')}?nonsense=1")


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.entries)
def test_every_table_has_its_pages_without_inline_style_or_script(admin, table):
    row = table.objects.first()
    row.as_of = None
    row.save()
    record = row.history.last()
    for address in (
        url(table, "import"),
        url(table, "history", row.pk),
        url(table, "record", row.pk, record.history_id),
    ):
        page = admin.get(address)
        inline = r"<style|\sstyle=|\son\w+=|<script(?![^>]*(?:src=|application/json))[^>]*>"
        assert (page.status_code, re.findall(inline, page.content.decode())) == (200, [])


@pytest.mark.parametrize(
    ("table", "figures"),
    [
        (Accelerator, {"dense_tflops": "fast"}),
        (Accelerator, {"memory_gb": 4.5, "exists": "perhaps", "launch": [2022]}),
        (LanguageModel, {"architecture": []}),
        (LanguageModel, {"architecture": {"hidden_size": {}, "mixers": 1}}),
        (LanguageModel, {"files": 7, "checkpoints": [[]], "lab": None}),
        (System, {"count": -1, "accelerator_id": {"a": 1}}),
        (FormatRules, {"facts": [], "sources": "none"}),
    ],
)
def test_a_figure_of_the_wrong_shape_is_a_sentence(admin, table, figures):
    row = table.objects.first()
    page = upload(admin, table, json.dumps([{"id": row.slug, **figures}]), "odd.json")
    (report,) = page.context["report"].rows
    assert report.kind == "refused"
    assert all(text and "cannot be read" not in text for _, text in report.sentences), report.sentences


def test_only_csv_and_json_are_offered(admin):
    assert admin.get(url(Accelerator, "export", "xlsx")).status_code == 404
    refused = upload(admin, Accelerator, "id\n", name="table.xlsx")
    assert why_not(refused) == ["Choose a file that ends in .csv or .json; this one is table.xlsx."]


def test_the_preview_shows_each_figure_before_and_after_and_saves_nothing(admin):
    before = CatalogVersion.current().version
    page = upload(admin, Accelerator, "id,tdp_w,bandwidth_gb_s\nrtx-4090,420,1008\nrtx-3090,350,936\n")
    assert said(page) == [("Row 2", "rtx-4090", "changed", [("tdp_w", "450", "420")])]
    assert "Preview: 1 changed, 1 unchanged" in text_of(page)
    assert (card().tdp_w, CatalogVersion.current().version, card().history.count()) == (450, before, 0)


def test_a_change_inside_a_structure_is_named_by_its_place(admin):
    rates = {**card().dense_tflops, "fp16": 166.0}
    page = upload(admin, Accelerator, json.dumps([{"id": "rtx-4090", "dense_tflops": rates}]), "a.json")
    assert said(page) == [("Entry 1", "rtx-4090", "changed", [("dense_tflops.fp16", "165.2", "166")])]


def test_an_import_is_one_version_with_its_reason_in_the_history_and_a_second_one_changes_nothing(
    admin, admin_user
):
    before = CatalogVersion.current().version
    text = "id,tdp_w\nrtx-4090,420\nrtx-3090,340\n"
    done = confirm(admin, Accelerator, upload(admin, Accelerator, text), change_reason="New datasheet")
    assert messages(done) == ["Imported: 2 changed."]
    assert (card().tdp_w, card("rtx-3090").tdp_w) == (420, 340)
    assert CatalogVersion.current().version == before + 1
    record = card().history.first()
    assert (record.history_user, record.history_change_reason) == (admin_user, "New datasheet")
    again = upload(admin, Accelerator, text)
    assert (said(again), again.context["confirm"]) == ([], None)
    assert "there is nothing to import" in text_of(again)


def test_a_wrong_row_is_named_the_good_ones_are_shown_and_nothing_can_be_imported(admin):
    page = upload(
        admin,
        Accelerator,
        "id,tdp_w,bandwidth_gb_s,exists\nrtx-4090,420,1008,true\nrtx-3090,abc,8000,perhaps\n",
    )
    good, wrong = said(page)
    assert good == ("Row 2", "rtx-4090", "changed", [("tdp_w", "450", "420")])
    assert wrong[:3] == ("Row 3", "rtx-3090", "refused")
    assert dict(wrong[3]) == {
        "bandwidth_gb_s": "8,000 GB/s is out of range for GDDR6X: devices have 400 to 1,200 GB/s. Is it in GB/s?",
        "exists": "Write true or false, not perhaps.",
        "tdp_w": "Enter a number. (given: abc)",
    }
    assert page.context["confirm"] is None
    assert "Nothing is imported while a row is refused." in text_of(page)


def test_a_row_that_became_wrong_after_its_preview_is_refused_whole(admin):
    page = upload(admin, System, "id,host_ram_gb\nhgx-h100-8,1024\nhgx-h200-8,1024\n")
    System.objects.filter(slug="hgx-h100-8").update(node_size=4)
    after = confirm(admin, System, page, confirm_unusual="on")
    assert next(row[:3] for row in said(after)) == ("Row 2", "hgx-h100-8", "refused")
    assert after.redirect_chain == []


def test_new_rows_are_drafts_and_reach_no_page(admin):
    entry = {**card().to_entry(), "id": "own-card", "name": "Own card"}
    page = upload(admin, Accelerator, json.dumps([entry]), "new.json")
    assert said(page)[0][:3] == ("Entry 1", "own-card", "new")
    done = confirm(admin, Accelerator, page)
    assert messages(done)[1] == "1 of these rows wait for a publisher and are not shown yet."
    assert Accelerator.objects.get(slug="own-card").to_entry() == entry
    assert "own-card" not in live.current().accelerators


def test_what_an_editor_imports_into_published_rows_waits(editor):
    confirm(editor, Accelerator, upload(editor, Accelerator, "id,tdp_w\nrtx-4090,420\n"))
    assert (card().tdp_w, card().proposed) == (450, {"tdp_w": 420.0})
    # What waits is what the next file is compared with, and an export has it.
    assert said(upload(editor, Accelerator, "id,tdp_w\nrtx-4090,420\n")) == []
    text = run.export(Accelerator, "csv", Accelerator.complete().filter(slug="rtx-4090"))
    assert next(csv.DictReader(io.StringIO(text)))["tdp_w"] == "420"


def test_an_editor_cannot_publish_or_retire_by_a_file(editor):
    own_card(status="draft")
    page = upload(
        editor, Accelerator, "id,status,retired\nown-card,published,false\nrtx-4090,published,true\n"
    )
    sentence = ("status", "Only a publisher publishes, retires or brings back.")
    assert [row[3] for row in said(page)] == [[sentence], [sentence]]


def test_an_editors_files_of_a_published_model_are_drafts_and_none_is_taken_away(editor):
    model = LanguageModel.objects.get(slug="tinyllama-1.1b-chat")
    files = model.parts()["files"]
    added = {**files[0], "weights_format": "q4_1", "format_as_published": "Q4_1", "bytes": 701_000_000}
    added["bits_per_weight"] = 5.1
    page = upload(editor, LanguageModel, json.dumps([{"id": model.slug, "files": [*files, added]}]), "m.json")
    confirm(editor, LanguageModel, page)
    assert [part.format_as_published for part in model.files.filter(status="draft")] == ["Q4_1"]
    assert LanguageModel.complete().get(pk=model.pk).to_entry()["files"] == files
    fewer = upload(editor, LanguageModel, json.dumps([{"id": model.slug, "files": files[1:]}]), "m.json")
    assert said(fewer)[0][2] == "refused"
    assert said(fewer)[0][3][0][1].startswith("Only a publisher takes away or changes")


def test_a_part_that_the_catalogue_cannot_hold_is_refused_with_its_number(admin):
    files = [{**file, "kind": "hearsay"} for file in llama().parts()["files"][:1]]
    page = upload(admin, LanguageModel, json.dumps([{"id": llama().slug, "files": files}]), "m.json")
    ((name, sentence),) = said(page)[0][3]
    assert (name, sentence[:9]) == ("files", "1, kind: ")


def test_a_constant_is_found_by_what_it_is_for(admin):
    constant = Calibration.objects.first()
    page = upload(admin, Calibration, f"id,cases\n{constant.slug},77\n")
    assert said(page) == [("Row 2", constant.slug, "changed", [("cases", str(constant.cases or "–"), "77")])]


def test_a_table_of_one_row_is_imported_too(admin):
    text = run.export(FormatRules, "json")
    rules = json.loads(text)
    rules[0]["facts"]["aliases"]["q4km"] = "q4_k_m"
    page = upload(admin, FormatRules, json.dumps(rules), "rules.json")
    assert said(page)[0][3] == [("facts.aliases.q4km", "–", "q4_k_m")]


def test_an_unknown_lab_is_named(admin):
    page = upload(admin, LanguageModel, f"id,lab\n{llama().slug},nobody\n")
    assert said(page)[0][3] == [("lab", "lab instance with slug 'nobody' is not a valid choice.")]


def test_layers_that_do_not_add_up_are_refused_by_the_count_that_fits(admin):
    architecture = {**llama().architecture, "order": [["full-dense", 31]]}
    page = upload(
        admin, LanguageModel, json.dumps([{"id": llama().slug, "architecture": architecture}]), "m.json"
    )
    sentences = dict(said(page)[0][3])
    assert sentences["text_parameters"].endswith(
        "That is 1 × full-dense too few: layers add up to 31, expected 32."
    )


def test_unusual_figures_are_imported_only_when_confirmed(admin):
    page = upload(admin, Accelerator, "id,tdp_w\nrtx-4090,4500\n")
    (row,) = page.context["report"].rows
    assert row.doubts[0][0] == "tdp_w"
    assert "4,500 W is unusual: the " in row.doubts[0][1]
    refused = confirm(admin, Accelerator, page)
    assert "Tick this if they are right, or correct the file." in text_of(refused)
    assert card().tdp_w == 450
    confirm(admin, Accelerator, page, confirm_unusual="on")
    assert card().tdp_w == 4500


@pytest.mark.parametrize(
    ("name", "text", "sentence"),
    [
        ("a.csv", b"", "The submitted file is empty."),
        ("a.csv", b"\n\n", "The file is empty."),
        ("a.csv", b"id,tdp_w\n", "The file has no rows below its head."),
        ("a.csv", b"id,name\nx,\xff\n", "The file is not UTF-8 (byte 11). Save it as UTF-8."),
        ("a.csv", b"id,bandwith_gb_s\nx,1\n", "This table has no column 'bandwith_gb_s'. Is bandwidth_gb_s meant?"),
        ("a.csv", b"name\nx\n", "The column id is missing; it says which row each line is about."),
        ("a.csv", b"id,id\nx,y\n", "The head names id twice."),
        ("a.csv", b"id,name\nx\n", "Row 2 has 1 cells; the head has 2. A cell with a comma or a line break stands in quotes."),
        ("a.csv", b"id\nx\nx\n", "Row 3 is about x, as Row 2 is. One row each."),
        ("a.csv", b'id\n"x', "Line 2 is not CSV: unexpected end of data."),
        ("a.json", b"[{", "Line 1 is not valid JSON (Expecting property name enclosed in double quotes)."),
        ("a.json", b"{}", 'Write a list of objects: [{"id": …}, …].'),
        ("a.json", b"[]", "The list is empty."),
        ("a.json", b'[{"id": "x", "tdp_w": NaN}]', "NaN is no figure. Write null for what is not known."),
        ("a.json", b'[{"id": "x", "facts": {"a": 1e999}}]', "1e999 is no figure. Write null for what is not known."),
        ("a.json", b'[{"id": "x", "tdp_w": ' + b"1" * 5000 + b"}]", f"{'1' * 30}… has too many digits."),
        ("a.json", b'[{"id": []}]', "Entry 1 has no id, so it cannot be said which row it is about."),
        ("a.json", b'[{"id": "x"}, {"name": "y"}]', "Entry 2 has no id, so it cannot be said which row it is about."),
        ("a.json", b"[" * 100_000, "The JSON is nested too deeply."),
    ],
)  # fmt: skip
def test_a_file_that_is_no_table_is_refused_in_a_sentence(admin, name, text, sentence):
    assert why_not(upload(admin, Accelerator, text, name)) == [sentence]


def test_a_file_is_bounded_in_bytes_and_rows(admin, settings):
    settings.CATALOG_IMPORT_MOST_ROWS = 2
    assert why_not(upload(admin, Lab, "id\na\nb\nc\n")) == ["The file has 3 rows; up to 2 are taken at once."]
    settings.CATALOG_IMPORT_MOST_BYTES = 5
    assert why_not(upload(admin, Lab, "id\na\nb\n")) == ["The file has 7 bytes; up to 5 are taken."]


def test_a_spreadsheet_with_semicolons_and_a_byte_order_mark_is_read(admin):
    page = upload(admin, Accelerator, "\ufeffid;tdp_w\nrtx-4090;420\n".encode())
    assert said(page) == [("Row 2", "rtx-4090", "changed", [("tdp_w", "450", "420")])]


def test_a_preview_that_was_tampered_with_or_is_another_tables_is_not_imported(admin):
    page = upload(admin, Accelerator, "id,tdp_w\nrtx-4090,420\n")
    told = page.context["confirm"].initial["previewed"]
    for table, value in ((Accelerator, f"x{told}"), (System, told)):
        after = admin.post(url(table, "import"), {"previewed": value}, follow=True)
        assert messages(after) == ["That preview is too old or incomplete. Choose the file again."]
    assert card().tdp_w == 450


def test_somebody_without_the_right_imports_and_exports_nothing(django_user_model, client):
    user = django_user_model.objects.create_user("visitor", is_staff=True)
    client.force_login(user)
    assert client.get(url(Accelerator, "import")).status_code == 403
    assert client.get(url(Accelerator, "export", "csv")).status_code == 403
    file = SimpleUploadedFile("a.csv", b"id\nx\n")
    assert client.post(url(Accelerator, "import"), {"file": file}).status_code == 403


@given(st.text())
def test_any_text_survives_a_cell_and_no_spreadsheet_computes_it(text):
    cell = cells.written(text)
    assert cells.as_read(cell) == text
    assert not cell.startswith(("=", "+", "-", "@", "\t", "\r"))


@given(st.text(alphabet='id,;"\n\ra\x00{}[]:1', max_size=60), st.sampled_from(["csv", "json"]))
def test_any_file_is_a_table_or_a_sentence(text, kind):
    with suppress(UploadError):
        rows = read_table(kind, text, ["id", "a"], most_rows=100)
        assert "id" in rows.headers
