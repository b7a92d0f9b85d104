"""The record of accuracy: its headline is the error, every case has its source, and every interval leads there."""

import csv
import io
import re
from dataclasses import replace
from urllib.parse import parse_qsl, urlsplit

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calculator.accuracy.report import summary
from calculator.web.panels.accuracy import record
from calculator.web.panels.accuracy.chart import family_of
from calculator.web.panels.accuracy.page import accuracy_page
from calculator.web.panels.accuracy.tables import held_words
from calculator.web.panels.accuracy.written import signed, size_of_error, source_link, whole_percent
from catalog import live
from tests.web.asking import SEARCH, page_of, plain, words
from tests.web.logs import FIRST, RECORD, THIRD, compared, exact, log, report


@pytest.fixture
def shown(snapshot, monkeypatch):
    """Return a function that shows a record for a query."""

    def show(query="", of=RECORD):
        monkeypatch.setattr(record, "memory_report", lambda _snapshot, _logs: of)
        record.forget()
        return accuracy_page(dict(parse_qsl(query)), snapshot, canonical="https://stowage.example/accuracy/")

    yield show
    record.forget()


def rows(table):
    return {row["id"]: row for row in table["rows"]}


# --- The headline -----------------------------------------------------------------------------------------------------


def test_the_headline_is_the_error_of_what_a_gpu_holds_on_logs_never_used_for_fitting(shown):
    page = shown()
    assert page["headline"] == (
        "How sure is it? On 3 logs never used for fitting: off by 2.0% in the middle case, "
        "by 8.4% or more in the worst tenth."
    )
    assert page["frame"]["title"] == page["headline"].rstrip(".")


def test_the_headline_stays_whatever_is_filtered(shown):
    assert shown("share=fit&engine=vllm")["headline"] == shown()["headline"]


def test_the_ground_says_what_is_exact_what_the_ranges_held_and_what_was_left_out(shown):
    first, second = (plain(words(spans)) for spans in shown()["ground"])
    assert "from 10.0 GiB to 40.0 GiB, on 2 engines" in first
    assert "50% of 2 such figures agree with the log to its last printed digit" in first
    assert "held 2 of 4 observed figures, 50% ± 15" in second
    assert "That is fewer than they promise." in second
    assert "2 of 5 logs are left out, each with its reason." in second


def test_ranges_that_hold_more_than_they_promise_are_named_too(shown):
    kept = report([compared(log(f"{n}"), "parts", 10, 10.1) for n in range(40)])
    assert "they could be narrower" in words(shown(of=kept)["ground"][1])


def test_one_log_has_no_worst_tenth(shown):
    page = shown(of=report([compared(FIRST, "parts", 20, 21)]))
    assert page["headline"] == "How sure is it? On 1 log never used for fitting: off by 5.0%."
    assert "No log was left out." in words(page["ground"][1])


def test_an_empty_record_says_that_nobody_can_tell(shown):
    page = shown(of=report([]))
    assert page["headline"].endswith("so nobody can tell.")
    assert page["nothing"] == {"sentence": "The catalogue holds no measured log yet.", "ways": []}
    assert (page["chart"], page["cases"], page["by_figure"]) == (None, None, None)


# --- Tables -----------------------------------------------------------------------------------------------------------


def test_figures_have_their_errors_and_their_coverage(shown):
    table = shown()["by_figure"]
    row = rows(table)["figure-parts"]
    assert (row["figures"], row["median"], row["p90"], row["bias"]) == ("3", "2.0%", "8.4%", "+1.0%")
    assert (plain(row["held"]), row["of"]) == ("67% ± 17", "2 of 3")
    assert rows(table)["figure-kv_cache"]["held"] == "exact in 50%"
    assert table["missing"].startswith("No data: Weights, Recurrent state")


def test_a_figure_that_is_sometimes_exact_has_two_rows(shown):
    mixed = report([compared(FIRST, "weights", 10, 11), exact(THIRD, "weights", 10, 10)])
    table = rows(shown(of=mixed)["by_figure"])
    assert table["figure-weights"]["note"] == "by rule or fitted"
    assert table["figure-weights-exact"]["held"] == "exact in 100%"


