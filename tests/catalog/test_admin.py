"""Admins find, read and change every row, are told what is wrong beside the field, and lose nothing."""

import html
import json
import re

import pytest
from django.contrib.admin.models import LogEntry
from django.db import connection
from django.forms import CheckboxInput
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from catalog import live
from catalog.models import (
    TABLES,
    Accelerator,
    Calibration,
    CatalogVersion,
    CountLadder,
    Engine,
    FormatRules,
    Lab,
    LanguageModel,
    PublishedFile,
    System,
    WeightsFormat,
)

pytestmark = pytest.mark.django_db


@pytest.fixture
def admin(admin_client):
    return admin_client


@pytest.fixture(autouse=True)
def cold_process():
    live.forget()
    yield
    live.forget()


def url(table, page, *args):
    return reverse(f"admin:catalog_{table._meta.model_name}_{page}", args=args)


def text_of(response):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", response.content.decode()))).strip()


def values_of(form):
    """What a browser would send back for a form that nobody touched."""
    values = {}
    for bound in form:
        if isinstance(bound.field.widget, CheckboxInput):
            value = "on" if bound.value() else None
        else:
            value = bound.field.widget.format_value(bound.value())
        if isinstance(value, list):
            value = value[0] if value else None
        if value is not None:
            values[bound.html_name] = value
    return values


def form_of(response):
    data = values_of(response.context["adminform"].form)
    for inline in response.context["inline_admin_formsets"]:
        data |= values_of(inline.formset.management_form)
        for row in inline.formset.forms:
            data |= values_of(row)
    return data


def errors_of(response):
    """Sentences by field of a form that was not saved; nothing when it was."""
    if response.redirect_chain:
        return {}
    errors = {name: list(errors) for name, errors in response.context["adminform"].form.errors.items()}
    for inline in response.context["inline_admin_formsets"]:
        for row in inline.formset.forms:
            errors |= {f"file {name}": list(errors) for name, errors in row.errors.items()}
    return errors


def change(admin, row, **changes):
    address = url(type(row), "change", row.pk)
    return admin.post(address, {**form_of(admin.get(address)), **changes}, follow=True)


def act(admin, action, *rows):
    data = {"action": action, "_selected_action": [row.pk for row in rows]}
    return admin.post(url(type(rows[0]), "changelist"), data, follow=True)


def messages(response):
    return [str(message) for message in response.context["messages"]]


def listed(admin, table, **filters):
    return {row.slug for row in admin.get(url(table, "changelist"), filters).context["cl"].queryset}


def slugs(queryset):
    return set(queryset.values_list("slug", flat=True))


def card():
    return Accelerator.objects.get(slug="rtx-4090")


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.entries)
def test_a_list_asks_as_many_queries_for_one_row_as_for_all(admin, table):
    found = []
    for last in (table.objects.order_by("pk").first().pk, 10**9):
        with CaptureQueriesContext(connection) as queries:
            page = admin.get(url(table, "changelist"), {"id__lte": last})
        found.append((page.context["cl"].result_count, len(queries)))
    (one, for_one), (every, for_all) = found
    assert (one, every) == (1, table.objects.count())
    assert for_one == for_all


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.entries)
def test_a_page_that_is_saved_unchanged_changes_nothing(admin, table):
    for row in (table.objects.order_by("pk").first(), table.objects.order_by("pk").last()):
        before = row.to_entry()
        assert errors_of(change(admin, row)) == {}
        saved = table.objects.get(pk=row.pk)
        assert (saved.to_entry(), saved.edited_at) == (before, None)


def test_a_model_with_files_is_saved_unchanged_in_a_fixed_number_of_queries(admin):
    many, few = (LanguageModel.objects.filter(slug__in=slugs_with(count)).first() for count in (12, 1))
    counts = []
    for model in (many, few):
        with CaptureQueriesContext(connection) as queries:
            page = admin.get(url(LanguageModel, "change", model.pk))
        assert len(page.context["inline_admin_formsets"][0].formset.forms) == model.files.count()
        counts.append(len(queries))
    assert counts[0] == counts[1]


def slugs_with(files):
    return [model.slug for model in LanguageModel.complete() if model.files.count() == files]


