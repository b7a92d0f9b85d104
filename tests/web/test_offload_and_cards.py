"""What stays in system RAM, unequal cards, and answers that must not claim more than they know."""

import pytest

from calculator.web.wording.reasons import reason_words
from tests.web.asking import NO_BREAK, asked, page_of, plain, words

LLAMA = "model=llama-3.3-70b-instruct&gpu=rtx-4090"
MIXED = "model=llama-3.3-70b-instruct&gpu=rtx-3090:2,rtx-3060-12:1"


def fields_of(page, legend):
    group = next(group for group in page["question"]["advanced"] if group["legend"] == legend)
    return {field["id"]: field for field in group["fields"]}


def figure_of(page, start):
    return next(figure for figure in page["figures"] if figure["label"].startswith(start))


# --- knobs ------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("query", "legend", "ids"),
    [
        ("gpu=h100-sxm&n=8", "Parallel plan", ["split", "link", "tp", "pp", "adp", "dcp", "dp"]),
        (
            "model=qwen3-30b-a3b&gpu=h100-sxm&n=8",
            "Parallel plan",
            ["split", "link", "tp", "pp", "ep", "adp", "dcp", "dp"],
        ),
        ("n=2", "Parallel plan", ["split", "link"]),
        ("", "Offload", ["offload", "ngl", "ram", "ram_bw"]),
        ("model=qwen3-30b-a3b", "Offload", ["offload", "ngl", "ncmoe", "ram", "ram_bw"]),
        ("model=qwen3-30b-a3b&engine=ktransformers", "Offload", ["ram", "ram_bw"]),
        ("", "Engine build", ["engine_version", "backend"]),
        ("gpu=h100-sxm", "Engine build", ["engine_version"]),
    ],
)
def test_an_engine_shows_its_own_knobs(snapshot, query, legend, ids):
    assert list(fields_of(page_of(query, snapshot), legend)) == ids


@pytest.mark.parametrize(
    ("query", "offered"),
    [
        (
            "gpu=rtx-3090&n=2",
            ["auto", "nvlink", "pcie3", "pcie3x8", "pcie3x4", "pcie4", "pcie4x8", "pcie4x4"],
        ),
        ("gpu=mac-m3-ultra-512&n=2&engine=mlx", ["auto", "tb5", "eth1", "eth10"]),
    ],
)
def test_links_are_those_that_the_devices_can_have(snapshot, query, offered):
    [group] = fields_of(page_of(query, snapshot), "Parallel plan")["link"]["groups"]
    assert [choice["value"] for choice in group["choices"]][: len(offered)] == offered


@pytest.mark.parametrize("query", ["gpu=h100-sxm", "gpu=mac-m4-max-128", "engine=exllama"])
def test_engines_and_machines_without_offload_show_none(snapshot, query):
    assert all(group["legend"] != "Offload" for group in page_of(query, snapshot)["question"]["advanced"])


def test_knobs_of_offload_are_counted_and_marked(snapshot):
    page = page_of(f"{LLAMA}&ngl=abc&ram=128&offload=layers", snapshot)
    fields = fields_of(page, "Offload")
    assert (fields["offload"]["value"], fields["offload"]["changed"]) == ("layers", True)
    assert (fields["ram"]["value"], fields["ram"]["changed"]) == ("128", True)
    assert words(fields["ngl"]["problem"]).startswith("“abc” is not a number.")
    assert page["question"]["advanced_summary"] == "2 changed"


# --- offload ----------------------------------------------------------------------------------------------------------


def test_offload_says_what_stays_where(snapshot):
    page = page_of(f"{LLAMA}&offload=auto", snapshot)
    verdict = page["verdict"]
    assert (verdict["code"], verdict["chip"]) == ("offload", "Needs offload")
    assert verdict["sentence"] == "Fits with 42 of 80 layers in system RAM."
    assert words(verdict["ground"]) == (
        "It needs 21.4 GiB of the 23.6 GiB that llama.cpp may take. 42 of 80 layers stay in system "
        "RAM, which needs 21.9 GiB. The machine is taken to have 59.6 GiB (64 GB): set its own under Advanced."
    )
    assert page["question"]["engine"]["note"] == "42 of 80 layers in RAM"
    assert figure_of(page, "System RAM, of 59.6")["value"] == "21.9"
    assert page["host"]["name"] == f"System RAM, 59.6{NO_BREAK}GiB"


