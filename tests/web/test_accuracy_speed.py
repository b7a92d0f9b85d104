"""The record of speed: the same page for tokens per second, with its own figures, groups and ranges."""

import csv
import io
from dataclasses import replace
from urllib.parse import parse_qsl

import pytest

from calculator.accuracy.report import Comparison, Report, Skipped, summary
from calculator.web.panels.accuracy import record
from calculator.web.panels.accuracy.page import accuracy_page
from catalog.records import Conditions
from tests.web.asking import plain, words
from tests.web.logs import log

CONDITIONS = Conditions(users=1, prompt_tokens=512, output_tokens=128, depth_tokens=512)
RUN = log(
    "run",
    id="spd-run",
    task="speed",
    engine="llama.cpp",
    engine_version="b9000",
    device="RTX 4090",
    weights_format="q4_k_m",
    conditions=CONDITIONS,
    source="someone/speeds#7",
)
SERVED = replace(
    RUN,
    id="spd-served",
    engine="vllm",
    engine_version="0.19.0",
    device="2 × H100",
    conditions=replace(CONDITIONS, users=16, depth_tokens=4096),
)
FITTED = replace(RUN, id="spd-fitted", split="fit")
LEFT = replace(RUN, id="spd-left", comparable=False)
ALONE = {"backend": "cuda", "device": "nvidia-consumer", "architecture": "dense", "users": "1"}
MANY = {"backend": "cuda", "device": "nvidia-datacenter", "architecture": "moe", "users": "8-31"}


def compared(run, part, observed, predicted, traits, unit="tokens/s") -> Comparison:
    """A figure beside the calculated one, with a range of ± 20 %."""
    return Comparison(
        measurement=run,
        part=part,
        observed_part=part,
        device=None,
        predicted=predicted,
        low=0.8 * predicted,
        high=1.2 * predicted,
        observed=observed,
        tolerance=0.0,
        unit=unit,
        basis="calibrated",
        traits=traits,
    )


def report(comparisons, skipped=()) -> Report:
    worst = tuple(sorted(comparisons, key=lambda item: -abs(item.error)))
    ids = {item.measurement.id for item in worst}
    return Report(
        "speed", len(ids) + len(skipped), len(ids), len(ids), tuple(skipped), summary(worst, {}), worst
    )


CHECKED = report(
    [
        compared(RUN, "decode", 100.0, 110.0, ALONE),  # + 10 %
        compared(replace(RUN, id="spd-2"), "decode", 50.0, 30.0, ALONE),  # − 40 %, outside
        compared(replace(RUN, id="spd-3"), "decode", 8.0, 8.4, ALONE),  # + 5 %
        compared(RUN, "prefill", 4000.0, 5000.0, ALONE),  # + 25 %, outside: 4000 = 0.8 × 5000 is its end
        compared(SERVED, "decode_many", 20.0, 19.0, MANY),  # − 5 %
        compared(SERVED, "ttft", 0.35, 0.42, MANY, "s"),  # + 20 %
    ],
    [Skipped(LEFT, None, "power-capped")],
)


@pytest.fixture
def shown(snapshot, monkeypatch):
    """Return a function that shows the record of speed for a query."""

    def reported(_snapshot, runs):
        fit = all(run.split == "fit" for run in runs)
        return report([compared(FITTED, "decode", 10.0, 15.0, ALONE)]) if fit else CHECKED

    def show(query=""):
        monkeypatch.setattr(record, "speed_report", reported)
        record.forget()
        given = dict(parse_qsl(f"kind=speed&{query}"))
        return accuracy_page(given, snapshot, canonical="https://stowage.example/accuracy/")

    yield show
    record.forget()


def rows(table):
    return {row["id"]: row for row in table["rows"]}


def test_the_headline_is_the_error_of_one_users_speed_the_misses_included(shown):
    """Errors of 5, 10 and 40 %: 10 in the middle, 34 = 10 + 0.8 × 30 for the worst tenth."""
    page = shown()
    assert page["headline"] == (
        "How sure is it? On 3 runs never used for fitting, the speed of one user: off by 10.0% in the middle case, "
        "by 34.0% or more in the worst tenth."
    )
    first, second, third = (plain(words(spans)) for spans in page["ground"])
    assert "from 8.00 to 100, on 1 engine." in first
    assert (
        "each of many users sees is off by 5.0%, the speed of prompts by 25.0%, the time to the first"
        in first
    )
    assert "held 5 of 6 observed figures" in second
    assert "1 of 5 runs is left out; the reason is given." in second
    assert third.startswith("For a model that no constant was fitted on, expect more")


def test_the_headline_stays_whatever_is_looked_at(shown):
    assert shown("share=fit&engine=llama.cpp")["headline"] == shown()["headline"]


