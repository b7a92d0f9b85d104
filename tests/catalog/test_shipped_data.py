"""What ships is whole: every id resolves, every figure has a source and lies where such figures lie."""

import json
import re
from collections import Counter
from itertools import pairwise

import pytest

from catalog.importers.dump import dump_json
from catalog.importers.files import DATA, catalogue_files, read_entries, snapshot_from_files
from catalog.records import MIB, normal_class

SNAPSHOT = snapshot_from_files()
ENTRIES = read_entries()
FILES = {path.relative_to(DATA).as_posix(): path for path in catalogue_files()}
SLUG = re.compile(r"[a-z0-9][a-z0-9._-]*")
SOURCE_KINDS = {
    "measured",
    "datasheet",
    "config file",
    "documentation",
    "derived",
    "source code",
    "from memory",
}
ELSEWHERE = {"koboldcpp", "llamafile", "vllm-ascend", "unsloth", "exllamav2"}
"""Programs that load some formats and are named there, but for which nothing is computed."""

RECORDS = {
    "models": SNAPSHOT.models,
    "accelerators": SNAPSHOT.accelerators,
    "systems": SNAPSHOT.systems,
    "formats": SNAPSHOT.formats,
    "engines": SNAPSHOT.engines,
}


def test_the_catalogue_is_as_large_as_it_says():
    counts = {kind: len(records) for kind, records in RECORDS.items()}
    assert counts == {"models": 329, "accelerators": 255, "systems": 90, "formats": 101, "engines": 10}
    assert len(ENTRIES["labs"]) == 48
    assert len(SNAPSHOT.ladders) == 12


def test_every_file_is_written_as_the_export_would_write_it():
    badly = [
        name for name, path in FILES.items() if dump_json(json.loads(path.read_text())) != path.read_text()
    ]
    assert badly == []


@pytest.mark.parametrize("kind", RECORDS)
def test_ids_are_slugs(kind):
    assert [identity for identity in RECORDS[kind] if not SLUG.fullmatch(identity)] == []


def test_no_id_names_both_an_accelerator_and_a_system():
    assert set(SNAPSHOT.accelerators) & set(SNAPSHOT.systems) == set()


@pytest.mark.parametrize("kind", RECORDS)
def test_every_record_has_a_source_of_a_known_kind(kind):
    for record in RECORDS[kind].values():
        assert record.sources, f"{record.id} has no source"
        assert {source.kind for source in record.sources} <= SOURCE_KINDS, record.id


def negative(value, path=""):
    """List the places of negative numbers in JSON data; losses of quality and score points may be negative."""
    if isinstance(value, dict):
        return [place for key, item in value.items() for place in negative(item, f"{path}.{key}")]
    if isinstance(value, list):
        return [place for index, item in enumerate(value) for place in negative(item, f"{path}.{index}")]
    return [path] if isinstance(value, (int, float)) and value < 0 else []


@pytest.mark.parametrize(
    "name", [name for name in FILES if not name.startswith(("formats/", "measurements/"))]
)
def test_no_figure_is_negative(name):
    assert negative(json.loads(FILES[name].read_text())) == []


def test_a_source_can_be_followed_from_anywhere():
    """It names a repository, a package, a page, a document or this catalogue; never a path on somebody's machine."""
    for records in RECORDS.values():
        for record in records.values():
            for source in record.sources:
                assert source.where.strip(), record.id
                assert not re.search(r"(^|\s)(~|file:/)?/\w+/", source.where), (record.id, source.where)


def test_the_order_of_the_layers_uses_every_block_and_neighbours_differ():
    for model in SNAPSHOT.models.values():
        runs = [index for index, _ in model.architecture.order]
        assert set(runs) == set(range(len(model.architecture.blocks))), model.id
        assert all(first != second for first, second in pairwise(runs)), model.id


@pytest.mark.parametrize(
    ("model_id", "layers"),
    [
        ("llama-3.1-8b-instruct", 32),
        ("deepseek-v3", 61),
        ("gpt-oss-120b", 36),
        ("kimi-k3", 93),
        ("gemma-3-27b-it", 62),
    ],
)
def test_well_known_models_have_their_published_number_of_layers(model_id, layers):
    assert SNAPSHOT.models[model_id].architecture.layer_count == layers


def test_every_architecture_is_written_as_it_was_read():
    for entry in ENTRIES["models"]:
        model = SNAPSHOT.models[entry["id"]]
        assert model.architecture.to_json() == entry["architecture"], model.id