@pytest.mark.parametrize(
    ("query", "verdict", "said"),
    [
        (
            "gpu=rtx-4090",
            "does_not_fit",
            "The machine is taken to have 59.6 GiB (64 GB): set its own under Advanced.",
        ),
        (
            "gpu=rtx-4090&ram=64",
            "does_not_fit",
            "The machine is taken to have 59.6 GiB (64 GB): set its own under Advanced.",
        ),
        ("gpu=rtx-4090&ram=512", "offload", "The machine has 477 GiB."),
        ("gpu=rtx-4090-4x", "does_not_fit", "The machine has 119 GiB."),
        ("gpu=l40s-8", "offload", "The machine has 954 GiB."),
    ],
)
def test_system_ram_is_compared_with_what_is_given_or_assumed(snapshot, query, verdict, said):
    page = page_of(f"model=deepseek-r1&offload=auto&engine=llama.cpp&{query}", snapshot)["verdict"]
    assert (page["code"], words(page["ground"])[-len(said) :]) == (verdict, said)


def test_experts_in_ram(snapshot):
    page = page_of("model=qwen3-30b-a3b&gpu=rtx-3060-12&offload=auto", snapshot)
    assert page["verdict"]["sentence"] == "Fits with the experts of 27 of 48 layers in system RAM."
    assert page["question"]["engine"]["note"] == "experts of 27 of 48 layers in RAM"


def test_system_ram_is_a_bar_of_its_own_scale_once_it_is_named(snapshot):
    page = page_of(f"{LLAMA}&offload=auto&ram=128", snapshot)
    assert words(page["verdict"]["ground"]).endswith("The machine has 119 GiB.")
    assert plain(page["host"]["name"]) == "System RAM, 119 GiB"
    assert (page["host"]["value"], page["host"]["over"]) == ("21.9 of 119", None)
    assert (page["host"]["note"], page["host"]["usable_x"]) == ("42 of 80 layers in RAM", "100%")


def test_too_little_system_ram_does_not_fit(snapshot):
    page = page_of(f"{LLAMA}&offload=auto&ram=10", snapshot)
    assert page["verdict"]["code"] == "does_not_fit"
    assert plain(page["verdict"]["sentence"]) == "Does not fit: system RAM is short of 12.6 GiB."
    assert words(page["verdict"]["ground"]) == (
        "42 of 80 layers stay in system RAM, which needs 21.9 GiB. The machine has 9.31 GiB."
    )
    assert page["host"]["over"] is not None
    assert not any(figure["label"] == "Missing" for figure in page["figures"])


def test_nobody_is_sent_to_ram_alone(snapshot):
    rows = page_of("ctx=131072&users=50", snapshot)["would_fit"]["rows"]
    assert [row["name"] for row in rows] == ["2,048 tokens of context", "1 request at once"]


def test_what_does_not_fit_could_lie_in_ram(snapshot):
    rows = page_of(LLAMA, snapshot)["would_fit"]["rows"]
    assert [(row["code"], row["name"]) for row in rows][-1] == ("offload", "42 of 80 layers in RAM")
    assert plain(rows[-1]["note"]) == "needs 21.9 GiB of system RAM, slower"


# --- cards ------------------------------------------------------------------------------------------------------------


def test_unequal_cards_are_named_one_by_one(snapshot):
    page = page_of(MIXED, snapshot)
    assert "· 2 × RTX 3090 + RTX 3060 12 GB ·" in page["verdict"]["question"]
    assert page["verdict"]["sentence"].replace("\u00a0", " ") == (
        "Fits, with 2.12 GiB to spare on the RTX 3060 12 GB."
    )


def test_each_unequal_card_has_its_own_limit_and_layers(snapshot):
    bars = page_of(MIXED, snapshot)["rack"]["bars"]
    assert [(bar["name"], bar["note"], bar["value"]) for bar in bars] == [
        ("RTX 3090", "layers 1–33", "17.6 of 23.6"),
        ("RTX 3090", "layers 34–65", "16.8 of 23.6"),
        ("RTX 3060 12 GB", "layers 66–80", "9.49 of 11.6"),
    ]
    assert [bar["over"] for bar in bars] == [None] * 3
    assert float(bars[0]["track"][:-1]) == pytest.approx(2 * float(bars[2]["track"][:-1]), rel=0.03)


def test_the_list_of_cards_stays_in_the_picker_and_the_link(snapshot):
    page = page_of(MIXED, snapshot)
    picker = page["question"]["gpu"]
    assert picker["value"] == "rtx-3090:2,rtx-3060-12:1"
    assert picker["groups"][0]["options"][0]["value"] == picker["value"]
    assert picker["chosen_name"] == "2 × RTX 3090 + RTX 3060 12 GB"
    assert plain(picker["chosen_facts"]) == "2 × 24.0 GiB + 12.0 GiB"
    assert page["question"]["n"]["note"] == "the list names 3 cards"
    assert "gpu=rtx-3090:2,rtx-3060-12:1" in page["verdict"]["permalink"]
    assert len(page_of("", snapshot)["question"]["gpu"]["groups"]) + 1 == len(picker["groups"])


