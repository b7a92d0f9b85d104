"""A real Chromium against a real server, both started once a session.

The server shares the test's database connection, so it sees what the test has written, and the roll-back at the
test's end takes it away again while the catalogue stays. (pytest-django's own `live_server` would flush the tables
after each test.)

A page may not complain: any error on its console, any violation of the content security policy, any uncaught
exception and any answer of 500 fails the test. A test that provokes one names it: `page.allowed.append("404")`.
"""

import json
import os
import threading
from pathlib import Path

import pytest
from playwright.sync_api import sync_playwright
from pytest_django.live_server_helper import LiveServer

CHROMIUM = os.environ.get("CHROMIUM", "/usr/bin/chromium")
CHROMIUM_FLAGS = [
    "--no-sandbox",  # continuous integration runs as root
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    # Chromium asks nobody but the site under test.
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
]
AXE = Path(__file__).parent / "vendor" / "axe-4.14.1.min.js"
AXE_TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa"]
PATIENCE_MS = 10_000


@pytest.fixture(scope="session")
def server(django_db_setup, django_db_blocker):
    with django_db_blocker.unblock():
        live = LiveServer("localhost")
        yield live
        # A section that nobody waits for any more may still be computed: its thread uses the shared connection to the end.
        for thread in threading.enumerate():
            if "process_request_thread" in thread.name:
                thread.join(PATIENCE_MS / 1000)
        live.stop()


@pytest.fixture(scope="session")
def browser():
    if not Path(CHROMIUM).is_file():
        pytest.fail(
            f"There is no Chromium at {CHROMIUM}. Run scripts/chromium.sh, or set CHROMIUM.", pytrace=False
        )
    with sync_playwright() as playwright:
        chromium = playwright.chromium.launch(executable_path=CHROMIUM, args=CHROMIUM_FLAGS)
        yield chromium
        chromium.close()


@pytest.fixture
def base_url(db, server):
    return server.url


@pytest.fixture
def new_page(browser, base_url):
    """Return a function that opens a page in a context of its own: `new_page(color_scheme="dark")`."""
    opened = []

    def open_page(**context_options):
        context = browser.new_context(**{"base_url": base_url, "locale": "en-GB", **context_options})
        context.set_default_timeout(PATIENCE_MS)
        page = context.new_page()
        page.complaints = complaints = []
        page.allowed = []
        # Chromium reports a violation of the content security policy as an error on the console.
        page.on(
            "console",
            lambda message: message.type in {"error", "warning"} and complaints.append(message.text),
        )
        page.on("pageerror", lambda error: complaints.append(f"uncaught: {error}"))
        page.on(
            "response",
            lambda answer: answer.status >= 500 and complaints.append(f"{answer.status} from {answer.url}"),
        )
        opened.append((context, page))
        return page

    yield open_page
    unexpected = []
    for context, page in opened:
        unexpected += [text for text in page.complaints if not any(word in text for word in page.allowed)]
        context.close()
    assert unexpected == []


@pytest.fixture
def page(new_page):
    return new_page(viewport={"width": 1280, "height": 900})


@pytest.fixture(scope="session")
def axe():
    """Return a function that checks a page against WCAG 2.2 A and AA and fails with what is wrong and where."""
    source = AXE.read_text()

    def check(page, *, within="html"):
        page.evaluate(source)  # a script element would be blocked by the content security policy
        run = "([within, tags]) => axe.run(within, {runOnly: tags, resultTypes: ['violations']})"
        violations = page.evaluate(run, [within, AXE_TAGS])["violations"]
        found = [
            {
                "rule": violation["id"],
                "help": violation["help"],
                "at": [node["target"] for node in violation["nodes"]],
            }
            for violation in violations
        ]
        assert found == [], json.dumps(found, indent=2)

    return check