def test_pooled_rows_leave_exact_figures_out_of_the_errors(shown):
    row = rows(shown()["by_engine"])["engine-llama.cpp"]
    assert (row["figures"], row["median"], plain(row["held"])) == ("1", "10.0%", "0% ± 30")
    assert row["note"] == "exact figures: 0% of 1 agree"


def test_engines_without_a_log_are_named(shown):
    missing = shown()["by_engine"]["missing"]
    assert "KTransformers" in missing
    assert "LM Studio" in missing
    assert "vLLM" not in missing


def test_versions_newer_than_the_newest_log_are_named(shown):
    remarks = shown()["by_engine"]["remarks"]
    assert (
        "Overheads were measured on vLLM 0.17 to 0.20: for 0.33.0 their ranges are 1.5 times as wide."
        in remarks
    )
    assert "Computed at a newer version than the newest log: vLLM 0.33.0 (0.19.0)." in remarks


def test_kinds_of_attention_have_their_rows(shown):
    assert set(rows(shown()["by_attention"])) == {"attention-gqa", "attention-sliding_window"}


# --- Filters ----------------------------------------------------------------------------------------------------------


def test_filters_leave_what_was_asked_for(shown):
    page = shown("engine=vllm&part=parts&attention=gqa")
    assert [row["name"] for row in page["cases"]["rows"]] == ["Llama 3.1 8B Instruct · vLLM 0.19.0"] * 2
    assert page["filters"]["words"] == "2 figures from 2 logs"
    assert page["filters"]["clear_href"] == "/accuracy/"


def test_the_share_used_for_fitting_says_that_it_flatters(shown):
    page = shown("share=fit")
    assert [row["error"] for row in page["cases"]["rows"]] == ["+50.0%"]
    assert page["filters"]["flatters"] == "The constants were fitted on these logs: their errors flatter."
    assert shown()["filters"]["flatters"] == ""


def test_a_choice_without_a_log_says_so_and_leads_to_the_engine_whose_constants_are_taken(shown):
    page = shown("engine=lm-studio&part=parts")
    assert (
        page["nothing"]["sentence"]
        == "No log shows this yet: Sum per GPU, LM Studio, never used for fitting."
    )
    links = {span["text"]: span["href"] for span in page["nothing"]["ways"] if span["href"]}
    assert links["llama.cpp, whose constants LM Studio takes"] == "/accuracy/?engine=llama.cpp&part=parts"
    assert links["all engines"] == "/accuracy/?part=parts"


def test_what_is_missing_is_never_a_way_out(shown):
    page = shown("engine=vllm&attention=mla")
    links = [span["href"] for span in page["nothing"]["ways"] if span["href"]]
    assert links
    for href in links:
        assert shown(urlsplit(href).query)["nothing"] is None


def test_a_value_that_is_none_is_named_and_means_all(shown):
    page = shown("engine=vlm&share=all&part=kv")
    assert page["filters"]["problems"] == [
        "No engine is called “vlm”: all are shown.",
        "No figure is called “kv”: all are shown.",
        "No share is called “all”: the logs never used for fitting are shown.",
    ]
    assert page["filters"]["words"] == shown()["filters"]["words"]


def test_links_keep_what_is_chosen():
    chosen = record.Selection(engine="vllm", share="fit", units="gb")
    assert (
        chosen.link("by-figure", part="parts")
        == "/accuracy/?share=fit&engine=vllm&part=parts&units=gb#by-figure"
    )
    assert record.Selection().link() == "/accuracy/"


# --- Cases ------------------------------------------------------------------------------------------------------------


def test_cases_stand_worst_first_with_range_and_source(shown):
    cases = shown()["cases"]["rows"]
    assert [row["error"] for row in cases[:3]] == ["+100%", "+25.0%", "−10.0%"]
    worst = cases[2]
    assert (worst["observed"], worst["predicted"], worst["range"]) == ("40.0", "36.0", "34.2–37.8")
    assert worst["outside"] == "outside the range"
    assert worst["asked_href"] == ""
    assert cases[1]["range"] == "exact"


