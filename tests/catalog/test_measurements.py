"""A measured run goes from file to database to record without change, and what could not be one is refused in words."""

import copy
import json
import re
import shutil

import pytest
from django.core.exceptions import ValidationError
from django.db import IntegrityError, transaction
from django.urls import reverse

from calculator.web.measured_questions import SENTENCES, SILENT
from calculator.web.wording.problems import PROBLEMS
from catalog import live, scenario_check
from catalog.admin.measurements import MeasurementAdmin
from catalog.entries import measurement_record
from catalog.importers.files import DATA, read_entries
from catalog.importers.schema import CatalogueError
from catalog.models import Accelerator, Engine, LanguageModel, Measurement
from catalog.models.measurements import can_be_asked
from catalog.records import Conditions, Observation
from catalog.scenario_check import Remark, scenario_faults, scenario_gaps
from catalog.sources import source_url

GIB = 2**30

RUN = {
    "id": "mem-of-a-test",
    "task": "memory",
    "split": "check",
    "group": "llama-3.1-8b-instruct|vllm|a test",
    "engine": "vllm",
    "engine_version": "0.19.0",
    "model": "Meta-Llama-3.1-8B-Instruct",
    "model_id": "llama-3.1-8b-instruct",
    "repo": None,
    "attention": "gqa",
    "format": "bf16",
    "device": "2 × H100 80GB",
    "scenario": {"model": "llama-3.1-8b-instruct", "gpu": "h100-sxm", "n": "2", "engine": "vllm", "tp": "2"},
    "observed": [
        {"part": "weights", "device": "per_gpu", "bytes": 8_031_043_584, "printed": "7.4795 GiB"},
        {"part": "kv_tokens", "device": None, "tokens": 993_760, "printed": "993,760"},
        {"part": "max_concurrency", "device": None, "ratio": 56.85, "printed": "56.85x"},
        {"part": "bits_per_weight", "device": None, "ratio": 4.5, "printed": "4.50 BPW"},
        {"part": "kv_blocks", "device": None, "count": 62_110, "printed": "62110"},
    ],
    "comparable": True,
    "compare": ["weights", "max_concurrency"],
    "source": "owner/logs:runs/llama.log (line 7)",
    "date": "2026-05",
    "confidence": "high",
}


def run(**changes):
    return {**copy.deepcopy(RUN), **changes}


def speed(**changes):
    """A DGX Spark with gpt-oss-120b: 1,689.47 tokens/s of a prompt of 2,048, then 52.87 tokens/s."""
    own = {
        "id": "spd-of-a-test",
        "task": "speed",
        "group": "gpt-oss-120b | nvidia-apu | a test",
        "engine": "llama.cpp",
        "engine_version": "b6767",
        "model": "gpt-oss-120b",
        "model_id": "gpt-oss-120b",
        "format": "mxfp4",
        "device": "DGX Spark",
        "scenario": {"model": "gpt-oss-120b", "gpu": "dgx-spark", "engine": "llama.cpp", "ctx": "2080"},
        "conditions": {
            "users": 1,
            "prompt_tokens": 2048,
            "output_tokens": 32,
            "depth_tokens": 0,
            "weights_gib": 59.02,
        },
        "observed": [
            {"part": "decode", "device": None, "tokens_per_s": 52.87},
            {"part": "prefill", "device": None, "tokens_per_s": 1689.47},
            {"part": "ttft", "device": None, "ms": 1212},
        ],
        "compare": ["decode", "prefill"],
    }
    return run(**{**own, **changes})


@pytest.fixture
def faults(tmp_path):
    """Sentences for a file with one run; None when it is well."""
    root = shutil.copytree(DATA, tmp_path / "data", ignore=shutil.ignore_patterns("measurements"))

    def read(entry):
        file = {"kind": "measurements", "schema": 1, "items": [entry]}
        (root / "measurements.json").write_text(json.dumps(file))
        try:
            read_entries(root)
        except CatalogueError as error:
            return error.faults
        return None

    return read


@pytest.fixture
def registered():
    """Register a check for one test and bring the one of before back."""
    before = scenario_check.register(None)
    yield scenario_check.register
    scenario_check.register(before)


# --- the file ---------------------------------------------------------------------------------------------------------


