"""What each panel shows of an answer."""

import itertools

import pytest

from calculator.web.panels.page import LiveUpdate
from tests.web.asking import asked, page_of, plain, words

GIB = 2**30


def figures_of(page):
    return {
        figure["label"]: plain(f"{figure['value']} {figure['unit']}".strip()) for figure in page["figures"]
    }


# --- rack -------------------------------------------------------------------------------------------------------------


def test_a_single_gpu_has_no_rack(snapshot):
    assert page_of("", snapshot)["rack"] is None


def test_a_rack_groups_by_node(snapshot):
    rack = page_of("model=kimi-k3&gpu=h100-sxm&n=32", snapshot)["rack"]
    assert [(node["label"], len(node["cells"])) for node in rack["nodes"]] == [
        ("node 1", 8),
        ("node 2", 8),
        ("node 3", 8),
        ("node 4", 8),
    ]
    assert sum(cell["fullest"] for node in rack["nodes"] for cell in node["cells"]) == 1


def test_few_gpus_that_differ_are_bars_with_their_layers(snapshot):
    rack = page_of("model=llama-3.3-70b-instruct&gpu=rtx-3090&n=2", snapshot)["rack"]
    assert rack["nodes"] == []
    assert [(bar["name"], bar["note"]) for bar in rack["bars"]] == [
        ("GPU 1", "layers 1–41"),
        ("GPU 2", "layers 42–80"),
    ]


def test_many_gpus_are_one_node(snapshot):
    rack = page_of("model=kimi-k3&gpu=h100-sxm&n=512&tp=8&pp=64", snapshot)["rack"]
    assert [(node["label"], len(node["cells"])) for node in rack["nodes"]] == [("the fullest of 64 nodes", 8)]


def test_cells_are_filled_from_the_floor(snapshot):
    cell = page_of("gpu=h100-sxm&n=8", snapshot)["rack"]["nodes"][0]["cells"][0]
    assert float(cell["y"][:-1]) + float(cell["height"][:-1]) == pytest.approx(100)


# --- key figures ------------------------------------------------------------------------------------------------------


def test_figures_of_what_fits(snapshot):
    shown = figures_of(page_of("model=llama-3.3-70b-instruct&gpu=rtx-3090&n=2", snapshot))
    assert list(shown) == [
        "Per GPU, of 23.6 usable",
        "Headroom per GPU",
        "Longest context",
        "Decode per user",
        "First token, prompt of 4,096",
        "Cost per 1M output",
    ]
    assert list(shown.values())[:3] == ["21.6 GiB", "1.92 GiB", "12,544 tokens"]
    assert shown["Decode per user"].endswith(" tok/s")


def test_for_several_users_the_most_of_them_stand_in_place_of_the_longest_context(snapshot):
    shown = figures_of(page_of("gpu=h100-sxm&users=4", snapshot))
    assert "Most users" in shown
    assert "Longest context" not in shown


def test_the_cost_says_its_range_and_whose_price_it_is(snapshot):
    """Two used RTX 3090 at 700 USD of 2026-06."""
    page = page_of("model=llama-3.3-70b-instruct&gpu=rtx-3090&n=2", snapshot)
    figure = next(f for f in page["figures"] if f["label"] == "Cost per 1M output")
    low, high = figure["detail"].partition(" · ")[0].lstrip("$").split("–")
    assert float(low) < float(figure["value"].lstrip("$")) < float(high)
    assert figure["detail"].endswith("owned, price of 2026-06")


def test_the_cost_of_a_rented_machine_at_a_price_of_ones_own(snapshot):
    """5.10 USD an hour, all busy, over what is served: the sheet's law (formulas §9)."""
    query = "gpu=h100-sxm&rent=5.1&duty=100&prompt=1&output=8000"
    page, answer = page_of(query, snapshot), asked(query, snapshot)
    figure = next(f for f in page["figures"] if f["label"] == "Cost per 1M output")
    served = answer.estimate.speed.served_output_tokens_per_s.value
    assert float(figure["value"].lstrip("$")) == pytest.approx(5.1 / 3600 / served * 1e6, rel=0.02)
    assert figure["detail"].endswith("rented, your price")


def test_without_a_price_the_cost_is_a_dash_with_the_reason(snapshot):
    page = page_of("gpu=rx-7900-xtx&source=rent", snapshot)
    figure = next(f for f in page["figures"] if f["label"] == "Cost per 1M output")
    assert (figure["value"], figure["detail"]) == ("—", "No rent is known for AMD Radeon RX 7900 XTX 24 GB.")