@pytest.mark.parametrize(
    ("table", "query", "found"),
    [
        (LanguageModel, "Llama-3.1-8B-Instruct", "llama-3.1-8b-instruct"),
        (LanguageModel, "moonshot", "kimi-k2-instruct"),
        (Accelerator, "4090", "rtx-4090"),
        (System, "八卡", "hgx-h100-8"),
        (WeightsFormat, "Q4_K_M", "q4_k_m"),
        (Lab, "深度求索", "deepseek"),
        (Engine, "vLLM", "vllm"),
        (CountLadder, "laptop", "consumer_laptop"),
    ],
)
def test_rows_are_found_by_what_people_type(admin, table, query, found):
    assert found in listed(admin, table, q=query)


@pytest.mark.parametrize(
    ("table", "filters", "expected"),
    [
        (Accelerator, {"missing": "bandwidth"}, {"bandwidth_gb_s": None}),
        (Accelerator, {"missing": "price"}, {"msrp_usd": None}),
        (Accelerator, {"vendor": "AMD"}, {"vendor": "AMD"}),
        (Accelerator, {"kind__exact": "apple"}, {"kind": "apple"}),
        (System, {"missing": "power"}, {"power_max_w": None}),
        (LanguageModel, {"missing": "native_format"}, {"native_format": None}),
        (LanguageModel, {"lab__id__exact": "{lab}"}, {"lab_id": "meta"}),
        (LanguageModel, {"family": "Yi"}, {"family": "Yi"}),
        (Calibration, {"engine": "vllm"}, {"engine": "vllm"}),
    ],
)
def test_lists_are_filtered(admin, table, filters, expected):
    lab = Lab.objects.get(slug="meta").pk
    filters = {name: value.format(lab=lab) for name, value in filters.items()}
    assert listed(admin, table, **filters) == slugs(table.objects.filter(**expected)) != set()


def test_rows_with_a_figure_from_memory_are_filtered(admin):
    remembered = {row.slug for row in System.objects.all() if row.unverified}
    assert listed(admin, System, sources="memory") == remembered != set()
    assert listed(admin, System, sources="read") == slugs(System.objects.all()) - remembered
    assert listed(admin, System, sources="none") == set()


def test_rows_are_filtered_by_where_they_come_from(admin):
    change(admin, card(), tdp_w="300")
    own = Accelerator.from_entry({**card().to_entry(), "id": "own-card"})
    own.save()
    assert listed(admin, Accelerator, **{"from": "edited"}) == {"rtx-4090"}
    assert listed(admin, Accelerator, **{"from": "added"}) == {"own-card"}
    assert len(listed(admin, Accelerator, **{"from": "shipped"})) == Accelerator.objects.count() - 2
    assert len(listed(admin, Accelerator)) == Accelerator.objects.count()


def test_a_page_shows_sources_and_sums_to_read(admin):
    page = text_of(admin.get(url(LanguageModel, "change", llama().pk)))
    assert f"figure read in kind {llama().sources[0]['what']} {llama().sources[0]['where']}" in page
    assert "32: 32 full-dense (order: one kind of layer)" in page
    assert "8,030,261,248 against 8,030,261,248 above: +0.000 %" in page


def llama():
    return LanguageModel.objects.get(slug="llama-3.1-8b-instruct")


def test_structured_fields_are_written_as_in_the_data_files(admin):
    page = admin.get(url(LanguageModel, "change", llama().pk))
    field = page.context["adminform"].form["architecture"]
    text = field.field.prepare_value(field.initial)
    assert text.splitlines()[:3] == ["{", '  "hidden_size": 4096,', '  "vocabulary_size": 128256,']
    assert json.loads(text) == llama().architecture
    assert 'class="json-editor"' in str(field)


def test_a_bad_architecture_is_refused_with_its_sentence(admin):
    architecture = {**llama().architecture, "order": [["full-dense", 0]]}
    response = change(admin, llama(), architecture=json.dumps(architecture))
    sentence = "The order says 0 layers of 'full-dense'; it must be 1 or more."
    assert errors_of(response) == {"architecture": [sentence]}
    assert sentence in text_of(response)
    assert "Not yet: the description below cannot be read." in text_of(response)


def test_json_with_a_slip_is_given_back_to_be_mended(admin):
    response = change(admin, llama(), architecture='{"hidden_size": 4096,')
    assert errors_of(response) == {"architecture": ["Enter a valid JSON."]}
    assert "{&quot;hidden_size&quot;: 4096,</textarea>" in response.content.decode()


