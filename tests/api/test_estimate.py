"""GET and POST /api/v1/estimate: the contract's object, errors as problem details, never a 500."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from calculator.scenario import PARAMETERS
from catalog import live
from tests.web.asking import SEARCH
from tests.web.test_views import QUERIES

pytestmark = pytest.mark.django_db
FUZZ = settings(SEARCH, max_examples=100)


def estimate(client, query=""):
    return client.get(f"/api/v1/estimate?{query}").json()


def test_the_object_has_the_contracts_keys(client):
    answer = estimate(client)
    assert list(answer) == [
        "scenario",
        "problems",
        "permalink",
        "catalog",
        "verdict",
        "reasons",
        "plan",
        "memory",
        "cache",
        "capacity",
        "speed",
        "energy",
        "cost",
    ]
    assert set(answer["plan"]) == {"tp", "pp", "ep", "adp", "dcp", "dp", "nodes", "layers_per_gpu"}
    assert {
        "total_bytes",
        "per_gpu_bytes",
        "occupied_per_gpu_bytes",
        "usable_per_gpu_bytes",
        "physical_per_gpu_bytes",
        "headroom_per_gpu_bytes",
        "host_bytes",
        "parts",
    } <= set(answer["memory"])
    assert set(answer["memory"]["parts"][0]) == {
        "name",
        "bytes",
        "per_gpu_bytes",
        "low_bytes",
        "high_bytes",
        "basis",
        "explanation",
    }
    assert set(answer["capacity"]) == {
        "max_context_tokens",
        "max_users",
        "max_context_fits_tokens",
        "max_users_fits",
    }


def test_every_parameter_is_answered_after_its_defaults(client):
    scenario = estimate(client)["scenario"]
    assert set(scenario) == {parameter.name for parameter in PARAMETERS} | {"chosen"}
    assert (scenario["engine"], scenario["quant"], scenario["ctx"]) == ("llama.cpp", "q4_k_m", 8192)
    assert {choice["field"]: choice["value"] for choice in scenario["chosen"]} == {
        "os": "linux",
        "engine": "llama.cpp",
        "quant": "q4_k_m",
        "split": "single",
    }


def test_cache_of_llama_31_8b_at_8192_tokens_is_one_gib(client):
    answer = estimate(client, "model=llama-3.1-8b-instruct&ctx=8192")
    assert answer["cache"]["bytes_per_request"] == 2**30
    assert answer["cache"]["groups"] == [
        {
            "kind": "gqa",
            "layers": 32,
            "window_tokens": None,
            "bytes_per_token": 131_072,
            "state_bytes_per_request": 0,
            "explanation": "32 × 2048 × 2 B",
        }
    ]
    part = next(part for part in answer["memory"]["parts"] if part["name"] == "kv_cache")
    assert (part["per_gpu_bytes"], part["basis"]) == (2**30, "exact")
    assert part["explanation"].replace("\u00a0", " ") == (
        "32 attention layers × 2,048 × 2 B = 131,072 B per token, × 8,192 tokens = 1,073,741,824 B."
    )


def test_cache_of_kimi_names_index_and_state(client):
    cache = estimate(client, "model=kimi-k3.1-pro&gpu=h100-sxm&n=32")["cache"]
    assert (cache["bytes_per_token"], cache["index_bytes_per_token"]) == (27_648 + 3_168, 3_168)
    assert cache["state_bytes_per_request"] == 449_372_160
    assert [(group["kind"], group["explanation"]) for group in cache["groups"]] == [
        ("mla", "24 × 576 × 2 B"),
        ("index", "24 × 132 B"),
        ("kda", "69 × (1572864 × 4 B + 110592 × 2 B)"),
    ]


def test_parts_add_up_to_the_total(client):
    memory = estimate(client, "model=kimi-k3&gpu=h100-sxm&n=32&users=4")["memory"]
    assert sum(part["bytes"] for part in memory["parts"]) == memory["total_bytes"]


def test_get_and_post_answer_alike(client):
    body = {"model": "kimi-k3", "gpu": "h100-sxm", "n": 32, "eager": True, "util": 0.9, "quant": None}
    posted = client.post("/api/v1/estimate", data=json.dumps(body), content_type="application/json").json()
    assert posted == estimate(client, "model=kimi-k3&gpu=h100-sxm&n=32&eager=1&util=0.9")


def test_page_and_api_say_the_same(client):
    answer = estimate(client, "model=gpt-oss-20b&gpu=rtx-4090")
    page = client.get(answer["permalink"]).content.decode()
    assert f"{answer['memory']['per_gpu_bytes']['value']:,} bytes" in page


def test_values_out_of_range_are_replaced_and_named(client):
    answer = client.get("/api/v1/estimate?ctx=-5")
    assert answer.status_code == 200
    assert answer.json()["problems"] == [
        {
            "field": "ctx",
            "code": "out_of_range",
            "given": "-5",
            "used": 1,
            "message": "Context goes from 1 to 16,777,216. The answer uses 1.",
        }
    ]


def test_a_name_that_no_parameter_has_is_told_with_near_ones(client):
    answer = client.get("/api/v1/estimate?gpuu=h100-sxm")
    (problem,) = answer.json()["problems"]
    assert (answer.status_code, problem["field"], problem["code"]) == (200, "gpuu", "unknown_parameter")
    assert "gpu" in problem["near"]
    assert problem["message"].startswith("No parameter is called “gpuu”. Near names: gpu")
    posted = client.post("/api/v1/estimate", data={"foo": 1}, content_type="application/json").json()
    assert [(problem["field"], problem["code"]) for problem in posted["problems"]] == [
        ("foo", "unknown_parameter")
    ]


@pytest.mark.parametrize(
    ("query", "message"),
    [
        ("v=2", "Links of version “2” are not known here, only v=1. The answer uses v=1."),
        (
            "ctx=4096&prompt=4000&output=1000",
            "Prompt and answer together (4,000 + 1,000 tokens) are longer than the context of 4,096.",
        ),
    ],
)
def test_what_cannot_be_meant_is_told(client, query, message):
    assert [problem["message"] for problem in estimate(client, query)["problems"]] == [message]
    assert estimate(client, "v=1")["problems"] == []


def test_a_value_that_cannot_be_understood_is_a_422(client):
    answer = client.get("/api/v1/estimate?kv=fp9")
    assert (answer.status_code, answer.headers["Content-Type"]) == (422, "application/problem+json")
    details = answer.json()
    assert (details["status"], details["field"], details["given"], details["nearest"]) == (
        422,
        "kv",
        "fp9",
        "fp8",
    )
    assert "bf16" in details["allowed"]
    assert details["title"] == "A value cannot be understood"


def test_a_number_that_is_none_says_what_is_allowed(client):
    details = client.get("/api/v1/estimate?ctx=many").json()
    assert details["detail"] == "“many” is not a number."
    assert (details["allowed"], details["nearest"]) == (
        {"low": 1, "high": 16_777_216, "unit": "tokens"},
        8192,
    )


@pytest.mark.parametrize(
    ("query", "field", "near"),
    [
        ("model=kimi-k3.1-por", "model", "kimi-k3.1-pro"),
        ("gpu=rtx4090", "gpu", "rtx-4090"),
        ("quant=q4km", "quant", "q4_k_m"),
    ],
)
def test_an_unknown_id_is_a_404_with_near_names(client, query, field, near):
    answer = client.get(f"/api/v1/estimate?{query}")
    details = answer.json()
    assert (answer.status_code, details["field"]) == (404, field)
    assert near in details["near"]
    assert "The answer uses" not in details["detail"]


def test_speed_and_energy_have_the_contracts_keys(client):
    answer = estimate(client)
    speed, energy = answer["speed"], answer["energy"]
    for name in (
        "decode_tokens_per_s_per_user",
        "decode_tokens_per_s_total",
        "served_output_tokens_per_s",
        "prefill_tokens_per_s",
        "ttft_ms",
        "tpot_ms",
        "request_s",
    ):
        assert set(speed[name]) == {"value", "low", "high"}
        assert speed[name]["low"] < speed[name]["value"] < speed[name]["high"]
    assert speed["bound_by"] in ("weights", "cache", "compute", "interconnect", "host memory", "overhead")
    assert set(energy["joules_per_output_token"]) == {"value", "low", "high"}
    assert energy["watts"] > 0


def test_the_cost_has_the_contracts_keys(client):
    cost = estimate(client, "gpu=h100-sxm&n=8&model=llama-3.1-405b-instruct&quant=fp8&users=16")["cost"]
    assert cost["source"] == "rent"
    assert cost["usd_per_hour"] == 25.6  # Hyperstack, 8 x H100 SXM, 2026-08-26
    for name in ("usd_per_million_input", "usd_per_million_output", "usd_per_million_blended"):
        assert 0 < cost[name]["low"] < cost[name]["value"] < cost[name]["high"]
    assert cost["explanations"]["usd_per_request"].startswith("$25.60 an hour ÷ 3,600 s")


def test_without_a_price_there_is_no_cost_but_a_reason(client):
    answer = estimate(client, "gpu=rx-7900-xtx&source=rent")
    assert answer["cost"] is None
    assert "No rent is known for AMD Radeon RX 7900 XTX 24 GB." in answer["reasons"]


def test_a_prompt_of_4096_tokens_is_explained_as_the_worked_example_counts_it(client):
    """61,573,701,828,608 FLOP for Llama 3.1 8B; the RTX 4090 multiplies quantized files at its INT8 rate of 660.6 TFLOP/s."""
    why = estimate(client)["speed"]["explanations"]["prefill"]
    assert why.startswith("4,096 tokens are 61.6\u00a0TFLOP.")
    assert "of 661\u00a0TFLOP/s (INT8)" in why


@pytest.mark.parametrize(
    ("query", "verdict", "reason"),
    [
        ("model=deepseek-r1&gpu=h100-sxm&n=8&quant=fp8", "does_not_fit", "missing on each of 8 GPUs"),
        ("model=qwen3-32b&gpu=h100-sxm&n=3&split=tensor", "unsupported", "cannot split 64 heads"),
    ],
)
def test_what_does_not_run_has_no_speed_but_a_reason(client, query, verdict, reason):
    answer = estimate(client, query)
    assert (answer["verdict"], answer["speed"], answer["energy"]) == (verdict, None, None)
    assert reason in " ".join(answer["reasons"])


def test_a_missing_power_figure_is_a_reason(client):
    answer = estimate(client, "gpu=mac-m3-max-64")
    assert answer["speed"] is not None
    assert answer["energy"] is None
    assert any("No power figure" in reason for reason in answer["reasons"])


def test_drafts_are_a_range_beside_the_figures_and_not_in_them(client):
    plain = estimate(client, "model=deepseek-r1&gpu=h200-sxm&n=8&quant=fp8")["speed"]
    drafted = estimate(client, "model=deepseek-r1&gpu=h200-sxm&n=8&quant=fp8&mtp=3&accept=0.8")["speed"]
    assert plain["speculation"] is None
    assert drafted["speculation"]["tokens_per_step"] == pytest.approx(2.952)
    assert drafted["decode_tokens_per_s_per_user"] == plain["decode_tokens_per_s_per_user"]
    assert drafted["speculation"]["gain"]["low"] < drafted["speculation"]["gain"]["high"]


def test_targets_answer_how_many_users_keep_to_them(client):
    def most(targets):
        return estimate(client, f"gpu=h100-sxm&ctx=4096&{targets}")["speed"]["most_users_within_targets"]

    assert most("") is None
    assert most("ttft=1") == 0
    within = most("tpot=20")
    assert 1 < within <= most("tpot=40")
    at = estimate(client, f"gpu=h100-sxm&ctx=4096&users={within}")["speed"]["tpot_ms"]["value"]
    above = estimate(client, f"gpu=h100-sxm&ctx=4096&users={within + 1}")["speed"]["tpot_ms"]["value"]
    assert at <= 20 < above


def test_a_shared_prefix_shortens_the_wait_for_the_first_token(client):
    whole = estimate(client, "gpu=h100-sxm&prompt=4096")["speed"]["ttft_ms"]["value"]
    shared = estimate(client, "gpu=h100-sxm&prompt=4096&prefix=3072")["speed"]
    assert shared["ttft_ms"]["value"] < whole
    assert "3,072 further tokens are shared" in shared["explanations"]["first_token"]
    too_long = estimate(client, "gpu=h100-sxm&prompt=4096&prefix=9000")
    assert (too_long["problems"][0]["code"], too_long["scenario"]["prefix"]) == ("prefix_above_prompt", 4095)


def test_faster_system_ram_decodes_faster_where_experts_lie_in_it(client):
    query = "model=gpt-oss-120b&gpu=rtx-4090&offload=experts"
    slow = estimate(client, f"{query}&ram_bw=50")["speed"]
    fast = estimate(client, f"{query}&ram_bw=200")["speed"]
    assert slow["bound_by"] == "host memory"
    assert fast["decode_tokens_per_s_per_user"]["value"] > 2 * slow["decode_tokens_per_s_per_user"]["value"]


def test_what_is_refused_still_has_its_memory(client):
    answer = estimate(client, "model=qwen3-32b&gpu=h100-sxm&n=3&split=tensor")
    assert answer["verdict"] == "unsupported"
    assert answer["reasons"][0] == "vLLM cannot split 64 heads over 3 GPUs."
    assert answer["memory"]["total_bytes"] > 0
    assert answer["capacity"] is None


@pytest.mark.parametrize("body", ["", "[", "[]", "3", '"x"', '{"ctx": [1]}', '{"ctx": {"a": 1}}', "\xff"])
def test_a_body_that_is_no_question_is_a_422_or_the_defaults(client, body):
    answer = client.post("/api/v1/estimate", data=body, content_type="application/json")
    assert answer.status_code == (200 if body == "" else 422)


def test_no_query_is_made(client, django_assert_num_queries):
    live.current()
    with django_assert_num_queries(0):
        estimate(client)


@FUZZ
@given(query=QUERIES)
def test_no_query_string_breaks_the_api(client, query):
    assert client.get("/api/v1/estimate", query).status_code in (200, 404, 422)


VALUES = (
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=8)
    | st.lists(st.integers(), max_size=1)
)


@FUZZ
@given(
    body=st.dictionaries(
        st.sampled_from([p.name for p in PARAMETERS]) | st.text(max_size=4), VALUES, max_size=8
    )
)
def test_no_body_breaks_the_api(client, body):
    answer = client.post("/api/v1/estimate", data=json.dumps(body), content_type="application/json")
    assert answer.status_code in (200, 404, 422)


def test_the_plan_is_the_one_that_was_settled(client):
    """Offload moved layers: the plan holds those that stay on the card, host memory the rest."""
    answer = client.get("/api/v1/estimate?model=llama-3.3-70b-instruct&offload=auto").json()
    assert answer["verdict"] == "offload"
    assert 0 < sum(answer["plan"]["layers_per_gpu"]) < 80
    assert answer["memory"]["host_bytes"] > 10 * 2**30