def test_every_engine_and_relative_that_a_model_names_exists():
    for model in SNAPSHOT.models.values():
        assert set(model.engines) <= set(SNAPSHOT.engines), model.id
        assert model.computed_as is None or model.computed_as in SNAPSHOT.models, model.id
    assert SNAPSHOT.models["kimi-k3.1-pro"].computed_as == "kimi-k3"


def test_a_model_without_an_engine_that_lists_its_class_says_what_it_is_computed_as():
    """Engines that go by model_type (MLX) and encoders, which no engine lists, are left aside."""
    orphans = {
        model.id
        for model in SNAPSHOT.models.values()
        if model.task == "generate"
        and not any(engine.lists(model.class_name) for engine in SNAPSHOT.engines.values())
        and model.computed_as is None
    }
    assert orphans == set()


def test_published_files_name_formats_of_the_catalogue_or_none():
    for model in SNAPSHOT.models.values():
        for file in model.files:
            assert file.weights_format == "" or file.weights_format in SNAPSHOT.formats, (model.id, file)
            assert file.format_as_published, model.id


def test_a_file_of_exact_size_has_the_bits_that_its_format_promises():
    """Files that hold more than the language model read high, and say so; below a billion weights the tables rule."""
    for model in (model for model in SNAPSHOT.models.values() if model.text_parameters > 10**9):
        for file in model.files:
            weights_format = SNAPSHOT.formats.get(file.weights_format)
            if file.exact and weights_format and weights_format.bits_nominal and not file.includes:
                bits = 8 * file.size_bytes / model.text_parameters
                assert 0.8 < bits / weights_format.bits_nominal < 1.45, (
                    model.id,
                    file.format_as_published,
                    bits,
                )


def test_every_system_is_built_of_an_accelerator_of_the_catalogue():
    for system in SNAPSHOT.systems.values():
        assert system.accelerator_id in SNAPSHOT.accelerators, system.id
        assert system.count == system.nodes * system.node_size, system.id


def test_memory_and_bandwidth_lie_where_hardware_lies():
    for device in SNAPSHOT.accelerators.values():
        assert 2 <= device.memory_gb <= 1024, device.id
        if device.process_bytes:
            share = device.process_bytes / (device.memory_gb * 2**30)
            assert 0.88 < share <= 1, (device.id, share)
        if device.exists:
            assert 5e10 <= device.bandwidth_bytes_per_s <= 2.5e13, device.id
        assert device.ladder in SNAPSHOT.ladders, device.id


def test_discrete_cards_have_a_process_total_and_shared_memory_a_share():
    for device in SNAPSHOT.accelerators.values():
        if device.unified:
            assert device.max_usable_fraction or device.kind in ("cpu", "edge", "apu"), device.id
        else:
            assert device.process_bytes, device.id


# Methodology §1.2: totals that processes see, and that the driver reports [MiB].
PROCESS_TOTALS = {
    "rtx-3090": 24_126,
    "rtx-4090": 24_210,
    "rtx-5090": 32_123,
    "rtx-5060-ti-16": 15_850,
    "rtx-pro-6000": 97_249,
    "l40s": 45_467,
    "a100-sxm-80": 81_080,
    "h100-sxm": 81_080,
    "h200-sxm": 143_155,
    "b200": 182_630,
    "t4": 14_912,
    "mi300x": 196_588,
    "rx-7900-xtx": 24_560,
    "dgx-spark": 124_611,
}
DRIVER_TOTALS = {
    "rtx-4090": 24_564,
    "rtx-5090": 32_607,
    "h100-sxm": 81_559,
    "h200-sxm": 143_771,
    "b200": 183_359,
    "b300": 275_040,
    "gb200": 189_471,
    "gb300": 284_208,
    "a40": 46_068,
}


def test_memory_that_was_measured_is_the_memory_of_the_record():
    assert {
        name: SNAPSHOT.accelerators[name].process_bytes / MIB for name in PROCESS_TOTALS
    } == PROCESS_TOTALS
    assert {name: SNAPSHOT.accelerators[name].reported_bytes / MIB for name in DRIVER_TOTALS} == DRIVER_TOTALS
    measured = {name for name in PROCESS_TOTALS if SNAPSHOT.accelerators[name].process_kind == "measured"}
    assert measured == set(PROCESS_TOTALS)


def test_peak_rates_are_those_of_the_data_sheets():
    h100 = SNAPSHOT.accelerators["h100-sxm"]
    assert h100.bandwidth_bytes_per_s == 3.35e12
    assert h100.dense_flops_per_s["bf16"] == pytest.approx(989.4e12)
    assert h100.link.bandwidth_bytes_per_s == 450e9  # NVLink 4: 900 GB/s both ways


