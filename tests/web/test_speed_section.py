"""The section Speed: what it shows of an answer, its curves, what was measured, and what it leaves out."""

import csv
import io
import json

import pytest

from calculator.scenario import BY_NAME
from calculator.web import figures
from calculator.web.panels.page import LiveUpdate
from calculator.web.panels.speed import EXPLAINED, speed_panel
from calculator.web.panels.speed_chart import SHOW, curve_of
from tests.web.asking import asked, page_of, plain, words

pytestmark = pytest.mark.django_db

LLAMA_70B = "model=llama-3.3-70b-instruct&gpu=rtx-3090&n=2"
SPARK = "model=gpt-oss-120b&gpu=dgx-spark"
SERVED = "gpu=h100-sxm&quant=bf16&ctx=4096"


def rows_of(query, snapshot):
    return {row["id"]: row for row in page_of(query, snapshot)["speed"]["table"]["rows"]}


# --- figures as people read them --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "text"),
    [(15.68, "15.7"), (9.43, "9.4"), (0.447, "0.45"), (124.7, "125"), (7111.1, "7,110"), (53_812, "53,800")],
)
def test_a_rate_has_three_digits_and_two_below_ten(value, text):
    assert figures.rate(value) == text


@pytest.mark.parametrize(
    ("milliseconds", "text"), [(8.02, "8.0 ms"), (576, "576 ms"), (1456, "1.5 s"), (38_200, "38.2 s")]
)
def test_a_time_has_the_unit_that_suits(milliseconds, text):
    assert plain(figures.duration(milliseconds)) == text


@pytest.mark.parametrize(
    ("low", "high", "text"),
    [(14.21, 17.24, "14.2–17.2"), (102.9, 143.7, "103–144"), (3209, 11_883, "3,210–11,900")],
)
def test_a_range_has_equal_decimals(low, high, text):
    assert figures.rate_range(low, high) == text


# --- the table --------------------------------------------------------------------------------------------------------


def test_rows_for_one_user_and_for_many(snapshot):
    assert list(rows_of("", snapshot)) == ["decode", "prefill", "first_token", "request", "energy"]
    many = rows_of(f"{SERVED}&users=8", snapshot)
    assert list(many) == ["decode", "served", "prefill", "first_token", "request", "energy"]
    assert many["decode"]["note"] == "each of 8 users"


def test_every_row_has_its_range_and_what_sets_it(snapshot):
    for query in ("", LLAMA_70B, f"{SERVED}&users=64", "model=gpt-oss-120b&gpu=rtx-4090&offload=experts"):
        for row in rows_of(query, snapshot).values():
            assert "–" in row["range"], (query, row)
            assert row["sets"], (query, row)


def test_two_rtx_3090_write_about_what_was_measured(snapshot):
    """Llama 3 70B Q4_K_M on two RTX 3090: 16.29 tokens/s in the public table of May 2024 (1,024 tokens)."""
    row = rows_of(f"{LLAMA_70B}&prompt=16&output=1024", snapshot)["decode"]
    low, high = (float(end) for end in row["range"].split("–"))
    assert low < 16.29 < high
    assert row["sets"].startswith("reading the weights")


def test_ranges_lead_to_the_record_of_their_figure(snapshot):
    rows = rows_of(f"{SERVED}&users=8", snapshot)
    assert rows["decode"]["evidence"] == "/accuracy/?kind=speed&engine=vllm&part=decode_many"
    assert rows["served"]["evidence"].endswith("part=throughput")
    assert rows_of("", snapshot)["decode"]["evidence"].endswith("engine=llama.cpp&part=decode")
    assert rows["request"]["evidence"] == ""


def test_where_the_time_goes_is_said(snapshot):
    offload = rows_of("model=gpt-oss-120b&gpu=rtx-4090&offload=experts", snapshot)["decode"]
    assert offload["sets"].startswith("system RAM, ")
    assert "What system RAM really reaches widens it." in offload["why"]


def test_explanations_are_the_multiplication(snapshot):
    rows = rows_of("", snapshot)
    # 4,912,898,304 B of Q4_K_M less the embedding's 295,501,824 B are read for a token: 4.30 GiB.
    assert plain(rows["decode"]["why"]).startswith("Weights: 4.30 GiB read at ")
    assert plain(rows["prefill"]["why"]).startswith("4,096 tokens are 61.6 TFLOP.")
    assert "511 ×" in rows["request"]["why"]