def test_a_figure_that_would_be_printed_so_is_no_error(shown):
    assert [row["error"] for row in shown("part=kv_cache&engine=vllm")["cases"]["rows"]] == ["as printed"]


def test_a_case_can_be_asked(shown):
    (row,) = shown("part=kv_cache&engine=vllm")["cases"]["rows"]
    assert row["asked_href"] == "/?gpu=h100-sxm&engine=vllm&engine_version=0.19.0&v=1"
    assert row["asked_words"] == "Ask it: Llama 3.1 8B Instruct · vLLM 0.19.0"


def test_the_reason_is_the_note_where_no_other_is_known(shown):
    notes = {row["why"] for row in shown("part=total")["cases"]["rows"]}
    assert notes == {"a card with a screen"}


def test_only_the_worst_are_listed_until_all_are_asked_for(shown):
    many = report([compared(log(f"{n}"), "parts", 10, 10 + n / 10) for n in range(60)])
    page = shown(of=many)
    assert (len(page["cases"]["rows"]), page["cases"]["shown"]) == (25, "25 of 60")
    assert page["cases"]["more_href"] == "/accuracy/?all=1#every-case"
    whole = shown("all=1", of=many)["cases"]
    assert (len(whole["rows"]), whole["more_href"]) == (60, "")
    assert len({row["id"] for row in whole["rows"]}) == 60


@pytest.mark.parametrize(
    ("source", "text", "href", "rest"),
    [
        ("owner/repo#12 (a log)", "owner/repo#12", "https://github.com/owner/repo/issues/12", "a log"),
        (
            "owner/repo:a dir/b.md",
            "owner/repo",
            "https://github.com/owner/repo/blob/HEAD/a%20dir/b.md",
            "a dir/b.md",
        ),
        (
            "owner/repo:b.md (row 3)",
            "owner/repo",
            "https://github.com/owner/repo/blob/HEAD/b.md",
            "b.md (row 3)",
        ),
        ("owner/repo (guide, 2026)", "owner/repo", "https://github.com/owner/repo", "guide, 2026"),
        ("https://www.example.org/a (t)", "example.org/a", "https://www.example.org/a", "t"),
        ("javascript:alert(1)", "javascript:alert(1)", "", ""),
        ("a log, not identified (ref 1)", "a log, not identified (ref 1)", "", ""),
        ("", "", "", ""),
    ],
)
def test_sources_lead_to_their_place(source, text, href, rest):
    assert source_link(source) == {"text": text, "href": href, "rest": rest}


def test_what_is_left_out_has_its_reason_and_its_logs(shown):
    left = shown()["left_out"]
    assert left["sentence"] == "2 logs of this choice are not compared."
    assert [row["reason"] for row in left["rows"]] == [
        "The card is shared.",
        "The log states neither the pool nor the share of memory that the server may take.",
    ]
    assert left["rows"][1]["logs"][0]["source"]["href"] == "https://www.example.org/a?b=1"
    assert left["parts_sentence"] == "Of compared logs, 1 figure is not compared."
    assert left["parts_rows"][0]["logs"][0]["name"].endswith("Compute buffer")


# --- Numbers ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("share", "text"),
    [
        (0.004, "+0.4%"),
        (-0.103, "−10.3%"),
        (0.0001, "0.0%"),
        (-0.0001, "0.0%"),
        (0.99999, "+100%"),
        (32.3, "+3,230%"),
    ],
)
def test_errors_are_written_with_their_sign(share, text):
    assert signed(share) == text


def test_sizes_of_errors_have_one_decimal():
    assert [size_of_error(share) for share in (0, 0.012, 0.5, 1.2)] == ["0.0%", "1.2%", "50.0%", "120%"]


def test_almost_all_is_not_all():
    assert [whole_percent(share) for share in (0, 0.001, 0.5, 0.999, 1)] == ["0%", "1%", "50%", "99%", "100%"]


