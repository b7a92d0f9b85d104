"""What a refresh did to the prices of one provider."""

from __future__ import annotations

from dataclasses import dataclass, field
from datetime import date
from typing import Any

from catalog.models import RefreshRun
from catalog.models.price_row import Refreshed
from catalog.models.row import digest
from catalog.prices import first_day

LONGEST_ID = 76
"""Room for a number behind it in what the files allow."""


@dataclass
class Outcome:
    """Ids by what happened to their rows; unknown: names that are none of our devices or models."""

    provider: str
    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    confirmed: list[str] = field(default_factory=list)
    kept: list[str] = field(default_factory=list)
    unknown: set[str] = field(default_factory=set)

    @property
    def writes(self) -> int:
        return len(self.added) + len(self.changed) + len(self.confirmed)

    def record(self, what: str, source: str, dated: date) -> None:
        """Remember the run."""
        RefreshRun.objects.create(
            what=what,
            provider=self.provider,
            source=source[:300],
            dated=dated.isoformat(),
            added=len(self.added),
            changed=len(self.changed),
            confirmed=len(self.confirmed),
            kept=len(self.kept),
            unknown=sorted(self.unknown),
        )


def bring_up_to_date(
    row: Refreshed,
    prices: dict[str, Any],
    dated: date,
    source: str,
    outcome: Outcome,
    *,
    earlier: tuple[str, ...],
) -> None:
    """Give a row these prices of this day. One that was edited here, or is newer, stays as it is; when a price moves,
    the old one goes to `earlier` with its day. prices: by key of the entry; earlier: the keys that are kept there."""
    entry = row.to_entry()
    same = all(entry.get(key) == value for key, value in prices.items())
    newer = row.dated is not None and first_day(row.dated) > dated
    if row.edited_here or newer:
        if not same:
            outcome.kept.append(row.slug)
        return
    if same and row.dated == dated.isoformat():
        return
    (outcome.confirmed if same else outcome.changed).append(row.slug)
    if not same:
        before = {key: entry[key] for key in earlier}
        past = [{**before, "as_of": entry["as_of"], "source": entry["source"]}, *entry.get("earlier", ())]
        entry = {**entry, **prices, "earlier": past}
    save(row, {**entry, "as_of": dated.isoformat(), "source": source, "kind": "documentation"}, dated)


def save(row: Refreshed, entry: dict[str, Any], dated: date) -> None:
    """Write an entry into a row so that the next refresh knows that no person did."""
    row.take(entry)
    row.as_of = dated
    row.refreshed_digest = digest(row.to_entry())
    row.save()


def free_id(table: type[Refreshed], wanted: str) -> str:
    """An id that no row of the table has: the wanted one, else with a number."""
    base, number = wanted[:LONGEST_ID].strip("-."), 1
    identity = base
    while table.objects.filter(slug=identity).exists():
        number += 1
        identity = f"{base}-{number}"
    return identity