@pytest.mark.parametrize(
    "query",
    [
        "",
        f"{SERVED}&users=64&prefix=1000",
        "model=gpt-oss-120b&gpu=rtx-4090&offload=experts&ram_bw=100&users=3",
        "model=kimi-k3.1-pro&gpu=hgx-h100-8&n=4&users=30",
        "model=llama-3.3-70b-instruct&gpu=rtx-3090&n=4&engine=vllm&quant=awq-int4",
        "gpu=mac-m4-max-128",
        "gpu=b200",
    ],
)
def test_no_explanation_falls_back(snapshot, query):
    for identity, row in rows_of(query, snapshot).items():
        if identity in EXPLAINED and row["value"] != "—":
            assert len(row["why"]) > 20, (query, row)
            assert "{" not in row["why"]
            assert "Nothing is known" not in row["why"], (query, row)


def test_a_missing_figure_is_a_dash_with_its_reason(snapshot):
    row = rows_of("gpu=mac-m3-max-64", snapshot)["energy"]
    assert (row["value"], row["range"]) == ("—", "")
    assert "No power figure of" in row["sets"]


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        ("model=deepseek-r1&gpu=h100-sxm&n=8", "What does not fit does not run"),
        ("model=qwen3-32b&gpu=h100-sxm&n=3&split=tensor", "vLLM cannot split 64 heads over 3 GPUs."),
    ],
)
def test_no_speed_where_nothing_runs(snapshot, query, reason):
    page = page_of(query, snapshot)
    assert page["speed"]["table"] is None
    assert page["speed"]["side"] is None
    assert page["speed"]["reason"].startswith(reason)
    assert page["speed"]["short"] == ""
    assert not any(figure["unit"] == "tok/s" for figure in page["figures"])


def test_drafts_are_a_row_of_their_own_and_only_when_asked_for(snapshot):
    query = "model=deepseek-r1&gpu=h200-sxm&n=8&quant=fp8"
    plain_rows, drafted = rows_of(query, snapshot), rows_of(f"{query}&mtp=3", snapshot)
    assert "drafts" not in plain_rows
    assert drafted["drafts"]["note"] == "3 drafted tokens"
    assert drafted["decode"]["value"] == plain_rows["decode"]["value"]
    offers = [words(remark) for remark in page_of(query, snapshot)["speed"]["remarks"]]
    assert any("with drafts" in offer for offer in offers)
    assert "drafts" not in rows_of("mtp=3", snapshot)  # a model without drafts of its own


def test_controls_of_lengths_drafts_and_ram_bandwidth(snapshot):
    def ids(query):
        groups = page_of(query, snapshot)["question"]["advanced"]
        return {group["legend"]: [field["id"] for field in group["fields"]] for group in groups}

    assert ids("")["Prompt and answer"] == ["prompt", "output", "prefix"]
    assert "ram_bw" in ids("")["Offload"]
    assert ids("model=deepseek-r1&gpu=h200-sxm&n=8")["Speculative decoding"] == ["mtp", "accept"]
    assert "Speculative decoding" not in ids("gpu=h100-sxm")
    assert all(BY_NAME[name].built for name in ("ttft", "tpot", "prefix", "ram_bw", "accept", "mtp"))


# --- targets ----------------------------------------------------------------------------------------------------------


def test_targets_say_how_many_users_keep_to_them(snapshot):
    def within(targets):
        return page_of(f"{SERVED}&{targets}", snapshot)["speed"]["within"]

    assert within("") == ""
    assert within("ttft=1") == "Not even one user keeps to these targets."
    assert within("tpot=20").endswith(" users at once keep to these targets.")
    fields = page_of(f"{SERVED}&tpot=20", snapshot)["speed"]["targets"]
    assert [(field["id"], field["value"]) for field in fields] == [("ttft", ""), ("tpot", "20")]


# --- curves -----------------------------------------------------------------------------------------------------------


def test_the_present_point_lies_on_its_curve(snapshot):
    """One user: the curve at the tokens that are held half-way through the answer is the decode rate of the table."""
    answer = asked(LLAMA_70B, snapshot)
    curve = curve_of(answer, "context")
    assert curve.present[0] == 4096 + 512 / 2
    assert curve.present[1] == pytest.approx(answer.estimate.speed.decode_tokens_per_s_per_user.value)
    users = curve_of(asked(f"{SERVED}&users=8", snapshot), "users")
    served = asked(f"{SERVED}&users=8", snapshot).estimate.speed.served_output_tokens_per_s.value
    assert users.present == (8, pytest.approx(served))
    prompt = curve_of(answer, "prompt")
    assert 1e3 * prompt.present[1] == pytest.approx(answer.estimate.speed.ttft_ms.value)


def test_curves_name_their_limits(snapshot):
    full = curve_of(asked(LLAMA_70B, snapshot), "context").lines
    assert [(line.kind, line.x) for line in full] == [("memory", 19_712)]
    users = curve_of(asked(f"{SERVED}&tpot=20", snapshot), "users").lines
    capacity = asked(SERVED, snapshot).estimate.capacity
    places = {line.kind: line.x for line in users}
    assert places["memory"] == capacity.max_users
    assert places["targets"] < places["memory"]
    assert places["knee"] < places["memory"]
    assert curve_of(asked("", snapshot), "context").lines == ()  # the model's maximum comes first


