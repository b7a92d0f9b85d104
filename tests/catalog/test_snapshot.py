"""The snapshot finds things: by id, by another name, by a wrong name, by version."""

from dataclasses import replace

import pytest

from catalog.importers.files import snapshot_from_files
from catalog.records import Constant
from catalog.snapshot import version_key

SNAPSHOT = snapshot_from_files()


def constant(name="graphs", value=1.0, **given):
    fixed = {
        "engine": "vllm",
        "version_from": None,
        "version_until": None,
        "device_class": None,
        "backend": None,
    }
    rest = {
        "low": 0.5,
        "high": 2.0,
        "unit": "GiB",
        "cases": 3,
        "basis": "measured",
        "source": "a test",
        "date": "2026",
    }
    return Constant(name=name, value=value, **{**fixed, **rest, **given})


def chosen(rows, version, **where):
    snapshot = replace(SNAPSHOT, constants=tuple(rows))
    constants, widened = snapshot.constants_for("vllm", version, **where)
    return {name: row.value for name, row in constants.items()}, widened


class TestHosts:
    def test_an_accelerator_is_one_device(self):
        device, count, system = SNAPSHOT.hosts("rtx-4090")
        assert (device.id, count, system) == ("rtx-4090", 1, None)

    def test_a_system_is_all_its_devices(self):
        device, count, system = SNAPSHOT.hosts("hgx-h100-8")
        assert (device.id, count, system.id) == ("h100-sxm", 8, "hgx-h100-8")
        assert device is SNAPSHOT.accelerators["h100-sxm"]

    def test_dgx_station_has_a_smaller_and_slower_gb300(self):
        device, count, _ = SNAPSHOT.hosts("dgx-station-gb300")
        assert (device.id, count) == ("gb300", 1)
        assert (device.memory_gb, device.bandwidth_bytes_per_s) == (252, 7.1e12)
        # The rule for HBM boards without a driver figure: 0.996 × 0.994 × 252 × 1024 − 350 MiB.
        assert device.process_bytes / 2**20 == pytest.approx(0.996 * 0.994 * 252 * 1024 - 350, abs=1)

    def test_the_gb300_of_a_rack_keeps_its_own_memory(self):
        device, count, _ = SNAPSHOT.hosts("gb300-nvl72")
        assert (device.memory_gb, device.bandwidth_bytes_per_s, count) == (288, 8e12, 72)

    def test_what_does_not_exist_is_nothing(self):
        assert SNAPSHOT.hosts("rtx-9090") is None


class TestNearNames:
    @pytest.mark.parametrize(
        ("kind", "wrong", "meant"),
        [
            ("model", "kimi-k3.1-por", "kimi-k3.1-pro"),
            ("model", "Llama-3.1-8B-Instruct", "llama-3.1-8b-instruct"),
            ("model", "lama-3.1-8b-instruct", "llama-3.1-8b-instruct"),
            ("gpu", "rtx4090", "rtx-4090"),
            ("gpu", "hgx-h100", "hgx-h100-8"),
            ("gpu", "GeForce RTX 5090", "rtx-5090"),
            ("engine", "vlm", "vllm"),
            ("engine", "llamacpp", "llama.cpp"),
            ("quant", "q4km", "q4_k_m"),
        ],
    )
    def test_the_first_proposal_is_what_was_meant(self, kind, wrong, meant):
        assert SNAPSHOT.near_names(kind, wrong)[0] == meant

    def test_the_beginning_of_a_name_proposes_what_begins_so(self):
        assert set(SNAPSHOT.near_names("gpu", "h100")) == {"h100-sxm", "h100-pcie", "h100-nvl"}

    @pytest.mark.parametrize("wrong", ["", "  ", "zzzzzzzz", "x" * 500])
    def test_nonsense_proposes_nothing(self, wrong):
        assert SNAPSHOT.near_names("model", wrong) == ()

    def test_at_most_three_are_proposed(self):
        assert len(SNAPSHOT.near_names("model", "qwen")) == 3


