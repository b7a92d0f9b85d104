"""What is remembered between answers never shows: a page reads the same whoever asked what before."""

import dataclasses
import random

import pytest
from django.utils import translation

from calculator.web.panels import per_snapshot
from calculator.web.panels.links import link_to, query_of
from calculator.web.panels.page import LiveUpdate
from calculator.web.wording import speech
from config import language as language_found
from tests.web.asking import asked, page_of

QUERIES = [
    "",
    "ctx=9000",
    "ctx=9000&users=3",
    "users=300",
    "kv=q8_0&ctx=9000",
    "ctx=400000",
    "model=kimi-k3.1-pro&gpu=h100-sxm&n=32",
    "model=kimi-k3.1-pro&gpu=h100-sxm&n=32&users=64",
    "model=kimi-k3.1-pro&gpu=h100-sxm&n=32&ctx=70000",
    "model=deepseek-r1&gpu=h100-sxm&n=8",
    "model=deepseek-r1&gpu=h100-sxm&n=8&ctx=60000",
    "model=llama-3.3-70b-instruct&gpu=h100-sxm&n=3&ctx=9000",
    "model=llama-3.3-70b-instruct&gpu=rtx-3090&n=2&ctx=20000",
    "model=llama-3.3-70b-instruct&gpu=rtx-3090&n=2&ctx=20000&os=windows&display=1",
    "gpu=h100-sxm&util=0.8",
    "gpu=h100-sxm&util=7",
    "gpu=h100-sxm&maxlen=20000",
    "gpu=h100-sxm&maxlen=2000&ctx=9000",
    "gpu=h100-sxm&seqs=64&users=100",
    "gpu=h100-sxm&region=de",
    "gpu=h100-sxm&region=us",
    "model=no-such-model",
    "ctx=-1&n=0&hours=3",
]
VARIANTS = [
    (f"{query}&units={units}", language)
    for query in QUERIES
    for units in ("gib", "gb")
    for language in ("en", "zh-hans")
]


@pytest.fixture
def languages(monkeypatch):
    """Every message says in which language it is, so that a mixed page would show."""

    def gettext(message):
        return f"{translation.get_language()}:{message}"

    def ngettext(one, many, number):
        return gettext(one if number == 1 else many)

    monkeypatch.setattr(speech.translation, "gettext", gettext)
    monkeypatch.setattr(speech.translation, "ngettext", ngettext)
    for kept in (language_found._texts_of, speech._form):
        kept.cache_clear()
    per_snapshot.forget()
    yield
    for kept in (language_found._texts_of, speech._form):
        kept.cache_clear()
    per_snapshot.forget()


def pages(variants, snapshot, before_each):
    found = {}
    for query, language in variants:
        before_each()
        with translation.override(language):
            found[query, language] = page_of(query, snapshot, live=LiveUpdate())
    return found


def test_questions_units_and_languages_are_never_mixed(snapshot, languages):
    alone = pages(VARIANTS, snapshot, per_snapshot.forget)
    for seed in range(2):
        mixed = random.Random(seed).sample(VARIANTS, len(VARIANTS))
        found = pages(mixed, snapshot, lambda: None)
        for key, page in alone.items():
            assert found[key] == page, key


def test_each_language_and_unit_speaks_for_itself(snapshot, languages):
    for query, language in VARIANTS[:8] * 2:
        with translation.override(language):
            page = page_of(query, snapshot)
        other = "zh-hans" if language == "en" else "en"
        assert f"{other}:" not in repr(page)
        assert page["frame"]["units"] == ("gb" if "units=gb" in query else "gib")


def test_what_is_remembered_is_bounded_and_goes_with_its_catalogue(snapshot):
    per_snapshot.forget()
    for number in range(per_snapshot.MOST_QUESTIONS + 50):
        asked_for = asked(f"seq={number + 1}", snapshot)
        per_snapshot.unmoved(asked_for, "mark", lambda number=number: number)
    kept = per_snapshot._kept
    assert kept.question.cache_info().currsize == per_snapshot.MOST_QUESTIONS
    page_of("", dataclasses.replace(snapshot))
    assert per_snapshot._kept is not kept
    assert per_snapshot._kept.question.cache_info().currsize == 1


@pytest.mark.parametrize("query", QUERIES)
def test_links_are_those_of_the_question(snapshot, query):
    answer = asked(query, snapshot)
    assert query_of(answer) == answer.scenario.query()
    assert link_to(answer, units="gb") == answer.permalink(units="gb")
    assert link_to(answer, ctx=2048) == answer.permalink(ctx=2048)
    assert link_to(answer, ctx=8192, units="gib") == answer.permalink(ctx=8192, units="gib")
