"""The five sentences of the verdict, and no others."""

from dataclasses import replace

import pytest

from calculator.estimation.terms import Interval
from calculator.web.panels.verdict import verdict_panel
from calculator.web.wording.verdicts import verdict_sentence
from tests.web.asking import asked, page_of, plain, words

GIB = 2**30


def said(answer, verdict, needed, usable=72.85, units="gib"):
    """The sentence of the same answer with another need [GiB]."""
    memory = answer.estimate.memory
    limit = replace(memory.limit, usable=Interval(*[usable * GIB] * 3))
    memory = replace(memory, needed=Interval(*(size * GIB for size in needed)), limit=limit)
    return plain(verdict_sentence(replace(answer.estimate, verdict=verdict, memory=memory), units))


@pytest.mark.parametrize(
    ("query", "verdict", "needed", "sentence"),
    [
        ("gpu=h100-sxm&n=8", "fits", (58.25, 57.6, 59.4), "Fits, with 14.6 GiB to spare on every GPU."),
        ("gpu=h100-sxm", "fits", (58.25, 57.6, 59.4), "Fits, with 14.6 GiB to spare on this GPU."),
        ("gpu=rtx-3090&n=2", "fits", (58.25, 57.6, 59.4), "Fits, with 14.6 GiB to spare on the fuller GPU."),
        ("gpu=rtx-3090&n=3", "fits", (58.25, 57.6, 59.4), "Fits, with 14.6 GiB to spare on the fullest GPU."),
        ("gpu=mac-m4-max-128", "fits", (58.25, 57.6, 59.4), "Fits, with 14.6 GiB to spare in this Mac."),
        ("gpu=dgx-spark", "fits", (58.25, 57.6, 59.4), "Fits, with 14.6 GiB to spare in this machine."),
        (
            "gpu=h100-sxm",
            "tight",
            (72.05, 71.4, 73.55),
            "Should fit: 0.800 GiB to spare, but our range reaches 0.700 GiB over.",
        ),
        (
            "gpu=rtx-4090",
            "tight",
            (72.35, 72.3, 72.4),
            "Should fit: 0.500 GiB to spare, less than the 1.00 GiB that llama.cpp keeps free.",
        ),
        ("gpu=h100-sxm&n=8", "does_not_fit", (84.75, 84, 86), "Does not fit: each GPU is short of 11.9 GiB."),
        ("gpu=h100-sxm", "does_not_fit", (84.75, 84, 86), "Does not fit: this GPU is short of 11.9 GiB."),
        ("gpu=mac-m4-16", "does_not_fit", (84.75, 84, 86), "Does not fit: this Mac is short of 11.9 GiB."),
    ],
)
def test_sentences(snapshot, query, verdict, needed, sentence):
    assert said(asked(query, snapshot), verdict, needed) == sentence


def test_sentence_in_decimal_units(snapshot):
    assert said(asked("gpu=h100-sxm", snapshot), "fits", (58.25, 58, 59), units="gb").startswith(
        "Fits, with 15.7 GB"
    )


@pytest.mark.parametrize(
    ("query", "sentence"),
    [
        ("model=qwen3-32b&gpu=h100-sxm&n=3&split=tensor", "vLLM cannot split 64 heads over 3 GPUs."),
        ("n=20", "llama.cpp spreads layers over at most 15 GPUs; 20 are asked for."),
        ("users=300", "llama.cpp serves at most 256 requests at once; 300 are asked for."),
        ("quant=iq2_xxs&engine=vllm", "vLLM does not load IQ2_XXS."),
        ("engine=mlx", "MLX does not run on GeForce RTX 4090."),
        ("engine=ollama&n=2&tp=2", "Ollama does not split tensors, only layers."),
    ],
)
def test_a_refusal_is_its_reason(snapshot, query, sentence):
    answer = asked(query, snapshot)
    assert answer.estimate.verdict == "unsupported"
    assert plain(verdict_panel(answer)["sentence"]) == sentence


def test_a_refusal_is_followed_by_links_to_what_works(snapshot):
    ground = page_of("model=qwen3-32b&gpu=h100-sxm&n=3&split=tensor", snapshot)["verdict"]["ground"]
    assert words(ground) == "What works: the usual plan · 2 × H100 SXM · 4 × H100 SXM · SGLang."
    assert [span["href"] for span in ground if span["href"]] == [
        "/?model=qwen3-32b&gpu=h100-sxm&n=3&v=1",
        "/?model=qwen3-32b&gpu=h100-sxm&n=2&v=1",
        "/?model=qwen3-32b&gpu=h100-sxm&n=4&v=1",
        "/?model=qwen3-32b&gpu=h100-sxm&n=3&engine=sglang&v=1",
    ]


def test_question_in_one_line(snapshot):
    panel = page_of("model=kimi-k3.1-pro&gpu=h100-sxm&n=32", snapshot)["verdict"]
    assert panel["question"] == (
        "Kimi K3.1 Pro · native (MXFP4) · 8,192 tokens · 1 request · 32 × H100 SXM · vLLM 0.33"
    )


def test_figures_stand_out_in_the_ground(snapshot):
    ground = page_of("", snapshot)["verdict"]["ground"]
    assert [span["text"] for span in ground if span["strong"]] == ["5.87\u00a0GiB"]
    assert words(ground) == "It needs 5.87 GiB of the 23.6 GiB that llama.cpp may take."


def test_a_server_says_that_it_takes_the_rest(snapshot):
    ground = page_of("gpu=h100-sxm", snapshot)["verdict"]["ground"]
    assert words(ground).endswith(
        "The server will occupy 73.3 GiB at start: all of that, with the rest as cache, "
        "and 0.500 GiB for the process itself, which do not count against its share."
    )


def test_a_mac_says_where_its_limit_comes_from(snapshot):
    ground = page_of("gpu=mac-m4-max-128", snapshot)["verdict"]["ground"]
    assert words(ground).endswith("The limit: macOS 26 default, 84%.")


def test_title_and_description_carry_the_answer(snapshot):
    frame = page_of("", snapshot)["frame"]
    assert plain(frame["title"]) == (
        "Fits, with 17.8 GiB to spare on this GPU · Llama 3.1 8B Instruct on GeForce RTX 4090"
    )
    assert "Needs 5.87 GiB of 23.6 GiB usable." in plain(frame["description"])
    assert plain(frame["description"]).endswith(" tok/s for one user.")


def test_links_keep_the_units(snapshot):
    frame = page_of("units=gb&ctx=4096", snapshot)["frame"]
    assert (frame["gib_href"], frame["gb_href"]) == ("/?ctx=4096&v=1", "/?ctx=4096&units=gb&v=1")
    assert frame["api_href"] == "/api/v1/estimate?ctx=4096&units=gb&v=1"


@pytest.mark.parametrize(
    ("engine", "said"),
    [
        (
            "tensorrt-llm",
            "The server will occupy 73.0 GiB at start: what this needs, and its share of the rest as cache. 6.17 GiB stay free.",
        ),
        (
            "vllm",
            "The server will occupy 73.3 GiB at start: all of that, with the rest as cache, and 0.500 GiB for the process itself, which do not count against its share.",
        ),
    ],
)
def test_what_a_server_takes_agrees_with_what_it_may_take(snapshot, engine, said):
    ground = words(page_of(f"engine={engine}&gpu=h100-sxm", snapshot)["verdict"]["ground"])
    assert ground.endswith(said)