def test_figures_of_what_does_not_fit(snapshot):
    shown = figures_of(page_of("model=deepseek-r1&gpu=h100-sxm&n=8", snapshot))
    assert list(shown) == [
        "Per GPU, of 72.8 usable",
        "Missing per GPU",
        "Longest context",
        "This GPU fits from",
        "Largest format here",
    ]
    assert shown["Longest context"] == "none"
    assert shown["This GPU fits from"] == "16"


def test_limits_are_exact_so_that_they_can_be_typed(snapshot):
    page = page_of("model=llama-3.3-70b-instruct&gpu=rtx-3090&n=2", snapshot)
    figure = next(f for f in page["figures"] if f["label"] == "Longest context")
    assert (figure["value"], figure["detail"].partition(" · ")[0]) == ("12,544", "tight to 19,712")
    typed = figure["value"]
    assert (
        asked(f"model=llama-3.3-70b-instruct&gpu=rtx-3090&n=2&ctx={typed}", snapshot).estimate.verdict
        == "fits"
    )


# --- breakdown --------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("query", ["", "gpu=h100-sxm&n=8", "model=kimi-k3&gpu=h100-sxm&n=32&users=4"])
def test_parts_add_up(snapshot, query):
    memory = asked(query, snapshot).estimate.memory
    assert sum(part.per_gpu_bytes for part in memory.parts) == pytest.approx(memory.needed.value, abs=10)
    panel = page_of(query, snapshot)["memory"]
    shown = sum(float(row["per_gpu"].replace(",", "")) for row in panel["rows"])
    assert shown == pytest.approx(float(panel["needed"]["per_gpu"]), abs=0.03)


def test_exact_parts_say_so(snapshot):
    rows = {row["id"]: row for row in page_of("", snapshot)["memory"]["rows"]}
    assert rows["kv_cache"]["range"] == "exact"
    assert rows["context"]["range"] == "0.27–0.63"
    assert plain(rows["kv_cache"]["exact"]) == "1,073,741,824 bytes"


def test_one_gpu_has_no_column_for_all(snapshot):
    panel = page_of("", snapshot)["memory"]
    assert (panel["per_gpu_head"], panel["total_head"]) == ("On this GPU, GiB", "")


def test_remarks_name_what_was_assumed(snapshot):
    remarks = [
        words(remark)
        for remark in page_of("model=kimi-k3.1-pro&gpu=h100-sxm&n=32", snapshot)["memory"]["remarks"]
    ]
    assert remarks[0] == (
        "vLLM 0.33.0 does not list KimiK31ForConditionalGeneration: computed as for Kimi K3, without a command."
    )


# --- chart ------------------------------------------------------------------------------------------------------------


def test_chart_has_a_curve_for_each_cache_type(snapshot):
    chart = page_of("", snapshot)["chart"]
    assert [series["name"] for series in chart["drawn"]["series"]] == ["f16", "q8_0", "q4_0"]
    assert chart["title"] == "GiB against context"
    assert [tick["label"] for tick in chart["drawn"]["x_ticks"]] == ["1K", "4K", "16K", "128K"]


def test_the_present_cache_type_is_always_drawn(snapshot):
    chart = page_of("kv=iq4_nl", snapshot)["chart"]
    assert [series["name"] for series in chart["drawn"]["series"]] == ["f16", "q8_0", "iq4_nl"]


def test_curves_stay_inside_their_box(snapshot):
    chart = page_of("model=llama-3.3-70b-instruct&gpu=rtx-3090&n=2", snapshot)["chart"]
    for series in chart["drawn"]["series"]:
        for point in series["points"].split():
            x, y = map(int, point.split(","))
            assert 0 <= x <= 1000
            assert 0 <= y <= 1000


def test_the_present_point_and_where_memory_is_full(snapshot):
    chart = page_of("model=llama-3.3-70b-instruct&gpu=rtx-3090&n=2", snapshot)["chart"]
    assert chart["present"]["label"] == "8,192 tokens: 21.6"
    assert chart["drawn"]["fits"]["label"] == "full at 19.7K"
    usable = next(limit for limit in chart["drawn"]["limits"] if limit["kind"] == "usable")
    assert chart["drawn"]["fits"]["y"] == usable["y"]