def test_a_well_formed_run_is_taken(faults):
    assert faults(run()) is None


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"colour": "red"}, "colour: extra inputs are not permitted (given: 'red')"),
        ({"task": "fine-tuning"}, "task: input should be 'memory' or 'speed' (given: 'fine-tuning')"),
        ({"split": "both"}, "split: input should be 'fit' or 'check' (given: 'both')"),
        ({"confidence": "low"}, "confidence: input should be 'high' or 'medium' (given: 'low')"),
        (
            {"observed": []},
            "observed: list should have at least 1 item after validation, not 0",
        ),
        (
            {"scenario": {"model": "llama-3.1-8b-instruct", "ctx": 8192}},
            "scenario.ctx: input should be a valid string (given: 8192)",
        ),
        (
            {"observed": [{"part": "weights", "device": None, "printed": "?"}]},
            "observed.0: weights needs exactly one of bytes, tokens, ratio, count, tokens_per_s, ms; none is written",
        ),
        (
            {"observed": [{"part": "weights", "device": None, "bytes": 1, "count": 1, "printed": "1"}]},
            "observed.0: weights needs exactly one of bytes, tokens, ratio, count, tokens_per_s, ms; bytes and count are written",
        ),
        (
            {"observed": [{"part": "weights", "device": None, "bytes": 1.5, "printed": "1.5"}]},
            "observed.0.bytes: input should be a valid integer (given: 1.5)",
        ),
        (
            {"comparable": False, "compare": []},
            "the entry: a measurement that is not comparable says in why_not why it is not",
        ),
        (
            {"comparable": False, "why_not": ["a fork"]},
            "the entry: a measurement that is not comparable has nothing in compare",
        ),
        (
            {"compare": []},
            "the entry: a comparable measurement names in compare the parts that can be compared",
        ),
        (
            {"model_id": None, "scenario": {}},
            "the entry: a comparable measurement has a model_id and a scenario, the question that it answers",
        ),
        (
            {"compare": ["weights", "kv_cache"]},
            "the entry: compare names kv_cache, which is not among the observed parts",
        ),
        (
            {"model_id": "qwen3-8b"},
            "the entry: the scenario asks for the model llama-3.1-8b-instruct, and model_id is qwen3-8b",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_what_a_file_cannot_say_is_told_in_a_sentence(faults, changes, sentence):
    assert faults(run(**changes)) == [f"measurements.json: mem-of-a-test: {sentence}."]


@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"conditions": None}, "the entry: a measurement of speed has conditions"),
        (
            {"conditions": {"users": 0}},
            "conditions.users: input should be greater than or equal to 1 (given: 0)",
        ),
        (
            {"observed": [{"part": "decode", "device": None, "tokens_per_s": 0}], "compare": ["decode"]},
            "observed.0.tokens_per_s: input should be greater than 0 (given: 0)",
        ),
        (
            {"observed": [{"part": "weights", "device": None, "tokens_per_s": 5}], "compare": ["weights"]},
            "the entry: weights is no figure of a measurement of speed",
        ),
        (
            {"task": "memory", "conditions": None},
            "the entry: decode is no figure of a measurement of memory",
        ),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_what_a_speed_cannot_say_is_told_in_a_sentence(faults, changes, sentence):
    assert faults(speed()) is None
    assert faults(speed(**changes)) == [f"measurements.json: spd-of-a-test: {sentence}."]


def test_memory_needs_its_figures_as_printed_and_has_no_conditions(faults):
    unprinted = [{"part": "weights", "device": None, "bytes": 1}]
    assert faults(run(observed=unprinted, compare=["weights"])) == [
        "measurements.json: mem-of-a-test: the entry: weights needs printed, the figure and unit as the source has them."
    ]
    assert faults(run(conditions={"users": 1})) == [
        "measurements.json: mem-of-a-test: the entry: only a speed has conditions."
    ]


def test_a_run_that_nobody_can_ask_needs_a_reason_and_no_question(faults):
    unknown = {
        "model_id": None,
        "scenario": {},
        "comparable": False,
        "compare": [],
        "why_not": ["no such model"],
    }
    assert faults(run(**unknown)) is None


# --- the record -------------------------------------------------------------------------------------------------------