class TestFormats:
    @pytest.mark.parametrize(
        ("name", "identity"),
        [
            ("q4_k_m", "q4_k_m"),
            ("Q4_K_M", "q4_k_m"),
            ("awq", "awq-int4"),
            ("fp16", "f16"),
            ("mxfp4-experts", "mxfp4"),
        ],
    )
    def test_a_format_is_found_by_any_of_its_names(self, name, identity):
        assert SNAPSHOT.weights_format(name).id == identity

    def test_an_unknown_format_is_nothing(self):
        assert SNAPSHOT.weights_format("q17_k_m") is None


@pytest.mark.parametrize(
    ("text", "numbers"),
    [
        ("0.33.0", (0, 33, 0)),
        ("b11434", (11434,)),
        ("v0.33.0-rc2", (0, 33, 0)),
        ("1.2.1", (1, 2, 1)),
        ("main", ()),
    ],
)
def test_a_version_is_read_as_numbers(text, numbers):
    assert version_key(text) == numbers


class TestConstants:
    old = constant(value=1.0, version_until="0.16")
    middle = constant(value=2.0, version_from="0.17", version_until="0.20")

    @pytest.mark.parametrize(
        ("version", "value"),
        [("0.9.2", 1.0), ("0.16", 1.0), ("0.16.5", 1.0), ("0.17.0", 2.0), ("0.19.1", 2.0), ("0.20.4", 2.0)],
    )
    def test_the_row_measured_on_the_version_is_taken(self, version, value):
        assert chosen([self.old, self.middle], version) == ({"graphs": value}, False)

    def test_later_versions_take_the_nearest_row_and_say_so(self):
        assert chosen([self.old, self.middle], "0.33.0") == ({"graphs": 2.0}, True)

    def test_between_two_rows_the_nearer_is_taken(self):
        late = constant(value=3.0, version_from="0.30")
        assert chosen([self.middle, late], "0.28") == ({"graphs": 3.0}, True)
        assert chosen([self.middle, late], "0.22") == ({"graphs": 2.0}, True)

    def test_builds_are_compared_as_numbers_not_as_text(self):
        early, late = constant(value=1.0, version_until="b9999"), constant(value=2.0, version_from="b10000")
        assert chosen([early, late], "b11434") == ({"graphs": 2.0}, False)
        assert chosen([early, late], "b9000") == ({"graphs": 1.0}, False)

    def test_a_row_for_all_versions_is_never_widened(self):
        assert chosen([constant(value=4.0)], "7.0") == ({"graphs": 4.0}, False)

    def test_the_own_backend_comes_before_the_row_for_all_and_another_backend_never(self):
        rows = [constant(value=1.0), constant(value=2.0, backend="rocm")]
        assert chosen(rows, "0.19", backend="rocm") == ({"graphs": 2.0}, False)
        assert chosen(rows, "0.19", backend="cuda") == ({"graphs": 1.0}, False)
        assert chosen(rows, "0.19") == ({"graphs": 1.0}, False)

    def test_the_own_device_class_comes_before_the_row_for_all(self):
        rows = [constant(value=1.0), constant(value=2.0, device_class="blackwell")]
        assert chosen(rows, "0.19", device_class="blackwell") == ({"graphs": 2.0}, False)
        assert chosen(rows, "0.19", device_class="hopper") == ({"graphs": 1.0}, False)

    def test_a_row_for_any_engine_gives_way_to_the_engines_own(self):
        rows = [
            constant(value=1.0, engine="any"),
            constant(value=2.0),
            constant(value=9.0, engine="llama.cpp"),
        ]
        assert chosen(rows, "0.19") == ({"graphs": 2.0}, False)

    def test_every_name_has_its_own_row(self):
        rows = [self.middle, constant("context", 0.5)]
        assert chosen(rows, "0.19") == ({"graphs": 2.0, "context": 0.5}, False)

    def test_the_shipped_constants_are_those_of_engine_families(self):
        families = {engine.family for engine in SNAPSHOT.engines.values()}
        assert {row.engine for row in SNAPSHOT.constants} <= families | {"any"}
        assert all(row.low <= row.value <= row.high for row in SNAPSHOT.constants)
