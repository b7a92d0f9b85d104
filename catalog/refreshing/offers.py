"""Put a list of clouds' prices into the catalogue: new sizes are added, prices that moved keep their history."""

from __future__ import annotations

from collections.abc import Iterable
from datetime import date
from typing import Any

from django.db import transaction
from django.utils.text import slugify

from catalog.models import Offer, Provider
from catalog.models.drafts import Status
from catalog.models.history import recording
from catalog.models.version import bump, without_bumps
from catalog.refreshing.lists import PriceList, Size
from catalog.refreshing.names import Names, told
from catalog.refreshing.outcome import Outcome, bring_up_to_date, free_id, save

Key = tuple[str, int, str]


def in_use() -> list[Provider]:
    """Providers whose offers the library may know."""
    rows = Provider.objects.filter(status=Status.PUBLISHED, retired=False).exclude(gpuhunt_name="")
    return list(rows.order_by("slug"))


def refresh(
    prices: PriceList, providers: Iterable[Provider], dated: date, *, dry_run: bool = False
) -> list[Outcome]:
    """All or nothing. Nothing is deleted: what a list no longer has keeps its price and its day, and grows old."""
    with transaction.atomic():
        with recording(reason=f"refresh_offers took {prices.source}."), without_bumps():
            names = Names()
            outcomes = [
                _provider(provider, prices.sizes[provider.gpuhunt_name], names, dated, prices.source)
                for provider in providers
                if prices.sizes.get(provider.gpuhunt_name)
            ]
        for outcome in outcomes:
            outcome.record("offers", prices.source, dated)
        if any(outcome.writes for outcome in outcomes):
            bump()
        transaction.set_rollback(dry_run)
    return outcomes


def _provider(provider: Provider, sizes: list[Size], names: Names, dated: date, source: str) -> Outcome:
    outcome = Outcome(provider.slug)
    rows: dict[Key, list[Offer]] = {}
    for row in Offer.objects.filter(provider_id=provider.slug):
        rows.setdefault((row.size.lower(), row.gpus, row.market), []).append(row)
    ordinary = _ordinary_market(rows)
    groups: dict[Key, list[Size]] = {}
    for size in sizes:
        key = (size.instance.lower(), size.gpus, "spot" if size.spot else ordinary)
        groups.setdefault(key, []).append(size)
    for key, group in groups.items():
        cheapest = min(group, key=lambda size: (size.usd_per_hour, size.region))
        if known := rows.get(key):
            for row in known:
                here = [size for size in group if size.region == row.region]
                price = _price(min(here, key=lambda size: size.usd_per_hour) if here else cheapest)
                bring_up_to_date(row, price, dated, source, outcome, earlier=("usd_per_hour",))
        elif device := names.device(cheapest):
            _add(provider, cheapest, key[2], device, dated, source, outcome)
        else:
            outcome.unknown.add(told(cheapest))
    return outcome


def _ordinary_market(rows: Iterable[Key]) -> str:
    """What a provider's sizes are that are not spot: marketplace where all known ones are, else on-demand."""
    markets = {market for _, _, market in rows} - {"spot", "reserved"}
    return markets.pop() if len(markets) == 1 else "on-demand"


def _price(size: Size) -> dict[str, Any]:
    return {"usd_per_hour": round(size.usd_per_hour, 6)}


def _add(
    provider: Provider, size: Size, market: str, device: str, dated: date, source: str, outcome: Outcome
) -> None:
    entry: dict[str, Any] = {
        "id": free_id(Offer, f"{provider.slug}-{slugify(size.instance)}-{size.gpus}x-{market}"),
        "provider": provider.slug,
        "instance": size.instance,
        "accelerator": device,
        "gpus": size.gpus,
        **_price(size),
        "market": market,
        "region": size.region or None,
        "as_of": dated.isoformat(),
        "source": source,
        "kind": "documentation",
    }
    if provider.url:
        entry["url"] = provider.url
    entry |= {key: value for key, value in (("vcpus", size.vcpus), ("ram_gb", size.ram_gb)) if value}
    save(Offer(), entry, dated)
    outcome.added.append(entry["id"])
