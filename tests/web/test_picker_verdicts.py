"""Verdicts in the lists of models and hardware, and the machines that a visitor keeps."""

import json
from urllib.parse import quote

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calculator.web.own_hardware import MOST, Machine, machines_of
from calculator.web.panels.picker_verdicts import hardware_verdicts, model_verdicts
from tests.web.asking import SEARCH, asked, plain
from tests.web.nasty import VALUES

pytestmark = pytest.mark.django_db


def chips(found):
    return {name: (found["words"][at][0], plain(found["words"][at][1])) for name, at in found["of"].items()}


def of_hardware(query, snapshot, yours=""):
    return hardware_verdicts(asked(query, snapshot), yours)


@pytest.mark.parametrize(
    ("query", "gpu", "chip"),
    [
        ("model=llama-3.3-70b-instruct", "rtx-3090", ("fits", "2 fit")),  # Q4_K_M is a file of 42.5 GB
        ("model=gpt-oss-120b", "h100-sxm", ("fits", "1 fits")),  # OpenAI: a single 80 GB GPU
        ("model=qwen3-30b-a3b&quant=q4_k_m", "rtx-3090", ("fits", "1 fits")),  # 18.6 GB
        ("model=deepseek-r1", "h200-sxm", ("fits", "8 fit")),  # 689 GB in FP8
        ("model=kimi-k3&ctx=131072", "h100-sxm", ("fits", "32 fit")),
    ],
)
def test_well_known_pairs(query, gpu, chip, snapshot):
    assert chips(of_hardware(query, snapshot))[gpu] == chip


def test_every_device_and_system_has_a_verdict_and_what_is_short_says_by_how_much(snapshot):
    found = of_hardware("model=kimi-k3", snapshot)
    assert set(found["of"]) == {*snapshot.accelerators, *snapshot.systems}
    short = {name: words for name, (code, words) in chips(found).items() if code == "does_not_fit"}
    assert short
    assert all(words.startswith("short of ") and words.endswith(" GiB") for words in short.values())
    assert plain(found["question"]) == "for Kimi K3, 8,192 tokens, 1 request"
    places = {
        code: {place for each, _, place in found["words"] if each == code} for code, _, _ in found["words"]
    }
    assert places["fits"] == {0}
    assert places["does_not_fit"] <= {2, 3}


def test_sizes_follow_the_units(snapshot):
    found = of_hardware("model=kimi-k3&units=gb", snapshot)
    assert any(words.endswith(" GB") for _, words in chips(found).values())


def test_models_on_one_card_of_24_gb(snapshot):
    found = chips(model_verdicts(asked("gpu=rtx-3090", snapshot)))
    assert set(found) == set(snapshot.models)
    assert found["qwen3-30b-a3b"] == ("fits", "fits")
    assert found["deepseek-r1"][0] == "does_not_fit"
    assert found["llama-3.3-70b-instruct"][1].startswith(("fits in IQ2", "tight in IQ2", "short of"))


def test_a_format_of_the_question_is_the_only_one_that_counts(snapshot):
    found = chips(model_verdicts(asked("gpu=rtx-3090&quant=q4_k_m", snapshot)))
    assert found["llama-3.3-70b-instruct"][0] == "does_not_fit"
    assert not any(" in " in words for _, words in found.values())


# --- one's own machines -----------------------------------------------------------------------------------------------


def test_ones_own_machine_has_the_verdict_of_its_own_question(snapshot):
    found = of_hardware("model=llama-3.3-70b-instruct", snapshot, "rtx-3090|2|64|linux;mac-m4-max-128")
    assert set(found["yours"]) == {"rtx-3090", "mac-m4-max-128"}
    own = asked("model=llama-3.3-70b-instruct&gpu=rtx-3090&n=2&os=linux", snapshot).estimate
    code, words, place = found["yours"]["rtx-3090"]
    assert (code, place) == (own.verdict, 0) == ("fits", 0)
    assert plain(words) == f"{own.memory.headroom_bytes / 2**30:.2f} GiB to spare"


def test_a_machine_that_is_too_small_says_what_is_missing(snapshot):
    found = of_hardware("model=llama-3.3-70b-instruct", snapshot, "rtx-3090")
    code, words, _ = found["yours"]["rtx-3090"]
    assert code == "does_not_fit"
    assert plain(words).startswith("short of ")


def test_a_list_of_cards_is_a_machine_too(snapshot):
    found = of_hardware("", snapshot, "rtx-3090:1,rtx-3060-12:1|1")
    assert found["yours"]["rtx-3090:1,rtx-3060-12:1"][0] == "fits"


def test_ram_and_system_belong_to_the_machine(snapshot):
    (machine,) = machines_of("rtx-4090|1|128|windows", snapshot)
    assert machine == Machine("rtx-4090", 1, 128.0, "windows")
    scenario = machine.asked(asked("gpu=h100-sxm&n=8&tp=8&price=1000&ram=32", snapshot).scenario)
    assert (scenario.gpu, scenario.n, scenario.ram, scenario.os) == ("rtx-4090", 1, 128.0, "windows")
    assert (scenario.tp, scenario.price) == (None, None)


@pytest.mark.parametrize(
    "given_text",
    ["", ";", "|||", "no-such-gpu|1", "rtx-3090|-1", "rtx-3090|nan", "rtx-3090|1|64|beos", "\x00"],
)
def test_what_cannot_be_read_is_left_out(given_text, snapshot):
    assert machines_of(given_text, snapshot) == ()


def test_machines_are_few_and_each_once(snapshot):
    many = ";".join(snapshot.accelerators)
    assert len(machines_of(many, snapshot)) <= MOST
    assert len(machines_of("rtx-3090|2;rtx-3090|4", snapshot)) == 1


# --- the addresses ----------------------------------------------------------------------------------------------------


def test_the_lists_ask_for_them(client):
    answer = client.get("/picker/gpu/?model=gpt-oss-120b&yours=rtx-3090%7C2")
    assert answer["Content-Type"] == "application/json"
    found = json.loads(answer.content)
    assert set(found) == {"label", "question", "words", "of", "yours"}
    assert found["label"] == "Fits this model"
    assert json.loads(client.get("/picker/model/").content)["label"] == "Runs on this hardware"


def test_there_is_no_other_list(client):
    assert client.get("/picker/engine/").status_code == 404
    assert client.post("/picker/gpu/").status_code == 405


@settings(SEARCH, max_examples=40)
@given(
    text=st.one_of(st.sampled_from(VALUES), st.text(max_size=60)), name=st.sampled_from(["yours", "gpu", "n"])
)
def test_nothing_in_a_query_breaks_them(client, text, name):
    address = f"/picker/gpu/?{name}={quote(text.encode('utf-8', 'surrogatepass'))}"
    assert client.get(address).status_code == 200