def test_coverage_has_its_sampling_error():
    group = summary([compared(log(f"{n}"), "parts", 10, 10) for n in range(36)], {})
    assert plain(held_words(group)) == "100% ± 5"


# --- The chart --------------------------------------------------------------------------------------------------------


def test_the_chart_shows_each_gpu_once_and_names_the_farthest(shown):
    chart = shown()["chart"]
    assert [(series["name"], len(series["marks"])) for series in chart["series"]] == [
        ("vLLM, SGLang, TensorRT-LLM", 2),
        ("llama.cpp, Ollama, LM Studio", 1),
    ]
    assert chart["worst"]["label"] == "Gemma 3 27B IT · llama.cpp b9849: −10.0%"
    assert chart["description"].startswith("2 of 3 sizes lie within ± 5%")
    assert [tick["label"] for tick in chart["y_ticks"]] == ["−10%", "−5%", "0", "+5%", "+10%"]


def test_the_chart_of_a_figure_shows_that_figure(shown):
    chart = shown("part=total")["chart"]
    assert chart["subject"] == "Total of the run"
    assert sum(len(series["marks"]) for series in chart["series"]) == 1


def test_marks_beyond_the_axis_are_drawn_at_its_edge_and_counted(shown):
    items = [compared(log(f"{n}"), "parts", 10 + n / 10, 10 + n / 10) for n in range(60)]
    chart = shown(of=report([*items, compared(log("far"), "parts", 10, 40)]))["chart"]
    assert chart["note"] == "Band: ± 5%. 1 mark at the edge lies beyond it, at most 300%."
    assert all(
        0 <= float(mark["y"].rstrip("%")) <= 100 for series in chart["series"] for mark in series["marks"]
    )


def test_every_engine_of_the_catalogue_has_a_colour(snapshot):
    assert {family_of(engine) for engine in snapshot.engines} == {1, 2, 3, 4}


def test_a_record_without_sizes_has_no_chart(shown):
    tokens = report([replace(compared(FIRST, "capacity", 1, 1.1), unit="tokens")])
    assert shown(of=tokens)["chart"] is None


# --- The page ---------------------------------------------------------------------------------------------------------


@pytest.fixture
def recorded(monkeypatch):
    monkeypatch.setattr(record, "memory_report", lambda _snapshot, _logs: RECORD)
    record.forget()
    yield
    record.forget()


@pytest.mark.django_db
def test_the_page_carries_headline_description_and_anchors(client, recorded):
    html = client.get("/accuracy/").content.decode()
    assert "<h1>How sure is it? On 3 logs never used for fitting" in html
    assert '<meta property="og:title" content="How sure is it?' in html
    assert '<link rel="canonical" href="http://testserver/accuracy/">' in html
    ids = re.findall(r'\bid="([^"]+)"', html)
    assert len(ids) == len(set(ids))
    assert {
        "by-figure",
        "by-engine",
        "by-attention",
        "every-case",
        "left-out",
        "figure-parts",
        "engine-vllm",
    } <= set(ids)


@pytest.mark.django_db
def test_the_record_is_computed_once_and_asks_the_database_nothing(
    client, monkeypatch, django_assert_num_queries
):
    computed = []
    monkeypatch.setattr(record, "memory_report", lambda *given: computed.append(given) or RECORD)
    record.forget()
    live.current()
    with django_assert_num_queries(0):
        for address in ("/accuracy/", "/accuracy/?engine=vllm", "/accuracy.csv"):
            assert client.get(address).status_code == 200
    assert len(computed) == 1
    record.forget()


@pytest.mark.django_db
def test_an_unchanged_page_is_not_sent_again(client, recorded):
    first = client.get("/accuracy/")
    assert client.get("/accuracy/", headers={"If-None-Match": first.headers["ETag"]}).status_code == 304


