"""One model against many hosts: row for row what the arithmetic says of each host asked alone, and well-known pairs."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calculator.estimation import estimate
from calculator.planner.counts import smallest_counts
from calculator.planner.fleet import fleet_of, fleet_with, host_of
from calculator.planner.hardware import Price, fits_on
from calculator.planner.settling import Settling, on_devices_alone, unmoved
from calculator.resolve import resolve, workload_of
from calculator.scenario import Scenario
from tests.estimation.asking import SNAPSHOT

FLEET = fleet_of(SNAPSHOT)
HOSTS = [host.id for host in FLEET.hosts]
MODELS = (
    "llama-3.1-8b-instruct",
    "llama-3.3-70b-instruct",
    "gpt-oss-120b",
    "qwen3-30b-a3b",
    "qwen3-next-80b-a3b-instruct",
    "gemma-3-27b-it",
    "deepseek-r1",
    "kimi-k3",
    "qwen3-embedding-8b",
)
SETTINGS = (
    {},
    {"engine": "sglang"},
    {"engine": "tensorrt-llm"},
    {"engine": "ollama"},
    {"engine": "mlx"},
    {"engine": "exllama"},
    {"engine": "transformers"},
    {"engine": "ktransformers"},
    {"engine": "vllm", "engine_version": "0.19"},
    {"kv": "q8_0"},
    {"vision": "1"},
    {"os": "windows"},
    {"seqs": "engine"},
    {"quant": "q8_0"},
)


def close(first, second):
    """The same interval; the very last digits depend on the order of the same additions."""
    if first is None or second is None:
        return first is second
    return all(
        getattr(first, end) == pytest.approx(getattr(second, end), rel=1e-9)
        for end in ("value", "low", "high")
    )


def same_as_alone(row, scenario):
    """Every figure of a row beside the estimate of the same question for its host and count."""
    alone = estimate(resolve(scenario.replace(gpu=row.host.id, n=row.units), SNAPSHOT).configuration)
    assert row.verdict == alone.verdict
    assert row.configuration.plan == alone.configuration.plan
    assert row.limit == (alone.memory.limit if alone.memory else None)
    assert row.needed is None or close(row.needed, alone.memory.needed)
    if not row.works:
        assert (row.capacity, row.speed) == (None, None)
        return
    assert row.capacity == alone.capacity
    assert (row.speed is None) == (alone.speed is None)
    if row.speed:
        for figure in ("decode_tokens_per_s_per_user", "served_output_tokens_per_s", "ttft_ms"):
            assert close(getattr(row.speed, figure), getattr(alone.speed, figure)), figure
        assert row.speed.bound_by == alone.speed.bound_by


@settings(max_examples=40, deadline=None, derandomize=True)
@given(
    gpus=st.lists(st.sampled_from(HOSTS), min_size=2, max_size=6, unique=True),
    model=st.sampled_from(MODELS),
    more=st.sampled_from(SETTINGS),
    ctx=st.integers(1, 200_000),
    users=st.sampled_from((1, 1, 2, 7, 64, 300)),
)
def test_rows_are_what_the_arithmetic_says_of_each_host_alone(gpus, model, more, ctx, users):
    scenario = Scenario(model=model, ctx=ctx, users=users, **more)
    for row in fits_on(scenario, fleet_with(SNAPSHOT, gpus)):
        same_as_alone(row, scenario)
        counts = smallest_counts(scenario.replace(gpu=row.host.id), SNAPSHOT)
        if row.configuration.plan.host_expert_layers:
            continue  # the estimate counts host memory too
        assert (row.units if row.verdict == "fits" else None) == counts.fits
        tight = row.units if row.verdict == "tight" else row.tight_units
        assert tight == counts.tight


@pytest.mark.parametrize("model", ["qwen3-30b-a3b", "kimi-k3"])
def test_a_kept_question_answers_another_workload_as_a_new_one_does(model):
    scenario = Scenario(model=model, ctx=30_000, users=3)
    kept = Settling(Scenario(model=model), FLEET)
    hosts = FLEET.hosts[::9]
    fits_on(Scenario(model=model), FLEET, settling=kept, hosts=hosts)
    again = fits_on(scenario, FLEET, settling=kept, hosts=hosts)
    new = fits_on(scenario, FLEET, hosts=hosts)
    assert [(r.host.id, r.units, r.verdict, r.capacity) for r in again] == [
        (r.host.id, r.units, r.verdict, r.capacity) for r in new
    ]


def test_a_setting_that_follows_the_workload_is_part_of_what_is_kept():
    assert unmoved(Scenario(ctx=9000, gpu="h100-sxm")) == unmoved(Scenario(users=4))
    assert unmoved(Scenario(ctx=9000, maxlen=20_000)) != unmoved(Scenario(ctx=10_000, maxlen=20_000))
    assert unmoved(Scenario(users=3, seqs="8")) != unmoved(Scenario(users=4, seqs="8"))


def test_every_host_has_a_row_and_what_works_comes_first():
    rows = fits_on(Scenario(model="llama-3.3-70b-instruct"), FLEET)
    assert sorted(row.host.id for row in rows) == sorted((*SNAPSHOT.accelerators, *SNAPSHOT.systems))
    works = [row.works for row in rows]
    assert works == sorted(works, reverse=True)
    fits = [row.gpus for row in rows if row.verdict == "fits"]
    assert fits == sorted(fits)


def test_offload_and_a_fixed_plan_are_left_open():
    asked = Scenario(model="qwen3-30b-a3b", offload="auto", tp=8, split="tensor", ngl=4)
    free = Scenario(model="qwen3-30b-a3b")
    assert on_devices_alone(asked) == free
    hosts = FLEET.hosts[::40]
    rows, alone = (fits_on(each, FLEET, hosts=hosts) for each in (asked, free))
    assert [(r.host.id, r.units, r.verdict) for r in rows] == [(r.host.id, r.units, r.verdict) for r in alone]


PAIRS = [
    # bartowski/Llama-3.3-70B-Instruct-GGUF: the Q4_K_M file has 42.5 GB
    ("llama-3.3-70b-instruct", "rtx-3090", "q4_k_m", 8192, 2),
    # openai/gpt-oss README: a single 80 GB GPU; the file has 63.4 GB, a 128 GB Mac gives 107.5 GiB to the GPU
    ("gpt-oss-120b", "h100-sxm", "native", 8192, 1),
    ("gpt-oss-120b", "mac-m5-max-128", None, 8192, 1),
    # docs.vllm.ai/projects/recipes DeepSeek-V3: 8 × H200 with the FP8 checkpoint
    ("deepseek-r1", "h200-sxm", "native", 8192, 8),
    ("deepseek-r1", "h100-sxm", "native", 8192, 16),
    # smeltcore.com/recipes/qwen3-30b-a3b-rtx-3090-ti: 18.6 GB, fully on one 24 GB card
    ("qwen3-30b-a3b", "rtx-3090-ti", "q4_k_m", 8192, 1),
    # vllm-project/recipes moonshotai/Kimi-K3.yaml: H100 from 32 on
    ("kimi-k3", "h100-sxm", "native", 131_072, 32),
    ("kimi-k3", "h100-sxm", "native", 1_048_576, 32),
    # huggingface.co/openai/gpt-oss-20b: within 16 GB of memory
    ("gpt-oss-20b", "rtx-5060-ti-16", None, 8192, 1),
    # mistralai/Mixtral-8x7B-Instruct-v0.1 discussions 171 and 237: about 100 GB in 16 bits
    ("mixtral-8x7b-instruct-v0.1", "a100-sxm-80", "bf16", 8192, 2),
    # developers.googleblog.com, Gemma 3 QAT: int4 on one RTX 3090
    ("gemma-3-27b-it", "rtx-3090", "q4_0", 8192, 1),
    # tensorwave.com/blog/405-billion-parameters-1-node: one node of MI300X in 16 bits, four in FP8
    ("llama-3.1-405b-instruct", "mi300x", "bf16", 8192, 8),
    ("llama-3.1-405b-instruct", "mi300x", "fp8", 8192, 4),
]


@pytest.mark.parametrize(("model", "gpu", "quant", "ctx", "fits"), PAIRS)
def test_well_known_pairs(model, gpu, quant, ctx, fits):
    [row] = fits_on(Scenario(model=model, quant=quant, ctx=ctx), fleet_with(SNAPSHOT, [gpu]))
    assert (row.verdict, row.units) == ("fits", fits)
    assert row.capacity.max_context_fits_tokens >= ctx
    assert row.headroom_bytes > 0


def test_a_smaller_tight_count_stands_beside_the_one_that_fits():
    """24 H100 hold one request of 131,072 tokens of Kimi K3 by the point value alone (W-5.4); of 1,048,576 they do not."""
    rows = [
        fits_on(Scenario(model="kimi-k3", quant="native", ctx=ctx), fleet_with(SNAPSHOT, ["h100-sxm"]))[0]
        for ctx in (8192, 131_072, 1_048_576)
    ]
    assert [(row.units, row.tight_units) for row in rows] == [(24, None), (32, 24), (32, None)]


def test_where_nothing_fits_the_row_says_what_is_missing_in_the_largest_count():
    [row] = fits_on(Scenario(model="kimi-k3"), fleet_with(SNAPSHOT, ["rtx-4090"]))
    assert (row.verdict, row.units, row.why) == ("does_not_fit", 15, None)
    assert row.headroom_bytes == int(row.limit.usable.value - row.needed.value) < 0
    [row] = fits_on(Scenario(model="kimi-k3", engine="vllm"), fleet_with(SNAPSHOT, ["mac-m5-max-128"]))
    assert (row.verdict, row.why.code, row.capacity, row.speed) == (
        "unsupported",
        "engine_not_on_device",
        None,
        None,
    )


def test_prices_are_those_that_are_given_and_nothing_else():
    prices = {
        "rtx-3090": [Price(900.0, "2026-11-20", "used", "a shop"), Price(1500.0, "2026-11-01", "new", "b")]
    }
    fleet = fleet_with(SNAPSHOT, ["rtx-3090", "rtx-4090"])
    rows = {
        row.host.id: row for row in fits_on(Scenario(model="llama-3.3-70b-instruct"), fleet, prices=prices)
    }
    assert rows["rtx-3090"].price == Price(900.0, "2026-11-20", "used", "a shop")
    assert rows["rtx-4090"].price is None


@pytest.mark.parametrize(
    ("gpu", "model", "expected"),
    [
        ("rtx-3090", "llama-3.1-8b-instruct", "bf16"),  # 16 GB in 16 bits beside a cache of 1 GiB
        ("rtx-3060-12", "llama-3.1-8b-instruct", "q8_0"),  # 8.5 GB
        (
            "rtx-3090",
            "llama-3.3-70b-instruct",
            None,
        ),  # 2.74 bits and less change it severely or are too large
        ("h100-sxm", "gpt-oss-120b", "native"),  # nothing has more bits than the checkpoint
    ],
)
def test_best_format_of_one_unit(gpu, model, expected):
    host = host_of(gpu, SNAPSHOT)
    settling = Settling(Scenario(model=model), fleet_with(SNAPSHOT, [gpu]))
    host = settling.fleet.hosts[0]
    found = settling.best_format(host, 1, workload_of(Scenario()))
    assert (found.configuration.weights_format.id if found else None) == expected
    if found:
        asked = Scenario(model=model, gpu=gpu, quant=expected)
        assert estimate(resolve(asked, SNAPSHOT).configuration, capacity=False).verdict == "fits"