def test_every_engine_that_a_format_names_exists():
    named = {engine for weights_format in SNAPSHOT.formats.values() for engine in weights_format.engines}
    assert named - ELSEWHERE <= set(SNAPSHOT.engines)


def test_every_alias_of_a_format_is_free_and_leads_to_a_format():
    assert set(SNAPSHOT.format_aliases) & set(SNAPSHOT.formats) == set()
    assert set(SNAPSHOT.format_aliases.values()) <= set(SNAPSHOT.formats)
    badges = SNAPSHOT.format_rules["badges"]
    assert {weights_format.quality["badge"] for weights_format in SNAPSHOT.formats.values()} <= set(badges)


def test_recommendations_name_formats_and_engines_that_exist():
    for rule in SNAPSHOT.format_rules["star_rules"]:
        assert set(rule["star"]) <= set(SNAPSHOT.formats), rule["order"]
        assert set(rule["engines"]) <= set(SNAPSHOT.engines) | ELSEWHERE, rule["order"]


def loads(engine, weights_format):
    """Whether a row of the engine's table of formats names this one on some device."""
    return any(
        weights_format.id in row["ids"] if "ids" in row else weights_format.family in row.get("families", ())
        for row in engine.rules["format_families"]
    )


@pytest.mark.parametrize("engine", SNAPSHOT.engines.values(), ids=SNAPSHOT.engines)
def test_an_engine_loads_the_formats_that_name_it_and_no_other(engine):
    named = {f.id for f in SNAPSHOT.formats.values() if engine.id in f.engines}
    accepted = {f.id for f in SNAPSHOT.formats.values() if loads(engine, f)}
    if not named:  # KTransformers: formats do not name it
        assert accepted == {"native", "bf16", "fp8", "fp8-block", "int4"}
    else:
        assert accepted == named


@pytest.mark.parametrize("engine", SNAPSHOT.engines.values(), ids=SNAPSHOT.engines)
def test_an_engine_has_the_rules_that_the_arithmetic_reads(engine):
    rules = engine.rules
    assert rules["family"] == engine.family
    assert "bf16" in rules["cache_types"]
    assert {row["backend"] for row in rules["devices"]} >= set(rules["backends"].values())
    known = {device.vendor for device in SNAPSHOT.accelerators.values()}
    assert {vendor for row in rules["devices"] for vendor in row.get("vendors", ())} <= known
    architectures = {device.architecture for device in SNAPSHOT.accelerators.values()}
    assert {name for row in rules["devices"] for name in row.get("architectures", ())} <= architectures
    devices = {name for row in rules["devices"] for name in row.get("not_ids", ())}
    assert devices <= set(SNAPSHOT.accelerators)


def test_the_engines_that_are_built_are_marked():
    assert all(engine.rules["built"] for engine in SNAPSHOT.engines.values())


def test_llama_cpp_constants_serve_three_engines():
    sources = {
        name: engine.rules.get("constants_from", engine.family) for name, engine in SNAPSHOT.engines.items()
    }
    assert {name for name, source in sources.items() if source == "llama.cpp"} == {
        "llama.cpp",
        "ollama",
        "lm-studio",
    }


def test_limits_and_ladders_of_the_engines():
    """Methodology §5.1 and §4.2."""
    llama, vllm = SNAPSHOT.engines["llama.cpp"].rules, SNAPSHOT.engines["vllm"].rules
    assert (llama["max_gpus_layer_split"], llama["max_gpus_tensor_split"], llama["max_sequences"]) == (
        15,
        16,
        256,
    )
    assert llama["counts"] == {"layer": [1, 2, 3, 4, 5, 6, 7, 8, 10, 12, 15], "tensor": [2, 4, 8, 16]}
    assert vllm["counts"]["tensor"] == [1, 2, 4, 8]
    assert vllm["counts"]["nodes_of_8"] == [2, 3, 4, 6, 8, 12]
    assert vllm["memory_share"] == 0.92
    assert [(row["batched"], row["sequences"]) for row in vllm["server_defaults"]] == [
        (16384, 1024),
        (8192, 1024),
        (2048, 256),
    ]


