"""The calculator in a real browser: what only a browser shows."""

import re
import time
from itertools import pairwise

import pytest
from playwright.sync_api import expect

KIMI = "/?model=kimi-k3.1-pro&gpu=h100-sxm&n=32&v=1"
DOES_NOT_FIT = "/?model=deepseek-r1&gpu=h100-sxm&n=8&v=1"
UNSUPPORTED = "/?model=llama-3.1-8b-instruct&gpu=h100-sxm&n=3&engine=vllm&split=tensor&v=1"

PHONE = {"width": 390, "height": 844}
SMALLEST = {"width": 320, "height": 700}
DESK = {"width": 1440, "height": 900}


def ready(page):
    """Wait until the modules run: the slider has coloured its track."""
    page.locator(".slider[style*='--v']").first.wait_for(state="attached")
    return page


def opened(page, address="/"):
    page.goto(address)
    return ready(page)


def asked(page):
    return page.locator("#asked")


def permalink(page):
    return page.locator("#verdict-card").get_attribute("data-permalink")


# --- Sliders and number fields ----------------------------------------------------------------------------------------


def along(page, name, share):
    """A point of the slider's track, in pixels of the page."""
    box = page.locator(f".slider[data-slider={name}]").bounding_box()
    return box["x"] + share * box["width"], box["y"] + box["height"] / 2


def test_figures_change_while_the_slider_is_dragged_and_the_drag_survives(page):
    opened(page, KIMI)
    x, y = along(page, "ctx", 0.3)
    page.mouse.move(x, y)
    page.mouse.down()
    values, questions = set(), set()
    for step in range(1, 13):
        page.mouse.move(along(page, "ctx", 0.3 + step / 20)[0], y)
        page.wait_for_timeout(60)
        values.add(page.input_value("#ctx"))
        questions.add(asked(page).inner_text())
    page.mouse.up()
    assert len(values) > 8
    assert len(questions) > 4  # answers came during the drag, and the thumb went on after them
    expect(asked(page)).to_contain_text(f"{page.input_value('#ctx')} tokens")


def test_a_part_of_the_bar_stays_the_same_rectangle(page):
    opened(page, KIMI)
    page.evaluate("document.getElementById('bar-kv').mark = 'the same'")
    before = page.get_attribute("#bar-kv", "width")
    page.fill("#ctx", "262144")
    expect(asked(page)).to_contain_text("262,144 tokens")
    assert page.evaluate("document.getElementById('bar-kv').mark") == "the same"
    assert page.get_attribute("#bar-kv", "width") != before


@pytest.mark.parametrize(
    ("key", "value"),
    [
        ("ArrowRight", "8,900"),
        ("ArrowLeft", "7,500"),
        ("PageUp", "16,384"),
        ("PageDown", "4,096"),
        ("Home", "1,024"),
        ("End", "1,048,576"),
    ],
)
def test_keys_move_the_slider_by_an_eighth_of_an_octave_an_octave_or_to_its_end(page, key, value):
    opened(page, KIMI)
    page.focus("#ctx-range")
    page.keyboard.press(key)
    assert page.input_value("#ctx") == value
    expect(asked(page)).to_contain_text(f"{value} tokens")
    assert page.get_attribute("#ctx-range", "aria-valuetext").startswith(f"{value} tokens, ")


def test_the_pointer_snaps_to_a_tick(page):
    opened(page, KIMI)
    x, y = along(page, "users", 0.6)
    page.mouse.click(x + 5, y)
    assert page.input_value("#users") == "64"


@pytest.mark.parametrize(
    ("typed", "value"),
    [("128K", "131,072"), ("8k", "8,192"), ("1M", "1,048,576"), ("20,000", "20,000"), ("max", "1,048,576")],
)
def test_the_number_field_takes_numbers_as_people_write_them(page, typed, value):
    opened(page, KIMI)
    page.fill("#ctx", typed)
    page.keyboard.press("Enter")
    assert page.input_value("#ctx") == value
    expect(asked(page)).to_contain_text(f"{value} tokens")


def test_longest_sets_the_longest_context_that_fits(page):
    opened(page, "/?model=llama-3.3-70b-instruct&gpu=rtx-3090&n=2&v=1")
    page.click("#ctx-longest")
    longest = page.get_attribute("#ctx-words", "data-longest")
    expect(asked(page)).to_contain_text(f"{int(longest):,} tokens")
    expect(page.locator("#verdict-card .chip")).to_have_text("Fits")