def test_memory_and_speed_lead_to_each_other_and_keep_the_share(shown):
    links = {
        kind["name"]: (kind["href"], kind["here"])
        for kind in shown("share=fit&part=decode")["frame"]["kinds"]
    }
    assert links == {
        "Memory": ("/accuracy/?share=fit", False),
        "Speed": ("/accuracy/?kind=speed&share=fit", True),
    }
    assert shown()["frame"]["canonical"] == "https://stowage.example/accuracy/?kind=speed"


def test_groups_have_their_rows_and_name_what_nobody_measured(shown):
    page = shown()
    assert rows(page["by_figure"])["figure-decode"]["p90"] == "34.0%"
    device, users = page["left"][0], page["right"][0]
    assert (
        rows(device)["device-nvidia-consumer"]["href"]
        == "/accuracy/?kind=speed&device=nvidia-consumer#by-device"
    )
    assert set(rows(users)) == {"users-1", "users-8-31"}
    assert users["missing"] == "No data: 2–7, 32–127, 128 and more."
    assert [table["id"] for table in page["right"]] == ["by-users", "by-architecture", "by-backend"]
    assert page["by_attention"] is None


@pytest.mark.parametrize(
    ("query", "ids"),
    [
        ("users=8-31", {"spd-served"}),
        ("device=nvidia-consumer&part=prefill", {"spd-run"}),
        ("architecture=moe&backend=cuda", {"spd-served"}),
        ("engine=vllm&part=ttft", {"spd-served"}),
    ],
)
def test_filters_leave_what_was_asked_for(shown, query, ids):
    page = shown(query)
    assert {"-".join(row["id"].split("-")[1:3]) for row in page["cases"]["rows"]} == ids
    assert page["filters"]["clear_href"] == "/accuracy/?kind=speed"
    assert page["filters"]["hidden"] == [("kind", "speed")]


def test_a_run_says_how_it_was_measured_in_which_unit(shown):
    (row,) = shown("part=ttft")["cases"]["rows"]
    assert (row["observed"], row["predicted"], row["unit"], row["error"]) == ("350", "420", "ms", "+20.0%")
    assert row["facts"] == "2 × H100 · q4_k_m · 16 users · 512 + 128 tokens · after 4,096 tokens · 2026-03"


def test_the_chart_shows_what_each_user_sees_against_the_observed_rate(shown):
    chart = shown()["chart"]
    assert chart["title"] == "Error against observed tokens/s"
    assert sum(len(series["marks"]) for series in chart["series"]) == 4
    assert "Band: ± 20%." in chart["note"]
    assert shown("part=ttft")["chart"]["title"] == "Error against the observed time"


def test_no_error_is_drawn_below_minus_100_percent(snapshot, monkeypatch):
    far = report([compared(replace(RUN, id=f"spd-{n}"), "decode", 10.0, 40.0, ALONE) for n in range(3)])
    monkeypatch.setattr(record, "speed_report", lambda _snapshot, _runs: far)
    record.forget()
    page = accuracy_page({"kind": "speed"}, snapshot, canonical="https://stowage.example/accuracy/")
    record.forget()
    assert [tick["label"] for tick in page["chart"]["y_ticks"]] == ["−100%", "0", "+250%", "+500%"]


def test_nothing_measured_leads_to_what_there_is(shown):
    page = shown("device=intel-consumer&engine=vllm")
    assert page["nothing"]["sentence"] == "No run shows this yet: vLLM, Intel Arc, never used for fitting."
    links = {span["text"]: span["href"] for span in page["nothing"]["ways"] if span.get("href")}
    assert links["all devices"] == "/accuracy/?kind=speed&engine=vllm"


def test_the_page_has_links_for_both_records_and_no_units_of_size(shown, client, db):
    shown()
    html = client.get("/accuracy/?kind=speed").content.decode()
    assert '<a href="/accuracy/?kind=speed" aria-current="page">Speed</a>' in html
    assert '<a href="/accuracy/">Memory</a>' in html
    assert "data-units" not in html
    assert "power-capped" in html.lower()


def test_the_csv_of_speeds_has_their_conditions(shown, client, db):
    shown()
    answer = client.get("/accuracy.csv?kind=speed")
    table = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert len(table) == 7
    row = next(row for row in table if row["part"] == "ttft")
    assert (row["unit"], row["observed"], row["users"], row["depth_tokens"]) == ("s", "0.35", "16", "4096")
    assert (row["device_class"], row["backend"], row["architecture"]) == ("nvidia-datacenter", "cuda", "moe")
    assert row["in_range"] == "1"


def test_control_characters_of_a_filter_are_not_echoed(shown, client, db):
    shown()
    html = client.get("/accuracy/?kind=speed&engine=vl%00lm%07&share=%00&users=%00x").content.decode()
    assert "No engine is called “vllm”: all are shown." in html
    assert "No range of users is called “x”: all are shown." in html
    assert "\0" not in html
    assert "\a" not in html
    other = client.get("/accuracy/?kind=%00speeds&attention=a%00b").content.decode()
    assert "No record is called “speeds”: that of memory is shown." in other
    assert "No kind of attention is called “ab”: all are shown." in other
    assert "\0" not in other
