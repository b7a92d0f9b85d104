"""From the question to one configuration: what is chosen, why, and what could not be taken as given."""

from dataclasses import replace

import pytest

from calculator.resolve import resolve
from calculator.scenario import Problem, Scenario
from tests.estimation.asking import H100, SNAPSHOT, ask


def chosen(answer):
    return {choice.field: (choice.value, choice.code) for choice in answer.configuration.choices}


# --- engine -----------------------------------------------------------------------------------------------------------

ENGINES = {
    "h100-sxm": "vllm",
    "mi300x": "vllm",
    "hgx-h100-8": "vllm",
    "rtx-4090": "llama.cpp",
    "rtx-pro-6000": "llama.cpp",
    "mac-m4-max-128": "llama.cpp",
    "dgx-spark": "llama.cpp",
    "cpu-ddr4-desktop": "llama.cpp",
}


@pytest.mark.parametrize(("gpu", "engine"), ENGINES.items(), ids=ENGINES)
def test_data_centre_devices_take_vllm_and_all_others_llama_cpp(gpu, engine):
    assert chosen(ask(gpu=gpu))["engine"] == (engine, "engine_by_device_class")


def test_a_server_that_does_not_run_on_a_card_makes_way_for_one_that_does():
    """Pascal has compute capability 6.1; vLLM starts at 7.5."""
    assert chosen(ask(gpu="p40"))["engine"] == ("llama.cpp", "engine_by_device_class")


def test_the_format_may_decide_the_engine():
    assert chosen(ask(gpu=H100, quant="q4_k_m"))["engine"] == ("llama.cpp", "engine_by_format")
    assert chosen(ask(gpu="rtx-4090", quant="awq-int4"))["engine"] == ("vllm", "engine_by_format")


def test_the_class_may_decide_the_engine():
    """Kimi K2.7 Code and others are listed everywhere; a class that only vLLM lists moves a desktop card to vLLM."""
    listed = {name: SNAPSHOT.engines[name].classes for name in ("llama.cpp", "vllm")}
    found = [
        (model.id, chosen(ask(model=model.id, gpu="rtx-4090"))["engine"])
        for model in SNAPSHOT.models.values()
        if model.class_name.lower().replace("_", "") in listed["vllm"] - listed["llama.cpp"]
    ]
    assert found
    assert {engine for _, engine in found} == {("vllm", "engine_by_class_listed")}


def test_sliders_never_change_the_engine():
    engines = {
        ask(gpu="rtx-4090", ctx=ctx, users=users, n=n).configuration.engine.id
        for ctx in (1, 8192, 131_072)
        for users in (1, 64)
        for n in (1, 8)
    }
    assert engines == {"llama.cpp"}


def test_a_model_that_no_engine_lists_is_computed_where_its_relative_would_be():
    """Kimi K3.1 Pro, nearest relative Kimi K3."""
    answer = ask(model="kimi-k3.1-pro", gpu=H100, n=32)
    assert chosen(answer)["engine"] == ("vllm", "engine_by_device_class")
    assert not answer.configuration.class_listed
    assert "class_not_listed" in answer.reasons


def test_an_engine_that_is_asked_for_is_taken():
    assert ask(gpu="rtx-4090", engine="vllm").configuration.engine.id == "vllm"
    assert "engine" not in chosen(ask(gpu="rtx-4090", engine="vllm"))
    assert ask(engine="llamacpp").configuration.engine.id == "llama.cpp"


def test_a_backend_goes_by_the_device_and_may_be_asked_for():
    assert ask(gpu="rx-7900-xtx").configuration.backend == "rocm"
    assert ask(gpu="rx-7900-xtx", backend="vulkan").configuration.backend == "vulkan"


# --- format -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "weights_format", "code"),
    [
        ({"gpu": H100}, "native", "format_by_engine"),
        ({"gpu": "rtx-4090"}, "q4_k_m", "format_by_engine"),
        ({"model": "gpt-oss-20b"}, "mxfp4_moe", "format_native_4bit"),
        ({"model": "kimi-k3", "engine": "llama.cpp"}, "mxfp4_moe", "format_native_4bit"),
        ({"model": "kimi-k2.5", "engine": "llama.cpp"}, "q4_k_m", "format_by_engine"),
    ],
)
def test_the_default_format_goes_by_the_engine_and_the_checkpoint(query, weights_format, code):
    answer = ask(**query)
    assert answer.configuration.weights_format.id == weights_format
    assert chosen(answer)["quant"] == (weights_format, code)


def test_a_format_is_known_by_its_other_names():
    assert ask(quant="AWQ", gpu=H100).configuration.weights_format.id == "awq-int4"


# --- unknown ids ------------------------------------------------------------------------------------------------------


