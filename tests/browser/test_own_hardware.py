"""Verdicts in the pickers, and hardware that a visitor keeps: in this browser only, one tap away on every page."""

import json
import re

import pytest
from playwright.sync_api import expect

from tests.browser.test_calculator_page import opened, ready

SEVENTY = "/?model=llama-3.3-70b-instruct&gpu=rtx-3090&n=2&v=1"
WITH_LINK = "/?gpu=rtx-3090&n=2#keep=rtx-3090|2|64|linux;mac-m4-max-128|1"
STORED = "JSON.parse(localStorage.getItem('stowage.yours.gpu') ?? '[]')"


def option(page, name):
    named = page.locator(".picker-name", has_text=re.compile(f"^{re.escape(name)}$"))
    return page.locator("#picker-list [role=option]", has=named)


def in_hardware(page, address=SEVENTY):
    opened(page, address).click("#gpu-button")
    expect(page.locator("#picker-list .chip").first).to_be_visible()
    return page


# --- The chips --------------------------------------------------------------------------------------------------------


def test_every_device_says_how_many_hold_the_question(page):
    in_hardware(page)
    expect(option(page, "GeForce RTX 3090").locator(".chip")).to_have_text("2 fit")
    expect(page.locator("#picker-question")).to_have_text(
        "for Llama 3.3 70B Instruct, 8,192 tokens, 1 request"
    )


def test_models_say_whether_they_run_on_the_hardware(page):
    opened(page, "/?gpu=rtx-3090&v=1").click("#model-button")
    page.keyboard.type("deepseek-r1")
    expect(option(page, "DeepSeek-R1").locator(".chip")).to_have_text(re.compile("^short of"))
    page.locator("#picker-rail button", has_text="Runs on this hardware").click()
    page.fill("#picker-input", "")
    expect(page.locator("#picker-list .chip.is-does_not_fit")).to_have_count(0)
    expect(page.locator("#picker-list .chip.is-fits").first).to_be_visible()


def test_what_fits_comes_before_what_does_not(page):
    in_hardware(page, "/?model=deepseek-r1&v=1")
    page.locator("#picker-rail button", has_text="NVIDIA data centre").click()
    codes = (
        page.locator("#picker-list .picker-section")
        .last.locator(".chip")
        .evaluate_all(
            "(chips) => chips.map((chip) => ['is-fits', 'is-tight', 'is-offload'].some((name) => chip.classList.contains(name)))"
        )
    )
    assert True in codes
    assert codes == sorted(codes, reverse=True)


def test_the_list_can_be_used_while_the_verdicts_are_on_their_way_and_does_not_move_then(page):
    held = []
    page.route("**/picker/**", lambda route: held.append(route))  # noqa: PLW0108 - playwright wants a function
    opened(page, "/?model=deepseek-r1&v=1").click("#gpu-button")
    names = page.locator("#picker-list .picker-name")
    page.keyboard.press("ArrowDown")
    before = names.all_text_contents()
    expect(page.locator("#picker-list .chip")).to_have_count(0)
    active = page.locator("#picker-list .is-active .picker-name").text_content()
    held[0].continue_()
    expect(page.locator("#picker-list .chip").first).to_be_attached()
    assert names.all_text_contents() == before
    assert page.locator("#picker-list .is-active .picker-name").text_content() == active


def test_without_verdicts_the_list_stays_as_it_was(page):
    page.allowed.append("Failed to load resource")
    page.route("**/picker/**", lambda route: route.abort())
    opened(page).click("#gpu-button")
    page.keyboard.type("h200 sxm")
    page.keyboard.press("Enter")
    expect(page.locator("#gpu-name")).to_have_text("NVIDIA H200 SXM 141 GB")


@pytest.mark.parametrize("width", [320, 390, 1440])
@pytest.mark.parametrize("scheme", ["light", "dark"])
def test_axe_finds_nothing_in_a_list_with_verdicts(new_page, axe, scheme, width):
    page = opened(
        new_page(viewport={"width": width, "height": 900}, color_scheme=scheme), "/?model=deepseek-r1&v=1"
    )
    page.click("#keep-mine")
    page.click("#gpu-button")
    expect(page.locator("#picker-list .chip").first).to_be_visible()
    axe(page, within="#picker")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


# --- Keeping ----------------------------------------------------------------------------------------------------------


def test_hardware_is_kept_with_its_count_and_is_one_tap_away_on_every_page(page):
    opened(page, SEVENTY)
    expect(page.locator("#yours")).to_be_hidden()
    page.click("#keep-mine")
    expect(page.locator("#keep-mine")).to_have_attribute("aria-pressed", "true")
    expect(page.locator("#yours-link")).to_have_attribute("aria-current", "true")
    page.goto("/accuracy/")
    page.get_by_role("link", name="On yours").click()
    expect(page).to_have_url(re.compile(r"/\?gpu=rtx-3090&n=2&v=1$"))
    expect(page.locator("#keep-mine")).to_have_text("Yours")
    assert page.input_value("#n") == "2"


