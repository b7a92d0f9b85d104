"""One change away in a real browser: below the card, following the question at rest, one click from the next answer."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_calculator_page import opened

SEVENTY = "/?model=llama-3.3-70b-instruct&gpu=rtx-3090&n=2&v=1"


def test_a_link_leads_to_the_changed_question_and_puts_the_focus_on_its_verdict(page):
    opened(page, SEVENTY)
    page.locator("#one-change a").first.click()
    expect(page).to_have_url(re.compile(r"gpu=rtx-3090&v=1"))
    expect(page.locator("#verdict-card .chip").first).to_have_text("Does not fit")
    expect(page.locator("#verdict")).to_be_focused()
    expect(page.locator("#one-change")).to_have_count(0)


def test_it_follows_a_moving_question_and_gives_way_to_what_would_fit(page):
    opened(page, SEVENTY)
    page.fill("#ctx", "4096")
    expect(page.locator("#one-change a").last).to_have_attribute("href", re.compile("ctx=4096"))
    page.fill("#ctx", "65536")
    expect(page.locator("#would-fit .ways li").first).to_be_visible()
    expect(page.locator("#one-change")).to_have_count(0)
    page.fill("#ctx", "4096")
    expect(page.locator("#one-change a").first).to_be_visible()
    expect(page.locator("#would-fit")).to_have_count(0)


def test_the_page_holds_still_while_the_links_follow(page):
    opened(page, SEVENTY)
    bar = "document.getElementById('section-bar').getBoundingClientRect().top"
    before = page.evaluate(bar)
    page.fill("#ctx", "8000")
    expect(page.locator("#one-change a").last).to_have_attribute("href", re.compile("ctx=8000"))
    assert page.evaluate(bar) == before


def test_it_stands_in_the_first_page_without_a_script(new_page):
    page = new_page(java_script_enabled=False)
    page.goto(SEVENTY)
    expect(page.get_by_role("link", name="12.2K context")).to_be_visible()


@pytest.mark.parametrize("width", [320, 390, 1024, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing(new_page, axe, width, scheme):
    page = opened(new_page(viewport={"width": width, "height": 900}, color_scheme=scheme), SEVENTY)
    axe(page, within="#one-change")
    assert page.evaluate("document.documentElement.scrollWidth") <= width
