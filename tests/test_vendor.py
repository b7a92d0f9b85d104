"""What others wrote is kept unchanged, with its licence, and pages load nothing from elsewhere."""

import hashlib
import json
import re
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
VENDORED = json.loads((ROOT / "static/vendor/VENDOR.json").read_text())
TEMPLATES = sorted((ROOT / "templates").rglob("*.html"))


@pytest.mark.parametrize("entry", VENDORED, ids=lambda entry: entry["file"])
def test_file_is_the_one_that_was_published(entry):
    digest = hashlib.sha256((ROOT / entry["file"]).read_bytes()).hexdigest()
    assert digest == entry["sha256"], f"{entry['file']} was changed. Restore it from {entry['source']}."


@pytest.mark.parametrize("entry", VENDORED, ids=lambda entry: entry["file"])
def test_file_has_its_licence_beside_it(entry):
    assert entry["licence"]
    assert (ROOT / entry["licence_file"]).stat().st_size > 0


@pytest.mark.parametrize("entry", VENDORED, ids=lambda entry: entry["file"])
def test_version_is_in_the_name_of_a_script(entry):
    if entry["file"].endswith(".js"):
        assert entry["version"] in Path(entry["file"]).name


def test_every_vendored_file_is_listed():
    listed = {entry["file"] for entry in VENDORED}
    folders = [ROOT / "static/vendor", ROOT / "tests/browser/vendor"]
    present = {str(file.relative_to(ROOT)) for folder in folders for file in folder.rglob("*.js")}
    assert present - listed == set()


def test_there_are_templates_to_look_at():
    assert TEMPLATES


# What a browser loads by itself; a plain link to another site is fine.
LOADS = re.compile(
    r"<(?:script|img|iframe|source|video|audio|link)\b[^>]*?\b(?:src|href)\s*=\s*[\"']([^\"']*)", re.DOTALL
)
NOT_LOADED = re.compile(r"<link\b[^>]*\brel=[\"'](?:canonical|alternate)[\"'][^>]*>")


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_template_loads_only_our_own_files(template):
    elsewhere = [
        address
        for address in LOADS.findall(NOT_LOADED.sub("", template.read_text()))
        if address.startswith(("http:", "https:", "//"))
    ]
    assert elsewhere == []


@pytest.mark.parametrize("template", TEMPLATES, ids=lambda path: str(path.relative_to(ROOT)))
def test_template_has_no_inline_script_style_or_handler(template):
    """The content security policy blocks them; this says so before a browser does."""
    html = re.sub(r"\{#.*?#\}|\{%\s*comment.*?endcomment\s*%\}", "", template.read_text(), flags=re.DOTALL)
    scripts = [
        tag for tag in re.findall(r"<script\b[^>]*>", html) if "src=" not in tag and "application/" not in tag
    ]
    assert scripts == []
    assert re.findall(r"<style\b", html) == []
    assert re.findall(r"\sstyle\s*=\s*[\"']", html) == []
    assert re.findall(r"<[a-z][^>]*\son[a-z]+\s*=\s*[\"']", html) == []
