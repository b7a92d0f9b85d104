"""What exists, as JSON: the sheet of a model with published examples, lists, conditional answers."""

import pytest

from catalog import live

pytestmark = pytest.mark.django_db

GIB = 2**30


@pytest.fixture
def kimi(client):
    return client.get("/api/v1/models/kimi-k3.1-pro").json()


def test_sheet_of_kimi_k31_pro_in_nominal_sizes(kimi):
    """The published sheet: 5178.36, 2591.37 and 1563.45 GiB (bits × parameters, without scales), native 1454.07."""
    nominal = kimi["weights_gib"]["nominal"]
    assert nominal["bf16"] == pytest.approx(5178.36, rel=5e-5)
    assert nominal["fp8"] == pytest.approx(2591.37, rel=5e-5)
    assert nominal["q4_k_m"] == pytest.approx(1563.45, rel=5e-5)
    assert nominal["native"] == pytest.approx(1454.07, rel=5e-5)


def test_sheet_of_kimi_k31_pro_as_built(kimi):
    built = kimi["weights_gib"]["built"]
    assert built["native"]["bytes"] == 1_561_195_132_416
    assert built["fp8-block"]["bytes"] == 2_784_190_851_648
    assert built["fp8"]["bytes"] == 2_786_757_548_928
    assert built["q4_k_m"]["gib"] == pytest.approx(1566.28, abs=0.15)
    assert {size["basis"] for size in built.values()} == {"rule"}


def test_cache_of_kimi_k31_pro_with_the_index_on_its_own(kimi):
    rows = [(row["context"], row["bf16"], row["index"]) for row in kimi["kv_cache_gib_per_request"]]
    assert rows == [
        (8192, pytest.approx(0.2109375, abs=1e-6), pytest.approx(0.024170, abs=1e-6)),
        (32_768, 0.84375, pytest.approx(0.096680, abs=1e-6)),
        (131_072, 3.375, pytest.approx(0.386719, abs=1e-6)),
        (1_048_576, 27.0, 3.09375),
    ]
    assert kimi["kv_cache_gib_per_request"][3]["fp8"] == 15.375


def test_state_of_kimi_k31_pro(kimi):
    assert kimi["recurrent_state_bytes_per_request"] == 449_372_160
    assert kimi["recurrent_state_gib_per_request"] == pytest.approx(0.41851, abs=1e-5)


def test_dense_latent_in_fp8_is_half(client):
    rows = client.get("/api/v1/models/kimi-k3").json()["kv_cache_gib_per_request"]
    assert (rows[3]["fp8"], rows[3]["index"]) == (13.5, 0)


def test_sheet_of_llama_31_8b(client):
    sheet = client.get("/api/v1/models/llama-3.1-8b-instruct").json()
    assert sheet["kv_cache_gib_per_request"][0]["bf16_bytes"] == GIB
    assert [row["context"] for row in sheet["kv_cache_gib_per_request"]] == [8192, 32_768, 131_072]
    q4 = sheet["weights_gib"]["built"]["q4_k_m"]
    assert (q4["bytes"], q4["basis"]) == (4_920_739_232, "published")
    assert sheet["recurrent_state_bytes_per_request"] == 0
    assert {"vllm", "llama.cpp"} <= {engine["engine"] for engine in sheet["runs_with"]}


def test_the_models_maximum_is_the_last_row(client):
    sheet = client.get("/api/v1/models/qwen3-32b").json()
    assert [row["context"] for row in sheet["kv_cache_gib_per_request"]] == [8192, 32_768, 40_960]


def test_compressed_attention_has_its_rows(client):
    """One entry of 1024 B per 4 or 128 tokens on 30 and 31 layers, 7,928 B per token, and a window of 128 on all 61."""
    sheet = client.get("/api/v1/models/deepseek-v4-pro").json()
    first = sheet["kv_cache_gib_per_request"][0]
    assert (first["context"], first["bf16"]) == (8192, round((8192 * 7928 + 61 * 128 * 1024) / 2**30, 6))
    assert sheet["weights_gib"]["built"]["native"]["bytes"] > 0


def test_an_embedding_model_caches_nothing(client):
    sheet = client.get("/api/v1/models/bge-m3").json()
    assert (sheet["kv_cache_gib_per_request"], sheet["recurrent_state_bytes_per_request"]) == ([], 0)


def one_of_each_make():
    """A model for each mix of layers, format and task that the catalogue has."""
    makes = {}
    for model in live.current().models.values():
        makes.setdefault((model.architecture.kinds, model.native_format, model.task, model.vision), model.id)
    return sorted(makes.values())


def test_every_make_of_model_has_a_sheet(client):
    names = one_of_each_make()
    assert len(names) > 20
    assert [name for name in names if client.get(f"/api/v1/models/{name}").json().get("id") != name] == []


@pytest.mark.parametrize("kind", ["models", "accelerators", "systems", "engines", "formats"])
def test_lists_carry_items(client, kind):
    items = client.get(f"/api/v1/{kind}").json()["items"]
    assert len(items) == len(getattr(live.current(), kind))
    assert len({item["id"] for item in items}) == len(items)


