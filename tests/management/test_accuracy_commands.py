"""`manage.py calibrate` and `manage.py validate`."""

import json
import shutil
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from catalog.importers.files import DATA, snapshot_from_files
from tests.accuracy.test_cases import ROW

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
    assert "nothing changed" in said("calibrate", data=data)
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
    assert "9 (8 … 10)" in said("calibrate", data=data, date="2026-12-01")
    assert json.loads(path.read_text())["items"] != content["items"]
    again = path.read_bytes()
    assert "nothing changed" in said("calibrate", data=data, date="2027-01-01")
    assert path.read_bytes() == again


def test_a_dry_run_writes_nothing(data):
    path = data / "calibration.json"
    path.write_text(path.read_text().replace('"value": 2.1', '"value": 2.15'))
    before = path.read_bytes()
    said("calibrate", data=data, dry_run=True)
    assert path.read_bytes() == before


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
        ('[{"id": "a", "decode_tok_s_per_user": 20}]', "holds measured speeds"),
        (None, "cannot be read"),
    ],
)
def test_a_file_that_holds_no_cases_is_told(tmp_path, content, sentence):
    path = tmp_path / "cases.json"
    if content is not None:
        path.write_text(content)
    with pytest.raises(CommandError, match=sentence):
        call_command("validate", cases=path)
