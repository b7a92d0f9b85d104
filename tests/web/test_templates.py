"""The pages' templates: safe, strict, translatable, and the answer is the same alone as in the page."""

import re
import tomllib
from pathlib import Path

import pytest
from babel.messages.extract import extract_from_dir
from django.template import engines
from django.utils import translation
from django.utils.safestring import mark_safe
from jinja2 import UndefinedError
from markupsafe import Markup

from calculator.web.blocks import Blocks
from config import jinja
from tests.web.asking import page_of

ROOT = Path(__file__).parent.parent.parent
PAGES = [
    str(path.relative_to(ROOT / "templates"))
    for path in sorted((ROOT / "templates").rglob("*.html"))
    if "django" not in path.relative_to(ROOT / "templates").parts
]


@pytest.fixture(scope="module")
def environment():
    return engines["jinja2"].env


def rendered(environment, source, **context):
    return environment.from_string(source).render(context)


@pytest.mark.parametrize("name", PAGES)
def test_template_compiles(environment, name):
    environment.get_template(name)


@pytest.mark.parametrize(
    ("value", "written"),
    [
        ("<b a=\"1\" c='2'>&", "&lt;b a=&#34;1&#34; c=&#39;2&#39;&gt;&amp;"),
        (Markup("<b>"), "<b>"),
        (mark_safe("<b>"), "<b>"),
        (translation.gettext_lazy("<b>"), "&lt;b&gt;"),
        (type("Text", (str,), {})("<b>"), "&lt;b&gt;"),
        (["<b>"], "[&#39;&lt;b&gt;&#39;]"),
        (12, "12"),
        (None, "None"),
    ],
)
def test_values_are_escaped(environment, value, written):
    assert rendered(environment, "{{ value }}", value=value) == written
    assert (
        rendered(environment, "{% macro m(v) %}{{ v }}{% endmacro %}{{ m(value) }}", value=value) == written
    )


def test_a_misspelt_name_is_an_error(environment):
    with pytest.raises(UndefinedError, match="titel"):
        rendered(environment, "{{ panel.titel }}", panel={"title": "x"})


def test_a_key_goes_before_a_method_of_the_dict(environment):
    assert rendered(environment, "{{ panel.items }}", panel={"items": "x"}) == "x"


def test_what_is_put_into_a_message_is_escaped(environment):
    trans = "{% trans name=name %}The <i>name</i> {{ name }}, 100%{% endtrans %}"
    assert rendered(environment, trans, name="<b>") == "The <i>name</i> &lt;b&gt;, 100%"
    assert rendered(environment, "{{ _('all of 100%%') }}") == "all of 100%"


def test_messages_follow_the_language():
    translate = jinja.remembered(lambda message: Markup(f"{translation.get_language()} {message}"))
    with translation.override("en"):
        assert translate("a") == "en a"
    with translation.override("de"):
        assert translate("a") == "de a"


def test_every_message_of_the_templates_can_be_extracted():
    """By the mappings in pyproject.toml, which translators' files are made with."""
    mappings = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["babel"]["mappings"]
    (ours,) = [dict(mapping) for mapping in mappings if mapping["method"] == "jinja2"]
    patterns, _ = ours.pop("pattern"), ours.pop("method")
    extracted = {
        message
        for _file, _line, message, _comments, _context in extract_from_dir(
            ROOT, [(pattern, "jinja2") for pattern in patterns], dict.fromkeys(patterns, ours)
        )
    }
    written = set()
    for name in PAGES:
        source = (ROOT / "templates" / name).read_text()
        written |= {text for _quote, text in re.findall(r"\b_\(([\"'])(.*?)\1", source)}
        written |= {
            re.sub(r"\{\{ (\w+) \}\}", r"%(\1)s", text)
            for text in re.findall(r"\{% trans [^%]*%\}(.*?)\{% endtrans %\}", source)
        }
    assert len(written) > 50
    assert written - extracted == set()


@pytest.mark.parametrize("query", ["gpu=rtx-4090", "gpu=h100-sxm&n=32&model=kimi-k3.1-pro"])
def test_the_answer_in_the_page_is_the_answer_alone(environment, snapshot, query):
    context = {**page_of(query, snapshot), "blocks": Blocks()}
    answer = environment.get_template("calculator/answer.html").render(context)
    assert answer.strip() in environment.get_template("calculator/page.html").render(context)