def test_a_list_of_alike_cards_is_one_card_and_its_number(snapshot):
    question = page_of("gpu=rtx-3090:2", snapshot)["question"]
    assert (question["gpu"]["value"], question["n"]["value"]) == ("rtx-3090", "2")


def test_a_list_beyond_its_limit_is_cut_there_and_says_so(snapshot):
    question = page_of("gpu=rtx-3090:2,rtx-3060-12:400,rtx-4090", snapshot)["question"]
    assert question["gpu"]["value"] == "rtx-3090:2,rtx-3060-12:254"
    assert question["n"]["note"] == "the list names 256 cards"
    assert words(question["gpu"]["problem"]) == (
        "A list holds at most 256 cards. What goes beyond, from “rtx-3060-12:400” on, is left out."
    )


@pytest.mark.parametrize(
    ("number", "used", "said"),
    [
        ("-2", 1, "“rtx-3090:-2” is no whole number of cards from 1 on. The answer counts 1."),
        ("1.6", 2, "“rtx-3090:1.6” is no whole number of cards from 1 on. The answer counts 2."),
        ("½", 1, "“rtx-3090:½” does not say how many cards. The answer counts one."),
    ],
)
def test_a_count_in_a_list_that_is_none_is_named(snapshot, number, used, said):
    question = page_of(f"gpu=rtx-3060-12,rtx-3090:{number}", snapshot)["question"]
    assert question["gpu"]["value"] == f"rtx-3060-12:1,rtx-3090:{used}"
    assert words(question["gpu"]["problem"]) == said


@pytest.mark.parametrize(
    ("query", "reason"),
    [
        (
            "model=qwen3-235b-a22b&gpu=rtx-3090:2,rtx-3060-12:1",
            "are missing on the card with the least room.",
        ),
        ("model=kimi-k3&gpu=h100-sxm&n=24&ctx=1048576", "are missing on the fullest GPU."),
        ("model=qwen3-235b-a22b&gpu=h100-sxm&n=2&quant=bf16", "are missing on each of 2 GPUs."),
    ],
)
def test_what_is_missing_is_said_of_each_gpu_only_when_all_hold_the_same(snapshot, query, reason):
    answer = asked(query, snapshot)
    assert plain(reason_words(answer.reasons[0], "gib")).endswith(reason)


def test_a_server_counts_every_card_as_the_smallest_and_says_so(snapshot):
    page = page_of("engine=vllm&gpu=rtx-3090:1,rtx-3060-12:1", snapshot)
    assert page["question"]["n"]["note"] == "the list names 2 cards, each counted as the RTX 3060 12 GB"
    assert "vLLM gives every card the same share: each counts as the RTX 3060 12 GB." in [
        words(remark) for remark in page["memory"]["remarks"]
    ]


def test_a_list_of_cards_gets_no_other_count(snapshot):
    page = page_of("model=deepseek-r1&gpu=rtx-3090:2,rtx-3060-12:1", snapshot)
    assert page["verdict"]["code"] == "does_not_fit"
    assert not any(figure["label"] == "This GPU fits from" for figure in page["figures"])


# --- one GPU of several, pipelines ------------------------------------------------------------------------------------


def test_an_engine_that_takes_one_gpu_of_two_says_so(snapshot):
    page = page_of("n=2&engine=ollama", snapshot)
    assert words(page["verdict"]["ground"]) == "Ollama takes one GPU, which needs 5.87 GiB of 23.6 GiB."
    assert page["verdict"]["sentence"].endswith("to spare on this GPU.")
    assert (page["question"]["engine"]["note"], page["rack"]) == ("on one GPU", None)


def test_a_count_that_no_tensor_divides_is_a_pure_pipeline(snapshot):
    page = page_of("gpu=h100-sxm&n=5", snapshot)
    assert page["question"]["engine"]["note"] == "pipeline of 5 stages"
    assert page_of("gpu=h100-sxm&n=17", snapshot)["question"]["n"]["note"].startswith("17 in 3 nodes of 8")
    assert fields_of(page, "Parallel plan")["split"]["help"].startswith("A pure pipeline: each of 5 GPUs")


# --- refusals and limits ----------------------------------------------------------------------------------------------


def test_a_refused_plan_draws_no_gpus(snapshot):
    page = page_of("gpu=h100-sxm&n=8&tp=3&pp=2", snapshot)
    assert (page["verdict"]["code"], page["rack"]) == ("unsupported", None)


