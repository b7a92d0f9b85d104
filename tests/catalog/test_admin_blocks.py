"""The layers of a model as rows of fields: every shipped architecture comes back as it was, and a change is read."""

import json

import pytest

from catalog.admin.block_rows import sections
from catalog.admin.blocks import assemble, flatten, literal
from catalog.architecture.kinds import MIXERS, MLPS
from catalog.importers.files import read_entries
from catalog.models import LanguageModel
from tests.catalog.admin_pages import errors_of, form_of, llama, text_of, url

NAME = "architecture"


@pytest.fixture(scope="module")
def shipped():
    return {entry["id"]: entry["architecture"] for entry in read_entries()["models"]}


def posted(shown):
    """What a browser sends for the rows that the page shows: every input, blank rows with them."""
    flat = {}

    def take(row, keys_name):
        if row.keys:
            flat[keys_name] = row.keys
        for field in row.inputs:
            if field.kind == "yes_no" and not field.value:
                continue
            flat[field.name] = field.value
        for rows in row.inner:
            flat[f"{rows.name}-N"] = str(rows.count)
            for inner in rows.rows:
                take(inner, f"{inner.prefix}-keys")

    general, lists = shown
    take(general, f"{NAME}-keys")
    for rows in lists:
        flat[f"{rows.name}-N"] = str(rows.count)
        for row in rows.rows:
            take(row, f"{row.prefix}-keys")
    return flat


def test_every_shipped_architecture_comes_back_as_it_was_to_the_letter(shipped):
    assert len(shipped) > 300
    for slug, architecture in shipped.items():
        again, faults = assemble(flatten(architecture, NAME), NAME)
        assert (slug, faults) == (slug, [])
        assert json.dumps(again) == json.dumps(architecture), slug


def test_every_shipped_architecture_survives_the_page_with_its_blank_rows(shipped):
    for slug, architecture in shipped.items():
        again, faults = assemble(posted(sections(flatten(architecture, NAME), NAME)), NAME)
        assert (slug, faults, again) == (slug, [], architecture)


def test_every_kind_has_its_fields(shipped):
    for group, kinds in (("mixers", MIXERS), ("mlps", MLPS)):
        for kind in kinds:
            flat = flatten({group: {"x": {"kind": kind}}}, NAME)
            _, lists = sections(flat, NAME)
            row = next(rows for rows in lists if rows.name.endswith(group)).rows[0]
            assert [field.label for field in row.inputs][:2] == ["name", "kind"]
            assert len(row.inputs) + len(row.inner) > 2 or kind == "none"


@pytest.mark.parametrize(
    "value", [1, 1.5, True, None, "hidden", "4", "true", "", " x", ["key", "value"], {"a": 1}]
)
def test_a_value_of_a_free_object_survives_as_text(value):
    data = {"attention_residual": {"x": value}}
    assert assemble(flatten(data, NAME), NAME)[0]["attention_residual"] == {"x": value}
    assert isinstance(literal(value), str)


def test_what_cannot_be_read_is_named_by_its_place(shipped):
    flat = flatten(shipped["llama-3.1-8b-instruct"], NAME)
    flat |= {
        f"{NAME}-general-hidden_size": "",
        f"{NAME}-mixers-0-heads": "thirty",
        f"{NAME}-mlps-0-kind": "",
        f"{NAME}-blocks-0-name": "",
        f"{NAME}-order-0-count": "",
    }
    mixer, mlp = (flat[f"{NAME}-{group}-0-name"] for group in ("mixers", "mlps"))
    assert assemble(flat, NAME)[1] == [
        "hidden size [elements] is missing.",
        f"Mixers, {mixer}: heads is a whole number, not thirty.",
        f"MLPs, {mlp}: choose a kind.",
        "Blocks, row 1: give it a name.",
        "Order, row 1: count [layers] is missing.",
    ]


def test_runs_are_put_in_by_their_place_and_taken_out(shipped):
    architecture = shipped["deepseek-v3"]
    flat = flatten(architecture, NAME)
    runs = len(architecture["order"])
    flat |= {
        f"{NAME}-order-N": str(runs + 1),
        f"{NAME}-order-{runs}-place": "0.5",
        f"{NAME}-order-{runs}-block": architecture["order"][0][0],
        f"{NAME}-order-{runs}-count": "2",
    }
    assert assemble(flat, NAME)[0]["order"] == [[architecture["order"][0][0], 2], *architecture["order"]]
    flat[f"{NAME}-order-0-gone"] = "on"
    assert assemble(flat, NAME)[0]["order"] == [[architecture["order"][0][0], 2], *architecture["order"][1:]]


@pytest.fixture
def admin(admin_client):
    return admin_client


def rows_of(model):
    """The rows as the model's page shows them, with the digest of what they say."""
    from catalog.admin.architecture import digest

    shown = posted(sections(flatten(model.architecture, NAME), NAME))
    return {**shown, f"{NAME}-was": digest(model.architecture)}


def save(admin, model, **changes):
    data = {**form_of(admin, model), **rows_of(model), **changes}
    return admin.post(url(LanguageModel, "change", model.pk), data, follow=True)


@pytest.mark.django_db
def test_rows_that_nobody_touched_change_nothing(admin):
    models = list(LanguageModel.objects.order_by("pk"))
    for word in ('"parallel"', '"moe"', '"indexer"', '"short_conv"', '"attention_residual"'):
        model = next(row for row in models if word in json.dumps(row.architecture))
        before = model.to_entry()
        assert errors_of(save(admin, model)) == {}
        assert LanguageModel.complete().get(pk=model.pk).to_entry() == before


@pytest.mark.django_db
def test_a_changed_row_is_saved_and_its_sums_are_checked(admin):
    response = save(admin, llama(), **{f"{NAME}-order-0-count": "31"})
    (sentence,) = errors_of(response)["text_parameters"]
    assert sentence.endswith("That is 1 × full-dense too few: layers add up to 31, expected 32.")
    # The page shows the rows as they were sent.
    assert f'id="id_{NAME}-order-0-count" value="31"' in response.content.decode()
    assert errors_of(save(admin, llama(), **{f"{NAME}-general-order_basis": "config file"})) == {}
    assert llama().architecture["order_basis"] == "config file"


@pytest.mark.django_db
def test_the_json_counts_when_it_was_changed_and_both_at_once_are_refused(admin):
    changed = json.dumps({**llama().architecture, "order_basis": "documentation"})
    assert errors_of(save(admin, llama(), architecture=changed)) == {}
    assert llama().architecture["order_basis"] == "documentation"
    response = save(
        admin, llama(), architecture=changed.replace("documentation", "derived"),
        **{f"{NAME}-general-order_basis": "config file"},
    )  # fmt: skip
    assert errors_of(response) == {
        "architecture": ["The rows and the JSON below were both changed, differently. Change one of them."]
    }


@pytest.mark.django_db
def test_choosing_a_kind_shows_its_fields_with_what_is_missing(admin):
    index = len(llama().architecture["mixers"])
    new = {f"{NAME}-mixers-{index}-name": "latent", f"{NAME}-mixers-{index}-kind": "mla"}
    response = save(admin, llama(), **new)
    assert "Mixers, latent: kv lora rank [elements] is missing." in errors_of(response)["architecture"]
    assert f'name="{NAME}-mixers-{index}-kv_lora_rank"' in response.content.decode()


@pytest.mark.django_db
def test_a_new_models_page_has_rows_to_fill_in(admin):
    page = admin.get(url(LanguageModel, "add"))
    assert f'name="{NAME}-mixers-0-kind"' in page.content.decode()
    assert "Runs of equal layers, first layer first." in text_of(page)
