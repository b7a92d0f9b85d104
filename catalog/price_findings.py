"""What is old, missing or without a target among the prices, for the page of data health and check_catalog."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from datetime import date

from catalog.models import ApiPrice, CatalogRow, Offer, Provider, PurchasePrice, RefreshRun
from catalog.models.price_row import Priced
from catalog.prices import STALE_DAYS, price_age

Told = Iterator[tuple[CatalogRow, str]]


def stale_prices(rows: Iterable[CatalogRow], today: date) -> Told:
    """Prices that are marked as old, the oldest first, those without a date before them."""
    found: list[tuple[float, Priced, str]] = []
    for row in rows:
        if isinstance(row, Priced):
            age = price_age(row.dated, today)
            if age.days is None:
                found.append((float("inf"), row, "the source has no date"))
            elif age.days > STALE_DAYS:
                found.append((age.days, row, f"of {row.dated}: {age.days} days old, more than {STALE_DAYS}"))
    for _, row, text in sorted(found, key=lambda each: (-each[0], each[1].entries, each[1].slug)):
        yield row, text


def unsourced_prices(rows: Iterable[CatalogRow]) -> Told:
    """Prices that cannot be looked up by a page or a file."""
    for row in rows:
        if isinstance(row, Priced) and not row.source.strip():
            yield row, "no source"


def pointless_prices(rows: Iterable[CatalogRow], devices: set[str], models: set[str]) -> Told:
    """Prices that no page shows, as what they are for, or who asks them, is missing, retired or a draft."""
    every = list(rows)
    providers = {row.slug for row in every if isinstance(row, Provider)}
    for row in every:
        for name, known in _targets(row, devices, models, providers):
            if name not in known:
                yield row, f"{name} does not exist or is not in use"


def _targets(
    row: CatalogRow, devices: set[str], models: set[str], providers: set[str]
) -> Iterator[tuple[str, set[str]]]:
    if isinstance(row, Offer):
        yield row.accelerator_id, devices
        yield row.provider_id, providers
    elif isinstance(row, ApiPrice):
        yield row.language_model_id, models
        yield row.provider_id, providers
    elif isinstance(row, PurchasePrice):
        yield row.device, devices


def unknown_names() -> Iterator[tuple[str, str]]:
    """(provider, names) that the last refresh of each provider met and that nothing of ours is called."""
    seen: set[tuple[str, str]] = set()
    for run in RefreshRun.objects.order_by("-at", "-pk"):
        if (run.what, run.provider) not in seen:
            seen.add((run.what, run.provider))
            if run.unknown:
                yield run.provider, f"{run.at:%Y-%m-%d}: {', '.join(run.unknown)}"
