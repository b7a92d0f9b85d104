"""The catalogue's admin pages in a browser: no complaint under the strict policy, and what needs scripts works."""

import pytest

from catalog.models import LanguageModel


@pytest.fixture
def admin_page(page, client, admin_user, base_url):
    client.force_login(admin_user)
    cookie = client.cookies["sessionid"]
    page.context.add_cookies([{"name": "sessionid", "value": cookie.value, "url": base_url}])
    return page


@pytest.mark.parametrize(
    "table", ["languagemodel", "accelerator", "system", "weightsformat", "engine", "calibration", "lab"]
)
def test_list_and_form_are_silent_under_the_strict_policy(admin_page, table):
    admin_page.goto(f"/admin/catalog/{table}/")
    admin_page.locator("#result_list tbody th a").first.click()
    admin_page.get_by_role("button", name="Save", exact=True).first.wait_for()


def test_a_model_is_saved_after_choosing_its_lab_by_search_and_adding_a_file(admin_page):
    model = LanguageModel.objects.get(slug="tinyllama-1.1b-chat")
    files = model.files.count()
    admin_page.goto(f"/admin/catalog/languagemodel/{model.pk}/change/")
    admin_page.locator(".field-lab .select2-selection").click()
    admin_page.locator(".select2-search__field").fill("upstage")
    admin_page.locator(".select2-results__option", has_text="Upstage").click()
    admin_page.get_by_text("Add another Published file").click()
    row = f"#files-{files}"
    admin_page.locator(f"{row} [name$=format_as_published]").fill("Q4_1")
    admin_page.locator(f"{row} [name$=size_bytes]").fill("701000000")
    admin_page.locator(f"{row} [name$=precision]").fill("exact bytes")
    admin_page.locator(f"{row} [name$=source]").fill("a hub page")
    admin_page.locator(f"{row} [name$=kind]").fill("measured")
    admin_page.get_by_role("button", name="Save", exact=True).first.click()
    admin_page.get_by_text("was changed successfully").wait_for()
    model.refresh_from_db()
    assert (model.lab_id, model.files.count()) == ("upstage", files + 1)