def test_an_entry_becomes_a_record_with_units():
    record = measurement_record(run())
    assert record.observed == (
        Observation("weights", "per_gpu", 8_031_043_584.0, "bytes", "7.4795 GiB"),
        Observation("kv_tokens", None, 993_760.0, "tokens", "993,760"),
        Observation("max_concurrency", None, 56.85, "requests", "56.85x"),
        Observation("bits_per_weight", None, 4.5, "ratio", "4.50 BPW"),
        Observation("kv_blocks", None, 62_110.0, "count", "62110"),
    )
    assert (record.compare, record.why_not, record.note) == (("weights", "max_concurrency"), (), "")
    assert (record.weights_format, record.device, record.date) == ("bf16", "2 × H100 80GB", "2026-05")
    assert record.scenario["tp"] == "2"


def test_a_speed_becomes_a_record_in_tokens_per_second_and_seconds():
    record = measurement_record(speed())
    assert record.observed == (
        Observation("decode", None, 52.87, "tokens/s", ""),
        Observation("prefill", None, 1689.47, "tokens/s", ""),
        Observation("ttft", None, 1.212, "s", ""),
    )
    assert record.conditions == Conditions(
        users=1, prompt_tokens=2048, output_tokens=32, depth_tokens=0, weights_bytes=round(59.02 * GIB)
    )
    assert measurement_record(run()).conditions is None


def test_what_the_source_does_not_say_is_empty_text_and_an_unknown_day_stays_unknown():
    record = measurement_record(run(engine_version=None, format=None, device=None, date=None))
    assert (record.engine_version, record.weights_format, record.device, record.date) == ("", "", "", None)


# --- the question -----------------------------------------------------------------------------------------------------


def test_without_a_check_nothing_is_checked(registered):
    assert scenario_faults({"nonsense": "1"}) == scenario_gaps({"nonsense": "1"}) == []
    can_be_asked({"nonsense": "1"})


def test_a_registered_check_is_asked_and_tells_faults_from_gaps(registered):
    asked = []

    def check(query):
        asked.append(query)
        return [Remark("n", "n is odd."), Remark("quant", "No such format.", gap=True)]

    registered(check)
    assert scenario_faults({"n": "3"}) == ["n is odd."]
    assert scenario_gaps({"n": "3"}) == ["No such format."]
    assert asked == [{"n": "3"}, {"n": "3"}]
    with pytest.raises(ValidationError) as raised:
        can_be_asked({"n": "3"})
    assert raised.value.messages == ["n is odd."]


def test_registering_replaces_the_check_and_gives_the_former_one_back(registered):
    def first(_):
        return [Remark("n", "first")]

    def second(_):
        return [Remark("n", "second")]

    assert registered(first) is None
    assert registered(second) is first
    assert scenario_faults({}) == ["second"]


# --- the source -------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("source", "url"),
    [
        ("https://example.org/a (table 2)", "https://example.org/a"),
        ("ollama/ollama#8447", "https://github.com/ollama/ollama/issues/8447"),
        ("o/r#205 (logs/a.log at commit 56dc5b7)", "https://github.com/o/r/issues/205"),
        ("owner/re.po:docs/a b.md (Qwen)", "https://github.com/owner/re.po/blob/HEAD/docs/a%20b.md"),
        ("owner/repo", "https://github.com/owner/repo"),
        ("log quoted in a public repository, not identified (ref 1131611191)", None),
        ("", None),
    ],
)
def test_a_source_leads_to_where_it_can_be_read(source, url):
    assert source_url(source) == url


# --- the table --------------------------------------------------------------------------------------------------------


@pytest.fixture
def cold_process():
    live.forget()
    yield
    live.forget()


@pytest.mark.django_db
def test_a_run_is_read_back_as_it_was_written():
    row = Measurement.from_entry(run(why_not=["rounded"], note="one slot"))
    row.save()
    assert Measurement.objects.get(slug="mem-of-a-test").to_entry() == run(
        why_not=["rounded"], note="one slot"
    )


@pytest.mark.django_db
@pytest.mark.parametrize("changes", [{"split": "both"}, {"model_slug": None}])
def test_the_database_refuses_what_no_form_would_let_through(changes):
    row = Measurement.objects.filter(comparable=True).first()
    with pytest.raises(IntegrityError), transaction.atomic():
        Measurement.objects.filter(pk=row.pk).update(**changes)


