"""The figures of a configuration: what is there, what bounds it, when there is none, power and speculation."""

from dataclasses import replace

import pytest

from calculator.estimation import estimate
from calculator.estimation.terms import BOUNDS
from calculator.estimation.throughput import (
    most_users_within,
    prompt_curve,
    speculated,
    speed_curve,
    speed_of,
    users_curve,
)
from calculator.estimation.throughput.compute import compute_rate, peak_flops_per_s
from calculator.estimation.throughput.energy import (
    average_watts,
    grams_co2,
    joules_per_token,
    kwh_per_million,
    kwh_per_month,
)
from calculator.estimation.throughput.load import machine_of, remembered_machine
from tests.estimation.asking import SNAPSHOT, ask

SERVED = {"model": "llama-3.1-8b-instruct", "gpu": "h100-sxm", "quant": "bf16", "prompt": 1000, "output": 200}


def test_an_estimate_carries_speed_and_energy():
    answer = ask(**SERVED, users=8).estimate
    assert answer.speed.bound_by == "weights"
    assert answer.energy.watts > answer.energy.watts_per_gpu > 300
    assert answer.speed_reasons == ()


def test_intervals_stand_around_their_values():
    for query in (
        SERVED,
        {**SERVED, "users": 64, "ctx": 2048},
        {"gpu": "mac-m3-ultra-512"},
        {"gpu": "rx-7900-xtx"},
    ):
        speed = ask(**query).estimate.speed
        for name in type(speed).__slots__:
            interval = getattr(speed, name)
            if hasattr(interval, "low"):
                assert interval.low < interval.value < interval.high, (query, name)


def test_the_page_can_leave_speed_out():
    c = ask(**SERVED).configuration
    assert estimate(c, capacity=False, speed=False).speed is None


@pytest.mark.parametrize(
    "query",
    [
        {"model": "llama-3.3-70b-instruct", "gpu": "rtx-4090", "quant": "q4_k_m"},
        {"model": "deepseek-r1", "gpu": "h100-sxm", "n": 8, "quant": "fp8"},
        {"model": "gpt-oss-120b", "gpu": "rtx-4090", "n": 20},
    ],
)
def test_what_does_not_run_has_no_speed(query):
    answer = ask(**query)
    assert answer.verdict in ("does_not_fit", "unsupported")
    assert (answer.estimate.speed, answer.estimate.energy) == (None, None)


def test_a_device_without_bandwidth_has_no_speed_but_a_reason():
    c = ask(**SERVED).configuration
    c = replace(c, accelerator=replace(c.accelerator, bandwidth_bytes_per_s=None))
    answer = estimate(c)
    assert answer.speed is None
    assert [reason.code for reason in answer.speed_reasons] == ["speed_bandwidth_unknown"]


def test_a_device_without_a_compute_rate_decodes_and_says_what_is_missing():
    c = ask(**SERVED).configuration
    none = dict.fromkeys(c.accelerator.dense_flops_per_s)
    answer = estimate(replace(c, accelerator=replace(c.accelerator, dense_flops_per_s=none)))
    assert answer.speed.decode_tokens_per_s_per_user.value > 100
    assert (answer.speed.ttft_ms, answer.speed.prefill_tokens_per_s, answer.energy) == (None, None, None)
    assert [reason.code for reason in answer.speed_reasons] == ["speed_compute_unknown"]


def test_a_device_without_a_power_figure_says_so():
    answer = ask(gpu="mac-m3-max-64").estimate
    assert answer.speed is not None
    assert answer.energy is None
    assert [reason.code for reason in answer.speed_reasons] == ["power_unknown"]


def test_an_embedding_model_generates_nothing():
    model = next(m.id for m in SNAPSHOT.models.values() if m.task != "generate")
    answer = ask(model=model, gpu="h100-sxm").estimate
    assert answer.speed is None
    assert [reason.code for reason in answer.speed_reasons] == ["speed_no_generation"]


@pytest.mark.parametrize(
    ("query", "bound"),
    [
        ({"model": "llama-3.1-8b-instruct", "gpu": "rtx-4090"}, "weights"),
        ({"model": "llama-3.1-8b-instruct", "gpu": "h100-sxm", "users": 200, "ctx": 2048}, "cache"),
        ({"model": "gpt-oss-120b", "gpu": "rtx-4090", "offload": "experts"}, "host memory"),
        ({"model": "qwen3-30b-a3b", "gpu": "b200", "quant": "fp8"}, "overhead"),
    ],
)
def test_what_bounds_a_step(query, bound):
    speed = ask(**query).estimate.speed
    assert speed.bound_by == bound
    assert max(speed.step_ms, key=speed.step_ms.get) == bound
    assert tuple(speed.step_ms) == BOUNDS