def test_no_curve_goes_where_the_memory_is_full(snapshot):
    curve = curve_of(asked(LLAMA_70B, snapshot), "context")
    assert max(curve.x) == 19_712 < curve.end


@pytest.mark.parametrize("name", list(SHOW.values()))
def test_a_tab_is_opened_by_its_link_and_placed_inside_its_box(snapshot, name):
    page = page_of(f"{LLAMA_70B}&show=speed-{name}", snapshot)
    assert page["problems"]["others"] == []
    side = page["speed"]["side"]
    assert [tab["name"] for tab in side["tabs"] if tab["current"]] == [name]
    curve = side["curve"]
    points = [int(number) for pair in curve["band"].split() for number in pair.split(",")]
    assert min(points) >= 0
    assert max(points) <= 1000
    numbers = json.loads(curve["numbers"])
    assert len(numbers["x"]) == len(numbers["low"]) == len(numbers["high"])
    assert all(
        low <= y <= high for low, y, high in zip(numbers["low"], numbers["y"], numbers["high"], strict=True)
    )


def test_a_section_that_is_not_there_yet_is_still_said(snapshot):
    assert page_of("show=run", snapshot)["problems"]["others"]


# --- measured ---------------------------------------------------------------------------------------------------------


def test_measured_results_stand_beside_the_estimate_for_their_conditions(snapshot):
    """llama.cpp's own table for the DGX Spark: 56.94 tokens/s of gpt-oss 120B after 4,096 tokens."""
    side = page_of(f"{SPARK}&ctx=4128", snapshot)["speed"]["side"]
    first = side["measured"][0]
    assert plain(first["value"]) == "56.9 tok/s decode"
    assert "after 4,096 tokens" in first["conditions"]
    assert first["estimate"].startswith("The estimate there is ")
    assert "90%" in first["estimate"]
    assert first["href"].startswith("https://github.com/")
    assert any(mark["label"] == "measured 56.9" for mark in side["curve"]["marks"])


def test_other_machines_have_no_square(snapshot):
    side = page_of("model=llama-3-8b-instruct&gpu=rtx-4090&n=3", snapshot)["speed"]["side"]
    assert side["measured"] == []
    assert side["curve"]["marks"] == []


# --- what goes over the wire ------------------------------------------------------------------------------------------


def test_a_live_update_leaves_out_what_only_a_look_needs(snapshot):
    live = page_of("", snapshot, live=LiveUpdate())["speed"]
    assert live["side"] is None
    assert live["figure"] == ""
    assert not any(row["why"] for row in live["table"]["rows"])
    opened = page_of("", snapshot, live=LiveUpdate(unfolded=frozenset(["why-decode"])))["speed"]
    assert [row["id"] for row in opened["table"]["rows"] if row["why"]] == ["decode"]


def test_the_table_stays_the_same_object_while_nothing_in_it_moves(snapshot):
    first, second = (
        speed_panel(asked(f"ctx={ctx}", snapshot), frozenset())["table"] for ctx in (8192, 16_384)
    )
    assert first is second
    assert speed_panel(asked("ctx=4096", snapshot), frozenset())["table"] is not first


def test_the_section_alone_is_that_of_the_page(client):
    page = client.get(f"/?{LLAMA_70B}").content.decode()
    section = client.get(f"/speed/?{LLAMA_70B}").content.decode().strip()
    assert section.startswith('<section class="card section" id="speed"')
    assert section in page
    assert client.get("/speed/?gpu=no-such-gpu").status_code == 200


def test_figures_and_curves_are_tables(client):
    def table(query):
        answer = client.get(f"/speed.csv?{query}")
        assert answer["Content-Type"].startswith("text/csv")
        return list(csv.reader(io.StringIO(answer.content.decode())))

    head, *rows = table(LLAMA_70B)
    assert head[3:7] == ["figure", "value", "low", "high"]
    named = {row[3]: row for row in rows}
    assert {"decode_tokens_per_s_per_user", "ttft_ms", "watts", "joules_per_output_token"} <= set(named)
    api = client.get(f"/api/v1/estimate?{LLAMA_70B}").json()["speed"]["ttft_ms"]
    assert [float(cell) for cell in named["ttft_ms"][4:7]] == [api["value"], api["low"], api["high"]]
    assert table(f"{LLAMA_70B}&over=ctx")[0] == ["ctx", "tokens_per_s", "low", "high"]
    assert table(f"{LLAMA_70B}&over=users")[1][0] == "1"
    assert len(table("model=deepseek-r1&gpu=h100-sxm&n=8")) == 1
    assert client.get("/speed.csv?over=n").status_code == 422
    assert client.get("/speed.csv?ctx=many").status_code == 422