def test_on_yours_asks_the_present_question_of_ones_own_hardware(page):
    opened(page, SEVENTY).click("#keep-mine")
    opened(page, "/?model=qwen3-32b&gpu=h100-sxm&n=8&ctx=16384&tp=8&v=1")
    page.click("#yours-link")
    expect(page).to_have_url(re.compile(r"/\?model=qwen3-32b&.*ctx=16384"))
    expect(page.locator("#asked")).to_contain_text("2 × GeForce RTX 3090")
    assert "tp=" not in page.url


def test_ones_own_machine_is_chosen_whole_in_the_list(page):
    opened(page, SEVENTY).click("#keep-mine")
    in_hardware(page, "/?model=llama-3.3-70b-instruct&gpu=h100-sxm&v=1")
    expect(page.locator("#picker-list .picker-heading").first).to_have_text("Yours")
    own = option(page, "2 × GeForce RTX 3090")
    expect(own.locator(".chip")).to_have_text(re.compile("to spare$"))
    own.click()
    expect(page.locator("#asked")).to_contain_text("2 × GeForce RTX 3090")
    assert page.input_value("#n") == "2"
    expect(page.locator("#gpu-button")).to_be_focused()


def test_what_is_kept_can_be_forgotten_by_keyboard(page):
    opened(page, SEVENTY)
    page.focus("#keep-mine")
    page.keyboard.press("Enter")
    page.focus("[popovertarget=yours-list]")
    page.keyboard.press("Enter")
    expect(page.locator("#yours-list")).to_be_visible()
    page.keyboard.press("Tab")
    expect(page.locator("#yours-items a")).to_be_focused()
    page.keyboard.press("Tab")
    page.keyboard.press("Enter")
    expect(page.locator("#yours")).to_be_hidden()
    assert page.evaluate(STORED) == []
    expect(page.locator("#keep-mine")).to_have_attribute("aria-pressed", "false")


def test_a_link_carries_it_to_another_browser_which_asks_first(new_page):
    page = opened(new_page(permissions=["clipboard-read", "clipboard-write"]), SEVENTY)
    page.click("#keep-mine")
    page.click("[popovertarget=yours-list]")
    page.click("#yours-copy")
    expect(page.locator("#yours-copy")).to_have_text("Copied")
    carried = page.input_value("#yours-carry")
    other = ready(opened(new_page(), carried))
    expect(other.locator("#keep-offer .offered")).to_have_text("2 × GeForce RTX 3090")
    assert other.evaluate(STORED) == []
    other.click("#keep-offer [data-keep=yes]")
    expect(other.locator("#yours")).to_be_visible()
    assert [(one["gpu"], one["n"]) for one in other.evaluate(STORED)] == [("rtx-3090", "2")]
    assert "#" not in other.url


def test_ram_and_system_are_carried_and_said(page):
    opened(page, WITH_LINK)
    expect(page.locator("#keep-offer .offered")).to_have_text(
        re.compile(r"^2 × GeForce RTX 3090, 64 GB RAM, Linux; Apple M4 Max .*128 GB$")
    )
    page.click("#keep-offer [data-keep=yes]")
    assert [one["gpu"] for one in page.evaluate(STORED)] == ["rtx-3090", "mac-m4-max-128"]
    expect(page.locator("#yours-link")).to_have_attribute("href", re.compile("ram=64&os=linux"))


def test_not_now_keeps_nothing(page):
    opened(page, WITH_LINK).click("#keep-offer [data-keep=no]")
    expect(page.locator("#keep-offer")).to_be_hidden()
    assert page.evaluate(STORED) == []


@pytest.mark.parametrize(
    "code", ["no-such-gpu|2", "%E0%A4%A", "|||", ";;", "rtx-3090|2|64|linux<b>", "a|b|c|d|e|f"]
)
def test_a_link_with_nothing_sound_offers_nothing_but_what_it_can_read(page, code):
    opened(page, f"/#keep={code}")
    if code.startswith("rtx-3090"):
        expect(page.locator("#keep-offer .offered")).to_have_text("2 × GeForce RTX 3090, 64 GB RAM")
    else:
        expect(page.locator("#keep-offer")).to_be_hidden()


@pytest.mark.parametrize(
    "stored", ['"text"', "[1, null, {}]", '[{"gpu": {"a": 1}}]', "{broken", '["gh200-144"]']
)
def test_whatever_stands_in_the_browsers_store_the_page_works(page, stored):
    page.goto("/")
    page.evaluate("(text) => localStorage.setItem('stowage.yours.gpu', text)", stored)
    in_hardware(page)
    if "gh200" in stored:  # as an earlier version kept it
        expect(page.locator("#picker-list .picker-heading").first).to_have_text("Yours")