@pytest.mark.django_db
def test_a_row_says_what_is_wrong_beside_the_field():
    row = Measurement.from_entry(run(source="", compare=["kv_cache"]))
    row.observed[0]["weight"] = row.observed[0].pop("bytes")
    with pytest.raises(ValidationError) as raised:
        row.full_clean()
    assert raised.value.message_dict == {
        "source": ["This field cannot be blank."],
        "observed": ["0.weight: There is no such field."],
    }


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("changes", "sentence"),
    [
        ({"contxt": "1"}, "No parameter is called “contxt”. Near names: ctx."),
        ({"ctx": "many"}, "ctx: “many” is not a number."),
        ({"ctx": "0"}, "ctx: “0” lies outside of 1 to 16777216."),
        ({"n": "1.5"}, "n: “1.5” is not a whole number."),
        ({"fa": "maybe"}, "fa: “maybe” is neither on nor off."),
        ({"backend": "abacus"}, "backend: “abacus” is none of cuda, rocm, vulkan, metal, sycl, cpu."),
        ({"engine_version": "latest"}, "engine_version: “latest” is no version."),
        ({"v": "7"}, "v: only links of version 1 are known, not “7”."),
        ({"os": "macos26"}, "os: NVIDIA H100 SXM 80 GB does not run “macos26”."),
        ({"maxlen": "5"}, "maxlen: the longest request cannot be below the context of 8192 tokens."),
        ({"users": "9", "seqs": "4"}, "seqs: the server must take all 9 users."),
        (
            {"prompt": "9000", "output": "9"},
            "prompt: prompt and answer together are longer than the context of 8192 tokens.",
        ),
        ({"gpu": "rtx-3090:1,rtx-0:1"}, "gpu: nothing here is called “rtx-0”."),
        ({"gpu": "h100-smx"}, "gpu: nothing here is called “h100-smx”."),
    ],
    ids=lambda value: value if isinstance(value, str) else None,
)
def test_a_question_that_cannot_be_asked_is_refused(cold_process, changes, sentence):
    row = Measurement.from_entry(run(scenario={**RUN["scenario"], **changes}))
    with pytest.raises(ValidationError) as raised:
        row.full_clean()
    (said,) = raised.value.message_dict["scenario"]
    assert said == sentence or said.startswith(f"{sentence} Near names: ")


def test_every_problem_of_a_question_has_a_sentence_for_editors_or_is_none_here():
    codes = {code.removesuffix("_near") for code in PROBLEMS}
    assert set(SENTENCES) | SILENT == codes
    assert set(SENTENCES) & SILENT == set()


@pytest.mark.django_db
def test_a_format_or_cache_type_that_only_a_fork_has_is_a_gap_and_no_fault(cold_process):
    query = {**RUN["scenario"], "quant": "iq4_ks_r4", "kv": "q8_0/f16"}
    assert scenario_faults(query) == []
    kv, quant = scenario_gaps(query)
    assert kv.startswith("kv: “q8_0/f16” is none of bf16, fp8, ")
    assert quant.startswith("quant: nothing here is called “iq4_ks_r4”.")
    Measurement.from_entry(run(scenario=query)).full_clean()


@pytest.mark.django_db
def test_a_run_beyond_the_longest_context_may_be_asked(cold_process):
    query = {**RUN["scenario"], "ctx": "1000000"}
    assert scenario_faults(query) == scenario_gaps(query) == []


@pytest.mark.django_db
def test_nothing_is_asked_of_an_empty_catalogue(cold_process):
    LanguageModel.objects.all().update(retired=True)
    assert scenario_faults({"ctx": "0"}) == []


# --- the snapshot -----------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_the_snapshot_holds_every_run(cold_process):
    found = {item.id: item for item in live.current().measurements}
    assert len(found) == Measurement.objects.count()
    entry = Measurement.objects.get(slug="mem-45fe6045").to_entry()
    assert (found["mem-45fe6045"].model_id, found["mem-45fe6045"].scenario) == (
        "gpt-oss-20b",
        entry["scenario"],
    )


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("table", "slug", "parameter"),
    [
        (LanguageModel, "gpt-oss-20b", "model"),
        (Accelerator, "rtx-3090", "gpu"),
        (Engine, "exllama", "engine"),
        (Accelerator, "rtx-4070-ti", "gpu"),  # in a list of unequal cards
    ],
)
def test_runs_of_what_was_retired_go_with_it(cold_process, table, slug, parameter):
    before = {item.id: item for item in live.current().measurements}
    table.objects.filter(slug=slug).update(retired=True)
    after = {item.id for item in live.refresh().measurements}
    gone = {before[name].scenario[parameter] for name in set(before) - after}
    assert gone != set()
    assert all(slug in [card.partition(":")[0] for card in value.split(",")] for value in gone)
    kept = {before[name].scenario.get(parameter, "") for name in after}
    assert not any(slug in [card.partition(":")[0] for card in value.split(",")] for value in kept)


