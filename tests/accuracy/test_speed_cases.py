"""Rows of measured speeds become questions, and a fit finds the constants that made up the measurements."""

from dataclasses import replace

import numpy as np
import pytest

from calculator.accuracy.speed_cases import SkippedCase, SpeedCase, read_case
from calculator.accuracy.speed_constants import Fitted, constants_from
from calculator.accuracy.speed_fit import (
    FIGURES,
    Problem,
    fit,
    pools,
    uncertainty,
    unseen_errors,
    unseen_models,
)
from calculator.accuracy.speed_left_out import left_out_constants
from calculator.accuracy.speed_predict import predicted, prepare, stacked
from calculator.accuracy.speed_rows import attention_of, format_of, speed_of
from calculator.estimation.throughput.rates import rates_of
from tests.estimation.asking import SNAPSHOT

ROW = {
    "id": "spd-1",
    "split": "fit",
    "group": "llama-3.1-8b | nvidia-consumer | a source",
    "class": "llama.cpp | nvidia-consumer | dense",
    "engine": "llama.cpp",
    "engine_version": "b9000",
    "backend": "CUDA",
    "model_id": "llama-3.1-8b-instruct",
    "model": "Llama 3.1 8B",
    "format": "q4_k_m",
    "accelerator_id": "rtx-4090",
    "gpu": "RTX 4090",
    "gpus": 1,
    "plan": {"tp": 1, "pp": 1, "ep": 1, "dp": 1, "kind": "single"},
    "offload": None,
    "concurrency": 1,
    "prompt_tokens": 512,
    "output_tokens": 128,
    "context_depth": 0,
    "kv_cache_type": "f16",
    "flash_attention": True,
    "prefill_tok_s": 9000.0,
    "decode_tok_s_per_user": 130.0,
    "comparable": True,
    "why_not": None,
    "compare": ["decode", "prefill"],
    "source": "a source",
    "as_of": "2026-01",
}


def case(**changes) -> SpeedCase:
    found = read_case(speed_of({**ROW, **changes}, SNAPSHOT), SNAPSHOT)
    assert isinstance(found, SpeedCase), found
    return found