def test_plus_and_minus_stop_at_counts_that_machines_have(page):
    opened(page, KIMI)
    page.click("[data-step='1']")
    expect(asked(page)).to_contain_text("48 × ")
    page.click("[data-step='-1']")
    page.click("[data-step='-1']")
    expect(asked(page)).to_contain_text("24 × ")


# --- Choosing ---------------------------------------------------------------------------------------------------------


def test_hardware_is_chosen_by_keyboard_alone(page):
    opened(page, KIMI)
    page.focus("#gpu-button")
    page.keyboard.press("Enter")
    expect(page.locator("#picker-input")).to_be_focused()
    page.keyboard.type("h200 sxm")
    expect(page.locator("#picker-list u").first).to_have_text("H200")
    page.keyboard.press("ArrowDown")
    page.keyboard.press("ArrowUp")
    active = page.get_attribute("#picker-input", "aria-activedescendant")
    expect(page.locator(f"#{active} .picker-name")).to_have_text("NVIDIA H200 SXM 141 GB")
    page.keyboard.press("Enter")
    expect(page.locator("#gpu-button")).to_be_focused()
    expect(page.locator("#gpu-name")).to_have_text("NVIDIA H200 SXM 141 GB")
    expect(page.locator("#gpu-facts")).to_contain_text("4,800")
    expect(asked(page)).to_contain_text("H200")


def test_one_wrong_letter_is_forgiven(page):
    opened(page)
    page.click("#model-button")
    page.keyboard.type("deepsek r1")
    expect(page.locator("#picker-list [role=option]", has_text=re.compile("^DeepSeek-R1"))).not_to_have_count(
        0
    )


def test_escape_closes_the_picker_and_changes_nothing(page):
    opened(page, KIMI)
    page.click("#model-button")
    page.keyboard.type("llama")
    page.keyboard.press("Escape")
    expect(page.locator("#picker")).to_be_hidden()
    expect(page.locator("#model-button")).to_be_focused()
    assert page.input_value("#model") == "kimi-k3.1-pro"


def test_hardware_kept_as_yours_stands_first_the_next_time(page):
    opened(page)
    page.click("#gpu-button")
    page.keyboard.type("gh200")
    page.locator("#picker-list .star").first.click()
    page.keyboard.press("Escape")
    page.reload()
    ready(page).click("#gpu-button")
    expect(page.locator("#picker-list .picker-heading").first).to_have_text("Yours")
    expect(page.locator("#picker-list .picker-name").first).to_contain_text("GH200")


def test_lists_follow_the_engine_and_keep_what_is_still_possible(page):
    opened(page, "/?model=llama-3.1-8b-instruct&gpu=h100-sxm&v=1")
    page.focus("#engine")
    page.select_option("#engine", "llama.cpp")
    expect(asked(page)).to_contain_text("llama.cpp")
    expect(page.locator("#quant option", has_text="Q4_K_M")).not_to_have_count(0)
    expect(page.locator("#engine")).to_have_value("llama.cpp")
    expect(page.locator("#engine")).to_be_focused()


def test_a_changed_knob_is_marked_and_can_be_reset(page):
    opened(page, KIMI)
    page.click("#advanced summary")
    page.fill("#util", "0.8")
    page.keyboard.press("Tab")
    expect(page.locator("#advanced-summary")).to_have_text("1 changed")
    page.click("[data-reset=util]")
    expect(page.locator("#advanced-summary")).not_to_have_text("1 changed")
    assert page.input_value("#util") == ""


# --- Address and history ----------------------------------------------------------------------------------------------


def test_the_address_follows_at_rest_and_gives_the_same_answer_again(page):
    opened(page, KIMI)
    page.fill("#ctx", "65536")
    page.wait_for_url("**ctx=65536**")
    assert page.url.endswith(permalink(page))
    sentence, question = page.inner_text("#verdict"), asked(page).inner_text()
    page.reload()
    assert (page.inner_text("#verdict"), asked(page).inner_text()) == (sentence, question)
    assert page.input_value("#ctx") == "65,536"


def test_back_returns_to_the_model_before(page):
    opened(page, KIMI)
    page.click("#model-button")
    page.keyboard.type("kimi k2.6")
    page.keyboard.press("Enter")
    page.wait_for_url("**model=kimi-k2.6**")
    page.go_back()
    expect(asked(page)).to_contain_text("Kimi K3.1 Pro")
    assert page.input_value("#model") == "kimi-k3.1-pro"


