"""Every code of the arithmetic has its words, with every factor that the words name."""

import ast
from pathlib import Path
from typing import get_args

import pytest

from calculator.estimation.memory import PART_OF
from calculator.estimation.terms import BOUNDS, PART_ORDER, Basis
from calculator.scenario import PARAMETERS
from calculator.web.panels.bar import PART_CLASSES
from calculator.web.wording.choices import CHOICES, LIMITS, choice_words, limit_words
from calculator.web.wording.fields import FIELDS
from calculator.web.wording.parts import BAR_NAMES, BASES, PART_NAMES
from calculator.web.wording.problems import PROBLEMS
from calculator.web.wording.reasons import REASONS, reason_words
from calculator.web.wording.speed import BOUND_BY, GROUNDS
from calculator.web.wording.terms import CODES, term_words
from tests.web.asking import asked

ROOT = Path(__file__).parent.parent.parent
ARITHMETIC = (
    "calculator/estimation",
    "calculator/resolve.py",
    "calculator/estimation/plans.py",
    "calculator/planner",
)
TERM_MAKERS = {"exact", "around", "scaled", "constant_term", "Term"}


def calls():
    """Every call in the arithmetic: (name of what is called, positional arguments)."""
    for place in ARITHMETIC:
        path = ROOT / place
        for file in sorted(path.rglob("*.py")) if path.is_dir() else [path]:
            for node in ast.walk(ast.parse(file.read_text())):
                if isinstance(node, ast.Call):
                    name = (
                        node.func.attr
                        if isinstance(node.func, ast.Attribute)
                        else getattr(node.func, "id", "")
                    )
                    yield name, node.args


def texts(node):
    """The string constants of an expression: both sides of a conditional."""
    return {
        part.value
        for part in ast.walk(node)
        if isinstance(part, ast.Constant) and isinstance(part.value, str)
    }


def codes_of(makers, position):
    return {
        text
        for name, args in calls()
        if name in makers and len(args) > position
        for text in texts(args[position])
    }


def test_the_arithmetic_is_read():
    assert len(codes_of({"Reason"}, 0)) > 20
    assert len(codes_of(TERM_MAKERS, 0)) > 10


def test_every_reason_and_limit_has_its_words():
    assert codes_of({"Reason"}, 0) - set(REASONS) - set(LIMITS) - set(GROUNDS) == set()
    assert set(GROUNDS) <= codes_of({"Reason"}, 0)


def test_every_choice_has_its_words():
    used = codes_of({"Choice"}, 2) | codes_of({"chose"}, 2)
    assert used - set(CHOICES) == set()


def test_every_problem_has_its_words():
    scenario = ast.walk(ast.parse((ROOT / "calculator/scenario.py").read_text()))
    problems = [
        node for node in scenario if isinstance(node, ast.Call) and getattr(node.func, "id", "") == "Problem"
    ]
    used = {
        node.args[3].value
        for node in problems
        if len(node.args) > 3 and isinstance(node.args[3], ast.Constant)
    }
    assert (used | codes_of({"problem"}, 3)) - set(PROBLEMS) == set()


def test_every_term_has_its_words():
    assert (codes_of(TERM_MAKERS, 0) | set(PART_OF)) - CODES == set()


def test_every_part_has_its_names_and_its_colour():
    assert set(PART_ORDER) == set(PART_NAMES) == set(PART_CLASSES)
    assert set(PART_CLASSES.values()) == set(BAR_NAMES)
    assert set(BASES) == set(get_args(Basis))
    assert set(BOUND_BY) == set(BOUNDS)


def test_every_parameter_has_a_name_and_a_description():
    assert set(FIELDS) == {parameter.name for parameter in PARAMETERS}
    assert all(str(label) and str(help_text) for label, help_text in FIELDS.values())


