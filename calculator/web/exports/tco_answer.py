"""Rent, buy or API as the answer of /api/v1/tco: the money of one question with the prices behind it."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Any

from calculator.estimation.estimate import RUNS
from calculator.pricing import Priced
from calculator.scenario import Problem
from calculator.web.answer import Answer
from calculator.web.exports.estimate import catalog_json, problem_json, scenario_json
from calculator.web.exports.tco import tco_json
from calculator.web.wording.economics import NOT_RUNNING
from calculator.web.wording.reasons import reason_words
from catalog.prices import price_age


def tco_of_answer(answer: Answer, today: date, told: Iterable[Problem] = ()) -> dict[str, Any]:
    """Rent, buy or API for one question, with the prices that it was computed from."""
    units = answer.units
    head = {
        "scenario": scenario_json(answer),
        "problems": [problem_json(problem, units) for problem in (*answer.problems, *told)],
        "permalink": answer.permalink(),
        "catalog": catalog_json(answer.snapshot),
        "verdict": answer.estimate.verdict,
        "prices": prices_json(answer.resolved.priced, today),
    }
    if answer.estimate.verdict not in RUNS:
        nothing = dict.fromkeys(("cost", "energy", "ownership", "comparison"))
        return {**head, **nothing, "cost_reasons": [str(NOT_RUNNING)], "reasons": [str(NOT_RUNNING)]}
    remarks = [reason_words(reason, units) for reason in answer.resolved.priced.remarks]
    return {**head, **tco_json(answer.costed, answer.owned, units), "remarks": remarks}


def prices_json(priced: Priced, today: date) -> dict[str, Any]:
    """The rows of the catalogue behind the money, each with its day and source; null for the visitor's own price."""
    offer = priced.rented.offer if priced.rented else None
    bought = priced.bought.row if priced.bought else None
    tariff, api = priced.electricity, priced.api
    return {
        "source": priced.money.source,
        "rent": offer
        and {
            "id": offer.id,
            "provider": offer.provider,
            "instance": offer.instance,
            "gpus": offer.gpus,
            "market": offer.market,
            "usd_per_hour": offer.usd_per_hour,
            **_provenance(offer, today),
        },
        "purchase": bought
        and {
            "id": bought.id,
            "device": bought.device_id,
            "gpus": priced.bought.purchase.gpus if priced.bought else 0,
            "condition": bought.condition,
            "usd": bought.usd,
            "low_usd": bought.low_usd,
            "high_usd": bought.high_usd,
            **_provenance(bought, today),
        },
        "electricity": tariff
        and {
            "id": tariff.id,
            "region": tariff.region,
            "customer": tariff.customer,
            "usd_per_kwh": tariff.usd_per_kwh,
            **_provenance(tariff, today),
        },
        "api": api
        and {
            "id": api.id,
            "provider": api.provider,
            "usd_per_million_input": api.usd_per_million_input_tokens,
            "usd_per_million_output": api.usd_per_million_output_tokens,
            "usd_per_million_cached": api.usd_per_million_cached_input_tokens,
            **_provenance(api, today),
        },
    }


def _provenance(row: Any, today: date) -> dict[str, Any]:
    age = price_age(row.as_of, today)
    return {
        "as_of": row.as_of,
        "age": {"days": age.days, "freshness": age.freshness},
        "source": row.source,
        "kind": row.kind,
        "url": row.url,
    }
