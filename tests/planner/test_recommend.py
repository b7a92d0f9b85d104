"""Recommendations by their rules; only what fits outright is ever named."""

import pytest

from calculator.planner.fleet import fleet_of
from calculator.planner.hardware import Price, fits_on
from calculator.planner.recommend import RULES, nearest, recommend
from calculator.scenario import Scenario
from tests.estimation.asking import SNAPSHOT

FLEET = fleet_of(SNAPSHOT)


def rows(prices=None, **query):
    return fits_on(Scenario(**query), FLEET, prices=prices)


def named(found):
    return {one.code: one.row for one in found.found}


@pytest.fixture(scope="module")
def of_70b():
    return rows(model="llama-3.3-70b-instruct")


@pytest.fixture(scope="module")
def of_kimi():
    return rows(model="kimi-k3", ctx=131_072)


def test_only_what_fits_is_recommended(of_70b, of_kimi):
    for each in (of_70b, of_kimi):
        found = recommend(each)
        assert found.found
        assert {one.row.verdict for one in found.found} == {"fits"}
        assert found.recommended.verdict == "fits"
        assert found.minimum.memory_gb <= found.recommended.memory_gb


def test_the_rules_hold_against_every_row(of_70b):
    found = named(recommend(of_70b))
    fit = [row for row in of_70b if row.verdict == "fits" and row.host.accelerator.exists]
    single = [row for row in fit if row.gpus == 1 and row.host.system is None]
    assert found["best_single_gpu"].host.kind == "consumer"
    assert found["best_single_gpu"].tokens_per_s == max(
        row.tokens_per_s for row in single if row.host.kind == "consumer"
    )
    unified = [row for row in fit if row.gpus == 1 and row.host.kind in ("apple", "apu", "edge")]
    assert found["best_unified"].tokens_per_s >= 0.95 * max(row.tokens_per_s for row in unified)
    servers = [row for row in fit if row.host.kind == "datacenter" and row.configuration.plan.nodes == 1]
    assert found["smallest_server"].gpus == min(row.gpus for row in servers)
    assert "best_value" not in found


def test_kimi_k3_needs_several_machines_of_most_kinds(of_kimi):
    found = named(recommend(of_kimi))
    assert "best_single_gpu" not in found
    cluster = found["smallest_cluster"]
    assert cluster.configuration.plan.nodes > 1
    assert cluster.host.system is None
    assert cluster.gpus <= next(row.gpus for row in of_kimi if row.host.id == "h100-sxm") == 32


def test_best_value_goes_by_tokens_for_the_money_and_by_used_prices_where_there_are_some():
    prices = {
        "rtx-3090": [Price(1500, "2026-11-01", "new", "a"), Price(700, "2026-11-20", "used", "b")],
        "rtx-4090": [Price(2400, "2026-11-02", "new", "c")],
        "rtx-5090": [Price(100_000, "2026-11-02", "new", "d")],
        "rtx-3060-12": [Price(1, "2026-11-02", "new", "e")],
    }
    priced = rows(prices=prices, model="qwen3-30b-a3b", engine="vllm", quant="bf16")
    value = {one.code: one for one in recommend(priced).found}["best_value"]
    of = {row.host.id: row for row in priced if row.verdict == "fits"}
    per_usd = {
        gpu: row.tokens_per_s / (price * row.units)
        for gpu, price in (("rtx-3090", 700), ("rtx-4090", 2400), ("rtx-5090", 100_000), ("rtx-3060-12", 1))
        if (row := of.get(gpu))
    }
    assert value.row.host.id == max(per_usd, key=per_usd.get)
    without = {gpu: price for gpu, price in prices.items() if gpu != "rtx-3060-12"}
    priced = rows(prices=without, model="qwen3-30b-a3b")
    value = {one.code: one for one in recommend(priced).found}["best_value"]
    assert (value.row.host.id, value.price) == ("rtx-3090", prices["rtx-3090"][1])


def test_where_nothing_works_the_closest_are_named_with_what_they_miss():
    found = rows(model="kimi-k3", ctx=1_048_576, users=400)
    recommended = recommend(found)
    assert (recommended.found, recommended.minimum, recommended.recommended) == ((), None, None)
    assert len(recommended.nearest) == 3
    shares = [row.needed.value / row.limit.usable.value for row in recommended.nearest]
    assert shares == sorted(shares)
    others = [row for row in found if row.verdict == "does_not_fit"]
    assert shares[0] == min(row.needed.value / row.limit.usable.value for row in others)
    assert all(row.headroom_bytes < 0 for row in recommended.nearest)


def test_what_is_refused_is_not_close():
    found = rows(model="kimi-k3", engine="mlx")
    assert {row.verdict for row in nearest(found, 500)} <= {"does_not_fit"}


def test_every_rule_has_a_code_of_its_own(of_70b):
    assert [rule.__name__ for rule in RULES] == [
        "best_single_gpu",
        "best_value",
        "best_unified",
        "smallest_server",
        "smallest_cluster",
    ]
    for one in recommend(of_70b).found:
        assert one.code in {rule.__name__ for rule in RULES}