def test_an_old_link_with_bad_values_is_left_alone_until_the_next_change(page):
    opened(page, "/?model=kimi-k3.1-pro&gpu=h100-sxm&n=32&ctx=-5")
    page.wait_for_timeout(600)
    assert page.url.endswith("ctx=-5")
    expect(page.locator("#problems")).to_be_visible()
    expect(page.locator("#ctx-problem")).not_to_be_empty()
    assert page.get_attribute("#ctx", "aria-invalid") == "true"
    page.fill("#ctx", "4096")
    expect(page.locator("#ctx-problem")).to_be_empty()
    expect(page.locator("#problems")).to_have_count(0)
    assert page.get_attribute("#ctx", "aria-invalid") is None


# --- The order of answers, and no answer ------------------------------------------------------------------------------


def test_a_slow_first_answer_never_overwrites_a_newer_one(page):
    opened(page, KIMI)
    slow = []

    def delay_first(route):
        if "hx-request" in route.request.headers and not slow:
            slow.append(route.request.url)
            time.sleep(0.4)
        route.continue_()

    page.route("**/?*", delay_first)
    page.fill("#ctx", "16384")
    page.fill("#ctx", "32768")
    page.fill("#ctx", "65536")
    expect(asked(page)).to_contain_text("65,536 tokens")
    page.wait_for_timeout(600)
    expect(asked(page)).to_contain_text("65,536 tokens")
    assert page.input_value("#ctx") == "65536"


def test_a_lost_answer_is_said_and_can_be_asked_again(page):
    page.allowed += ["ERR_FAILED", "Failed to fetch"]
    opened(page, KIMI)
    shown = asked(page).inner_text()
    page.route("**/?*", lambda route: route.abort())
    page.fill("#ctx", "16384")
    expect(page.locator("#failure")).to_contain_text("The answer did not arrive. Your values are kept.")
    expect(page.locator("#failure .still-shown")).to_have_text(shown)
    assert page.input_value("#ctx") == "16384"
    page.unroute("**/?*")
    page.click("#again")
    expect(page.locator("#failure")).to_be_hidden()
    expect(asked(page)).to_contain_text("16,384 tokens")


def test_the_live_region_speaks_once_the_hand_rests(page):
    opened(page, KIMI)
    expect(page.locator("#status")).to_be_empty()
    page.fill("#ctx", "16384")
    expect(asked(page)).to_contain_text("16,384 tokens")
    expect(page.locator("#status")).to_have_text(page.get_attribute("#verdict-card", "data-spoken"))


# --- Without JavaScript -----------------------------------------------------------------------------------------------


def test_the_form_gives_the_same_answer_without_javascript(new_page):
    plain = new_page(java_script_enabled=False, viewport=DESK)
    plain.goto("/")
    plain.select_option("#model", "kimi-k3.1-pro")
    plain.select_option("#gpu", "h100-sxm")
    plain.fill("#n", "32")
    plain.fill("#ctx", "128K")
    plain.click("button:text-is('Compute')")
    live = opened(new_page(viewport=DESK), "/?model=kimi-k3.1-pro&gpu=h100-sxm&n=32&ctx=131072&v=1")
    assert plain.inner_text("#verdict") == live.inner_text("#verdict")
    assert plain.inner_text("#asked") == live.inner_text("#asked")
    assert plain.locator("#why-kv_cache").is_visible()
    assert live.locator("#why-kv_cache").is_hidden()
    assert live.locator("button:text-is('Compute')").is_hidden()


# --- Around the answer ------------------------------------------------------------------------------------------------


def test_copy_link_copies_the_permalink_and_says_so(new_page):
    page = opened(new_page(viewport=DESK, permissions=["clipboard-read", "clipboard-write"]), KIMI)
    page.click("#verdict-card [data-copy]")
    expect(page.locator("#verdict-card [data-copy]")).to_have_text("Copied")
    expect(page.locator("#status")).to_have_text("Copied")
    assert page.evaluate("navigator.clipboard.readText()").endswith(permalink(page))


def test_copy_link_offers_a_selected_field_where_the_clipboard_is_forbidden(page):
    opened(page, KIMI)
    page.evaluate("() => { navigator.clipboard.writeText = () => Promise.reject(); }")
    page.click("#verdict-card [data-copy]")
    expect(page.locator(".copy-field")).to_be_focused()
    assert page.input_value(".copy-field").endswith(permalink(page))


def test_why_opens_and_stays_open_through_the_next_answer(page):
    opened(page, KIMI)
    page.click("#part-kv_cache button")
    page.fill("#ctx", "65536")
    expect(asked(page)).to_contain_text("65,536 tokens")
    expect(page.locator("#why-kv_cache")).to_be_visible()
    assert page.get_attribute("#part-kv_cache button", "aria-expanded") == "true"


