"""The section Speed in a real browser: tabs, the live figures around them, the simulator, measured results."""

import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_calculator_page import opened

SPARK = "/?model=gpt-oss-120b&gpu=dgx-spark&ctx=4128&v=1"
DESK = {"width": 1440, "height": 900}


def at_the_section(page, address=SPARK):
    opened(page, address)
    page.locator("#speed").scroll_into_view_if_needed()
    return page


def test_tabs_open_a_curve_each_and_keep_the_keyboard(page):
    at_the_section(page)
    expect(page.locator("#speed-chart h3")).to_have_text("Tokens per second of one user against context")
    page.locator("#tab-context").focus()
    page.keyboard.press("ArrowRight")
    expect(page.locator("#speed-chart h3")).to_have_text("Tokens per second of all users against users")
    expect(page.locator("#tab-users")).to_be_focused()
    expect(page.locator("#tab-users")).to_have_attribute("aria-selected", "true")
    expect(page.locator("#speed-plot.is-shown .main-svg").first).to_be_attached()
    # The question moves on: figures at once, the open curve after them.
    page.locator("#users").fill("3")
    expect(page.locator("#speed-decode .row-note")).to_have_text("each of 3 users")
    expect(page.locator("#speed-chart .point-label.is-here")).to_have_text(re.compile(r"^3: "))
    page.locator("#tpot").fill("200")
    expect(page.locator("#within")).to_contain_text("these targets")
    expect(page).to_have_url(re.compile("tpot=200"))


def test_measured_results_stand_below_the_estimate_with_a_square(page):
    at_the_section(page)
    expect(page.locator("#measured .measured").first).to_contain_text("56.9 tok/s decode")
    expect(page.locator("#speed-chart .mark").first).to_be_attached()


def test_the_simulator_writes_pauses_and_goes_on(page):
    at_the_section(page)
    start, text = page.locator("#feel-start"), page.locator("#feel-text")
    expect(start).to_have_text(re.compile(r"Feel [\d.]+ tok/s"))
    page.locator("#feel label").last.click()
    start.focus()
    page.keyboard.press("Enter")
    expect(start).to_have_text("Pause")
    expect(text).to_have_text(re.compile("^A ship is loaded"))
    page.keyboard.press("Enter")
    written = text.text_content()
    expect(page.locator("#status")).to_have_text(re.compile(r"Paused, \d+ tokens"))
    page.wait_for_timeout(300)
    assert text.text_content() == written
    page.keyboard.press("Enter")
    expect(text).not_to_have_text(written)


def test_with_less_motion_the_text_is_there_at_once(new_page):
    page = new_page(viewport=DESK, reduced_motion="reduce")
    at_the_section(page)
    page.locator("#feel-start").click()
    expect(page.locator("#feel-text")).to_have_text(re.compile("on the paper too.$"))
    expect(page.locator("#feel-clock")).to_have_text(re.compile(r"\d+ tokens: first token after [\d.]+ s"))


def test_without_javascript_links_open_the_tabs_and_whys_are_open(new_page):
    page = new_page(viewport=DESK, java_script_enabled=False)
    page.goto(SPARK)
    expect(page.locator("#why-decode")).to_contain_text("Weights: ")
    page.locator("#tab-prompt").click()
    expect(page.locator("#speed-chart h3")).to_have_text("Time to the first token against the prompt")
    expect(page.locator("#speed-chart svg polyline")).to_be_attached()


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_the_section_has_no_fault_that_axe_can_find(new_page, axe, scheme):
    page = new_page(viewport=DESK, color_scheme=scheme)
    at_the_section(page)
    page.locator("[aria-controls=why-decode]").click()
    page.locator("#feel-start").click()
    expect(page.locator("#feel-text")).to_have_text(re.compile("^A ship"))
    axe(page)
