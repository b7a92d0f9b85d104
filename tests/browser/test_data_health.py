"""Data health as a person of the staff sees it: reachable, narrow and wide, light and dark."""

import pytest

WORKED_OUT_MS = 60_000
"""The first look at a state compares every row and size; a busy machine takes its time."""


def log_in(page, admin_user):
    page.goto("/admin/")
    page.get_by_label("Username").fill(admin_user.username)
    page.get_by_label("Password").fill("password")
    page.get_by_role("button", name="Log in").click()
    page.get_by_role("link", name="Data health").click(timeout=WORKED_OUT_MS)
    page.get_by_role("heading", level=1).wait_for()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_it_is_reached_from_the_admin_and_fits_every_width(new_page, admin_user, axe, scheme):
    page = new_page(color_scheme=scheme)
    log_in(page, admin_user)
    for width in (1440, 1024, 390):
        page.set_viewport_size({"width": width, "height": 900})
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
