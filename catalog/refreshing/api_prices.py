"""Put a list of API prices into the catalogue: a file in the form of litellm's model_prices_and_context_window.json."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from datetime import date
from pathlib import Path
from typing import Any

from django.db import transaction
from django.utils.text import slugify

from catalog.models import ApiPrice, LanguageModel, Provider
from catalog.models.drafts import Status
from catalog.models.history import recording
from catalog.models.version import bump, without_bumps
from catalog.refreshing.lists import ListError
from catalog.refreshing.outcome import Outcome, bring_up_to_date, free_id, save

KEPT = ("usd_per_million_input_tokens", "usd_per_million_output_tokens")
"""What `earlier` holds of a price that moved."""
Rows = Mapping[str, Mapping[str, Any]]


def in_use() -> list[Provider]:
    """Providers whose API prices such a file may hold."""
    rows = Provider.objects.filter(status=Status.PUBLISHED, retired=False).exclude(litellm_name="")
    return list(rows.order_by("slug"))


def read(file: Path) -> Rows:
    """The file's rows by name: {"deepinfra/Qwen/Qwen3-32B": {"litellm_provider": …, "input_cost_per_token": …}}."""
    try:
        data = json.loads(file.read_text(encoding="utf-8"))
    except (OSError, ValueError) as error:
        raise ListError(f"{file} cannot be read as JSON ({error}).") from error
    if not isinstance(data, dict) or not all(isinstance(row, dict) for row in data.values()):
        raise ListError(f"{file.name} is no object of rows by the model's name.")
    return data


def refresh(
    rows: Rows, source: str, providers: Iterable[Provider], dated: date, *, dry_run: bool = False
) -> list[Outcome]:
    """All or nothing; a row that was edited here, or is newer, stays as it is, and nothing is deleted."""
    with transaction.atomic():
        with recording(reason=f"refresh_offers took {source}."), without_bumps():
            outcomes = [outcome for each in providers if (outcome := _provider(each, rows, dated, source))]
        for outcome in outcomes:
            outcome.record("api_prices", source, dated)
        if any(outcome.writes for outcome in outcomes):
            bump()
        transaction.set_rollback(dry_run)
    return outcomes


def _provider(provider: Provider, rows: Rows, dated: date, source: str) -> Outcome | None:
    own = {
        name.removeprefix(f"{provider.litellm_name}/"): row
        for name, row in rows.items()
        if row.get("litellm_provider") == provider.litellm_name and row.get("mode") == "chat" and _prices(row)
    }
    if not own:
        return None
    outcome = Outcome(provider.slug)
    known = {row.api_id.lower(): row for row in ApiPrice.objects.filter(provider_id=provider.slug)}
    models = {repo.lower(): slug for repo, slug in LanguageModel.objects.values_list("repo", "slug")}
    for api_id, row in own.items():
        prices = _prices(row)
        if price := known.get(api_id.lower()):
            bring_up_to_date(price, prices, dated, source, outcome, earlier=KEPT)
        elif model := models.get(api_id.lower()):
            _add(provider, api_id, model, row, dated, source, outcome)
        else:
            outcome.unknown.add(api_id)
    return outcome


def _prices(row: Mapping[str, Any]) -> dict[str, Any]:
    """Dollars per million tokens by key of our entry; nothing when the row has no price or a price of nothing."""
    names = ("input_cost_per_token", "cache_read_input_token_cost", "output_cost_per_token")
    given = [row.get(name) for name in names]
    if not all(isinstance(value, (int, float)) for value in (given[0], given[2])) or not given[2]:
        return {}
    per_million = [round(value * 1e6, 6) if isinstance(value, (int, float)) else None for value in given]
    keys = (KEPT[0], "usd_per_million_cached_input_tokens", KEPT[1])
    return dict(zip(keys, per_million, strict=True))


def _add(
    provider: Provider,
    api_id: str,
    model: str,
    row: Mapping[str, Any],
    dated: date,
    source: str,
    outcome: Outcome,
) -> None:
    context = row.get("max_input_tokens") or row.get("max_tokens")
    entry: dict[str, Any] = {
        "id": free_id(ApiPrice, f"{provider.slug}-{slugify(model)}"),
        "provider": provider.slug,
        "model": model,
        "api_id": api_id,
        **_prices(row),
        "context_tokens": context if isinstance(context, int) and context > 0 else None,
        "as_of": dated.isoformat(),
        "source": source,
        "kind": "documentation",
    }
    if provider.url:
        entry["url"] = provider.url
    save(ApiPrice(), entry, dated)
    outcome.added.append(entry["id"])
