"""What is true of every answer, over random questions to the shipped catalogue (methodology §11)."""

import math
from dataclasses import replace
from urllib.parse import parse_qsl

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from calculator.estimation import estimate, verdict_of
from calculator.estimation.weights.gguf import gguf_layout
from calculator.resolve import resolve
from calculator.scenario import PARAMETERS, parse
from tests.estimation.asking import SNAPSHOT, ask


def law(examples):
    """The same examples in every run, as many as the time allows."""
    return settings(
        max_examples=examples,
        deadline=None,
        derandomize=True,
        suppress_health_check=[HealthCheck.too_slow, HealthCheck.filter_too_much],
    )


COMPUTED = list(SNAPSHOT.models)
DEVICES = [
    "rtx-3060-12", "rtx-3090", "rtx-4090", "rtx-5090", "rx-7900-xtx", "t4", "a100-sxm-80", "h100-sxm", "h200-sxm",
    "b200", "gb200", "mi300x", "mac-m4-max-128", "mac-m3-ultra-512", "dgx-spark", "ryzen-ai-max-395-128",
    "cpu-epyc-9355", "hgx-h100-8", "gb200-nvl72",
]  # fmt: skip
FORMATS = [
    "native",
    "bf16",
    "fp8",
    "fp8-block",
    "awq-int4",
    "nvfp4",
    "mxfp4",
    "q8_0",
    "q4_k_m",
    "q2_k",
    "iq2_xxs",
]
CACHE_TYPES = ["bf16", "fp8", "q8_0", "q5_1", "q4_0", "nvfp4", "int8_per_token_head", "fp8_per_token_head"]


def spread(low, high):
    """Whole numbers from low to high, as many small ones as large ones."""
    return st.floats(math.log(low), math.log(high)).map(lambda x: min(high, max(low, round(math.exp(x)))))


def optional(**strategies):
    """Some of these parameters, or none."""
    return st.fixed_dictionaries({}, optional=strategies)


machines = st.fixed_dictionaries(
    {
        "model": st.sampled_from(COMPUTED),
        "gpu": st.sampled_from(DEVICES),
        "n": st.sampled_from([1, 2, 3, 4, 6, 8, 12, 15, 16, 24]),
        "engine": st.sampled_from(["auto", *SNAPSHOT.engines]),
    }
)
settings_of_engines = optional(
    quant=st.sampled_from(FORMATS),
    kv=st.sampled_from(CACHE_TYPES),
    split=st.sampled_from(["tensor", "layer"]),
    batched=st.sampled_from([512, 2048, 16_384]),
    ubatch=st.sampled_from([128, 512, 2048]),
    maxlen=spread(1, 1_048_576),
    fa=st.sampled_from([0, 1]),
    eager=st.sampled_from([0, 1]),
    vision=st.sampled_from([0, 1]),
    display=st.sampled_from([0, 1]),
    util=st.sampled_from([0.5, 0.9, 0.99, 1]),
)
questions = st.builds(lambda machine, knobs: machine | knobs, machines, settings_of_engines)
contexts = spread(1, 2_000_000)
requests = spread(1, 300)


def ordered(interval):
    return interval.low <= interval.value <= interval.high


@law(1000)
@given(questions, contexts, requests)
def test_every_answer_adds_up_and_is_ordered(query, tokens, users):
    """Parts add up to the total and to what is needed; GPUs add up to the parts; every interval holds its value;
    a refusal has no capacity; needed covers the weights; nothing is infinite."""
    answer = ask(**query, ctx=tokens, users=users)
    found = answer.estimate
    assert (found.capacity is None) == (found.verdict == "unsupported")
    if found.memory is None:
        return
    memory = found.memory
    assert memory.total_bytes == sum(part.total_bytes for part in memory.parts)
    assert memory.needed.value == sum(part.per_gpu_bytes for part in memory.parts)
    assert sum(load.gpus for load in memory.gpus) == answer.configuration.plan.tp * len(memory.gpus)
    for part in memory.parts:
        assert part.per_gpu_bytes == sum(term.value for term in part.terms)
        assert part.total_bytes == sum(load.gpus * load.parts.get(part.name, 0) for load in memory.gpus)
        assert part.low_bytes <= part.per_gpu_bytes <= part.high_bytes < math.inf
        assert all(ordered(term) for term in part.terms)
    for load in memory.gpus:
        assert load.needed_bytes.value == sum(load.parts.values()) <= memory.needed.value
        assert load.needed_bytes.high <= memory.needed.high
    assert ordered(memory.needed)
    assert ordered(memory.limit.usable)
    assert memory.needed.value >= answer.part("weights") > 0
    assert memory.needed.high < math.inf


@law(800)
@given(questions, contexts, contexts, requests, requests)
def test_more_context_or_more_users_never_need_less(query, tokens, other_tokens, users, other_users):
    """With model, format, cache type, engine and plan fixed; neither the value nor the high end."""
    few, many = sorted((tokens, other_tokens)), sorted((users, other_users))
    first = ask(**query, ctx=few[0], users=many[0]).estimate
    second = ask(**query, ctx=few[1], users=many[1]).estimate
    if first.configuration.plan != second.configuration.plan:
        return  # the law speaks of one plan: Ollama and LM Studio take one GPU while that is enough
    less, more = first.memory, second.memory
    if less is not None:
        assert less.needed.value <= more.needed.value
        assert less.needed.high <= more.needed.high + 1  # rounding of floats


