"""From entries of prices (JSON objects, as in the files and the database) to records. PURE: no Django, no files."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from catalog.prices import (
    ApiPrice,
    Assumption,
    Colocation,
    Converted,
    EarlierPrice,
    ElectricityPrice,
    Offer,
    Provider,
    PurchasePrice,
)

Entry = Mapping[str, Any]


def _provenance(entry: Entry) -> dict[str, Any]:
    """What every price says of itself."""
    return {
        "id": entry["id"],
        "as_of": entry["as_of"],
        "source": entry["source"],
        "kind": entry["kind"],
        "url": entry.get("url"),
        "note": entry.get("note", ""),
    }


def _converted(entry: Entry, amount: str) -> Converted | None:
    if not entry.get("currency"):
        return None
    return Converted(
        entry[amount], entry["currency"], entry["usd_per_unit"], entry["rate_as_of"], entry["rate_kind"]
    )


def provider_record(entry: Entry) -> Provider:
    return Provider(entry["id"], entry["name"], entry.get("url"), entry.get("note", ""))


def offer_record(entry: Entry) -> Offer:
    """An offer; earlier prices stand in the entry from the newest to the oldest."""
    return Offer(
        **_provenance(entry),
        provider=entry["provider"],
        instance=entry["instance"],
        accelerator_id=entry["accelerator"],
        gpus=entry["gpus"],
        usd_per_hour=entry["usd_per_hour"],
        market=entry["market"],
        region=entry["region"],
        billing=entry.get("billing"),
        commitment_months=entry.get("commitment_months"),
        vcpus=entry.get("vcpus"),
        ram_gb=entry.get("ram_gb"),
        link=entry.get("link", ""),
        cluster=entry.get("cluster", ""),
        currency_uncertain=entry.get("currency_uncertain", False),
        earlier=tuple(
            EarlierPrice(row["usd_per_hour"], row["as_of"], row["source"]) for row in entry.get("earlier", ())
        ),
    )


def purchase_record(entry: Entry) -> PurchasePrice:
    return PurchasePrice(
        **_provenance(entry),
        device_id=entry["device"],
        condition=entry["condition"],
        usd=entry["usd"],
        low_usd=entry.get("low_usd"),
        high_usd=entry.get("high_usd"),
        basis=entry.get("basis", ""),
        converted=_converted(entry, "local_amount"),
    )


def api_price_record(entry: Entry) -> ApiPrice:
    return ApiPrice(
        **_provenance(entry),
        provider=entry["provider"],
        model_id=entry["model"],
        api_id=entry["api_id"],
        usd_per_million_input_tokens=entry["usd_per_million_input_tokens"],
        usd_per_million_cached_input_tokens=entry.get("usd_per_million_cached_input_tokens"),
        usd_per_million_output_tokens=entry["usd_per_million_output_tokens"],
        context_tokens=entry.get("context_tokens"),
    )


def electricity_record(entry: Entry) -> ElectricityPrice:
    return ElectricityPrice(
        **_provenance(entry),
        region=entry["region"],
        name=entry["name"],
        country=entry["country"],
        customer=entry["customer"],
        usd_per_kwh=entry["usd_per_kwh"],
        name_zh=entry.get("name_zh", ""),
        converted=_converted(entry, "local_per_kwh"),
    )


def colocation_record(entry: Entry) -> Colocation:
    return Colocation(
        **_provenance(entry),
        name=entry["name"],
        usd_per_kw_month=entry["usd_per_kw_month"],
        low_usd_per_kw_month=entry.get("low_usd_per_kw_month"),
        high_usd_per_kw_month=entry.get("high_usd_per_kw_month"),
    )


def assumption_record(entry: Entry) -> Assumption:
    return Assumption(
        **_provenance(entry),
        topic=entry["topic"],
        name=entry["name"],
        value=entry["value"],
        unit=entry["unit"],
        low=entry.get("low"),
        high=entry.get("high"),
        applies_to=entry.get("applies_to", ""),
        accelerator_id=entry.get("accelerator"),
    )