def test_use_this_leads_to_an_answer_that_fits_and_puts_the_focus_on_it(page):
    opened(page, DOES_NOT_FIT)
    page.locator("#would-fit a", has_text="Use this").first.click()
    expect(page.locator("#verdict-card .chip")).to_have_text(re.compile("Fits|Tight"))
    expect(page.locator("#verdict")).to_be_focused()


def test_colours_follow_the_system_until_they_are_chosen_and_stay_chosen(new_page):
    page = opened(new_page(viewport=DESK, color_scheme="dark"))
    paper = "getComputedStyle(document.documentElement).backgroundColor"
    dark = page.evaluate(paper)
    page.click("#theme-switch")
    light = page.evaluate(paper)
    assert light != dark
    page.reload()
    assert page.evaluate(paper) == light


def test_gb_swaps_every_figure_and_stays_while_the_slider_moves(page):
    opened(page, KIMI)
    expect(page.locator(".figs .unit").first).to_have_text("GiB")
    page.click("[data-units=gb]")
    expect(page.locator(".figs .unit").first).to_have_text("GB")
    page.fill("#ctx", "65536")
    expect(asked(page)).to_contain_text("65,536 tokens")
    expect(page.locator(".figs .unit").first).to_have_text("GB")
    assert "units=gb" in permalink(page)


def test_single_keys_work_outside_fields_and_can_be_switched_off(page):
    opened(page)
    page.keyboard.press("c")
    expect(page.locator("#ctx")).to_be_focused()
    page.keyboard.type("m")  # typed into the field
    expect(page.locator("#picker")).to_be_hidden()
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("?")
    expect(page.locator("#keys")).to_be_visible()
    page.click("label:has(#keys-on)")
    page.keyboard.press("Escape")
    page.keyboard.press("h")
    expect(page.locator("#picker")).to_be_hidden()


def test_the_dock_appears_on_a_phone_when_the_bar_has_left_the_screen(new_page):
    page = opened(new_page(viewport=PHONE), KIMI)
    expect(page.locator("#dock")).to_be_hidden()
    page.locator("#users-range").scroll_into_view_if_needed()
    page.mouse.wheel(0, 700)
    expect(page.locator("#dock")).to_be_visible()
    before = page.inner_text("#dock p")
    page.fill("#ctx", "1M")
    page.keyboard.press("Tab")
    expect(page.locator("#dock p")).not_to_have_text(before)
    page.click("#dock a")
    expect(page.locator("#dock")).to_be_hidden()


def test_the_chart_is_upgraded_in_its_own_box_and_follows_the_answer(page):
    opened(page, KIMI)
    box = page.locator("#context-chart .chart-box").bounding_box()
    page.locator("#context-chart .chart-box").scroll_into_view_if_needed()
    expect(page.locator("#context-chart .chart-plot.is-shown .main-svg").first).to_be_visible()
    assert page.locator("#context-chart .chart-box").bounding_box()["height"] == box["height"]
    page.fill("#ctx", "65536")
    expect(
        page.locator("#context-chart .chart-plot .annotation-text", has_text="65,536 tokens")
    ).to_have_count(1)
    assert page.locator("text=Produced with Plotly").count() == 0


# --- For everybody ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("scheme", ["light", "dark"])
@pytest.mark.parametrize("viewport", [DESK, PHONE, SMALLEST], ids=["1440", "390", "320"])
@pytest.mark.parametrize(
    "address", [KIMI, DOES_NOT_FIT, UNSUPPORTED], ids=["fits", "does-not-fit", "unsupported"]
)
def test_page_has_no_fault_that_axe_can_find(new_page, axe, address, viewport, scheme):
    page = opened(new_page(viewport=viewport, color_scheme=scheme), address)
    page.locator("#context-chart .chart-box").scroll_into_view_if_needed()
    expect(page.locator("#context-chart .chart-plot.is-shown")).to_be_visible()
    page.evaluate("window.scrollTo(0, 0)")
    axe(page)


@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_open_parts_have_no_fault_that_axe_can_find(new_page, axe, scheme):
    page = opened(
        new_page(viewport=DESK, color_scheme=scheme), "/?model=kimi-k3.1-pro&gpu=h100-sxm&n=32&ctx=-5"
    )
    page.click("#advanced summary")
    page.click("#part-kv_cache button")
    axe(page)
    page.click("#gpu-button")
    page.keyboard.type("h2")
    axe(page, within="#picker")
    page.keyboard.press("Escape")
    page.evaluate("document.activeElement.blur()")
    page.keyboard.press("?")
    axe(page, within="#keys")