def test_an_unknown_model_is_answered_by_the_default_and_near_names():
    answer = ask(model="kimi-k3.1")
    assert answer.configuration.model.id == "llama-3.1-8b-instruct"
    assert answer.resolved.scenario.model == "llama-3.1-8b-instruct"
    problem = answer.problems[0]
    assert (problem.field, problem.given, problem.used, problem.code) == (
        "model",
        "kimi-k3.1",
        "llama-3.1-8b-instruct",
        "unknown_id",
    )
    assert dict(problem.factors)["near"].split(", ")[0] == "kimi-k3.1-pro"


def test_an_unknown_device_is_answered_by_the_default_and_near_names():
    problem = ask(gpu="rtx-4091").problems[0]
    assert (problem.field, problem.used, problem.code) == ("gpu", "rtx-4090", "unknown_id")
    assert "rtx-4090" in dict(problem.factors)["near"].split(", ")


def test_an_unknown_format_leaves_the_choice_to_the_engine():
    answer = ask(quant="q4_k_n")
    assert answer.configuration.weights_format.id == "q4_k_m"
    assert (answer.problems[0].field, answer.problems[0].code) == ("quant", "unknown_id")
    assert "q4_k_m" in dict(answer.problems[0].factors)["near"]


def test_a_custom_model_is_not_computed_yet():
    assert ask(model="custom").problems == (
        Problem("model", "custom", "llama-3.1-8b-instruct", "not_computed_yet"),
    )


# --- hardware ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "device", "count"),
    [
        ({"gpu": "rtx-3090", "n": 4}, "rtx-3090", 4),
        ({"gpu": "hgx-h100-8"}, "h100-sxm", 8),
        ({"gpu": "hgx-h100-8", "n": 4}, "h100-sxm", 32),
        ({"gpu": "gb200-nvl72"}, "gb200", 72),
        ({"gpu": "dgx-spark"}, "dgx-spark", 1),
        ({"gpu": "dgx-spark-2"}, "dgx-spark", 2),
        ({"gpu": "mac-studio-m3u-512-4"}, "mac-m3-ultra-512", 4),
    ],
)
def test_an_id_is_a_device_or_a_system_of_several(query, device, count):
    c = ask(**query).configuration
    assert (c.accelerator.id, c.count) == (device, count)


def test_a_system_with_another_memory_than_the_card_of_its_name():
    """DGX Station: a GB300 of 252 GB."""
    c = ask(gpu="dgx-station-gb300").configuration
    assert (c.accelerator.id, c.accelerator.memory_gb) == ("gb300", 252)


def test_a_list_names_every_card_and_n_is_ignored():
    answer = ask(gpu="rtx-3090:2,rtx-3060-12:1", n=7)
    assert [card.id for card in answer.configuration.cards] == ["rtx-3090", "rtx-3090", "rtx-3060-12"]
    assert (answer.configuration.accelerator.id, answer.configuration.count) == ("rtx-3060-12", 3)
    assert answer.problems == ()
    assert answer.resolved.scenario.gpu == "rtx-3090:2,rtx-3060-12:1"


def test_a_list_of_one_kind_is_that_many_cards():
    answer = ask(gpu="rtx-3090:2")
    assert (answer.configuration.cards, answer.configuration.count) == ((), 2)


def test_an_unknown_card_of_a_list_is_named_and_left_out():
    answer = ask(gpu="rtx-3090:2,rtx-3066:1")
    assert answer.configuration.count == 2
    assert (answer.problems[0].field, answer.problems[0].given, answer.problems[0].code) == (
        "gpu",
        "rtx-3066",
        "unknown_id_left_out",
    )


@pytest.mark.parametrize("count", ["", "x", "²", "0"])
def test_a_count_that_is_none_means_one(count):
    assert ask(gpu=f"rtx-3090:{count}").configuration.count == 1


def test_an_unknown_device_in_a_list_is_unknown():
    assert [problem.code for problem in ask(gpu="rtx-9999:2").problems] == [
        "unknown_id_left_out",
        "unknown_id",
    ]


def test_no_more_than_4096_devices():
    answer = ask(gpu="hgx-h100-8", n=1000)
    assert answer.configuration.count == 4096
    problem = answer.problems[0]
    assert (problem.field, problem.given, problem.used, problem.code) == ("n", "1000", 512, "out_of_range")


# --- platform ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("gpu", "system"), [("rtx-4090", "linux"), ("mac-m4-max-128", "macos26"), ("dgx-spark", "linux")]
)
def test_a_device_usually_runs(gpu, system):
    answer = ask(gpu=gpu)
    assert answer.configuration.platform.os == system
    assert chosen(answer)["os"] == (system, "os_default")


