"""What clouds ask for accelerators, as JSON: one row a size and price, with the age of the figure on the day of the answer."""

from __future__ import annotations

import difflib
from collections.abc import Iterable, Mapping
from datetime import date
from typing import Any, get_args

from calculator.web.exports import errors
from catalog.prices import FRESH_DAYS, STALE_DAYS, Freshness, Market, Offer, price_age
from catalog.snapshot import Snapshot

MARKETS: tuple[str, ...] = get_args(Market)
MOST_DAYS = 36_500
_TEXT = {"type": "string"}
_NUMBER = {"type": "number"}


def _filter(name: str, description: str, schema: Mapping[str, Any]) -> dict[str, Any]:
    return {"name": name, "in": "query", "required": False, "description": description, "schema": schema}


FILTERS: list[dict[str, Any]] = [
    _filter("provider", "Id of a provider, such as runpod.", _TEXT),
    _filter("accelerator", "Id of an accelerator, such as h100-sxm.", _TEXT),
    _filter("market", "What the price is bound to.", {"type": "string", "enum": list(MARKETS)}),
    _filter(
        "max_age_days",
        f"Oldest price [days]; prices without a date are left out. {STALE_DAYS} leaves out what is stale.",
        {"type": "integer", "minimum": 0, "maximum": MOST_DAYS},
    ),
]
"""The parameters of the list, for the OpenAPI description."""

OFFERS: dict[str, Any] = {
    "type": "object",
    "required": ["items", "updated", "today"],
    "properties": {
        "updated": {**_TEXT, "description": "Day of the catalogue's newest change."},
        "today": {**_TEXT, "description": "The day from which ages are counted."},
        "items": {
            "type": "array",
            "items": {
                "type": "object",
                "required": [
                    "id",
                    "provider",
                    "accelerator",
                    "gpus",
                    "usd_per_hour",
                    "market",
                    "age",
                    "source",
                ],
                "properties": {
                    "id": _TEXT,
                    "provider": _TEXT,
                    "accelerator": _TEXT,
                    "gpus": {"type": "integer"},
                    "usd_per_hour": {**_NUMBER, "description": "Of the whole size, before tax."},
                    "usd_per_gpu_hour": _NUMBER,
                    "market": {"enum": list(MARKETS)},
                    "as_of": {"type": ["string", "null"], "description": "Day, month or year of the price."},
                    "age": {
                        "type": "object",
                        "required": ["days", "freshness"],
                        "properties": {
                            "days": {"type": ["integer", "null"]},
                            "freshness": {
                                "enum": list(get_args(Freshness)),
                                "description": f"fresh up to {FRESH_DAYS} days, stale after {STALE_DAYS}.",
                            },
                        },
                    },
                    "source": _TEXT,
                },
            },
        },
    },
}
"""The shape of the answer, for the OpenAPI description."""


def offers_json(snapshot: Snapshot, given: Mapping[str, str], today: date) -> dict[str, Any]:
    """The offers that the filters leave, or the problem details of a filter that cannot be understood."""
    problem = _problem(snapshot, given)
    if problem:
        return problem
    oldest = int(given["max_age_days"]) if given.get("max_age_days") else None
    offers = [offer for offer in _ordered(snapshot) if _wanted(offer, given)]
    items = [row for offer in offers if _young_enough(row := offer_row(offer, snapshot, today), oldest)]
    return {"items": items, "updated": snapshot.updated, "today": today.isoformat()}


def offer_row(offer: Offer, snapshot: Snapshot, today: date) -> dict[str, Any]:
    """One offer with the names of what it points to and its age."""
    age = price_age(offer.as_of, today)
    return {
        "id": offer.id,
        "provider": offer.provider,
        "provider_name": snapshot.prices.providers[offer.provider].name,
        "instance": offer.instance,
        "accelerator": offer.accelerator_id,
        "accelerator_name": snapshot.accelerators[offer.accelerator_id].name,
        "gpus": offer.gpus,
        "usd_per_hour": offer.usd_per_hour,
        "usd_per_gpu_hour": round(offer.usd_per_gpu_hour, 6),
        "market": offer.market,
        "commitment_months": offer.commitment_months,
        "billing": offer.billing,
        "region": offer.region,
        "vcpus": offer.vcpus,
        "ram_gb": offer.ram_gb,
        "link": offer.link or None,
        "cluster": offer.cluster or None,
        "as_of": offer.as_of,
        "age": {"days": age.days, "freshness": age.freshness},
        "currency_uncertain": offer.currency_uncertain,
        "earlier": [
            {"usd_per_hour": row.usd, "as_of": row.as_of, "source": row.source} for row in offer.earlier
        ],
        "source": offer.source,
        "kind": offer.kind,
        "url": offer.url,
        "note": offer.note,
    }


def _ordered(snapshot: Snapshot) -> Iterable[Offer]:
    """By accelerator in the order of the catalogue; of one the newest first, of one day the cheapest."""
    for accelerator_id in snapshot.accelerators:
        yield from snapshot.offers_for(accelerator_id)


def _wanted(offer: Offer, given: Mapping[str, str]) -> bool:
    own = {"provider": offer.provider, "accelerator": offer.accelerator_id, "market": offer.market}
    return all(not given.get(name) or given[name].lower() == value for name, value in own.items())


def _young_enough(row: Mapping[str, Any], oldest: int | None) -> bool:
    days = row["age"]["days"]
    return oldest is None or (days is not None and days <= oldest)


def _problem(snapshot: Snapshot, given: Mapping[str, str]) -> dict[str, Any] | None:
    """The first filter that cannot be understood. An empty one is none."""
    ids: tuple[tuple[str, Mapping[str, Any]], ...] = (
        ("provider", snapshot.prices.providers),
        ("accelerator", snapshot.accelerators),
    )
    for name, rows in ids:
        value = given.get(name, "").lower()
        if value and value not in rows:
            near = difflib.get_close_matches(value, list(rows), n=3, cutoff=0.4)
            return errors.not_found(name, given[name], near)
    market, days = given.get("market", ""), given.get("max_age_days", "")
    if market and market.lower() not in MARKETS:
        return errors.not_one_of("market", market, MARKETS)
    if days and not (days.isascii() and days.isdigit() and int(days[:10]) <= MOST_DAYS and len(days) < 10):
        return errors.not_a_whole_number("max_age_days", days, 0, MOST_DAYS, "days")
    return None