@pytest.mark.parametrize("width", [320, 390, 768, 920, 1024, 1200, 1440, 2560])
@pytest.mark.parametrize("address", [KIMI, DOES_NOT_FIT])
def test_page_never_scrolls_sideways(new_page, address, width):
    page = opened(new_page(viewport={"width": width, "height": 900}), address)
    page.click("#advanced summary")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


# --- Measures ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("address", ["/", KIMI])
def test_the_whole_question_stands_on_a_desk_without_scrolling(new_page, address):
    page = opened(new_page(viewport=DESK), address)
    assert page.evaluate("(q => q.scrollHeight <= q.clientHeight)(document.querySelector('.question'))")
    for part in ("#advanced", ".question-foot a"):
        box = page.locator(part).bounding_box()
        assert box["y"] + box["height"] <= DESK["height"]


FIGURES = """() => {
  const row = document.querySelector(".figs").getBoundingClientRect();
  return [...document.querySelectorAll(".figs > div")].map((cell) => {
    const box = cell.getBoundingClientRect(), style = getComputedStyle(cell);
    return {left: box.left - row.left, top: box.top - row.top, text: cell.querySelector("dt").getBoundingClientRect().left - box.left,
            lines: [style.borderTopWidth, style.borderLeftWidth]};
  });
}"""


@pytest.mark.parametrize("width", [390, 920, 1024, 1179, 1180, 1440, "paper"])
@pytest.mark.parametrize("address", ["/", KIMI, DOES_NOT_FIT])
def test_key_figures_are_parted_by_lines_and_never_framed(new_page, address, width):
    page = opened(new_page(viewport={"width": 720 if width == "paper" else width, "height": 900}), address)
    if width == "paper":
        page.emulate_media(media="print")
    cells = page.evaluate(FIGURES)
    assert {tuple(cell["lines"]) for cell in cells} == {("1px", "1px")}
    # In the first column and the first row these lines lie just outside, where they are cut.
    assert min(cell["left"] for cell in cells) == pytest.approx(-1, abs=0.5)
    assert min(cell["top"] for cell in cells) == pytest.approx(0, abs=0.5)
    assert len({round(cell["text"]) for cell in cells}) == 1
    assert page.evaluate("getComputedStyle(document.querySelector('.figs')).overflow") == "clip"


@pytest.mark.parametrize("viewport", [DESK, PHONE, SMALLEST], ids=["1440", "390", "320"])
@pytest.mark.parametrize(
    ("address", "end"), [(KIMI, "1M"), ("/", "128K"), ("/?model=qwen3-32b", "40K")], ids=["1M", "128K", "40K"]
)
def test_numbers_under_the_chart_never_touch_and_name_its_end(new_page, viewport, address, end):
    page = opened(new_page(viewport=viewport), address)
    page.locator("#context-chart .chart-box").scroll_into_view_if_needed()
    expect(page.locator("#context-chart .chart-plot.is-shown .xtick").first).to_be_visible()
    for ticks in ("#context-chart .chart-svg .x-tick", "#context-chart .chart-plot .xtick"):
        boxes = [box for tick in page.locator(ticks).all() if (box := tick.bounding_box())]
        assert len(boxes) >= 2
        assert all(a["x"] + a["width"] + 2 < b["x"] for a, b in pairwise(boxes))
        assert page.locator(ticks).last.text_content() == end


def test_paper_names_the_whole_address_and_the_catalogue(page, base_url):
    opened(page, KIMI)
    page.emulate_media(media="print")
    expect(page.locator(".on-paper")).to_be_visible()
    expect(page.locator(".on-paper")).to_contain_text(f"{base_url}{permalink(page)}")
    expect(page.locator(".on-paper")).to_contain_text("Catalogue version")


def test_the_csv_of_this_answer_is_linked(page):
    opened(page, KIMI)
    page.fill("#ctx", "65536")
    expect(asked(page)).to_contain_text("65,536 tokens")
    assert page.get_attribute("#memory-csv", "href") == f"/memory.csv{permalink(page)[1:]}"


def test_half_a_token_is_rounded_alike_in_the_field_and_in_the_answer(page):
    opened(page, "/?ctx=8.5")
    assert page.input_value("#ctx") == "9"
    page.fill("#ctx", "10.5")
    page.keyboard.press("Enter")
    expect(asked(page)).to_contain_text("11 tokens")
    assert page.input_value("#ctx") == "11"