@pytest.mark.django_db
def test_every_comparison_as_csv(client, recorded):
    answer = client.get("/accuracy.csv")
    assert answer.headers["Content-Type"] == "text/csv; charset=utf-8"
    table = list(csv.DictReader(io.StringIO(answer.content.decode())))
    assert len(table) == len(RECORD.worst)
    assert {row["split"] for row in table} == {"check", "fit"}
    worst = next(row for row in table if row["id"] == "mem-second" and row["part"] == "parts")
    assert (worst["observed"], worst["error"], worst["in_range"]) == (str(40 * 2**30), "-0.100000", "0")
    assert worst["source"].startswith("ggml-org/llama.cpp:")
    asked = {row["question"] for row in table if row["id"] == "mem-first"}
    assert asked == {"/?gpu=h100-sxm&engine=vllm&engine_version=0.19.0&v=1"}


@pytest.mark.django_db
@pytest.mark.parametrize("address", ["/", "/accuracy/", "/no-such-page"])
def test_every_page_leads_to_the_record(client, recorded, address):
    assert client.get(address).content.decode().count('href="/accuracy/"') >= 2


JUNK = st.text(max_size=12) | st.sampled_from(
    ["vllm", "parts", "gqa", "fit", "1", "\x00", "<b>", "ktransformers"]
)


@pytest.mark.django_db
@settings(SEARCH, max_examples=40)
@given(
    query=st.dictionaries(
        st.sampled_from(["engine", "part", "attention", "share", "all", "units", "x"]), JUNK
    )
)
def test_no_query_string_breaks_the_page(client, query):
    assert client.get("/accuracy/", query).status_code == 200


@pytest.mark.django_db
def test_the_shipped_record_has_a_page(client):
    record.forget()
    html = client.get("/accuracy/").content.decode()
    logs = int(re.search(r"On (\d+) logs never used for fitting", html)[1])
    assert logs > 20
    assert "Show all" in html


def test_a_record_that_fails_aside_is_logged(caplog):
    def broken():
        raise RuntimeError("no catalogue")

    record.compute_aside(broken).join()
    assert "The record of accuracy cannot be computed." in caplog.text


def test_the_record_is_computed_aside(snapshot, recorded, monkeypatch):
    monkeypatch.setattr(record, "speed_report", lambda _snapshot, _runs: RECORD)
    record.compute_aside(lambda: snapshot).join()
    assert record._computed.cache_info().currsize == 1
    assert record.record_of(snapshot) is record.record_of(snapshot, record.SPEED) is RECORD


# --- Evidence on the calculator ---------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "part", "href"),
    [
        ("engine=vllm&gpu=h100-sxm", "activations", "/accuracy/?engine=vllm&part=activations"),
        ("engine=llama.cpp", "activations", "/accuracy/?engine=llama.cpp&part=compute_buffer"),
        ("engine=llama.cpp", "kv_cache", "/accuracy/?engine=llama.cpp&part=kv_cache"),
        ("engine=llama.cpp&units=gb", "kv_cache", "/accuracy/?engine=llama.cpp&part=kv_cache&units=gb"),
        ("model=deepseek-v3.2&gpu=h200-sxm&n=8", "index_cache", "/accuracy/?engine=vllm&part=kv_cache"),
    ],
)
def test_a_range_leads_to_the_record_of_its_figure(snapshot, query, part, href):
    page = page_of(query, snapshot)
    assert {row["id"]: row["evidence"] for row in page["memory"]["rows"]}[part] == href


def test_sums_lead_to_the_record_of_sums(snapshot):
    page = page_of("engine=vllm&gpu=h100-sxm", snapshot)
    assert (
        page["memory"]["needed"]["evidence"]
        == page["verdict"]["evidence"]
        == "/accuracy/?engine=vllm&part=parts"
    )


@pytest.mark.parametrize(
    "query",
    [
        "engine=vllm&gpu=h100-sxm",
        "engine=llama.cpp&model=qwen3.5-27b&vision=1",
        "engine=mlx&gpu=mac-m4-max-128",
    ],
)
def test_every_evidence_link_is_understood(snapshot, shown, query):
    for row in page_of(query, snapshot)["memory"]["rows"]:
        assert shown(urlsplit(row["evidence"]).query)["filters"]["problems"] == []