def test_every_device_has_its_facts(client):
    for row in client.get("/api/v1/accelerators").json()["items"]:
        assert client.get(row["href"]).json()["id"] == row["id"]


@pytest.mark.parametrize("kind", ["systems", "engines", "formats"])
def test_every_row_of_a_list_has_its_own_address(client, kind):
    for row in client.get(f"/api/v1/{kind}").json()["items"]:
        assert row.items() <= client.get(row["href"]).json().items()


def test_head_is_answered_where_get_is(client):
    for address in ("estimate", "models", "systems/hgx-h100-8"):
        answer = client.head(f"/api/v1/{address}")
        assert (answer.status_code, answer.content) == (200, b"")
        assert answer.headers["ETag"]


@pytest.mark.parametrize("method", ["get", "post", "put", "delete"])
@pytest.mark.parametrize("address", ["", "v1/", "v1/estimat", "v2/models", "v1/models/a/b"])
def test_an_address_that_no_operation_has_is_a_problem(client, address, method):
    answer = getattr(client, method)(f"/api/{address}")
    assert (answer.status_code, answer.headers["Content-Type"]) == (404, "application/problem+json")
    assert answer.headers["Access-Control-Allow-Origin"] == "*"
    assert ("/api/v1/estimate" in answer.json()["near"]) or address != "v1/estimat"


@pytest.mark.parametrize(
    ("method", "address", "allowed"),
    [("post", "models", "GET, HEAD, OPTIONS"), ("put", "estimate", "GET, HEAD, OPTIONS, POST")],
)
def test_a_method_that_an_address_does_not_take_is_a_problem(client, method, address, allowed):
    answer = getattr(client, method)(f"/api/v1/{address}")
    assert (answer.status_code, answer.headers["Content-Type"]) == (405, "application/problem+json")
    assert answer.headers["Allow"] == allowed
    assert answer.json()["allowed"] == allowed.split(", ")


def test_a_browser_may_post_from_another_site(client):
    answer = client.options("/api/v1/estimate", headers={"Access-Control-Request-Method": "POST"})
    assert (answer.status_code, answer.content) == (204, b"")
    assert "POST" in answer.headers["Access-Control-Allow-Methods"]
    assert "Content-Type" in answer.headers["Access-Control-Allow-Headers"]


@pytest.mark.parametrize(
    ("address", "near"),
    [
        ("systems/hgx-h100", "hgx-h100-8"),
        ("engines/vlm", "vllm"),
        ("formats/q4km", "q4_k_m"),
        ("models/kimi-k3.1-por", "kimi-k3.1-pro"),
        ("accelerators/rtx4090", "rtx-4090"),
    ],
)
def test_a_wrong_address_is_a_404_with_near_names(client, address, near):
    answer = client.get(f"/api/v1/{address}")
    assert (answer.status_code, answer.headers["Content-Type"]) == (404, "application/problem+json")
    assert near in answer.json()["near"]


def test_health_counts_what_is_loaded(client):
    health = client.get("/api/v1/health/catalog").json()
    assert health["counts"]["models"] == len(live.current().models)
    assert health["version"] == live.current().version


@pytest.mark.parametrize("address", ["estimate", "models", "models/kimi-k3", "health/catalog"])
def test_nothing_is_sent_twice_while_nothing_changed(client, address):
    first = client.get(f"/api/v1/{address}")
    again = client.get(f"/api/v1/{address}", headers={"If-None-Match": first.headers["ETag"]})
    other = client.get(f"/api/v1/{address}", headers={"If-None-Match": '"another"'})
    assert (first.status_code, again.status_code, other.status_code) == (200, 304, 200)
    assert again.content == b""


@pytest.mark.parametrize("address", ["estimate", "models", "models/nothing", "estimate?ctx=x"])
def test_pages_of_other_sites_may_read(client, address):
    assert client.get(f"/api/v1/{address}").headers["Access-Control-Allow-Origin"] == "*"


def test_openapi_describes_every_parameter(client):
    from calculator.scenario import PARAMETERS

    operation = client.get("/api/openapi.json").json()["paths"]["/api/v1/estimate"]
    described = {parameter["name"]: parameter for parameter in operation["get"]["parameters"]}
    assert list(described) == [parameter.name for parameter in PARAMETERS]
    assert described["ctx"]["schema"] == {"type": "integer", "minimum": 1, "maximum": 16_777_216}
    assert "8192" in described["ctx"]["description"]
    assert set(
        operation["post"]["requestBody"]["content"]["application/json"]["schema"]["properties"]
    ) == set(described)


def test_a_sheet_lists_measured_speeds_newest_first(client):
    """llama.cpp's own table for the DGX Spark: 56.94 tokens/s of gpt-oss 120B after 4,096 tokens."""
    rows = client.get("/api/v1/models/gpt-oss-120b").json()["verified"]
    dates = [row["date"] or "" for row in rows]
    assert dates == sorted(dates, reverse=True)
    found = [row for row in rows if row["value"] == 56.94]
    assert [(row["figure"], row["gpu"], row["depth_tokens"]) for row in found] == [
        ("decode", "dgx-spark", 4096)
    ]
