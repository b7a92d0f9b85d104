"""manage.py estimate: the page's answer in a terminal."""

import json

import pytest
from django.core.management import CommandError, call_command

pytestmark = pytest.mark.django_db


def printed(capsys, *words, **options):
    call_command("estimate", *words, **options)
    return capsys.readouterr().out.replace("\u00a0", " ")


def test_text_says_question_sentence_figures_and_link(capsys):
    text = printed(capsys, "model=llama-3.1-8b-instruct", "ctx=8192")
    lines = text.splitlines()
    assert lines[0].startswith("Llama 3.1 8B Instruct · Q4_K_M · 8,192 tokens · 1 request · GeForce RTX 4090")
    assert lines[2] == "Fits, with 17.8 GiB to spare on this GPU."
    assert "KV cache" in text
    assert (
        "32 attention layers × 2,048 × 2 B = 131,072 B per token, × 8,192 tokens = 1,073,741,824 B." in text
    )
    assert lines[-1] == "/?v=1"


def test_what_does_not_fit_is_followed_by_what_would(capsys):
    text = printed(capsys, "model=deepseek-r1", "gpu=h100-sxm", "n=8")
    assert "What would fit" in text
    assert "16 × H100 SXM" in text


@pytest.mark.parametrize(
    "word", ["ctx=4096&users=2", "/?ctx=4096&users=2&v=1", "https://stowage.example/?ctx=4096&users=2"]
)
def test_a_query_or_a_whole_link_is_a_question(capsys, word):
    assert "4,096 tokens · 2 requests" in printed(capsys, word)


def test_json_is_the_apis(capsys, client):
    assert json.loads(printed(capsys, "ctx=4096", json=True)) == json.loads(
        client.get("/api/v1/estimate?ctx=4096").content.decode().replace("\u00a0", " ")
    )


def test_bad_values_are_named(capsys):
    assert "! ctx: “many” is not a number. The answer uses 8,192." in printed(capsys, "ctx=many")


def test_a_word_that_is_no_value_is_explained(capsys):
    with pytest.raises(CommandError, match="“llama” is not written as name=value"):
        call_command("estimate", "llama")