def test_a_refusal_has_no_limits_on_its_sliders(snapshot):
    question = page_of("gpu=h100-sxm&n=8&tp=3&pp=2", snapshot)["question"]
    assert [(question[name]["fit"], question[name]["tight"]) for name in ("ctx", "users")] == [("", "")] * 2
    assert question["users"]["words"] == "No limits are known for what is refused."


def test_one_gpu_is_singular(snapshot):
    page = page_of("engine=vllm&tp=2", snapshot)
    assert page["verdict"]["sentence"] == "Tensor 2 × pipeline 1 does not make 1 GPU."


def test_many_devices_have_separators(snapshot):
    assert "4,096 × GeForce RTX 4090" in page_of("n=4096", snapshot)["verdict"]["question"]


def test_more_than_is_usable_is_not_taken(snapshot):
    ground = words(page_of("gpu=rtx-4090&ctx=131072&users=50", snapshot)["verdict"]["ground"])
    assert "are needed; 23.6 GiB are usable." in ground


@pytest.mark.parametrize(
    ("query", "name"),
    [
        ("engine=vllm&util=0.3", "the usual memory share"),
        ("model=deepseek-r1&gpu=h100-sxm&n=16&dp=2", "the usual plan"),
        ("users=200", "requests at once"),
        ("offload=layers&ngl=99&gpu=rtx-3060-12&model=qwen3-32b", "as much in system RAM as needed"),
    ],
)
def test_a_setting_that_is_the_cause_can_be_reset(snapshot, query, name):
    panel = page_of(query, snapshot)["would_fit"]
    assert any(row["name"].endswith(name) for row in panel["rows"])
    for row in panel["rows"]:
        assert asked(row["href"].removeprefix("/?"), snapshot).estimate.verdict in (
            "fits",
            "tight",
            "offload",
        )


def test_no_heading_stands_over_nothing(snapshot):
    page = page_of("model=deepseek-r1&gpu=rtx-4090&engine=vllm", snapshot)
    assert page["would_fit"] is None or page["would_fit"]["rows"]


# --- figures that agree -----------------------------------------------------------------------------------------------


def test_why_of_a_window_says_what_its_cells_are(snapshot):
    rows = {row["id"]: row for row in page_of("model=gemma-3-27b-it&ctx=32768", snapshot)["memory"]["rows"]}
    assert "× 1,536 tokens: the window and the batches in flight, in whole blocks" in words(
        rows["kv_cache"]["why"]
    )


@pytest.mark.parametrize("query", ["", "gpu=h100-sxm&n=8", "model=deepseek-r1"])
def test_legend_and_table_have_the_same_digits(snapshot, query):
    page = page_of(query, snapshot)
    rows = {row["id"]: row["per_gpu"] for row in page["memory"]["rows"]}
    legend = {entry["part"]: entry["value"] for entry in page["bar"]["legend"]}
    assert (legend["weights"], legend["kv"]) == (rows["weights"], rows["kv_cache"])


def test_sources_do_not_point_to_what_nobody_can_open(snapshot):
    for row in page_of(f"{LLAMA}&offload=auto", snapshot)["memory"]["rows"]:
        assert "§" not in words(row["source"])
        assert len(words(row["source"])) < 120


def test_a_name_of_a_link_does_not_run_into_its_speed(snapshot):
    facts = plain(page_of("gpu=h100-sxm", snapshot)["question"]["gpu"]["chosen_facts"])
    assert facts.endswith("NVLink 4, 450 GB/s")


def test_a_context_is_rounded_alike_everywhere(snapshot):
    models = page_of("model=deepseek-r1", snapshot)["question"]["model"]["groups"]
    option = next(o for group in models for o in group["options"] if o["value"] == "deepseek-r1")
    assert option["columns"].endswith("163K")


def test_only_what_a_field_shows_is_called_marked(snapshot):
    def note(query):
        return page_of(query, snapshot)["problems"]["sentence"]

    assert note("units=tb") == "One value of this link was replaced."
    assert note("n=0") == "One value of this link was replaced. It is marked."
    assert note("n=0&units=tb") == "2 values of this link were replaced."


# --- the page itself --------------------------------------------------------------------------------------------------


@pytest.mark.django_db
def test_the_page_draws_system_ram_and_unequal_cards(client):
    page = client.get(
        "/", {"model": "llama-3.3-70b-instruct", "offload": "auto", "ram": "128"}
    ).content.decode()
    assert 'id="host"' in page
    assert "System RAM, 119" in page
    page = client.get("/", {"gpu": "rtx-3090:2,rtx-3060-12:1"}).content.decode()
    assert '<option value="rtx-3090:2,rtx-3060-12:1" selected' in page
    assert page.count('class="rack-bar"') == 3
    assert 'id="host"' not in page