class TestReading:
    def test_the_question_and_the_figures(self):
        found = case()
        asked = dict(found.scenario.changed())
        assert asked == {
            "engine": "llama.cpp",
            "engine_version": "b9000",
            "backend": "cuda",
            "quant": "q4_k_m",
            "ctx": 640,
            "prompt": 512,
            "output": 128,
        }
        assert found.observed == {"decode": 130.0, "prefill": 9000.0}
        assert found.context_tokens == 64

    def test_only_figures_that_can_be_compared_are_observed(self):
        assert case(compare=["decode"]).observed == {"decode": 130.0}

    def test_times_become_seconds_and_rates(self):
        row = {"compare": ["decode", "ttft"], "decode_tok_s_per_user": None, "tpot_ms": 20, "ttft_ms": 300}
        assert case(**row).observed == {"decode": 50.0, "ttft": 0.3}

    @pytest.mark.parametrize(
        ("change", "reason"),
        [
            ({"comparable": False, "why_not": ["power-capped"]}, "power-capped"),
            ({"model_id": None}, "model_not_in_catalogue"),
            ({"format": "ud-q4_k_m"}, "format_not_in_catalogue"),
            ({"accelerator_id": "rtx-0"}, "device_not_in_catalogue"),
            ({"engine": "other-engine"}, "engine_not_in_catalogue"),
            ({"engine_version": "0.0.latest", "gpus": 5000}, "not_askable"),
            ({"compare": []}, "no_part_to_compare"),
        ],
    )
    def test_what_cannot_be_asked_has_a_reason(self, change, reason):
        found = read_case(speed_of({**ROW, **change}, SNAPSHOT), SNAPSHOT)
        assert isinstance(found, SkippedCase)
        assert found.reason == reason

    @pytest.mark.parametrize(
        "change", [{"accelerator_id": None}, {"engine": "other:mlx-vlm"}, {"gpus": None}]
    )
    def test_a_row_that_leaves_open_what_ran_on_what_has_no_question(self, change):
        run = speed_of({**ROW, **change}, SNAPSHOT)
        assert run.scenario == {}
        assert run.engine in ("llama.cpp", "mlx-vlm")

    def test_a_prompt_from_an_empty_cache_and_an_answer_fit_into_the_context(self):
        assert case(prompt_tokens=None, output_tokens=256).scenario.ctx == 257

    @pytest.mark.parametrize(
        ("model", "kind"),
        [
            ("llama-3.1-8b-instruct", "gqa"),
            ("gemma-3-27b-it", "sliding_window"),
            ("deepseek-r1", "mla"),
            ("qwen3.5-27b", "hybrid"),
            ("deepseek-v4-flash", "compressed"),
        ],
    )
    def test_kinds_of_attention_as_logs_are_filed(self, model, kind):
        assert attention_of(SNAPSHOT.models[model]) == kind

    def test_plans(self):
        def plan(**given):
            scenario = case(
                gpus=8, engine="vllm", format="fp8", accelerator_id="h100-sxm", plan=given
            ).scenario
            return {
                n: getattr(scenario, n) for n in ("split", "tp", "pp", "ep", "adp") if getattr(scenario, n)
            }

        assert plan(kind="tensor", tp=8, pp=1) == {"split": "tensor", "tp": 8, "pp": 1}
        assert plan(kind="layer", pp=8) == {"split": "layer"}
        expert = {"split": "expert", "tp": 8, "pp": 1, "ep": 8, "adp": 8}
        assert plan(kind="expert", tp=1, ep=8, dp=8) == expert

    def test_versions_and_formats_as_written(self):
        assert case(engine_version="May 2024").scenario.engine_version == "b2850"
        assert case(engine_version="1c3c9674d").scenario.engine_version is None
        assert format_of("exl3-4.0", SNAPSHOT) == "exl3-4.0bpw"
        assert case(flash_attention=False).scenario.fa == "0"

    def test_a_measured_file_is_the_weight(self):
        ours, theirs = prepare(case(), SNAPSHOT), prepare(case(weights_gib=5.5), SNAPSHOT)
        assert theirs.load.fixed_bytes / ours.load.fixed_bytes == pytest.approx(5.5 * 2**30 / 4_912_898_304)

    def test_a_format_without_a_rule_needs_the_measured_file(self):
        row = {
            "model_id": "deepseek-v4-flash",
            "format": "ud-iq2_xxs",
            "accelerator_id": "ryzen-ai-max-395-128",
        }
        assert prepare(case(**row), SNAPSHOT) is None
        assert prepare(case(**row, weights_gib=80), SNAPSHOT).load.expert_bytes > 60 * 2**30


def made_up(truth: dict[str, float]) -> list:
    """Rows of several models on two cards whose figures follow from the catalogue's rates times `truth`, without noise."""
    models = ["llama-3.1-8b-instruct", "llama-3.2-3b-instruct", "qwen3-14b", "gemma-3-27b-it"]
    out = []
    for gpu in ("rtx-4090", "rtx-3090"):
        for model in models:
            for quant in ("q4_k_m", "q8_0"):
                for depth in (0, 16_000):
                    row = {"id": f"{gpu} {model} {quant} {depth}", "group": f"{model} {gpu}"}
                    row |= {"model_id": model, "accelerator_id": gpu, "format": quant, "context_depth": depth}
                    out.append(prepare(case(**row), SNAPSHOT))
    for place, row in enumerate(out):
        rates = rates_of(row.configuration)
        rates = replace(rates, **{name: getattr(rates, name) * factor for name, factor in truth.items()})
        decode, prefill, _, _ = predicted(row.load, rates, row.users, row.batched)
        observed = {"decode": float(decode), "prefill": float(prefill)}
        out[place] = replace(row, case=replace(row.case, observed=observed))
    return out