def test_an_emptied_structure_is_the_default_again(admin):
    assert errors_of(change(admin, llama(), gguf_repos="", engines="")) == {}
    assert (llama().gguf_repos, llama().engines) == ([], [])


def test_a_figure_in_the_wrong_unit_is_refused_beside_its_field(admin):
    sentence = "1,008,000 GB/s is out of range for GDDR6X: devices have 400 to 1,200 GB/s. Is it in GB/s?"
    assert errors_of(change(admin, card(), bandwidth_gb_s="1008000")) == {"bandwidth_gb_s": [sentence]}


def test_a_fault_of_a_field_that_the_page_cannot_change_stands_at_the_top(admin):
    Accelerator.objects.filter(slug="rtx-3050-6").update(slug="RTX 3050")
    response = change(admin, Accelerator.objects.get(slug="RTX 3050"))
    sentence = "slug: It is not written the way that this figure is written in the data files."
    assert errors_of(response) == {"__all__": [sentence]}


def test_a_date_is_refused_with_how_to_write_it(admin):
    assert errors_of(change(admin, card(), launch="12/10/2022"))["launch"][0] == (
        "Write a date as 2026-11-30, a month as 2026-11, a year as 2026."
    )


def test_a_published_count_beyond_rounding_is_saved_with_a_warning(admin):
    response = change(admin, llama(), parameters="8100000000")
    assert errors_of(response) == {}
    assert messages(response)[0] == (
        "The sum of all parts lies −0.86 % from the published count. Is that rounding?"
    )


def test_a_context_of_nothing_is_refused_with_what_to_write_instead(admin):
    sentence = "No model works with 0 tokens. Leave this empty when it is not known."
    assert errors_of(change(admin, llama(), max_context_tokens="0")) == {"max_context_tokens": [sentence]}


def test_a_change_marks_the_row_raises_the_version_and_is_logged(admin):
    before = CatalogVersion.current().version
    assert errors_of(change(admin, card(), tdp_w="300")) == {}
    assert (card().tdp_w, card().origin) == (300, "shipped")
    assert card().edited_at is not None
    assert CatalogVersion.current().version == before + 1
    assert LogEntry.objects.latest("pk").get_change_message() == "Changed Board power [W]."


def test_a_change_shows_in_this_process_once_it_is_committed(admin, django_capture_on_commit_callbacks):
    assert live.current().accelerators["rtx-4090"].tdp_w == 450
    with django_capture_on_commit_callbacks(execute=True):
        change(admin, card(), tdp_w="300")
    assert live.current().accelerators["rtx-4090"].tdp_w == 300


def test_a_new_device_is_added_from_the_form(admin):
    data = form_of(admin.get(url(Accelerator, "change", card().pk)))
    data |= {"slug": "own-card", "name": "Own card", "msrp_usd": "1599.50"}
    response = admin.post(url(Accelerator, "add"), data, follow=True)
    assert errors_of(response) == {}
    own = Accelerator.objects.get(slug="own-card")
    assert own.to_entry() == {**card().to_entry(), "id": "own-card", "name": "Own card", "msrp_usd": 1599.5}
    assert own.origin == "admin"


def test_an_id_is_never_changed_and_has_to_be_a_slug(admin):
    data = form_of(admin.get(url(Accelerator, "change", card().pk)))
    assert "slug" not in data
    response = admin.post(url(Accelerator, "add"), {**data, "slug": "Own Card"}, follow=True)
    assert errors_of(response)["slug"][0] == (
        "Use lower-case letters, digits, dots and hyphens, for instance llama-3.1-8b-instruct."
    )


def test_a_file_is_added_changed_and_removed_with_its_model(admin):
    model = LanguageModel.objects.get(slug="tinyllama-1.1b-chat")
    address = url(LanguageModel, "change", model.pk)
    data = form_of(admin.get(address))
    last = int(data["files-TOTAL_FORMS"])
    added = {
        "weights_format": "q4_1",
        "format_as_published": "Q4_1",
        "size_bytes": "701000000",
        "exact": "on",
        "precision": "exact bytes",
        "source": "a hub page",
        "kind": "measured",
    }
    data |= {"files-TOTAL_FORMS": str(last + 1), "files-0-DELETE": "on", "files-1-size_bytes": "592500097"}
    data |= {f"files-{last}-{name}": value for name, value in added.items()}
    before = [file.pk for file in model.files.all()]
    assert errors_of(admin.post(address, data, follow=True)) == {}
    after = list(model.files.all())
    assert [file.pk for file in after if file.pk in before] == before[1:]
    assert PublishedFile.objects.get(pk=before[1]).size_bytes == 592_500_097
    own = next(file for file in after if file.pk not in before)
    assert (own.bits_per_weight, own.repo) == (5.098, None)
    assert LanguageModel.objects.get(pk=model.pk).edited_at is not None