@pytest.mark.parametrize(
    ("gpu", "engine", "quant", "rate"),
    [
        ("h100-sxm", "vllm", "awq-int4", "fp16"),
        ("h100-sxm", "vllm", "fp8", "fp8"),
        ("a100-sxm-80", "vllm", "fp8", "fp16"),
        ("b200", "vllm", "nvfp4", "fp4"),
        ("h100-sxm", "vllm", "nvfp4", "fp16"),
        ("rtx-4090", "llama.cpp", "q4_k_m", "int8"),
        ("rtx-4090", "llama.cpp", "bf16", "fp16"),
        ("dgx-spark", "llama.cpp", "q4_k_m", "fp8"),
        ("rx-7900-xtx", "llama.cpp", "q4_k_m", "fp16"),
    ],
)
def test_the_rate_that_a_format_really_computes_at(gpu, engine, quant, rate):
    c = ask(model="llama-3.1-8b-instruct", gpu=gpu, engine=engine, quant=quant).configuration
    assert compute_rate(c) == rate
    assert peak_flops_per_s(c) == c.accelerator.dense_flops_per_s[rate]


def test_a_native_checkpoint_computes_as_what_it_is_kept_in():
    assert compute_rate(ask(model="deepseek-v3", gpu="h200-sxm", n=8).configuration) == "fp8"
    assert compute_rate(ask(model="gpt-oss-120b", gpu="h100-sxm").configuration) == "fp8"


def test_energy_w_9_3():
    joules = joules_per_token(700, 2000, 1.3)
    assert joules == pytest.approx(0.455)
    assert kwh_per_million(joules) == pytest.approx(0.1264, abs=5e-5)
    assert kwh_per_million(joules) * 0.15 == pytest.approx(0.01896, abs=5e-6)
    assert grams_co2(kwh_per_million(joules), 400) == pytest.approx(50.6, abs=0.05)


def test_power_of_a_month_w_9_4():
    watts = average_watts(700, 75, 0.6)
    assert kwh_per_month(watts, 729.6, 1.3) * 0.15 == pytest.approx(64.02, abs=0.005)


def test_energy_of_a_token_is_power_over_rate():
    answer = ask(**SERVED, users=8).estimate
    rate = answer.speed.served_output_tokens_per_s.value
    assert answer.energy.joules_per_output_token.value == pytest.approx(answer.energy.watts / rate)


class TestSpeculation:
    def gain(self, model="llama-3.1-8b-instruct", users=1, drafted=3, acceptance=None):
        answer = ask(model=model, gpu="h100-sxm", users=users)
        return speculated(answer.configuration, answer.estimate.speed, drafted=drafted, acceptance=acceptance)

    def test_it_is_not_in_the_default_figures(self):
        query = {"model": "glm-4.5-air", "gpu": "h200-sxm", "n": 2, "quant": "fp8"}
        plain, drafting = ask(**query).estimate, ask(**query, mtp=3).estimate
        assert plain.speed.decode_tokens_per_s_per_user == drafting.speed.decode_tokens_per_s_per_user

    def test_no_drafts_no_gain(self):
        assert self.gain(drafted=0) is None

    def test_the_range_is_the_measured_one(self):
        found = self.gain()
        assert (found.gain.low, found.gain.value, found.gain.high) == pytest.approx((1.2, 1.6, 2.1), rel=0.2)
        assert found.gain.high <= found.ceiling

    def test_many_users_gain_nothing(self):
        assert self.gain(users=16).gain.value == 1.0
        assert self.gain(users=4).gain.value < self.gain().gain.value

    def test_drafts_that_are_never_accepted_gain_nothing(self):
        assert self.gain(acceptance=0.0).ceiling <= 1


