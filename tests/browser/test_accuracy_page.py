"""The record of accuracy in a real browser: reachable, usable by keyboard, without scripts, and on a phone."""

import re

import pytest
from playwright.sync_api import expect

from calculator.web.panels.accuracy import record
from tests.web.logs import RECORD, compared, log, report

PHONE = {"width": 390, "height": 844}
SMALLEST = {"width": 320, "height": 700}
DESK = {"width": 1440, "height": 900}
LONG = "NVIDIA-Nemotron-3-Ultra-Distill-Llama-70B-Instruct-AWQ-with-a-name-that-does-not-end"


@pytest.fixture(autouse=True)
def shown(monkeypatch):
    """The record made by hand, and sixty more cases with a long name, so that the list has a rest."""
    many = [
        compared(log(f"{n}", model=LONG, model_id=None, device=f"8 × {LONG}"), "weights", 10, 10 + n / 100)
        for n in range(60)
    ]
    made = report([*RECORD.worst, *many], RECORD.skipped)
    monkeypatch.setattr(record, "memory_report", lambda _snapshot, _logs: made)
    record.forget()
    yield
    record.forget()


def drawn(page):
    """Wait until Plotly has taken over."""
    page.locator("#errors-plot.is-shown").wait_for(state="attached")


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESK, PHONE], ids=["desk", "phone"])
def test_the_page_is_accessible(new_page, axe, scheme, viewport):
    page = new_page(viewport=viewport, color_scheme=scheme)
    page.goto("/accuracy/")
    drawn(page)
    axe(page)


def test_an_empty_choice_is_accessible(new_page, axe):
    page = new_page(viewport=PHONE)
    page.goto("/accuracy/?engine=lm-studio&part=parts&attention=what")
    expect(page.locator("#nothing")).to_contain_text("No log shows this yet")
    axe(page)


@pytest.mark.parametrize(
    "viewport", [SMALLEST, PHONE, {"width": 1024, "height": 768}, DESK], ids=lambda v: str(v["width"])
)
@pytest.mark.parametrize("address", ["/accuracy/", "/accuracy/?all=1", "/accuracy/?engine=ktransformers"])
def test_the_page_never_scrolls_sideways(new_page, viewport, address):
    page = new_page(viewport=viewport)
    page.goto(address)
    for details in page.locator("details").all():
        details.evaluate("element => element.open = true")
    assert page.evaluate("document.documentElement.scrollWidth") == viewport["width"]


def test_a_filter_changes_the_record_and_the_address_and_keeps_the_focus(page):
    page.goto("/accuracy/")
    drawn(page)
    page.focus("#filter-engine")
    page.select_option("#filter-engine", "llama.cpp")
    expect(page.locator(".record-shown")).to_contain_text("2 figures from 1 log")
    expect(page).to_have_url(re.compile(r"/accuracy/\?.*engine=llama\.cpp"))
    expect(page.locator("[data-units=gb]")).to_have_attribute("href", "/accuracy/?engine=llama.cpp&units=gb")
    expect(page.locator("#filter-engine")).to_be_focused()
    expect(page.locator("#status")).to_contain_text("2 figures")
    expect(page.locator(".cases tbody tr")).to_have_count(2)
    drawn(page)  # the chart of the new record too


def test_a_share_is_chosen_by_keyboard(page):
    page.goto("/accuracy/")
    page.focus("input[name=share][value=check]")
    page.keyboard.press("ArrowRight")
    expect(page.locator(".record-body")).to_contain_text("their errors flatter")
    expect(page.locator(".cases tbody tr")).to_have_count(1)


def test_the_tables_can_be_scrolled_by_keyboard(new_page):
    page = new_page(viewport=SMALLEST)
    page.goto("/accuracy/")
    region = page.locator("#by-figure [role=region]")
    region.focus()
    expect(region).to_be_focused()
    assert region.evaluate("box => box.scrollWidth > box.clientWidth")
    page.keyboard.press("ArrowRight")
    expect(region).not_to_have_js_property("scrollLeft", 0)


def test_reasons_open_by_keyboard(page):
    page.goto("/accuracy/#left-out")
    page.locator("#left-out summary").first.focus()
    page.keyboard.press("Enter")
    expect(page.locator("#left-out details").first).to_have_attribute("open", "")
    expect(page.locator("#left-out code").first).to_be_visible()


def test_without_scripts_the_filters_are_a_form_and_the_chart_is_drawn(new_page):
    page = new_page(java_script_enabled=False)
    page.goto("/accuracy/")
    assert page.locator("svg .marks use").count() == 3
    page.select_option("#filter-part", "parts")
    page.click("#filters button")
    expect(page).to_have_url(re.compile(r"part=parts"))
    expect(page.locator(".cases tbody tr")).to_have_count(3)
    page.goto("/accuracy/")
    page.click("text=Show all")
    expect(page.locator(".cases tbody tr")).to_have_count(66)


def test_a_case_leads_to_its_question_and_to_its_source(page):
    page.goto("/accuracy/?part=kv_cache&engine=vllm")
    expect(page.locator(".is-source a")).to_have_attribute("href", "https://github.com/someone/logs/issues/5")
    page.click(".ask")
    expect(page.locator("#asked")).to_contain_text("Llama 3.1 8B Instruct")


def test_a_mark_leads_to_its_row(page):
    page.goto("/accuracy/?part=parts")
    drawn(page)
    mark = page.locator("#errors-plot .scatterlayer .point").first
    box = mark.bounding_box()
    page.mouse.click(box["x"] + box["width"] / 2, box["y"] + box["height"] / 2)
    expect(page).to_have_url(re.compile(r"#case-mem-\w+-parts-per_gpu$"))
    assert page.locator(".cases tr:target").count() == 1


def test_the_chart_follows_the_theme(page):
    page.goto("/accuracy/")
    drawn(page)
    mark = page.locator("#errors-plot .scatterlayer .point").first
    before = mark.evaluate("element => getComputedStyle(element).fill")
    page.emulate_media(color_scheme="dark")
    expect(mark).not_to_have_css("fill", before)


def test_a_failed_filter_loads_the_page(page):
    page.goto("/accuracy/")
    drawn(page)  # so the modules run
    page.allowed.append("503")
    page.route(
        "**/accuracy/?*",
        lambda route: (
            route.fulfill(status=503) if route.request.resource_type != "document" else route.continue_()
        ),
    )
    page.select_option("#filter-engine", "llama.cpp")
    expect(page.locator(".cases tbody tr")).to_have_count(2)


def test_a_range_on_the_calculator_leads_to_its_record(page):
    page.goto("/?engine=llama.cpp&v=1")
    page.focus("#part-weights .range a")
    page.keyboard.press("Enter")
    expect(page).to_have_url(re.compile(r"/accuracy/\?engine=llama\.cpp&part=weights"))


def test_on_a_phone_nothing_in_the_card_takes_the_focus(new_page):
    page = new_page(viewport=PHONE)
    page.goto("/")
    expect(page.locator(".foot .evidence")).to_be_visible()
    assert page.locator("#verdict-card a:visible, #verdict-card button:visible").count() == 0