QUESTIONS = [
    "",
    "model=kimi-k3.1-pro&gpu=h100-sxm&n=32",
    "model=kimi-k3&gpu=h100-sxm&n=32&users=8&kv=fp8",
    "model=deepseek-r1&gpu=h100-sxm&n=8",
    "model=llama-3.3-70b-instruct&gpu=rtx-3090&n=2",
    "model=llama-3.3-70b-instruct&gpu=rtx-3090&n=20",
    "model=llama-3.3-70b-instruct&gpu=mac-m4-max-128",
    "model=llama-3.3-70b-instruct&gpu=mac-m4-max-128&wired=100",
    "model=llama-3.3-70b-instruct&gpu=mac-m3-ultra-512&os=macos15",
    "model=gpt-oss-120b&gpu=dgx-spark",
    "model=gpt-oss-120b&gpu=ryzen-ai-max-395-128",
    "model=gpt-oss-120b&gpu=ryzen-ai-max-395-128&os=windows",
    "model=gpt-oss-20b&gpu=h100-sxm&users=64",
    "model=gpt-oss-20b&gpu=rtx-4090&os=windows",
    "model=gpt-oss-20b&gpu=rtx-4090&display=1&kv=q4_0&users=300",
    "model=qwen3-32b&gpu=h100-sxm&n=3&split=tensor",
    "model=qwen3-32b&gpu=h100-sxm&tp=2",
    "model=qwen3-32b&gpu=h100-sxm&util=0.99&seqs=engine",
    "model=qwen3.5-27b&gpu=rtx-5090&kv=q8_0&fa=0",
    "model=qwen3.5-27b&gpu=h100-sxm&vision=1&users=4",
    "model=gemma-3-27b-it&gpu=rtx-3090&vision=1&n=3",
    "model=gemma-3-27b-it&gpu=rtx-3090&engine=vllm&kv=fp8",
    "model=deepseek-v4-pro&gpu=b200&n=8",
    "model=llama-3.1-8b-instruct&gpu=t4&quant=nvfp4",
    "model=llama-3.1-8b-instruct&gpu=rtx-4090&quant=iq2_xxs&engine=vllm",
    "model=llama-3.1-8b-instruct&engine=mlx&gpu=rtx-4090",
    "model=llama-4-scout-17b-16e-instruct&gpu=h100-sxm&n=4",
    "engine=sglang&model=qwen3-next-80b-a3b-instruct&gpu=h100-sxm&n=2&users=4",
    "engine=sglang&model=gpt-oss-120b&gpu=h100-sxm&util=1",
    "engine=sglang&model=gemma-3-27b-it&gpu=h100-sxm&n=3&split=tensor&vision=1",
    "engine=tensorrt-llm&model=gpt-oss-20b&gpu=b200&n=2&users=8",
    "engine=ollama&model=gpt-oss-20b&engine_version=0.11.2&users=2",
    "engine=ollama&model=gemma-3-27b-it&gpu=mac-m4-max-128&vision=1",
    "engine=ollama&model=qwen3.5-27b&users=2&n=2&tp=2",
    "engine=lm-studio&model=gpt-oss-20b&gpu=rtx-3090&n=2",
    "engine=mlx&gpu=mac-m4-max-128&users=2&kv=mlx-8bit",
    "engine=mlx&gpu=mac-m4-max-128&n=3",
    "engine=transformers&quant=awq-int4&gpu=rtx-3090",
    "engine=transformers&model=qwen3-0.6b&quant=fp8&gpu=h100-sxm",
    "engine=exllama&quant=bf16&gpu=rtx-3090&n=2",
    "engine=ktransformers&model=qwen3-30b-a3b&gpu=rtx-4090",
    "engine=ktransformers&gpu=h100-sxm&n=16",
    "engine=vllm&gpu=cpu-epyc-9355",
    "engine=llama.cpp&backend=metal",
]


@pytest.mark.parametrize("query", QUESTIONS)
def test_no_sentence_of_an_answer_falls_back(query, snapshot):
    """Names a factor that the arithmetic does not give, or a code that nobody worded: the neutral sentence would show."""
    answer = asked(query, snapshot)
    units = "gib"
    for reason in answer.reasons:
        assert "{" not in reason_words(reason, units)
        assert reason_words(reason, units) != "The engine does not support this combination.", reason
    for choice in answer.configuration.choices:
        assert choice_words(choice, units) != "Chosen by the catalogue.", choice
    memory = answer.estimate.memory
    if memory is None:
        return
    assert limit_words(memory.limit, "vllm", units) != "what the engine may take", memory.limit.rule
    for part in memory.parts:
        for term in part.terms:
            words = term_words(term, units)
            assert len(words) > 20, (term.code, words)
            assert "{" not in words


def test_explanation_of_a_latent_reads_as_the_multiplication(snapshot):
    answer = asked("model=deepseek-r1&gpu=h100-sxm&n=8", snapshot)
    part = next(part for part in answer.estimate.memory.parts if part.name == "kv_cache")
    assert term_words(part.terms[0], "gib").replace("\u00a0", " ") == (
        "61 MLA layers × 576 × 2 B = 70,272 B per token, × 8,192 tokens = 575,668,224 B."
    )


def test_explanation_names_the_users(snapshot):
    answer = asked("users=4", snapshot)
    part = next(part for part in answer.estimate.memory.parts if part.name == "kv_cache")
    assert term_words(part.terms[0], "gib").replace("\u00a0", " ") == (
        "32 attention layers × 2,048 × 2 B = 131,072 B per token, × 8,192 tokens × 4 requests = 4,294,967,296 B."
    )
