"""GET /api/v1/sweep: every point is the answer to the question with that value."""

import pytest

pytestmark = pytest.mark.django_db


def swept(client, over, query=""):
    answer = client.get(f"/api/v1/sweep?over={over}&{query}")
    assert answer.status_code == 200
    return answer.json()


@pytest.mark.parametrize(
    ("over", "query", "values"),
    [
        ("ctx", "ctx=5000", [1024, 2048, 4096, 5000, 8192, 16384, 32768, 65536, 131072]),
        ("users", "gpu=h100-sxm&ctx=131072&users=3", None),
        ("n", "gpu=rtx-3090&n=2&model=llama-3.3-70b-instruct", None),
        ("prompt", "ctx=2048&output=48", [64, 128, 256, 512, 1024, 2000]),
    ],
)
def test_points_are_the_answers_of_estimate(client, over, query, values):
    answer = swept(client, over, query)
    assert set(answer) == {"over", "scenario", "problems", "permalink", "catalog", "items"}
    found = [point["value"] for point in answer["items"]]
    assert found == sorted(set(found))
    assert values is None or found == values
    for point in answer["items"][::3]:
        alone = client.get(f"/api/v1/estimate?{query}&{over}={point['value']}").json()
        assert point["verdict"] == alone["verdict"]
        assert point["memory"]["per_gpu_bytes"] == alone["memory"]["per_gpu_bytes"]
        if alone["speed"] is None:
            assert point["speed"] is None
        else:
            assert point["speed"] == {name: alone["speed"][name] for name in point["speed"]}
        assert client.get(f"/api/v1/estimate{point['permalink'][1:]}").json()["verdict"] == point["verdict"]


def test_where_it_does_not_fit_there_is_no_speed_but_a_reason(client):
    points = swept(client, "users", "gpu=rtx-4090")["items"]
    verdicts = [point["verdict"] for point in points]
    assert {"fits", "does_not_fit"} <= set(verdicts)
    for point in points:
        assert (point["speed"] is None) == (point["verdict"] == "does_not_fit")
        assert point["reasons"]


@pytest.mark.parametrize(
    ("query", "given", "nearest"),
    [("", "", None), ("over=contxt", "contxt", "ctx"), ("over=user&users=3", "user", "users")],
)
def test_a_bad_over_is_a_422_that_says_what_is_allowed(client, query, given, nearest):
    answer = client.get(f"/api/v1/sweep?{query}")
    problem = answer.json()
    assert (answer.status_code, answer["Content-Type"]) == (422, "application/problem+json")
    assert (problem["field"], problem["given"], problem["nearest"]) == ("over", given, nearest)
    assert problem["allowed"] == ["ctx", "users", "n", "prompt"]


def test_a_bad_value_of_the_question_is_refused_as_by_estimate(client):
    assert client.get("/api/v1/sweep?over=ctx&ctx=many").status_code == 422
    assert client.get("/api/v1/sweep?over=ctx&gpu=rtx4090").status_code == 404
