"""Data health as a person of the staff sees it: reachable, narrow and wide, light and dark."""

import pytest


def log_in(page, admin_user):
    page.goto("/admin/")
    page.get_by_label("Username").fill(admin_user.username)
    page.get_by_label("Password").fill("password")
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("link", name="Data health").click()
    page.get_by_role("heading", level=1).wait_for()


@pytest.mark.parametrize(
    ("width", "scheme"), [(1440, "light"), (1440, "dark"), (1024, "light"), (390, "light"), (390, "dark")]
)
def test_it_is_reached_from_the_admin_and_fits_every_width(new_page, admin_user, axe, width, scheme):
    page = new_page(viewport={"width": width, "height": 900}, color_scheme=scheme)
    log_in(page, admin_user)
    axe(page)
    assert page.evaluate("document.documentElement.scrollWidth") <= width


def test_a_row_leads_to_its_form_and_a_count_to_its_table(page, admin_user):
    log_in(page, admin_user)
    page.get_by_role("link", name="Published sizes more than").click()
    assert page.url.endswith("#odd_size")
    row = page.locator("#odd_size tbody tr").first
    name = row.get_by_role("link").inner_text()
    row.get_by_role("link").click()
    page.wait_for_url("**/admin/catalog/languagemodel/*/change/")
    assert page.locator(".field-slug").inner_text().count(name) == 1