@pytest.mark.parametrize(
    ("gpu", "asked", "used"), [("rtx-4090", "macos26", "linux"), ("mac-m4-max-128", "windows", "macos26")]
)
def test_a_system_that_does_not_run_on_the_device(gpu, asked, used):
    answer = ask(gpu=gpu, os=asked)
    assert answer.configuration.platform.os == used
    problem = answer.problems[0]
    assert (problem.field, problem.given, problem.used, problem.code) == (
        "os",
        asked,
        used,
        "os_not_on_device",
    )


# --- workload and knobs -----------------------------------------------------------------------------------------------


def test_a_context_above_the_models_is_kept_and_named():
    answer = ask(ctx=200_000)
    assert answer.configuration.workload.context_tokens == 200_000
    assert answer.problems == (
        Problem(
            "ctx",
            "200000",
            200_000,
            "context_above_maximum",
            (("maximum", 131_072), ("name", "Llama 3.1 8B Instruct")),
        ),
    )


@pytest.mark.parametrize(
    ("query", "lengths"),
    [
        ({}, (4096, 512)),
        ({"ctx": 2048}, (1536, 512)),
        ({"ctx": 100}, (50, 50)),
        ({"ctx": 1}, (1, 1)),
        ({"output": 1000}, (4096, 1000)),
        ({"prompt": 10, "output": 20}, (10, 20)),
    ],
)
def test_prompt_and_answer_fill_the_context(query, lengths):
    """Contract: min(4096, ctx − output) and min(512, ctx/2)."""
    workload = ask(**query).configuration.workload
    assert (workload.prompt_tokens, workload.output_tokens) == lengths


def test_knobs_are_the_engines_unless_asked_for():
    server, files = ask(gpu=H100).configuration.knobs, ask().configuration.knobs
    assert (server.memory_share, server.batched_tokens, server.max_sequences) == (0.92, 8192, None)
    assert (files.micro_batch, files.flash_attention, files.eager) == (512, True, False)


def test_knobs_that_are_asked_for_are_taken():
    knobs = ask(
        gpu=H100, util=0.8, seqs=64, batched=4096, ubatch=256, fa=0, eager=1, maxlen=32_768, vision=1
    ).configuration.knobs
    assert (knobs.memory_share, knobs.max_sequences, knobs.batched_tokens) == (0.8, 64, 4096)
    assert (knobs.micro_batch, knobs.flash_attention, knobs.eager) == (256, False, True)
    assert (knobs.longest_request, knobs.vision) == (32_768, True)


def test_a_longest_request_below_the_context_is_raised():
    answer = ask(gpu=H100, ctx=8192, maxlen=4096)
    assert answer.configuration.knobs.longest_request == 8192
    assert answer.problems == (Problem("maxlen", "4096", 8192, "maxlen_below_context", (("ctx", 8192),)),)


@pytest.mark.parametrize("asked", ["4", "engine"])
def test_fewer_slots_than_users_are_raised(asked):
    answer = ask(gpu="rtx-4090", engine="vllm", users=300, seqs=asked)
    assert answer.configuration.knobs.max_sequences == 300
    assert answer.problems == (Problem("seqs", asked, "300", "sequences_below_users", (("users", 300),)),)


@pytest.mark.parametrize("asked", ["many", "0", "99999"])
def test_slots_that_are_no_number_are_left_to_the_users(asked):
    answer = ask(gpu=H100, seqs=asked)
    assert answer.configuration.knobs.max_sequences is None
    assert answer.problems == (Problem("seqs", asked, None, "not_a_number"),)


def test_a_cache_type_without_arithmetic_is_answered_by_16_bits():
    answer = ask(gpu=H100, kv="nvfp4_ds_mla")
    assert answer.configuration.cache_type == "bf16"
    assert answer.problems == (Problem("kv", "nvfp4_ds_mla", "bf16", "not_computed_yet"),)


def test_a_parameter_of_a_later_part_is_kept_and_named():
    answer = ask(rank=8, method="full")
    scenario = answer.resolved.scenario.values()
    assert (scenario["rank"], scenario["method"]) == (8, "full")
    assert {(problem.field, problem.code) for problem in answer.problems} == {
        ("rank", "not_computed_yet"),
        ("method", "not_computed_yet"),
    }


def test_a_catalogue_without_the_defaults_still_answers():
    """An admin may retire any row, the default model and device too."""
    models = {key: row for key, row in SNAPSHOT.models.items() if key != "llama-3.1-8b-instruct"}
    cards = {key: row for key, row in SNAPSHOT.accelerators.items() if key != "rtx-4090"}
    settled = resolve(Scenario(), replace(SNAPSHOT, models=models, accelerators=cards))
    unknown = [problem.field for problem in settled.problems if problem.code == "unknown_id"]
    assert unknown == ["model", "gpu"]
    assert settled.configuration.model.id == next(iter(models))
    assert settled.configuration.accelerator.id == next(iter(cards))