def test_a_file_of_an_impossible_size_is_refused(admin):
    model = LanguageModel.objects.get(slug="tinyllama-1.1b-chat")
    response = change(admin, model, **{"files-0-size_bytes": "48311641600000"})
    sentence = "48,311,641,600,000 bytes are 351341.94 bits per weight; a file has 0.5 to 34."
    assert errors_of(response) == {"file size_bytes": [sentence]}


def test_shipped_rows_are_retired_and_brought_back_not_deleted(admin):
    page = admin.get(url(Accelerator, "changelist"))
    choices = [name for name, _ in page.context["action_form"].fields["action"].choices]
    assert choices == [
        "",
        "publish",
        "discard",
        "checked_today",
        "retire",
        "bring_back",
        "take_shipped_figures",
        "export_csv",
        "export_json",
    ]
    assert admin.post(url(Accelerator, "delete", card().pk), {"post": "yes"}).status_code == 403

    before = CatalogVersion.current().version
    assert messages(act(admin, "retire", card())) == ["Retired: GeForce RTX 4090."]
    assert (card().retired, CatalogVersion.current().version) == (True, before + 1)
    assert LogEntry.objects.latest("pk").get_change_message() == "Retired."
    assert messages(act(admin, "retire", card())) == ["Retired: nothing, all were so before."]
    act(admin, "bring_back", card())
    assert card().retired is False


def test_what_every_page_needs_is_not_retired(admin):
    for table in (CountLadder, FormatRules, Lab):
        page = admin.get(url(table, "changelist"))
        choices = [name for name, _ in page.context["action_form"].fields["action"].choices]
        assert not {"retire", "bring_back", "delete_selected"} & set(choices)
        assert "retired" not in form_of(admin.get(url(table, "change", table.objects.first().pk)))


def test_a_row_that_was_added_here_is_deleted(admin):
    own = Accelerator.from_entry({**card().to_entry(), "id": "own-card"})
    own.save()
    before = CatalogVersion.current().version
    admin.post(url(Accelerator, "delete", own.pk), {"post": "yes"})
    assert Accelerator.objects.filter(slug="own-card").count() == 0
    assert CatalogVersion.current().version == before + 1


def test_shipped_figures_are_taken_again(admin):
    own = Accelerator.from_entry({**card().to_entry(), "id": "own-card", "name": "Own card"})
    own.save()
    change(admin, card(), tdp_w="300")
    assert messages(act(admin, "take_shipped_figures", card(), own)) == [
        "As shipped again: GeForce RTX 4090.",
        "Not shipped, so left alone: Own card.",
    ]
    assert (card().tdp_w, card().edited_at) == (450, None)


def test_a_constant_keeps_what_it_is_for(admin):
    data = form_of(admin.get(url(Calibration, "change", Calibration.objects.get(name="activation_fixed").pk)))
    assert sorted(data) == ["basis", "cases", "date", "facts", "high", "low", "source", "unit", "value"]


def test_the_version_is_only_looked_at(admin):
    assert str(CatalogVersion.current().version) in text_of(admin.get(url(CatalogVersion, "changelist")))
    assert admin.get(url(CatalogVersion, "add")).status_code == 403
    assert admin.post(url(CatalogVersion, "change", 1), {"version": 7}).status_code == 403


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.entries)
def test_pages_have_no_inline_style_or_script(admin, table):
    for page in (url(table, "changelist"), url(table, "change", table.objects.first().pk)):
        source = admin.get(page).content.decode()
        assert (
            re.findall(r"<style|\sstyle=|\son\w+=|<script(?![^>]*(?:src=|application/json))[^>]*>", source)
            == []
        )


def test_the_header_names_the_site(admin, settings):
    assert f"{settings.SITE_NAME} administration" in text_of(admin.get(reverse("admin:index")))
