"""Every model against one machine: row for row what the arithmetic says of each model asked alone."""

import pytest

from calculator.estimation import estimate
from calculator.planner.formats import formats_of, nominal_bits
from calculator.planner.models import Shelf, runs_on
from calculator.resolve import resolve
from calculator.scenario import Scenario
from tests.estimation.asking import SNAPSHOT
from tests.planner.test_hardware import close

SOME = tuple(
    SNAPSHOT.models[name]
    for name in (
        "llama-3.1-8b-instruct",
        "llama-3.3-70b-instruct",
        "gpt-oss-20b",
        "gpt-oss-120b",
        "qwen3-30b-a3b",
        "gemma-3-27b-it",
        "deepseek-r1",
        "kimi-k3",
        "qwen3-embedding-8b",
    )
)
MACHINES = [
    {"gpu": "rtx-4090"},
    {"gpu": "h100-sxm", "n": 8, "users": 16},
    {"gpu": "mac-m5-max-128", "ctx": 60_000},
    {"gpu": "mac-m5-max-128", "engine": "mlx"},
    {"gpu": "rtx-3060-12", "n": 2, "engine": "ollama"},
    {"gpu": "hgx-h100-8", "engine": "sglang", "ctx": 100_000},
    {"gpu": "rtx-4090", "engine": "ktransformers", "ram": 512},
    {"gpu": "rtx-4090", "quant": "q4_k_m"},
]


def alone(model, weights_format, query):
    """The estimate of a question with one model in one format."""
    scenario = Scenario(**{**query, "model": model.id, "quant": weights_format.id})
    engine = resolve(Scenario(**{**query, "model": model.id}), SNAPSHOT).configuration.engine.id
    return estimate(resolve(scenario.replace(engine=engine), SNAPSHOT).configuration)


@pytest.mark.parametrize("query", MACHINES, ids=lambda query: "-".join(map(str, query.values())))
def test_rows_are_what_the_arithmetic_says_of_each_model_alone(query):
    for row in runs_on(Scenario(**query), SNAPSHOT, models=SOME):
        answer = alone(row.model, row.weights_format, query)
        assert row.verdict == answer.verdict
        assert row.needed is None or close(row.needed, answer.memory.needed)
        if not row.works:
            assert (row.max_context_tokens, row.speed) == (None, None)
            continue
        capacity = answer.capacity
        assert row.max_context_tokens == capacity.max_context_tokens
        assert row.max_context_fits_tokens == capacity.max_context_fits_tokens
        assert (row.speed is None) == (answer.speed is None)
        if row.speed:
            figures = (each.speed.decode_tokens_per_s_per_user for each in (row, answer))
            assert close(*figures)


@pytest.mark.parametrize("query", [{"gpu": "rtx-4090"}, {"gpu": "rtx-3060-12", "n": 2}, {"gpu": "h100-sxm"}])
def test_no_format_with_more_bits_fits(query):
    """Every format that is worth choosing and has more bits than the one named is tried."""
    for row in runs_on(Scenario(**query), SNAPSHOT, models=SOME):
        usual = resolve(Scenario(**query, model=row.model.id), SNAPSHOT).configuration
        formats = formats_of(usual, SNAPSHOT.formats.values())
        verdicts = [alone(row.model, each, query).verdict for each in formats]
        if row.verdict == "fits":
            assert formats[verdicts.index("fits")] is row.weights_format
        else:
            assert "fits" not in verdicts


def test_a_kept_machine_answers_another_workload_as_a_new_one_does():
    shelf = Shelf(Scenario(gpu="rtx-4090"), SNAPSHOT, SOME)
    runs_on(Scenario(gpu="rtx-4090"), SNAPSHOT, shelf=shelf)
    asked = Scenario(gpu="rtx-4090", ctx=50_000, users=2)
    again, new = runs_on(asked, SNAPSHOT, shelf=shelf), runs_on(asked, SNAPSHOT, models=SOME)
    assert [(r.model.id, r.weights_format.id, r.verdict, r.max_context_tokens) for r in again] == [
        (r.model.id, r.weights_format.id, r.verdict, r.max_context_tokens) for r in new
    ]


def formats(model, gpu):
    c = resolve(Scenario(model=model, gpu=gpu), SNAPSHOT).configuration
    return c, [each.id for each in formats_of(c, SNAPSHOT.formats.values())]


def test_formats_are_those_worth_choosing():
    """By the KL divergence on Llama 3 8B (ikawrakow/ik_llama.cpp:examples/perplexity): Q4_1 is larger than Q4_K_M and
    loses more, Q3_K_S is as large as IQ3_S and loses more; IQ1_S changes a model severely."""
    c, names = formats("llama-3.1-8b-instruct", "rtx-4090")
    assert {"bf16", "q8_0", "q6_k", "q5_k_m", "q4_k_m", "iq4_xs", "q3_k_m"} <= set(names)
    assert not {"q4_0", "q4_1", "q5_0", "q5_1", "q3_k_s", "q2_k", "iq1_s", "tq1_0", "ud-q4_k_xl"} & set(names)
    bits = [nominal_bits(c.model, SNAPSHOT.formats[name]) for name in names]
    assert bits == sorted(bits, reverse=True)


def test_nothing_with_more_bits_than_the_checkpoint_is_worth_choosing():
    _, names = formats("gpt-oss-120b", "h100-sxm")
    assert names[0] == "native"
    _, names = formats("gpt-oss-120b", "rtx-4090")
    assert names[0] == "mxfp4_moe"
    assert not {"bf16", "q8_0", "q6_k"} & set(names)


def test_what_runs_comes_first_and_the_largest_of_it():
    rows = runs_on(Scenario(gpu="rtx-4090"), SNAPSHOT, models=SOME)
    works = [row.works for row in rows]
    assert works == sorted(works, reverse=True)
    sizes = [row.model.text_parameters for row in rows if row.verdict == "fits"]
    assert sizes == sorted(sizes, reverse=True)
    assert {row.model.id for row in rows} == {model.id for model in SOME}
