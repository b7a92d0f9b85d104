"""The section Hardware in a real browser: it comes when somebody is near, follows the question, keeps its view."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_calculator_page import opened

SEVENTY = "/?model=llama-3.3-70b-instruct&gpu=rtx-3090&n=2&v=1"


def at_the_section(page, address=SEVENTY):
    opened(page, address)
    page.locator("#hardware").scroll_into_view_if_needed()
    expect(page.locator(".hardware-table tbody tr").first).to_be_attached()
    return page


def test_it_is_a_link_until_somebody_comes_near(page):
    opened(page, SEVENTY)
    expect(page.locator("#hardware .later-link a")).to_have_attribute("href", re.compile("show=hardware"))
    page.locator("#hardware").scroll_into_view_if_needed()
    expect(page.locator(".hardware-table .is-mine")).to_contain_text("GeForce RTX 3090")


def test_a_filter_and_an_order_stay_while_the_question_moves(page):
    at_the_section(page)
    page.locator("#pill-kind-2").click()
    expect(page.locator("#pill-kind-2")).to_have_attribute("aria-current", "true")
    expect(page.locator("#pill-kind-2")).to_be_focused()
    page.locator("#sort-8").focus()
    page.keyboard.press("Enter")
    expect(page.locator("[aria-sort]")).to_have_text("Price")
    page.locator("#ctx").fill("32768")
    expect(page).to_have_url(re.compile("ctx=32768"))
    page.locator("#hardware").scroll_into_view_if_needed()
    expect(page.locator(".hardware-table .is-mine td").first).to_have_text(re.compile("^3"))
    expect(page.locator("[aria-sort]")).to_have_text("Price")
    expect(page.locator("#pill-kind-2")).to_have_attribute("aria-current", "true")


def test_a_device_is_taken_by_its_link(page):
    at_the_section(page)
    page.locator("#hardware-all").click()
    page.get_by_role("link", name="GeForce RTX 5090", exact=True).first.click()
    expect(page).to_have_url(re.compile("gpu=rtx-5090"))


def test_without_a_script_the_link_opens_it(new_page):
    page = new_page(java_script_enabled=False)
    page.goto(SEVENTY)
    page.locator("#hardware .later-link a").click()
    expect(page.locator(".hardware-table")).to_be_visible()
    page.locator("#pill-kind-5").click()
    expect(page.locator("#pill-kind-5")).to_have_attribute("aria-current", "true")


@pytest.mark.parametrize("width", [320, 390, 768, 1440])
def test_axe_finds_nothing_and_nothing_scrolls_sideways(new_page, axe, width):
    page = at_the_section(new_page(viewport={"width": width, "height": 900}))
    axe(page, within="#hardware")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