@pytest.mark.parametrize("width", [320, 390, 901, 1024, 1440])
def test_the_top_bar_has_room_for_it(new_page, axe, width):
    page = opened(new_page(viewport={"width": width, "height": 900}), SEVENTY)
    page.click("#keep-mine")
    if width <= 900:
        page.click(".menu-button")
    page.click("[popovertarget=yours-list]")
    expect(page.locator("#yours-items a")).to_be_visible()
    axe(page, within=".top")
    assert page.evaluate("document.documentElement.scrollWidth") <= width


# --- What the browser reports -----------------------------------------------------------------------------------------

RENDERERS = [
    (
        "ANGLE (NVIDIA, NVIDIA GeForce RTX 3090 (0x00002204) Direct3D11 vs_5_0 ps_5_0, D3D11)",
        "NVIDIA GeForce RTX 3090",
        ["rtx-3090"],
    ),
    (
        "ANGLE (NVIDIA, NVIDIA GeForce RTX 3090 Ti (0x00002203) Direct3D11 vs_5_0 ps_5_0, D3D11)",
        "NVIDIA GeForce RTX 3090 Ti",
        ["rtx-3090-ti"],
    ),
    ("NVIDIA GeForce RTX 4090/PCIe/SSE2", "NVIDIA GeForce RTX 4090", ["rtx-4090", "rtx-4090-48-mod"]),
    (
        "NVIDIA GeForce RTX 5060 Ti/PCIe/SSE2",
        "NVIDIA GeForce RTX 5060 Ti",
        ["rtx-5060-ti-16", "rtx-5060-ti-8"],
    ),
    (
        "AMD Radeon RX 7900 XTX (radeonsi, navi31, LLVM 15.0.7, DRM 3.54, 6.5.0)",
        "AMD Radeon RX 7900 XTX",
        ["rx-7900-xtx"],
    ),
    (
        "ANGLE (Apple, ANGLE Metal Renderer: Apple M2 Ultra, Unspecified Version)",
        "Apple M2 Ultra",
        "mac-m2-ultra",
    ),
    ("Apple GPU", "Apple GPU", []),
    ("Adreno (TM) 740", "Adreno (TM) 740", []),
]


@pytest.mark.parametrize(("renderer", "short", "devices"), RENDERERS)
def test_a_renderers_name_leads_to_the_devices_that_it_may_be(page, renderer, short, devices):
    """Strings as Chrome on Windows, Firefox on Linux and Chrome and Safari on macOS report them."""
    opened(page)
    found = page.evaluate(
        """async (renderer) => {
          const { candidates, shortName } = await import(document.querySelector('[src*="app"]').src.replace(/app[^/]*$/, "own-gpu.js"));
          const entries = [...document.getElementById("gpu").options].map(({ value, textContent }) => ({ value, name: textContent.trim() }));
          return [shortName(renderer), candidates(renderer, entries).map(({ value }) => value)];
        }""",
        renderer,
    )
    assert found[0] == short
    if isinstance(devices, str):
        assert found[1]
        assert all(device.startswith(devices) for device in found[1])
    else:
        assert sorted(found[1]) == sorted(devices)


def reports(page, renderer):
    script = """
      HTMLCanvasElement.prototype.getContext = () => ({
        getExtension: () => null, RENDERER: 7937, getParameter: () => NAME,
      });
      Object.defineProperty(navigator, "gpu", { value: undefined });
    """
    page.add_init_script(script.replace("NAME", json.dumps(renderer)))


def test_the_browsers_gpu_is_proposed_and_chosen_by_nobody_but_the_visitor(page):
    reports(page, RENDERERS[0][0])
    opened(page, "/?gpu=h100-sxm&v=1").click("#gpu-button")
    page.click("#picker-find")
    expect(page.locator("#picker-found")).to_have_text(
        "The browser reports “NVIDIA GeForce RTX 3090”. Choose it to use it."
    )
    expect(page.locator("#picker-list [role=option]")).to_have_count(1)
    assert page.input_value("#gpu") == "h100-sxm"
    page.locator("#picker-list [role=option]").click()
    expect(page.locator("#gpu-name")).to_have_text("GeForce RTX 3090")


@pytest.mark.parametrize(
    ("renderer", "words"),
    [
        (
            "Adreno (TM) 740",
            "The browser reports “Adreno (TM) 740”, which this list does not have by that name.",
        ),
        (
            "ANGLE (Google, Vulkan 1.3.0 (SwiftShader Device), SwiftShader driver)",
            "The browser does not say which GPU this is.",
        ),
    ],
)
def test_what_the_list_does_not_have_is_said(page, renderer, words):
    reports(page, renderer)
    opened(page).click("#gpu-button")
    page.click("#picker-find")
    expect(page.locator("#picker-found")).to_have_text(words)
    assert page.locator("#picker-list [role=option]").count() > 1