def test_labels_of_curves_do_not_cover_each_other(snapshot):
    chart = page_of("model=deepseek-r1&gpu=h100-sxm&n=8", snapshot)["chart"]
    ends = sorted(float(series["end_y"][:-1]) for series in chart["drawn"]["series"])
    assert all(later - earlier >= 8.4 for earlier, later in itertools.pairwise(ends))


def test_words_of_a_limit_make_room_for_a_curve(snapshot):
    chart = page_of("model=deepseek-r1&gpu=h100-sxm&n=8", snapshot)["chart"]
    assert [(line["kind"], line["below"]) for line in chart["drawn"]["limits"]] == [
        ("usable", True),
        ("physical", True),
    ]
    chart = page_of("model=llama-3.3-70b-instruct&gpu=h100-sxm&n=2", snapshot)["chart"]
    assert chart["drawn"]["limits"][1]["below"] is False


def test_a_context_far_above_the_maximum_does_not_flatten_the_chart(snapshot):
    chart = page_of("ctx=4000000", snapshot)["chart"]
    assert chart["present"] is None
    assert chart["drawn"]["y_ticks"] == page_of("ctx=8192", snapshot)["chart"]["drawn"]["y_ticks"]


def test_chart_table_holds_the_same_at_the_ticks(snapshot):
    table = page_of("", snapshot)["chart"]["table"]
    assert table["head"] == ["Context", "f16, GiB", "q8_0, GiB", "q4_0, GiB"]
    assert [row[0] for row in table["rows"]] == ["1,024", "4,096", "16,384", "65,536"]


def test_numbers_for_plotly_are_json(snapshot):
    import json

    chart = page_of("", snapshot)["chart"]
    numbers = json.loads(chart["drawn"]["numbers"])
    assert json.loads(chart["present_numbers"]) == {"x": 8192, "y": 5.871, "label": "8,192 tokens: 5.87"}
    assert len(numbers["x"]) == len(numbers["series"][0]["thousandths"])
    assert numbers["x_ticks"]["labels"] == ["1K", "4K", "16K", "128K"]


def test_the_figure_is_sent_with_the_full_page_only(snapshot):
    import json

    figure = json.loads(page_of("", snapshot)["chart"]["figure"])
    assert [trace["meta"]["token"] for trace in figure["data"]] == ["c-1", "c-2", "c-3", "c-4", "here"]
    assert "template" not in figure["layout"]
    assert page_of("", snapshot, live=LiveUpdate())["chart"]["figure"] == ""


# --- question ---------------------------------------------------------------------------------------------------------


def test_what_was_chosen_is_named_with_its_reason(snapshot):
    question = page_of("", snapshot)["question"]
    assert question["engine"]["value"] == ""
    assert question["engine"]["aside"] == "chosen for you"
    assert question["engine"]["groups"][0]["choices"] == [{"value": "", "label": "llama.cpp b11434"}]
    assert question["quant"]["groups"][0]["choices"] == [{"value": "", "label": "Q4_K_M · 4.58\u00a0GiB"}]
    assert question["quant"]["help"] == "The usual format with this engine."


def test_what_the_visitor_chose_is_not(snapshot):
    question = page_of("engine=vllm&quant=bf16", snapshot)["question"]
    assert (question["engine"]["value"], question["engine"]["aside"]) == ("vllm", "")
    assert (question["quant"]["value"], question["quant"]["aside"]) == ("bf16", "")
    assert question["engine"]["groups"][0]["choices"][0]["label"] == "llama.cpp b11434"


def test_a_format_that_the_engine_does_not_load_stays_in_the_list(snapshot):
    quant = page_of("engine=vllm&quant=iq2_xxs", snapshot)["question"]["quant"]
    assert quant["groups"][0]["choices"][1]["value"] == "iq2_xxs"


def test_sliders_say_their_limits(snapshot):
    question = page_of("model=llama-3.3-70b-instruct&gpu=rtx-3090&n=2", snapshot)["question"]
    assert (question["ctx"]["fit"], question["ctx"]["tight"], question["ctx"]["maximum"]) == (
        "12544",
        "19712",
        "131072",
    )
    assert question["ctx"]["words"] == "Fits up to 12,544. Model’s maximum 131,072."
    assert question["ctx"]["longest"] == "12288"
    assert question["users"]["words"] == "Fits up to 1."


