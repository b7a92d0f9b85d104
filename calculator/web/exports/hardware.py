"""Every device and system for one question, ranked, as JSON (contract of /api/v1/hardware)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from calculator.planner.hardware import HardwareRow, Price
from calculator.planner.recommend import Recommendation, recommend
from calculator.resolve import resolve
from calculator.scenario import (
    BY_NAME,
    DEFAULTS,
    Parameter,
    Problem,
    Scenario,
    parse,
    parse_value,
    unknown_names,
)
from calculator.web.answer import permalink
from calculator.web.exports.estimate import capacity_json, catalog_json, interval_json, problem_json
from calculator.web.exports.parameters import query_parameters, schema_of
from calculator.web.exports.speed import figures_json
from calculator.web.hardware_list import filters, filters_of, listed, vendor_id
from calculator.web.wording.reasons import reason_words
from calculator.web.wording.recommendations import (
    LEAST_MEMORY,
    NEAREST,
    RECOMMENDED_MEMORY,
    filter_words,
    rule_words,
)
from catalog.snapshot import Snapshot

NOT_ASKED = ("gpu", "n")
"""Fields of the question that this answer does not read: all hardware is answered."""


def hardware_parameters() -> list[dict[str, Any]]:
    """All parameters of the address as OpenAPI describes them."""
    question = [each for each in query_parameters() if each["name"] not in NOT_ASKED]
    own = [
        {
            "name": parameter.name,
            "in": "query",
            "required": False,
            "description": filter_words(parameter.name),
            "schema": schema_of(parameter),
        }
        for parameter in filters().values()
    ]
    return [*question, *own]


@dataclass(frozen=True, slots=True)
class Asked:
    """The question, how its answer is narrowed and ordered, and what could not be taken as given."""

    scenario: Scenario
    narrowed: Mapping[str, Any]
    problems: tuple[Problem, ...]


def asked_for(pairs: Iterable[tuple[str, str]], snapshot: Snapshot) -> Asked:
    """Read a query: the scenario's parameters and the list's own."""
    own, given = filters_of(snapshot), dict(pairs)
    narrowed = {name: parameter.default for name, parameter in own.items()}
    problems: list[Problem] = []
    for name in own.keys() & given.keys():
        if given[name].strip():
            narrowed[name], problem = parse_value(own[name], given[name])
            problems += [problem] if problem else []
    question = {name: text for name, text in given.items() if name not in own}
    scenario, unread = parse(question)
    settled = resolve(scenario.replace(gpu=DEFAULTS["gpu"], n=1, os=None), snapshot)
    told = (*unread, *settled.problems, *unknown_names(question))
    problems += [problem for problem in told if problem.field not in NOT_ASKED]
    used = settled.scenario.replace(gpu=scenario.gpu, n=scenario.n, os=scenario.os)
    return Asked(used, narrowed, tuple(sorted(problems, key=lambda problem: problem.field)))


def parameters_of(snapshot: Snapshot) -> dict[str, Parameter]:
    """All that the address takes."""
    return {**BY_NAME, **filters_of(snapshot)}


def hardware_json(asked: Asked, snapshot: Snapshot) -> dict[str, Any]:
    """The rows with what they recommend."""
    scenario, narrowed = asked.scenario, asked.narrowed
    rows = listed(scenario, snapshot, narrowed)
    return {
        "scenario": {**scenario.values(), **narrowed},
        "problems": [problem_json(problem, scenario.units) for problem in asked.problems],
        "catalog": catalog_json(snapshot),
        **recommended_json(rows, scenario),
        "items": [row_json(row, scenario, best=narrowed["best"] == "1") for row in rows],
    }


def recommended_json(rows: Sequence[HardwareRow], scenario: Scenario) -> dict[str, Any]:
    """What the rows recommend, each with its rule."""
    found = recommend(rows)
    return {
        "recommendations": [_recommendation_json(one, scenario) for one in found.found],
        "minimum_memory": _memory_json(found.minimum, LEAST_MEMORY, scenario),
        "recommended_memory": _memory_json(found.recommended, RECOMMENDED_MEMORY, scenario),
        "nearest": {
            "rule": str(NEAREST),
            "items": [
                {**_named_json(row, scenario), "short_per_gpu_bytes": -(row.headroom_bytes or 0)}
                for row in found.nearest
            ],
        }
        if found.nearest
        else None,
    }


def _named_json(row: HardwareRow, scenario: Scenario) -> dict[str, Any]:
    return {
        "id": row.host.id,
        "name": row.host.name,
        "units": row.units,
        "gpus": row.gpus,
        "permalink": permalink(scenario.replace(gpu=row.host.id, n=row.units)),
    }


def _recommendation_json(one: Recommendation, scenario: Scenario) -> dict[str, Any]:
    named = {"code": one.code, "rule": rule_words(one.code), **_named_json(one.row, scenario)}
    return {**named, "price": _price_json(one.price)} if one.price else named


def _memory_json(row: HardwareRow | None, rule: object, scenario: Scenario) -> dict[str, Any] | None:
    if row is None:
        return None
    return {"rule": str(rule), "memory_gb": row.memory_gb, **_named_json(row, scenario)}


def _price_json(price: Price) -> dict[str, Any]:
    return {"usd": price.usd, "date": price.date, "condition": price.condition, "source": price.source}


def row_json(row: HardwareRow, scenario: Scenario, *, best: bool) -> dict[str, Any]:
    """One host; what is not known is null, prices stand only where there are some."""
    c, plan = row.configuration, row.configuration.plan
    out = {
        **_named_json(row, scenario),
        "kind": row.host.kind,
        "vendor": vendor_id(row.host.accelerator.vendor),
        "system": row.host.system is not None,
        "href": f"/api/v1/{'systems' if row.host.system else 'accelerators'}/{row.host.id}",
        "verdict": row.verdict,
        "tight_units": row.tight_units,
        "engine": c.engine.id,
        "format": c.weights_format.id,
        "plan": {"tp": plan.tp, "pp": plan.pp, "dp": plan.dp, "ep": plan.ep, "nodes": plan.nodes},
        "memory_gb": row.memory_gb,
        "memory": _needs_json(row),
        "capacity": capacity_json(row.capacity) if row.capacity else None,
        "speed": figures_json(row.speed) if row.speed else None,
        "why": reason_words(row.why, scenario.units) if row.why else None,
    }
    if best:
        out["best_format"] = row.best_format.configuration.weights_format.id if row.best_format else None
    if row.prices:
        out["prices"] = [_price_json(price) for price in row.prices]
    return out


def _needs_json(row: HardwareRow) -> dict[str, Any] | None:
    if row.needed is None or row.limit is None:
        return None
    return {
        "per_gpu_bytes": interval_json(row.needed),
        "usable_per_gpu_bytes": int(row.limit.usable.value),
        "headroom_per_gpu_bytes": row.headroom_bytes,
    }
