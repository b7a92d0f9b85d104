"""An entry becomes a record: units are converted here and nowhere else."""

import pytest

from catalog.entries import (
    accelerator_record,
    constant_record,
    engine_record,
    format_record,
    ladder_of,
    model_record,
    overridden,
    system_record,
)
from catalog.importers.files import read_entries

ENTRIES = read_entries()
LADDERS = ENTRIES["ladders"]


def entry(kind, identity):
    return next(row for row in ENTRIES[kind] if row["id"] == identity)


def test_memory_is_counted_in_mib_and_kept_in_bytes():
    card = accelerator_record(entry("accelerators", "rtx-4090"), LADDERS)
    assert card.reported_bytes == 24_564 * 1_048_576
    assert card.process_bytes == 24_210 * 1_048_576
    assert card.process_kind == "measured"


def test_rates_are_kept_in_base_units():
    card = accelerator_record(entry("accelerators", "rtx-4090"), LADDERS)
    assert card.bandwidth_bytes_per_s == 1_008e9
    assert card.dense_flops_per_s["bf16"] == pytest.approx(165.2e12, rel=0.001)
    assert card.compute_capability == "8.9"
    assert card.capability == 8.9


def test_what_was_not_found_stays_unknown():
    mac = accelerator_record(entry("accelerators", "mac-m3-ultra-512"), LADDERS)
    assert (mac.reported_bytes, mac.process_bytes, mac.capability) == (None, None, 0.0)
    assert mac.dense_flops_per_s["fp8"] is None
    assert mac.unified


@pytest.mark.parametrize(
    ("identity", "one_direction_gb_s"),
    [("h100-sxm", 450), ("b200", 900), ("dgx-spark", 25), ("ascend-910c-128", 392)],
)
def test_a_link_is_kept_in_one_direction(identity, one_direction_gb_s):
    """NVLink 4 is sold as 900 GB/s both ways, HCCS as 784; the cable of DGX Spark is 200 Gb/s each way."""
    link = accelerator_record(entry("accelerators", identity), LADDERS).link
    assert link.bandwidth_bytes_per_s == one_direction_gb_s * 10**9


@pytest.mark.parametrize(
    ("identity", "ladder"),
    [
        ("rtx-4090", "consumer"),
        ("rtx-4090-laptop", "consumer_laptop"),
        ("rtx-pro-6000", "workstation"),
        ("h100-sxm", "datacenter_sxm"),
        ("h100-pcie", "datacenter_pcie"),
        ("mi300x", "datacenter_oam"),
        ("gb200", "rack_scale"),
        ("ascend-910b-64", "ascend"),
        ("mac-m4-max-128", "apple"),
        ("dgx-spark", "apu"),
        ("cpu-ddr4-desktop", "cpu"),
    ],
)
def test_a_device_takes_the_ladder_that_names_it_then_of_its_form_then_of_its_kind(identity, ladder):
    assert ladder_of(entry("accelerators", identity), LADDERS) == ladder


def test_a_kind_without_a_ladder_is_an_error_that_names_the_device():
    odd = {**entry("accelerators", "rtx-4090"), "id": "odd-one", "kind": "abacus"}
    with pytest.raises(ValueError, match="odd-one: no count ladder applies to the kind 'abacus'"):
        ladder_of(odd, LADDERS)


def test_a_system_that_changes_the_memory_does_not_keep_what_the_driver_reports_of_the_other():
    changed = overridden(entry("accelerators", "gb300"), {"memory_gb": 252, "bandwidth_gb_s": 7100})
    card = accelerator_record(changed, LADDERS)
    assert (card.memory_gb, card.bandwidth_bytes_per_s) == (252, 7.1e12)
    assert (card.reported_bytes, card.process_bytes) == (None, None)
    assert card.name == entry("accelerators", "gb300")["name"]


def test_a_system_that_changes_the_bandwidth_alone_keeps_the_memory():
    changed = overridden(entry("accelerators", "gb300"), {"bandwidth_gb_s": 7100})
    assert accelerator_record(changed, LADDERS).reported_bytes == 284_208 * 1_048_576


def test_a_system_knows_its_links_in_one_direction():
    server = system_record(entry("systems", "hgx-h100-8"))
    assert server.link_inside.bandwidth_bytes_per_s == 450e9
    assert server.link_between.bandwidth_bytes_per_s == 50e9
    assert (server.count, server.node_size, server.nodes, server.scale_up_domain) == (8, 8, 1, 8)


def test_four_rtx_3090_have_bridges_between_pairs():
    rig = system_record(entry("systems", "rtx-3090-4x"))
    assert rig.link_inside.bandwidth_bytes_per_s == 15.75e9
    assert rig.pair_link.bandwidth_bytes_per_s == 56.25e9


def test_a_model_keeps_its_lab_and_what_is_only_for_display():
    model = model_record(
        entry("models", "kimi-k3.1-pro"), {"id": "moonshot-ai", "name": "Moonshot AI", "country": "China"}
    )
    assert (model.lab, model.lab_id, model.lab_country) == ("Moonshot AI", "moonshot-ai", "China")
    assert model.facts["weights_gib_published"]["native"] == 1454.07
    assert "architecture" not in model.facts
    assert model.vision


def test_an_exact_file_keeps_its_bytes():
    """The file of Llama 3.1 8B in Q4_K_M (methodology, appendix B)."""
    model = model_record(
        entry("models", "llama-3.1-8b-instruct"), {"id": "meta", "name": "Meta", "country": "USA"}
    )
    sizes = {file.size_bytes for file in model.files if file.weights_format == "q4_k_m" and file.exact}
    assert 4_920_739_232 in sizes


def test_a_format_knows_the_other_names_of_itself():
    awq = format_record(entry("formats", "awq-int4"), {"awq": "awq-int4", "gptq": "gptq-int4"})
    assert awq.aliases == ("awq",)


def test_fp8_is_stored_on_older_cards_and_computed_on_newer_ones():
    fp8 = format_record(entry("formats", "fp8"), {})
    assert (fp8.min_compute_capability, fp8.native_compute_capability) == ("7.5", "8.9")


def test_an_engine_that_lists_pipelines_and_one_that_lists_exceptions_mean_the_same():
    common = {"id": "x", "name": "X", "version": {"checked": "1"}, "licence": "MIT"}
    positive = engine_record(
        {**common, "architectures": {"all": ["A_One", "BTwo"], "pipeline_parallel": ["A_One"]}}
    )
    negative = engine_record(
        {**common, "architectures": {"text": ["A_One", "BTwo"], "no_pipeline_parallel": ["BTwo"]}}
    )
    assert positive.without_pipeline == negative.without_pipeline == frozenset({"btwo"})


def test_mlx_goes_by_model_type():
    mlx = engine_record(entry("engines", "mlx"))
    assert mlx.classes == frozenset()
    assert {"llama", "qwen3_moe", "mistral"} <= mlx.model_types  # mistral is run as llama


def test_a_constant_may_be_for_all_versions_devices_and_backends():
    row = {
        "engine": "any", "name": "power", "value": 0.7, "low": 0.6, "high": 0.8, "unit": "1",
        "basis": "assumed", "source": "methodology §9", "date": "2026-11-30",
    }  # fmt: skip
    constant = constant_record(row)
    assert (constant.version_from, constant.device_class, constant.backend, constant.cases) == (
        None,
        None,
        None,
        None,
    )