def test_the_scale_is_the_same_for_all_models(snapshot):
    ctx = page_of("", snapshot)["question"]["ctx"]
    assert (ctx["low"], ctx["high"]) == ("1024", "1048576")
    assert [tick["label"] for tick in ctx["ticks"]] == ["1K", "4K", "16K", "64K", "256K", "1M"]
    assert (ctx["ticks"][0]["anchor"], ctx["ticks"][-1]["anchor"]) == ("start", "end")
    users = page_of("", snapshot)["question"]["users"]
    assert [tick["label"] for tick in users["ticks"]] == ["1", "4", "16", "64", "256", "1K"]


def test_counts_step_along_the_ladder_and_say_what_fits(snapshot):
    count = page_of("model=kimi-k3&gpu=h100-sxm&n=32", snapshot)["question"]["n"]
    assert count["note"].startswith("4 nodes of 8 · fits from ")
    assert count["steps"].startswith("1 2 4 8 16 24 32")


def test_a_system_is_counted_in_systems(snapshot):
    question = page_of("model=kimi-k3&gpu=hgx-h100-8&n=4", snapshot)["question"]
    assert question["n"]["value"] == "4"
    assert question["n"]["steps"].startswith("1 2 3 4")
    assert question["gpu"]["chosen_name"] == "HGX H100 (8 x H100 SXM 80 GB)"


@pytest.mark.parametrize(
    ("query", "legends"),
    [
        ("", ["Engine memory", "Offload", "Engine build", "Operating system", "Prompt and answer"]),
        ("gpu=h100-sxm", ["Engine memory", "Engine build", "Prompt and answer"]),
        ("gpu=h100-sxm&n=8", ["Engine memory", "Parallel plan", "Engine build", "Prompt and answer"]),
        (
            "model=gemma-3-27b-it&gpu=h100-sxm",
            ["Engine memory", "Engine build", "Prompt and answer", "Images"],
        ),
    ],
)
def test_only_knobs_that_exist_are_shown(snapshot, query, legends):
    assert [group["legend"] for group in page_of(query, snapshot)["question"]["advanced"]] == legends


def test_changed_knobs_are_counted(snapshot):
    question = page_of("gpu=h100-sxm&util=0.8&eager=1", snapshot)["question"]
    assert question["advanced_summary"] == "2 changed"
    fields = {field["id"]: field for field in question["advanced"][0]["fields"]}
    assert (fields["util"]["value"], fields["util"]["placeholder"], fields["util"]["changed"]) == (
        "0.8",
        "0.92",
        True,
    )
    assert (fields["batched"]["value"], fields["batched"]["placeholder"]) == ("", "8,192")


def test_the_key_of_the_choices_stays_while_a_slider_moves(snapshot):
    def key(query):
        return page_of(query, snapshot)["question"]["choices_key"]

    assert key("ctx=4096&users=3") == key("ctx=8192")
    assert key("model=gpt-oss-20b") != key("")
    assert key("gpu=h100-sxm") != key("")
    assert page_of("ctx=4096", snapshot, live=LiveUpdate(key("")))["question"]["send_choices"] is False


def test_pickers_hold_everything_once(snapshot):
    question = page_of("", snapshot)["question"]
    models = [option["value"] for group in question["model"]["groups"] for option in group["options"]]
    devices = [option["value"] for group in question["gpu"]["groups"] for option in group["options"]]
    assert sorted(models) == sorted(snapshot.models)
    assert sorted(devices) == sorted([*snapshot.accelerators, *snapshot.systems])
    assert page_of("", snapshot, live=LiveUpdate())["question"]["model"]["groups"] == []


def test_pickers_begin_with_what_most_people_look_for(snapshot):
    question = page_of("", snapshot)["question"]
    models, devices = question["model"]["groups"], question["gpu"]["groups"]
    sizes = [len(group["options"]) for group in models[:-1]]
    assert sizes == sorted(sizes, reverse=True)
    assert (models[-1]["label"], devices[-1]["label"]) == ("Other", "Other")
    assert all(len(group["options"]) > 1 for group in models + devices)
    assert devices[0]["options"][0]["name"] == "GeForce RTX 5090"
    assert [group["label"] for group in devices].index("NVIDIA data centre") < 4
    newest = [snapshot.models[option["value"]].released or "" for option in models[0]["options"]]
    assert newest[0] == max(newest)
    lone = next(option for option in models[-1]["options"] if option["value"] == "tinyllama-1.1b-chat")
    assert "SUTD" in lone["words"] or "TinyLlama" in lone["name"]


