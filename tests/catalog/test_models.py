"""Rows hold the entries of the data files without loss, and refuse what could not be a model or a device."""

import copy
from datetime import date

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction

from catalog.importers.files import read_entries
from catalog.models import (
    TABLES,
    Accelerator,
    Calibration,
    CatalogVersion,
    Lab,
    LanguageModel,
    PublishedFile,
    System,
)
from catalog.models.row import digest
from catalog.models.version import bump, without_bumps

pytestmark = pytest.mark.django_db

SHIPPED = read_entries()


def version():
    return CatalogVersion.current().version


def problems(row):
    with pytest.raises(ValidationError) as raised:
        row.clean()
    return raised.value.message_dict


def llama():
    return LanguageModel.objects.get(slug="llama-3.1-8b-instruct")


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.entries)
def test_every_shipped_entry_comes_back_from_the_database_as_it_went_in(table):
    shipped = {table.key(entry): entry for entry in SHIPPED[table.entries]}
    assert {row.slug: row.to_entry() for row in table.complete()} == shipped


@pytest.mark.parametrize("table", TABLES, ids=lambda table: table.entries)
def test_every_shipped_row_passes_the_admin_s_validation(table):
    for row in table.complete():
        row.full_clean()


def test_rows_are_read_in_a_fixed_number_of_queries(django_assert_num_queries):
    with django_assert_num_queries(3):  # models, their files, their checkpoints
        assert len([row.to_entry() for row in LanguageModel.complete()]) == len(SHIPPED["models"])


def test_a_default_that_may_be_left_out_is_left_out():
    entry = {**SHIPPED["accelerators"][0], "exists": True, "idle_w": None}
    plainly = {key: value for key, value in entry.items() if key not in ("exists", "idle_w")}
    assert Accelerator.normal(entry) == plainly


def test_a_digest_is_the_same_for_equal_entries():
    assert digest({"a": 8.0, "b": [1]}) == digest({"b": [1], "a": 8})
    assert digest({"a": 8}) != digest({"a": 9})


def test_an_unreadable_architecture_is_refused_with_its_own_sentence():
    model = llama()
    model.architecture = copy.deepcopy(model.architecture)
    name = next(iter(model.architecture["mixers"]))
    model.architecture["mixers"][name]["kind"] = "telepathy"
    sentence = problems(model)["architecture"][0]
    assert sentence.startswith("Mixer kind 'telepathy' is not known; known kinds are gqa, mla, ")


def test_an_architecture_that_is_not_an_object_is_refused():
    model = llama()
    model.architecture = {**model.architecture, "blocks": ["attention", "MLP"]}
    assert problems(model)["architecture"][0].startswith("This does not describe a model: ")


def test_a_layer_too_many_is_refused_beside_the_counts_it_contradicts():
    model = llama()
    model.architecture = copy.deepcopy(model.architecture)
    model.architecture["order"][0][1] += 1
    found = problems(model)
    assert set(found) == {"text_parameters", "active_parameters_derived"}
    sentence = (
        "The 33 layers add up to 8,248,373,248, which is not 8,030,261,248 (+2.72 %). "
        "That is 1 × full-dense too many: layers add up to 33, expected 32."
    )
    assert found["text_parameters"] == [sentence]


def test_a_difference_that_is_no_whole_layer_says_what_to_write():
    model = llama()
    model.text_parameters += 1000
    sentence = (
        "The 32 layers add up to 8,030,261,248, which is not 8,030,262,248 (−0.00 %). "
        "Correct the layers, or write 8030261248."
    )
    assert problems(model)["text_parameters"] == [sentence]


def test_a_published_count_far_from_the_sum_is_refused():
    model = llama()
    model.parameters = 9_000_000_000
    sentence = (
        "The 32 layers and the other parts add up to 8,030,261,248, −10.8 % from the published 9,000,000,000. "
        "Up to 5 % can be rounding: look for a missing part."
    )
    assert problems(model)["parameters"] == [sentence]


def test_a_model_is_not_computed_as_itself():
    model = llama()
    model.computed_as_id = model.slug
    assert problems(model) == {"computed_as": ["A model cannot be computed as itself."]}


def test_a_file_far_from_its_model_s_size_is_refused():
    file = PublishedFile.objects.filter(exact=True).select_related("language_model").first()
    file.size_bytes = 10**15
    assert problems(file)["size_bytes"][0].endswith("bits per weight; a file has 0.5 to 34.")


def test_the_bits_per_weight_of_a_file_are_computed_when_left_empty():
    file = PublishedFile.objects.filter(exact=True).select_related("language_model").first()
    file.bits_per_weight = None
    file.clean()
    assert file.bits_per_weight == round(8 * file.size_bytes / file.language_model.text_parameters, 3)