class TestCurves:
    def test_speed_against_context_goes_through_the_answer(self):
        answer = ask(**SERVED)
        curve = speed_curve(answer.configuration, [1, 1100, 4096])
        assert curve.tokens_per_s[1] == pytest.approx(
            answer.estimate.speed.decode_tokens_per_s_per_user.value
        )
        assert curve.tokens_per_s[0] > curve.tokens_per_s[1] > curve.tokens_per_s[2]
        assert all(
            low < value < high
            for low, value, high in zip(curve.low, curve.tokens_per_s, curve.high, strict=True)
        )

    def test_throughput_against_users_goes_through_the_answer(self):
        answer = ask(**SERVED, users=16)
        curve = users_curve(answer.configuration, [1, 16, 64])
        assert curve.served_output_tokens_per_s[1] == pytest.approx(
            answer.estimate.speed.served_output_tokens_per_s.value
        )
        assert curve.ttft_ms[1] == pytest.approx(answer.estimate.speed.ttft_ms.value)
        assert curve.latency_limit_users is None

    def test_beyond_the_memory_requests_queue(self):
        c = ask(**SERVED).configuration
        free = users_curve(c, [32, 64, 128])
        full = users_curve(c, [32, 64, 128], memory_limit_users=32)
        assert full.served_output_tokens_per_s[2] < free.served_output_tokens_per_s[2]
        assert full.tokens_per_s_per_user[2] == full.tokens_per_s_per_user[0]
        assert full.ttft_ms[2] > full.ttft_ms[1] > full.ttft_ms[0]

    def test_the_knee_is_where_doubling_brings_less_than_a_quarter(self):
        c = ask(**SERVED).configuration
        knee = users_curve(c, [1, 4096]).knee_users
        before, at, after = users_curve(c, [knee - 1, knee, 2 * knee]).served_output_tokens_per_s
        assert before < at
        assert after / at < 1.25

    def test_most_users_within_targets_is_the_last_that_keeps_to_them(self):
        c = ask(**SERVED).configuration
        most = most_users_within(c, ttft_ms=2000, tpot_ms=25)
        inside, outside = users_curve(c, [most]), users_curve(c, [most + 1])
        assert inside.ttft_ms[0] <= 2000
        assert inside.tpot_ms[0] <= 25
        assert outside.ttft_ms[0] > 2000 or outside.tpot_ms[0] > 25
        assert (
            users_curve(c, [1], tpot_ms=25, ttft_ms=2000, memory_limit_users=9999).latency_limit_users == most
        )

    def test_targets_that_nobody_can_keep(self):
        assert most_users_within(ask(**SERVED).configuration, tpot_ms=0.1) == 0
        assert most_users_within(ask(**SERVED).configuration, most=7) == 7

    def test_a_longer_prompt_waits_longer(self):
        curve = prompt_curve(ask(**SERVED).configuration, [16, 1000, 8000])
        assert curve.ttft_ms[0] < curve.ttft_ms[1] < curve.ttft_ms[2]
        assert curve.ttft_ms[1] == pytest.approx(ask(**SERVED).estimate.speed.ttft_ms.value)

    def test_no_curve_without_a_speed(self):
        c = ask(gpu="h100-sxm", model=next(m.id for m in SNAPSHOT.models.values() if m.task != "generate"))
        assert speed_curve(c.configuration, [1]) is users_curve(c.configuration, [1]) is None
        assert prompt_curve(c.configuration, [1]) is speed_of(c.configuration) is None


def test_every_built_engine_has_all_constants():
    for engine in SNAPSHOT.engines.values():
        for gpu in ("rtx-4090", "h100-sxm", "mi300x", "mac-m4-max-64", "arc-pro-b70", "cpu-ddr4-desktop"):
            c = ask(model="llama-3.1-8b-instruct", gpu=gpu, engine=engine.id).configuration
            speed = speed_of(c)
            assert speed.decode_tokens_per_s_per_user.value > 1, (engine.id, gpu)


@pytest.mark.parametrize("system", ["rtx-3090-2x", "mi355x-8", "strix-halo-128-2x"])
def test_a_system_has_its_own_links_whoever_asked_for_loose_devices_before(system):
    """Same devices, number and plan; only what joins them differs (formulas §7.4)."""
    loose = {"gpu": SNAPSHOT.systems[system].accelerator_id, "n": SNAPSHOT.systems[system].count}
    model = {"model": "llama-3.3-70b-instruct"}
    asked_first, asked_next = ask(**model, **loose), ask(**model, gpu=system)
    assert asked_first.configuration.plan == asked_next.configuration.plan
    links = [machine_of(answer.configuration).links for answer in (asked_first, asked_next)]
    remembered = [remembered_machine(answer.configuration).links for answer in (asked_first, asked_next)]
    assert links[0] != links[1]
    assert remembered == links