class TestFit:
    TRUTH = {"weights": 0.9, "dense_layer_s": 1.3, "compute": 0.8}

    def test_it_finds_what_the_measurements_were_made_of(self):
        rows = made_up(self.TRUTH)
        problem = pools(rows)["local"]
        used = np.ones(len(rows), dtype=bool)
        errors = problem.errors(fit(problem, used))
        assert np.nanmedian(np.abs(errors)) < 0.02
        assert np.nanmax(np.abs(errors)) < 0.1

    def test_an_outlier_moves_it_little(self):
        rows = made_up(self.TRUTH)
        wrong = replace(rows[0].case, observed={"decode": 5.0})
        problem = Problem("local", [replace(rows[0], case=wrong), *rows[1:]])
        errors = problem.errors(fit(problem, np.ones(len(rows), dtype=bool)))
        assert np.nanmedian(np.abs(errors[:, 1:])) < 0.03

    def test_rows_that_are_not_used_change_nothing(self):
        rows = made_up(self.TRUTH)
        problem = Problem("local", rows)
        used = np.array([row.case.scenario.gpu == "rtx-4090" for row in rows])
        other = [
            row if use else replace(row, case=replace(row.case, observed={"decode": 1.0}))
            for row, use in zip(rows, used, strict=True)
        ]
        assert np.allclose(fit(problem, used), fit(Problem("local", other), used))

    def test_a_model_left_out_is_judged_by_a_fit_that_never_saw_it(self):
        """Of four models one runs at half its speed: seen it pulls the fit, unseen it is off by the whole factor."""
        rows = made_up(self.TRUTH)
        halved = [
            replace(row, case=replace(row.case, observed={"decode": row.case.observed["decode"] / 2}))
            if row.case.scenario.model == "gemma-3-27b-it"
            else row
            for row in rows
        ]
        problem, used = Problem("local", halved), np.ones(len(rows), dtype=bool)
        seen = fit(problem, used)
        unseen = unseen_models(problem, used, seen)
        slow = np.array([row.case.scenario.model == "gemma-3-27b-it" for row in rows])
        alone = problem.errors(fit(problem, ~slow))
        assert np.median(unseen[0][slow]) == pytest.approx(-np.log(2), abs=0.08)
        assert np.allclose(unseen[0][slow], alone[0][slow], atol=0.02)
        (decode,) = (
            c for c in left_out_constants([(problem, used, seen)], "2026-12-01") if "decode" in c.name
        )
        assert (decode.name, decode.cases) == ("speed_left_out_decode", len(rows))

    def test_constants_for_the_catalogue(self):
        rows = made_up(self.TRUTH)
        problem = Problem("local", rows)
        used = np.ones(len(rows), dtype=bool)
        factors = fit(problem, used)
        fitted = Fitted(
            problem, factors, uncertainty(problem, factors, used), unseen_errors(problem, used), used
        )
        found = constants_from(fitted, "a test", "2026-12-01")
        assert {row.engine for row in found} == {"llama.cpp"}
        assert all(row.low <= row.value <= row.high for row in found)
        pool = {row.name: row for row in found if row.backend is None and row.version_until is None}
        assert {name for name in pool if not name.startswith("speed_spread")} >= {
            "speed_weights", "speed_layer", "speed_compute", "speed_prompt_attention",
        }  # fmt: skip
        assert pool["speed_weights"].cases == len(rows)
        keys = [(r.engine, r.name, r.backend, r.device_class, r.version_from, r.version_until) for r in found]
        assert len(keys) == len(set(keys))


def test_stacked_loads_give_each_row_its_own_answer():
    rows = made_up({})
    load = stacked([row.load for row in rows])
    rates = rates_of(rows[0].configuration)
    together = predicted(load, rates, np.ones(len(rows)), np.zeros(len(rows), dtype=bool))
    for place in (0, 3):
        alone = predicted(rows[place].load, rates, 1.0, False)
        for figure in range(len(FIGURES)):
            assert together[figure][place] == pytest.approx(float(alone[figure]), rel=1e-6)