@pytest.mark.parametrize(
    ("changes", "field", "sentence"),
    [
        (
            {"bandwidth_gb_s": 1_008_000},
            "bandwidth_gb_s",
            "1,008,000 GB/s is out of range for GDDR6X: devices have 400 to 1,200 GB/s. Is it in GB/s?",
        ),
        ({"reported_mib": 30_000}, "reported_mib", "30,000 MiB are more than 24 GB, which is 24,576 MiB."),
        ({"sources": []}, "sources", "Write at least one."),
        ({"dense_tflops": [1]}, "dense_tflops", 'Write an object: {"key": value}.'),
        ({"facts": {"memory_gb": 24}}, "facts", "memory_gb has a field of its own; take it out here."),
        ({"facts": {"colour": "black"}}, "facts", "colour: There is no such field."),
        ({"facts": []}, "facts", 'Write an object: {"key": value}.'),
    ],
)
def test_an_impossible_device_is_refused_beside_the_field(changes, field, sentence):
    card = Accelerator.objects.get(slug="rtx-4090")
    for name, value in changes.items():
        setattr(card, name, value)
    assert problems(card)[field] == [sentence]


def test_a_fast_domain_larger_than_the_system_is_refused():
    system = System.objects.get(slug="hgx-h100-8")
    system.scale_up_domain = 72
    assert problems(system) == {"scale_up_domain": ["The machine has 8 accelerators, fewer than 72."]}


def test_nodes_that_do_not_add_up_are_refused():
    system = System.objects.get(slug="hgx-h100-8")
    system.nodes = 2
    assert problems(system) == {"__all__": ["2 nodes of 8 are not 8."]}


@pytest.mark.parametrize(
    ("table", "changes"),
    [
        (Accelerator, {"bandwidth_gb_s": 0}),
        (Accelerator, {"msrp_usd": -1}),
        (Accelerator, {"memory_gb": 0}),
        (Accelerator, {"max_usable_fraction": 1.5}),
        (LanguageModel, {"parameters": 0}),
        (PublishedFile, {"size_bytes": 0}),
        (System, {"count": 0}),
        (Calibration, {"low": 10**9}),
        (CatalogVersion, {"id": 2}),
    ],
)
def test_the_database_refuses_figures_that_cannot_be(table, changes):
    row = table.objects.values_list("pk", flat=True).first()
    with pytest.raises(IntegrityError), transaction.atomic():
        table.objects.filter(pk=row).update(**changes)


def test_saving_and_deleting_raise_the_version_by_one_each():
    before = version()
    lab = Lab(slug="a-lab", name="A lab", country="Iceland")
    lab.save()
    assert version() == before + 1
    lab.delete()
    assert version() == before + 2


def test_writing_to_many_rows_at_once_raises_the_version():
    before = version()
    Lab.objects.bulk_create([Lab(slug=f"lab-{number}", name="L", country="Iceland") for number in range(3)])
    assert version() == before + 1
    Lab.objects.filter(slug__startswith="lab-").update(country="Norway")
    assert version() == before + 2
    Lab.objects.filter(slug__startswith="lab-").delete()
    assert version() == before + 3


def test_a_write_that_is_rolled_back_leaves_the_version():
    before = version()
    with transaction.atomic():
        Lab(slug="a-lab", name="A lab", country="Iceland").save()
        transaction.set_rollback(True)
    assert version() == before


def test_a_service_raises_the_version_itself():
    before = version()
    with without_bumps():
        Lab(slug="a-lab", name="A lab", country="Iceland").save()
    assert version() == before
    bump(date(2026, 11, 30))
    assert (version(), CatalogVersion.current().updated) == (before + 1, date(2026, 11, 30))


def test_an_empty_database_has_version_0():
    CatalogVersion.objects.all().delete()
    assert CatalogVersion.current().version == 0
    bump()
    assert CatalogVersion.current().version == 1


def test_a_shipped_row_remembers_that_it_was_changed_and_that_it_was_changed_back():
    card = Accelerator.objects.get(slug="rtx-4090")
    assert (card.origin, card.edited_at) == ("shipped", None)
    shipped = card.tdp_w
    card.tdp_w = 300
    card.save()
    assert Accelerator.objects.get(slug="rtx-4090").edited_at is not None
    card.tdp_w = shipped
    card.save()
    assert Accelerator.objects.get(slug="rtx-4090").edited_at is None


def test_retiring_a_row_is_no_change_of_its_figures():
    card = Accelerator.objects.get(slug="rtx-4090")
    card.retired = True
    card.save()
    assert card.edited_at is None


def test_a_changed_file_is_a_changed_model():
    file = PublishedFile.objects.filter(exact=True).first()
    file.size_bytes += 1
    file.save()
    assert LanguageModel.objects.get(pk=file.language_model_id).edited_at is not None


def test_a_constant_is_named_by_what_it_is_measured_for():
    constant = Calibration.objects.filter(version_from="0.17").first()
    assert constant.slug.startswith(f"{constant.engine}--{constant.name}--all--all--0.17--")
    assert str(constant) == f"{constant.engine}: {constant.name}"
