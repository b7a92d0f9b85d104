"""The section Cloud & cost in a real browser: its fields belong to the question, and nothing typed is lost."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_calculator_page import opened

PAIR = "/?model=llama-3.3-70b-instruct&gpu=rtx-3090&n=2&v=1"


def at_the_section(page, address=PAIR):
    opened(page, address)
    page.locator("#cost").scroll_into_view_if_needed()
    # The devices above come too, and move this section down: a section out of sight does not follow the question.
    expect(page.locator(".hardware-table tbody tr").first).to_be_attached(timeout=30_000)
    page.locator("#cost").scroll_into_view_if_needed()
    expect(page.locator("#cost-fields")).to_be_visible()
    return page


def test_an_input_moves_the_figures_and_the_address(page):
    at_the_section(page)
    rent = page.locator(".cost-right .money-table").first.locator("tr", has_text="Rent").locator("td").first
    expect(rent).to_have_text("$87.55")
    page.locator("#hours").fill("4")
    expect(rent).to_have_text("$43.78", timeout=30_000)  # the devices above are computed for the first time
    expect(page).to_have_url(re.compile(r"hours=4&"))
    expect(page.locator("#hours")).to_be_focused()
    expect(page.locator("#region")).to_have_value("us")


def test_a_value_out_of_bounds_is_said_at_its_field(page):
    at_the_section(page)
    page.locator("#hours").fill("30")
    expect(page.locator("#hours-problem")).to_contain_text("goes from 0 to 24")
    expect(page.locator("#hours")).to_have_value("30")
    page.locator("#hours").fill("3")
    expect(page.locator("#hours-problem")).to_be_empty()


def test_what_an_open_field_stands_for_is_of_the_machine_in_question(page):
    """Two used cards are 1,400 USD, four are 2,800; what the visitor typed stays whatever the machine."""
    at_the_section(page)
    expect(page.locator("#price")).to_have_attribute("placeholder", "1,400")
    page.locator("#years").fill("5")
    page.locator("#n").fill("4")
    expect(page.locator("#price")).to_have_attribute("placeholder", "2,800")
    page.locator("#gpu").evaluate(
        "list => { list.value = 'h100-sxm'; list.dispatchEvent(new Event('change', { bubbles: true })); }"
    )
    expect(page.locator("#source option").first).to_have_text("rented")
    expect(page.locator("#price")).to_have_attribute("placeholder", "313,500")
    expect(page.locator("#years")).to_have_value("5")
    expect(page).to_have_url(re.compile(r"gpu=h100-sxm.*years=5"))


def test_a_link_with_money_keeps_it_while_the_section_is_closed(page):
    opened(page, f"{PAIR}&hours=4&price=2000")
    page.locator("#ctx").fill("4096")
    expect(page).to_have_url(re.compile(r"ctx=4096.*hours=4.*price=2000"))


@pytest.mark.parametrize("width", [320, 390, 768, 1440])
def test_axe_finds_nothing_and_nothing_scrolls_sideways(new_page, axe, width):
    page = at_the_section(new_page(viewport={"width": width, "height": 900}))
    axe(page, within="#cost")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