# --- the admin --------------------------------------------------------------------------------------------------------


def text_of(response):
    return re.sub(r"\s+", " ", re.sub(r"<[^>]+>", " ", response.content.decode()))


def page(name, *args):
    return reverse(f"admin:catalog_measurement_{name}", args=args)


def form_values(row):
    """What a browser sends for the row's form."""
    values = {name: getattr(row, name) for name in (
        "slug", "task", "engine", "engine_version", "model", "model_slug", "repo", "weights_format", "attention",
        "device", "split", "group", "source", "date", "confidence", "note",
    )}  # fmt: skip
    values = {name: "" if value is None else value for name, value in values.items()}
    for name in ("scenario", "observed", "conditions", "compare", "why_not", "facts"):
        values[name] = json.dumps(getattr(row, name))
    return values | ({"comparable": "on"} if row.comparable else {})


@pytest.mark.django_db
@pytest.mark.parametrize("entry", [run(), speed()], ids=["memory", "speed"])
def test_a_run_is_added_in_the_admin(admin_client, cold_process, entry):
    response = admin_client.post(page("add"), form_values(Measurement.from_entry(entry)))
    assert response.status_code == 302
    assert Measurement.objects.get(slug=entry["id"]).to_entry() == entry
    assert Measurement.objects.get(slug=entry["id"]).origin == "admin"


@pytest.mark.django_db
def test_the_form_tells_a_wrong_question_beside_it_and_saves_nothing(admin_client, cold_process):
    row = Measurement.from_entry(run(scenario={**RUN["scenario"], "gpu": "h100-smx", "util": "7"}))
    response = admin_client.post(page("add"), form_values(row))
    errors = response.context["adminform"].form.errors
    assert list(errors) == ["scenario"]
    assert [sentence.partition("“")[0] for sentence in errors["scenario"]] == [
        "util: ",
        "gpu: nothing here is called ",
    ]
    assert not Measurement.objects.filter(slug="mem-of-a-test").exists()


@pytest.mark.django_db
def test_the_page_shows_figures_question_and_source_to_read(admin_client):
    row = Measurement.objects.get(slug="mem-45fe6045")
    response = admin_client.get(page("change", row.pk))
    text = text_of(response)
    assert "available_kv per_gpu 24,427,626,496 bytes 22.75 GiB" in text
    assert "kv_tokens whole model 993,760 tokens 993760" in text
    assert "max_concurrency whole model 56.85 56.85" in text
    assert "gpu r9700" in text
    assert f'<a href="{source_url(row.source)}" rel="noreferrer">' in response.content.decode()


@pytest.mark.django_db
def test_the_page_shows_a_speed_in_its_units(admin_client):
    """RTX 5090, Llama 2 7B Q4_0: 300.4 tokens/s."""
    text = text_of(admin_client.get(page("change", Measurement.objects.get(slug="spd-04f4069c").pk)))
    assert "decode whole model 300.4 tokens/s" in text


@pytest.mark.django_db
def test_an_unidentified_source_is_shown_without_a_link():
    shown = MeasurementAdmin.source_link(None, Measurement(source="a log <b>"))
    assert shown == "a log <b>"  # escaped by the page: it is no safe string
    assert not hasattr(shown, "__html__")


@pytest.mark.django_db
@pytest.mark.parametrize(
    ("filters", "expected"),
    [
        ({"engine": "sglang"}, {"engine": "sglang"}),
        ({"split__exact": "check"}, {"split": "check"}),
        ({"comparable__exact": "0"}, {"comparable": False}),
        ({"known": "no"}, {"model_slug": None}),
        ({"attention__exact": "mla"}, {"attention": "mla"}),
        ({"q": "dgx-spark"}, {"source__contains": "dgx-spark"}),
    ],
)
def test_runs_are_filtered_and_found(admin_client, filters, expected):
    listed = admin_client.get(page("changelist"), filters).context["cl"].queryset
    assert set(listed) == set(Measurement.objects.filter(**expected)) != set()