def cached_bytes(query, cache_types, parts):
    """Bytes of those parts on the fullest GPU in each cache type; none where the plan has no place for the layers."""
    answers = [ask(**query, kv=cache_type) for cache_type in cache_types]
    return [
        sum(answer.part(part) for part in parts) for answer in answers if answer.estimate.memory is not None
    ]


@law(300)
@given(machines, contexts, requests)
def test_fewer_bits_of_cache_never_take_more_bytes_in_llama_cpp(machine, tokens, users):
    query = {**machine, "engine": "llama.cpp", "ctx": tokens, "users": users}
    sizes = cached_bytes(query, ("q4_0", "q4_1", "q5_0", "q5_1", "q8_0", "bf16"), ("kv_cache", "index_cache"))
    assert sizes == sorted(sizes)


@law(300)
@given(machines, contexts, requests)
def test_fewer_bits_of_cache_never_take_more_bytes_in_vllm(machine, tokens, users):
    """Where a state makes the pages, 8 and 16 bits compare, and without the index keys: a page is a whole number of
    tokens that holds the state, more tokens of fewer bits, and the index has keys for all of them."""
    states = any(block.mixer.states() for block in SNAPSHOT.models[machine["model"]].architecture.blocks)
    query = {**machine, "engine": "vllm", "ctx": tokens, "users": users}
    if states:
        sizes = cached_bytes(query, ("fp8", "bf16"), ("kv_cache",))
    else:
        sizes = cached_bytes(query, ("nvfp4", "fp8", "bf16"), ("kv_cache", "index_cache"))
    assert sizes == sorted(sizes)


K_QUANTS = (
    "q2_k_s",
    "q2_k",
    "q3_k_s",
    "q3_k_m",
    "q4_k_s",
    "q4_k_m",
    "q5_k_s",
    "q5_k_m",
    "q6_k",
    "q8_0",
    "f16",
)
"""One family by bits. Q3_K_L is left out: it keeps three kinds of matrices in 5 bits, more than Q4_K_S."""


def whole_blocks(model):
    """No row of the model forces a type of another family: blocks of 256 divide them all (apart from MLA's k_b)."""
    matrices = (
        tensor
        for tensors in model.architecture.block_tensors
        for tensor in (*tensors, model.architecture.embedding)
        if tensor.family in ("linear", "expert", "embedding") and tensor.columns > 1
    )
    return all(tensor.columns % 256 == 0 for tensor in matrices)


WHOLE = {model.id: model for model in SNAPSHOT.models.values() if whole_blocks(model)}


@pytest.mark.parametrize("model", WHOLE.values(), ids=WHOLE)
def test_fewer_bits_of_weights_never_take_more_bytes_in_one_family(model):
    sizes = [gguf_layout(model.architecture, name, model.class_name).text_bytes for name in K_QUANTS]
    assert sizes == sorted(sizes)


def test_most_models_have_rows_of_whole_blocks():
    assert len(WHOLE) > 250


@law(400)
@given(questions, contexts, requests)
def test_capacity_is_the_last_value_that_keeps_its_verdict(query, tokens, users):
    answer = ask(**query, ctx=tokens, users=users)
    if answer.estimate.capacity is None:
        return
    c, capacity = answer.configuration, answer.capacity

    def verdict(**workload):
        return estimate(replace(c, workload=replace(c.workload, **workload)), capacity=False).verdict

    def holds(value, name, allowed, bound):
        assert 0 <= value <= bound
        assert value == 0 or verdict(**{name: value}) in allowed
        assert value == bound or verdict(**{name: value + 1}) not in allowed

    longest = c.model.max_context_tokens or 16_777_216
    most = c.engine.rules.get("max_sequences") or 65_536
    holds(capacity.max_context_tokens, "context_tokens", ("fits", "tight"), longest)
    holds(capacity.max_context_fits_tokens, "context_tokens", ("fits",), longest)
    holds(capacity.max_users, "users", ("fits", "tight"), most)
    holds(capacity.max_users_fits, "users", ("fits",), most)


@law(600)
@given(questions, contexts, requests)
def test_the_verdict_alone_is_the_estimates(query, tokens, users):
    """Searches ask for the verdict without drawing the answer."""
    answer = ask(**query, ctx=tokens, users=users)
    assert verdict_of(answer.configuration) == answer.verdict


# --- the question -----------------------------------------------------------------------------------------------------

anything = st.dictionaries(
    st.sampled_from([parameter.name for parameter in PARAMETERS]),
    st.one_of(
        st.text(max_size=300),
        st.text(st.characters(), max_size=20),
        st.integers().map(str),
        st.floats().map(str),
        st.sampled_from(
            [*DEVICES, *FORMATS, *CACHE_TYPES, "1e999", "-1", "٣", "²", "8k", "nan", "\ud800", "custom"]
        ),
        st.builds("{}:{}".format, st.sampled_from(DEVICES), st.text(max_size=5)),
    ),
    max_size=8,
)


@law(600)
@given(anything)
def test_no_text_breaks_the_question_or_its_answer(given_text):
    scenario, _ = parse(given_text)
    resolved = resolve(scenario, SNAPSHOT)
    estimate(resolved.configuration)
    assert parse(parse_qsl(resolved.scenario.query()))[0] == resolved.scenario


@law(600)
@given(anything)
def test_a_permalink_gives_the_question_back(given_text):
    scenario, _ = parse(given_text)
    assert parse(parse_qsl(scenario.query()))[0] == scenario
