"""The answer as JSON: the same Estimate that the page shows, bytes in full (contract of /api/v1/estimate)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from calculator.estimation.terms import Cache, CacheGroup, Capacity, Interval, Memory
from calculator.scenario import Problem, Value
from calculator.web.answer import Answer
from calculator.web.exports.cost import cost_of_answer, cost_remarks
from calculator.web.exports.speed import energy_json, gaps, point_json, points_of, speed_json
from calculator.web.panels.memory import explanation
from calculator.web.wording.choices import choice_words, limit_words
from calculator.web.wording.problems import near_ids, problem_words, shown_text
from calculator.web.wording.reasons import reason_words
from calculator.web.wording.speech import gettext as _
from catalog.snapshot import Snapshot


def estimate_json(answer: Answer, told: Iterable[Problem] = ()) -> dict[str, Any]:
    """The whole object; speed and energy are null when it does not fit or a figure of the device is missing, cost too
    when a price is missing (`reasons` says which).

    told: problems that only a program is told.
    """
    cost = cost_of_answer(answer)
    estimate, units = answer.estimate, answer.units
    return {
        "scenario": scenario_json(answer),
        "problems": [problem_json(problem, units) for problem in (*answer.problems, *told)],
        "permalink": answer.permalink(),
        "catalog": catalog_json(answer.snapshot),
        "verdict": estimate.verdict,
        "reasons": [
            *(reason_words(reason, units) for reason in answer.reasons),
            *gaps(answer),
            *(cost_remarks(answer) if cost is None else ()),
        ],
        "plan": plan_json(answer),
        "memory": memory_json(answer, estimate.memory) if estimate.memory else None,
        "cache": cache_json(estimate.cache) if estimate.cache else None,
        "capacity": capacity_json(estimate.capacity) if estimate.capacity else None,
        "speed": speed_json(answer),
        "energy": energy_json(answer),
        "cost": cost,
    }


def sweep_json(answer: Answer, over: str, told: Iterable[Problem] = ()) -> dict[str, Any]:
    """Memory and speed at many values of one parameter, each point the answer to the question with that value."""
    units = answer.units
    return {
        "over": over,
        "scenario": scenario_json(answer),
        "problems": [problem_json(problem, units) for problem in (*answer.problems, *told)],
        "permalink": answer.permalink(),
        "catalog": catalog_json(answer.snapshot),
        "items": [point_json(point, units) for point in points_of(answer, over)],
    }


def catalog_json(snapshot: Snapshot) -> dict[str, str]:
    return {"version": snapshot.version, "updated": snapshot.updated}


def scenario_json(answer: Answer) -> dict[str, Any]:
    """Every parameter after defaults, and what was chosen with its reason."""
    c = answer.estimate.configuration
    settled: dict[str, Value] = {
        "model": c.model.id,
        "engine": c.engine.id,
        "engine_version": c.engine_version,
        "backend": c.backend,
        "quant": c.weights_format.id,
        "kv": c.cache_type,
        "prompt": c.workload.prompt_tokens,
        "output": c.workload.output_tokens,
        "prefix": c.workload.prefix_tokens,
        "tp": c.plan.tp,
        "pp": c.plan.pp,
        "util": c.knobs.memory_share or None,
        "batched": c.knobs.batched_tokens,
        "ubatch": c.knobs.micro_batch,
        "fa": "1" if c.knobs.flash_attention else "0",
        "maxlen": c.knobs.longest_request or c.workload.context_tokens,
        "os": c.platform.os,
    }
    chosen = [
        {"field": choice.field, "value": choice.value, "why": choice_words(choice, answer.units)}
        for choice in c.choices
    ]
    return {**answer.scenario.values(), **settled, "chosen": chosen}


def problem_json(problem: Problem, units: str) -> dict[str, Any]:
    """A value that was replaced or not understood, and the sentence that says so."""
    told: dict[str, Any] = {
        "field": shown_text(problem.field),
        "code": problem.code,
        "given": shown_text(problem.given),
        "used": problem.used,
        "message": problem_words(problem, units),
    }
    near = near_ids(problem)
    return {**told, "near": near} if near else told


def plan_json(answer: Answer) -> dict[str, Any]:
    plan = answer.estimate.configuration.plan
    return {
        "tp": plan.tp,
        "pp": plan.pp,
        "ep": plan.ep,
        "adp": plan.adp,
        "dcp": plan.dcp,
        "dp": plan.dp,
        "nodes": plan.nodes,
        "layers_per_gpu": list(plan.layers_per_stage),
    }


def interval_json(interval: Interval) -> dict[str, int]:
    return {"value": int(interval.value), "low": round(interval.low), "high": round(interval.high)}


def memory_json(answer: Answer, memory: Memory) -> dict[str, Any]:
    """Memory on the fullest GPU and over all of them [B]."""
    limit = memory.limit
    return {
        "total_bytes": memory.total_bytes,
        "per_gpu_bytes": interval_json(memory.needed),
        "occupied_per_gpu_bytes": memory.occupied_bytes,
        "usable_per_gpu_bytes": int(limit.usable.value),
        "usable_interval_bytes": interval_json(limit.usable),
        "usable_rule": limit_words(limit, answer.configuration.engine.id, answer.units),
        "physical_per_gpu_bytes": limit.physical_bytes,
        "headroom_per_gpu_bytes": memory.headroom_bytes,
        "host_bytes": memory.host_bytes,
        "parts": [
            {
                "name": part.name,
                "bytes": part.total_bytes,
                "per_gpu_bytes": part.per_gpu_bytes,
                "low_bytes": round(part.low_bytes),
                "high_bytes": round(part.high_bytes),
                "basis": part.basis,
                "explanation": explanation(part, answer.units),
            }
            for part in memory.parts
        ],
    }


def cache_json(cache: Cache) -> dict[str, Any]:
    """The cache of one request on one copy [B]."""
    return {
        "bytes_per_token": cache.bytes_per_token,
        "index_bytes_per_token": cache.index_bytes_per_token,
        "state_bytes_per_request": cache.state_bytes_per_request,
        "bytes_per_request": cache.bytes_per_request,
        "groups": [_group_json(group) for group in cache.groups],
    }


def _group_json(group: CacheGroup) -> dict[str, Any]:
    return {
        "kind": group.kind,
        "layers": group.layers,
        "window_tokens": group.window_tokens,
        "bytes_per_token": group.bytes_per_token,
        "state_bytes_per_request": group.bytes_per_request,
        "explanation": _group_words(group),
    }


def _group_words(group: CacheGroup) -> str:
    """`24 × 576 × 2 B`, where the cache type has a plain width; else the bytes of one layer."""
    factors = group.factors
    if "state_width" in factors:
        return _("{layers} × ({state} × {state_width} B + {conv} × {conv_width} B)").format(
            layers=group.layers,
            state=factors["elements"],
            state_width=factors["state_width"],
            conv=factors["conv_elements"],
            conv_width=factors["conv_width"],
        )
    per_layer, elements = float(factors["bytes_per_token_layer"]), float(factors["elements"])
    if elements and (per_layer / elements).is_integer():
        return f"{group.layers} × {int(elements)} × {int(per_layer / elements)} B"
    return f"{group.layers} × {int(per_layer)} B"


def capacity_json(capacity: Capacity) -> dict[str, int]:
    return {
        "max_context_tokens": capacity.max_context_tokens,
        "max_users": capacity.max_users,
        "max_context_fits_tokens": capacity.max_context_fits_tokens,
        "max_users_fits": capacity.max_users_fits,
    }


def given_text(values: Mapping[str, Any]) -> Iterable[tuple[str, str]]:
    """A JSON object's values as a query writes them; null means the default."""
    for name, value in values.items():
        if value is None:
            continue
        if isinstance(value, bool):
            yield name, "1" if value else "0"
        else:
            # JSON can hold half a surrogate pair, which no answer could carry.
            yield name, str(value).encode("utf-8", "replace").decode()