def test_engines_list_model_classes_without_case_and_underscores():
    llama, vllm = SNAPSHOT.engines["llama.cpp"], SNAPSHOT.engines["vllm"]
    assert llama.lists("LlamaForCausalLM")
    assert llama.lists("DeepSeekV2ForCausalLM")  # spelt DeepseekV2ForCausalLM there
    assert vllm.lists("KimiK3ForConditionalGeneration")
    assert not any(engine.lists("KimiK31ForConditionalGeneration") for engine in SNAPSHOT.engines.values())
    assert SNAPSHOT.engines["ollama"].classes >= llama.classes


def test_classes_without_pipeline_or_tensor_split_are_classes_of_the_engine_or_of_a_model():
    llama, vllm = SNAPSHOT.engines["llama.cpp"], SNAPSHOT.engines["vllm"]
    assert vllm.without_pipeline <= vllm.classes
    ours = {normal_class(model.class_name) for model in SNAPSHOT.models.values()}
    assert llama.without_tensor_split <= llama.classes | ours
    assert normal_class("DeepseekV3ForCausalLM") in llama.without_tensor_split
    assert normal_class("LlamaForCausalLM") not in llama.without_tensor_split


RUNS = {  # engine: runs, those that constants may be fitted on, comparable ones
    "exllama": (14, 9, 14),
    "llama.cpp": (82, 59, 75),
    "mlx": (21, 21, 17),
    "ollama": (15, 12, 13),
    "sglang": (10, 6, 10),
    "tensorrt-llm": (4, 2, 4),
    "transformers": (78, 60, 72),
    "vllm": (160, 113, 145),
}


SPEEDS = {  # engines of this catalogue; others ran forks and small engines
    "exllama": 43,
    "ktransformers": 47,
    "llama.cpp": 888,
    "lm-studio": 2,
    "mlx": 50,
    "ollama": 63,
    "sglang": 243,
    "tensorrt-llm": 274,
    "vllm": 624,
}


def test_all_measured_runs_are_there():
    memory = [run for run in SNAPSHOT.measurements if run.task != "speed"]
    counts = {
        engine: (len(runs), sum(r.split == "fit" for r in runs), sum(r.comparable for r in runs))
        for engine in sorted({run.engine for run in memory})
        if (runs := [run for run in memory if run.engine == engine])
    }
    assert counts == RUNS
    assert len(memory) == 384


def test_all_measured_speeds_are_there():
    speeds = [run for run in SNAPSHOT.measurements if run.task == "speed"]
    counts = Counter(run.engine for run in speeds)
    assert {engine: counts[engine] for engine in SPEEDS} == SPEEDS
    assert Counter(run.split for run in speeds) == {"fit": 1744, "check": 626}
    assert (len(speeds), sum(run.comparable for run in speeds)) == (2370, 1641)


@pytest.mark.parametrize("engine", RUNS)
def test_measured_runs_stand_in_the_file_of_their_engine_by_id(engine):
    items = json.loads(FILES[f"measurements/{engine}.json"].read_text())["items"]
    assert {item["engine"] for item in items} == {engine}
    assert [item["id"] for item in items] == sorted(item["id"] for item in items)


def test_every_comparable_run_asks_about_a_model_and_an_engine_that_exist():
    """A run with a question can be asked, whether it is compared or not; without one nothing is compared."""
    for run in SNAPSHOT.measurements:
        if not run.scenario:
            assert not run.comparable, run.id
            continue
        assert run.model_id in SNAPSHOT.models, run.id
        assert run.scenario["model"] == run.model_id, run.id
        assert run.scenario["engine"] in SNAPSHOT.engines, run.id
        assert run.engine in SNAPSHOT.engines, run.id
        cards = [card.partition(":")[0] for card in run.scenario["gpu"].split(",")]
        assert all(SNAPSHOT.hosts(card) for card in cards), run.id
    assert all(run.scenario for run in SNAPSHOT.measurements if run.task != "speed" and run.model_id)


def test_a_group_of_measured_runs_stays_in_one_split():
    splits = {}
    for run in SNAPSHOT.measurements:
        splits.setdefault(run.group, set()).add(run.split)
    assert {len(found) for found in splits.values()} == {1}


def test_only_what_a_log_gives_back_or_lacks_is_negative_in_a_measured_run():
    """vLLM prints memory that the graphs gave back, and a pool that does not fit, below zero."""
    negative_parts = {seen.part for run in SNAPSHOT.measurements for seen in run.observed if seen.amount < 0}
    assert negative_parts == {"cuda_graphs", "available_kv"}


def test_sources_of_measured_runs_name_no_path_on_somebody_s_machine():
    for run in SNAPSHOT.measurements:
        assert not re.search(r"(^|\s)(~|file:/)?/\w+/", run.source), run.id