@pytest.mark.parametrize(
    "query", ["", "gpu=h100-sxm", "gpu=h100-sxm&n=8&model=deepseek-r1", "gpu=mac-m4-max-128"]
)
def test_segments_are_few_and_short(snapshot, query):
    kv = page_of(query, snapshot)["question"]["kv"]
    choices = kv["choices"] if kv["widget"] == "segmented" else kv["groups"][0]["choices"]
    short = len(choices) <= 4 and all(len(choice["label"]) <= 8 for choice in choices)
    assert kv["widget"] == ("segmented" if short else "select")


# --- problems ---------------------------------------------------------------------------------------------------------


def test_a_wrong_id_is_answered_by_near_names(snapshot):
    panel = page_of("model=kimi-k3.1-por", snapshot)["problems"]
    sentence = panel["fields"][0]["sentence"]
    assert panel["fields"][0]["id"] == "model"
    assert words(sentence) == (
        "Nothing here is called “kimi-k3.1-por”. Near names: kimi-k3.1-pro, kimi-k3, kimi-k2.7-code. "
        "The answer uses Llama 3.1 8B Instruct."
    )
    assert next(span["href"] for span in sentence if span["href"]) == "/?model=kimi-k3.1-pro&v=1"


def test_replaced_values_are_counted_and_kept_ones_are_not(snapshot):
    panel = page_of("ctx=-1&n=0&rank=3", snapshot)["problems"]
    assert panel["sentence"] == "2 values of this link were replaced. They are marked."
    assert [words(sentence) for sentence in panel["others"]] == [
        "Rank is kept in the link but not computed yet."
    ]


def test_a_context_above_the_maximum_is_kept(snapshot):
    page = page_of("ctx=200000", snapshot)
    assert words(page["problems"]["fields"][0]["sentence"]) == (
        "Llama 3.1 8B Instruct takes at most 131,072 tokens. The answer is computed for 200,000."
    )
    assert page["problems"]["sentence"] == ""
    assert page["verdict"]["permalink"] == "/?ctx=200000&v=1"


@pytest.mark.parametrize(
    "text", ["[x](javascript:alert(1))", "\x1a\x1a", "**bold**", "<b>", "\ud800", "a" * 5000]
)
def test_what_a_visitor_types_cannot_become_a_link(snapshot, text):
    for sentence in [
        field["sentence"] for field in page_of(f"ctx={text}&model={text}", snapshot)["problems"]["fields"]
    ]:
        assert all(span["href"] == "" or span["href"].startswith("/?") for span in sentence)
        assert len(words(sentence)) < 500


# --- what would fit ---------------------------------------------------------------------------------------------------


def test_what_would_fit_is_a_click_away(snapshot):
    panel = page_of("model=llama-3.3-70b-instruct&gpu=rtx-3090&n=2&ctx=32768", snapshot)["would_fit"]
    assert [(row["code"], row["name"]) for row in panel["rows"]][:2] == [
        ("fits", "12,288 tokens of context"),
        ("tight", "q8_0 KV cache"),
    ]
    for row in panel["rows"]:
        assert asked(row["href"].removeprefix("/?"), snapshot).estimate.verdict in (
            "fits",
            "tight",
            "offload",
        )


def test_what_fits_needs_no_way_out(snapshot):
    assert page_of("", snapshot)["would_fit"] is None


@pytest.mark.parametrize(
    "query", ["n=1000", "users=300", "model=llama-3.3-70b-instruct&gpu=h100-sxm&n=3&split=tensor"]
)
def test_what_is_refused_is_followed_by_what_works(snapshot, query):
    page = page_of(query, snapshot)
    assert page["verdict"]["code"] == "unsupported"
    assert "works" in words(page["verdict"]["ground"])
    assert "Largest format here" not in figures_of(page)


def test_only_formats_that_exist_are_proposed(snapshot):
    from calculator.web.panels.would_fit import exists

    configuration = asked("model=deepseek-r1&gpu=h100-sxm&n=8", snapshot).configuration
    offered = {name for name, each in snapshot.formats.items() if exists(configuration, each)}
    assert {"native", "bf16", "fp8", "q4_k_m"} <= offered
    assert not offered & {"mxfp4", "nvfp4", "awq-int4", "gptq-int4", "exl3-4.0bpw", "mxfp4_moe"}
    page = page_of("model=deepseek-r1&gpu=h100-sxm&n=8", snapshot)
    assert figures_of(page)["Largest format here"] == "none"
