"""`manage.py calibrate` and `manage.py validate`."""

import json
import shutil
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from calculator.accuracy.speed_compare import PARTS
from catalog.importers.dump import dump_json
from catalog.importers.files import DATA, snapshot_from_files
from tests.accuracy.test_cases import ROW
from tests.accuracy.test_speed_cases import ROW as SPEED_ROW

GROUP = {
    "by",
    "n",
    "median_abs_error",
    "p90_abs_error",
    "bias",
    "coverage_90",
    "judged",
    "coverage_error",
    "within_print",
}


def said(*words, **options):
    out = StringIO()
    call_command(*words, stdout=out, **options)
    return out.getvalue()


@pytest.fixture
def data(tmp_path):
    """A copy of the shipped files that may be changed."""
    target = tmp_path / "data"
    shutil.copytree(DATA, target)
    yield target
    snapshot_from_files.cache_clear()


def test_calibrate_leaves_shipped_files_as_they_are_to_the_byte(data):
    before = (data / "calibration.json").read_bytes()
    assert "nothing changed" in said("calibrate", kind="memory", data=data)
    assert (data / "calibration.json").read_bytes() == before


def test_calibrate_mends_a_constant_and_says_what_it_was(data):
    path = data / "calibration.json"
    before = path.read_text()
    content = json.loads(before)
    constant = next(
        i for i in content["items"] if i["name"] == "non_torch_tensor" and i["version_from"] == "0.17"
    )
    constant |= {"value": 9.0, "low": 8.0, "high": 10.0, "cases": 1}
    path.write_text(json.dumps(content))
    assert "9 (8 … 10)" in said("calibrate", kind="memory", data=data, date="2026-12-01")
    assert json.loads(path.read_text())["items"] != content["items"]
    again = path.read_bytes()
    assert "nothing changed" in said("calibrate", kind="memory", data=data, date="2027-01-01")
    assert path.read_bytes() == again


def test_a_dry_run_writes_nothing(data):
    path = data / "calibration.json"
    path.write_text(path.read_text().replace('"value": 2.1', '"value": 2.15'))
    before = path.read_bytes()
    said("calibrate", kind="memory", data=data, dry_run=True)
    assert path.read_bytes() == before


def test_speeds_give_the_shipped_constants_to_the_byte_and_again(data):
    """ExLlama has constants of its own: from its runs alone come its own rows as they ship, and no other changes."""
    for file in (data / "measurements").rglob("*.json"):
        if file.parent.name != "speed" or file.stem != "exllama":
            file.unlink()
    path = data / "calibration.json"
    before = without_left_out(path)
    said("calibrate", kind="speed", data=data, date="2027-01-01")
    assert without_left_out(path) == before
    once = path.read_text()
    content = json.loads(once)
    own = next(i for i in content["items"] if i["engine"] == "exllama" and i["name"] == "speed_weights")
    by_hand = {**own, "device_class": "nvidia-by-hand", "source": "a note", "basis": "assumed"}
    content["items"] += [{**own, "device_class": "a-class-that-no-longer-differs"}, by_hand]
    path.write_text(dump_json(content))
    assert "changed" in said("calibrate", kind="speed", data=data, date="2027-02-01")
    assert json.loads(path.read_text())["items"] == [*json.loads(once)["items"], by_hand]


def without_left_out(path):
    items = json.loads(path.read_text())["items"]
    return [item for item in items if not item["name"].startswith("speed_left_out_")]


@pytest.mark.django_db
def test_validate_prints_speeds_too():
    report = json.loads(said("validate", kind="speed", json=True))
    assert (report["kind"], report["cases"], report["comparable"], report["compared"]) == (
        "speed",
        626,
        434,
        432,
    )
    cuts = {tuple(group["by"]) for group in report["groups"]}
    assert {("engine", "part"), ("backend", "part"), ("device", "part"), ("architecture", "part")} <= cuts
    assert ("engine", "device", "architecture", "part") in cuts
    users = [group for group in report["groups"] if tuple(group["by"]) == ("users", "part")]
    assert {group["by"]["users"] for group in users} == {"1", "2-7", "8-31", "32-127", "128+"}
    assert sum(group["n"] for group in users) == report["overall"]["n"]
    assert {row["part"] for row in report["leave_one_model_out"]} == set(PARTS)
    assert report["worst"][0]["error"] == max(abs(item["error"]) for item in report["worst"])


@pytest.mark.django_db
def test_validate_reads_a_file_of_speeds(tmp_path):
    """One run of an RTX 4090, 130 tokens/s of answer and 9,000 of prompt: two figures."""
    path = tmp_path / "cases.json"
    path.write_text(json.dumps([SPEED_ROW, {**SPEED_ROW, "id": "spd-2", "format": "ud-q4_k_m"}]))
    report = json.loads(said("validate", cases=path, json=True))
    assert (report["kind"], report["cases"], report["compared"], report["overall"]["n"]) == ("speed", 2, 1, 2)
    assert report["skipped"] == {"format_not_in_catalogue": 1}
    with pytest.raises(CommandError, match="holds cases of speed, not of memory"):
        call_command("validate", cases=path, kind="memory")
    text = said("validate", cases=path)
    assert "models that the fit had not seen" in text


@pytest.mark.django_db
def test_validate_prints_the_public_object():
    report = json.loads(said("validate", json=True))
    assert set(report) == {
        "kind",
        "cases",
        "comparable",
        "compared",
        "skipped",
        "parts_skipped",
        "groups",
        "overall",
        "worst",
    }
    assert (report["kind"], report["cases"], report["comparable"]) == ("memory", 102, 84)
    assert all(set(group) == GROUP for group in [*report["groups"], report["overall"]])
    assert set(report["groups"][0]["by"]) == {"engine", "part", "attention"}
    assert {"id", "predicted", "observed", "low", "high"} <= set(report["worst"][0])
    assert sum(group["n"] for group in report["groups"]) == report["overall"]["n"]


@pytest.mark.django_db
def test_validate_reads_a_file_of_cases(tmp_path):
    """14.99 GiB were printed for Llama 3.1 8B on an H100; one case, one figure, no error."""
    path = tmp_path / "cases.json"
    path.write_text(json.dumps([ROW]))
    report = json.loads(said("validate", cases=path, json=True))
    assert (report["cases"], report["compared"], report["overall"]["n"]) == (1, 1, 1)
    assert report["overall"]["median_abs_error"] == 0


@pytest.mark.django_db
def test_validate_for_people():
    text = said("validate")
    assert text.startswith("memory: 102 cases, 84 comparable")
    assert "kv_cache" in text
    assert "worst:" in text


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        ("{", "is not valid JSON"),
        ("{}", "holds no list"),
        ("[1]", "row 1 is no object"),
        ('[{"id": "spd-a", "decode_tok_s_per_user": 20}]', r"row 1 \(spd-a\) cannot be read"),
        (None, "cannot be read"),
    ],
)
def test_a_file_that_holds_no_cases_is_told(tmp_path, content, sentence):
    path = tmp_path / "cases.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(CommandError, match=sentence):
        call_command("validate", cases=path)
