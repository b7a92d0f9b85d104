"""A fault in a catalogue file is told in a sentence that names the file, the entry and the field."""

import json
import shutil

import pytest

from catalog.importers.files import DATA, data_version, read_entries, snapshot_from_files
from catalog.importers.schema import CatalogueError


@pytest.fixture
def copy(tmp_path):
    """A copy of the shipped files that a test may spoil."""
    return shutil.copytree(DATA, tmp_path / "data")


def spoil(root, name, change):
    path = root / name
    data = json.loads(path.read_text())
    change(data)
    path.write_text(json.dumps(data))


def item(data, identity):
    return next(entry for entry in data["items"] if entry["id"] == identity)


def faults(root):
    with pytest.raises(CatalogueError) as caught:
        read_entries(root)
    return caught.value.faults


def test_a_copy_reads_like_the_original(copy):
    assert read_entries(copy) == read_entries()


def test_an_unknown_field_is_named(copy):
    spoil(copy, "models/meta.json", lambda data: item(data, "llama-3.1-8b-instruct").update(vocab=1))
    assert faults(copy) == [
        "models/meta.json: llama-3.1-8b-instruct: vocab: extra inputs are not permitted (given: 1)."
    ]


def test_a_figure_out_of_range_is_named_with_what_was_given(copy):
    spoil(copy, "accelerators/nvidia.json", lambda data: item(data, "rtx-4090").update(bandwidth_gb_s=-5))
    (fault,) = faults(copy)
    assert fault.startswith(
        "accelerators/nvidia.json: rtx-4090: bandwidth_gb_s: input should be greater than"
    )
    assert fault.endswith("(given: -5).")


def test_an_entry_without_a_source_is_refused(copy):
    spoil(copy, "systems/apple.json", lambda data: data["items"][0].update(sources=[]))
    (fault,) = faults(copy)
    assert fault.startswith(
        "systems/apple.json: mac-studio-m3u-512-1: sources: list should have at least 1 item"
    )


def test_an_unknown_kind_of_source_is_refused(copy):
    spoil(copy, "formats/gguf.json", lambda data: data["items"][0]["sources"][0].update(kind="hearsay"))
    (fault,) = faults(copy)
    assert fault.startswith(
        "formats/gguf.json: q8_0: sources.0.kind: input should be 'measured', 'datasheet'"
    )


def test_layers_that_cannot_be_a_model_are_told_in_the_architectures_own_words(copy):
    def rename(data):
        item(data, "llama-3.1-8b-instruct")["architecture"]["order"] = [["middle", 32]]

    spoil(copy, "models/meta.json", rename)
    (fault,) = faults(copy)
    assert fault.startswith(
        "models/meta.json: llama-3.1-8b-instruct: architecture: the order names the block 'middle'"
    )


def test_more_memory_than_the_label_is_refused(copy):
    spoil(
        copy, "accelerators/nvidia.json", lambda data: item(data, "rtx-4090").update(usable_total_mib=30_000)
    )
    (fault,) = faults(copy)
    assert "rtx-4090: the entry: usable_total_mib is 30000; 24 GB cannot hold that" in fault


def test_nodes_that_do_not_add_up_are_refused(copy):
    spoil(copy, "systems/datacenter.json", lambda data: item(data, "hgx-h100-8").update(nodes=3))
    (fault,) = faults(copy)
    assert "hgx-h100-8: the entry: 3 nodes of 8 are not 8" in fault


def test_an_id_that_stands_twice_is_named(copy):
    first_id = json.loads((copy / "models/meta.json").read_text())["items"][0]["id"]
    spoil(copy, "models/meta.json", lambda data: data["items"].append(data["items"][0]))
    assert faults(copy) == [f"models: the id {first_id} stands twice."]


def test_a_constant_outside_of_its_interval_is_refused(copy):
    row = {
        "engine": "vllm", "name": "graphs", "value": 3.0, "low": 1.0, "high": 2.0, "unit": "GiB",
        "basis": "measured", "source": "a test", "date": "2026-11-30",
    }  # fmt: skip
    (copy / "calibration.json").write_text(json.dumps({"kind": "calibration", "schema": 1, "items": [row]}))
    assert faults(copy) == [
        "calibration.json: graphs: the entry: 3.0 lies outside of its interval 1.0 to 2.0."
    ]


def test_broken_json_is_told_with_its_line(copy):
    (copy / "about.json").write_text('{\n"kind": "catalogue",\n}')
    (fault,) = faults(copy)
    assert fault.startswith("about.json: line 3 is not valid JSON")


def test_an_unknown_kind_of_file_is_refused(copy):
    (copy / "more.json").write_text('{"kind": "moods"}')
    (fault,) = faults(copy)
    assert fault.startswith("more.json: kind is 'moods'; it may be models, accelerators,")


def test_every_fault_is_told_at_once(copy):
    spoil(copy, "models/meta.json", lambda data: item(data, "llama-3.1-8b-instruct").update(vocab=1))
    spoil(copy, "accelerators/amd.json", lambda data: item(data, "mi300x").update(memory_gb="large"))
    assert len(faults(copy)) == 2


def test_the_version_changes_with_any_file(copy):
    before = data_version(copy)
    assert before == data_version()
    spoil(copy, "about.json", lambda data: data.update(updated="2026-12-01"))
    assert data_version(copy) != before


def test_a_catalogue_without_calibration_has_no_constants(copy):
    (copy / "calibration.json").unlink(missing_ok=True)
    assert snapshot_from_files(copy).constants == ()
