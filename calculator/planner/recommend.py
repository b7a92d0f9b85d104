"""Which of the rows to name first, each by a rule that can be said in a sentence. PURE: rows in, rows out.

Only what fits outright is recommended. `code` names the rule; the words stand in calculator/web/wording.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from calculator.planner.hardware import HardwareRow, Price, shortage

CARDS = ("consumer", "workstation", "datacenter")
"""Kinds of cards in the order in which one is preferred."""

UNIFIED = ("apple", "apu", "edge")
"""Kinds of machines whose GPU shares the memory."""

NEAREST = 3
"""How many rows are named where nothing works."""


@dataclass(frozen=True, eq=False, slots=True)
class Recommendation:
    """A row and the code of the rule that chose it. price: what the rule went by, of one unit."""

    code: str
    row: HardwareRow
    price: Price | None = None


@dataclass(frozen=True, eq=False, slots=True)
class Recommendations:
    """What is recommended, in the order of RULES. minimum, recommended: the row with the least memory that works, tight
    included, and that fits outright. nearest: where nothing works, what comes closest."""

    found: tuple[Recommendation, ...]
    minimum: HardwareRow | None
    recommended: HardwareRow | None
    nearest: tuple[HardwareRow, ...]


def recommend(rows: Iterable[HardwareRow]) -> Recommendations:
    """What the rows of one question recommend: announced devices left out, and systems that a rule does not speak of."""
    real = [row for row in rows if row.host.accelerator.exists]
    fit = [row for row in real if row.verdict == "fits"]
    found = [one for rule in RULES if (one := rule(fit)) is not None]
    works = [row for row in real if row.works]
    return Recommendations(
        tuple(found), _least_memory(works), _least_memory(fit), () if works else nearest(real)
    )


def nearest(rows: Iterable[HardwareRow], count: int = NEAREST) -> tuple[HardwareRow, ...]:
    """The rows that come closest where memory is short, by how far what is needed lies above what may be taken."""
    short = [row for row in rows if row.verdict == "does_not_fit" and row.needed and row.limit]
    return tuple(sorted(short, key=lambda row: (shortage(row), row.gpus, row.host.id))[:count])


def best_single_gpu(fit: Sequence[HardwareRow]) -> Recommendation | None:
    """One card: a consumer card before a workstation card before a data-centre one, and of its kind the fastest; of two
    that are as fast the one with less memory."""
    single = [row for row in fit if row.host.system is None and row.gpus == 1 and row.host.kind in CARDS]
    return _first(
        "best_single_gpu",
        single,
        lambda row: (CARDS.index(row.host.kind), -_pace(row), row.memory_gb, row.host.id),
    )


def best_value(fit: Sequence[HardwareRow]) -> Recommendation | None:
    """The most tokens per second and user for the money, by the price of all units; where a used price is known, by that.
    Nothing where no price is."""
    priced = [(row, price) for row in fit if row.tokens_per_s and (price := used_first(row.prices))]
    if not priced:
        return None
    row, price = max(
        priced, key=lambda pair: (pair[0].tokens_per_s / (pair[1].usd * pair[0].units), pair[0].host.id)
    )
    return Recommendation("best_value", row, price)


def used_first(prices: Sequence[Price]) -> Price | None:
    """The cheapest used price where there is one, else the cheapest."""
    return min(prices, key=lambda price: (price.condition != "used", price.usd), default=None)


def best_unified(fit: Sequence[HardwareRow]) -> Recommendation | None:
    """One machine whose GPU shares its memory: the fastest, and of those that are as fast the one with the least memory."""
    one = [row for row in fit if row.gpus == 1 and row.host.kind in UNIFIED]
    return _first("best_unified", one, lambda row: (-_pace(row), row.memory_gb, row.host.id))


def smallest_server(fit: Sequence[HardwareRow]) -> Recommendation | None:
    """Data-centre devices in one machine: the fewest; of as many those with the least memory, then the fastest."""
    one = [row for row in _servers(fit) if row.configuration.plan.nodes == 1]
    return _first("smallest_server", one, _small)


def smallest_cluster(fit: Sequence[HardwareRow]) -> Recommendation | None:
    """Loose data-centre devices of a kind of which one machine is too small: the fewest in several; of as many those with
    the least memory, then the fastest. Racks that are sold whole are not taken apart."""
    several = [row for row in _servers(fit) if row.host.system is None and row.configuration.plan.nodes > 1]
    return _first("smallest_cluster", several, _small)


RULES: tuple[Callable[[Sequence[HardwareRow]], Recommendation | None], ...] = (
    best_single_gpu,
    best_value,
    best_unified,
    smallest_server,
    smallest_cluster,
)


def _pace(row: HardwareRow) -> float:
    """The decode rate in two digits: what is closer is as fast."""
    return float(f"{row.tokens_per_s:.2g}")


def _servers(fit: Iterable[HardwareRow]) -> list[HardwareRow]:
    return [row for row in fit if row.host.kind == "datacenter"]


def _small(row: HardwareRow) -> tuple[object, ...]:
    return row.gpus, row.memory_gb, -row.tokens_per_s, row.host.system is not None, row.host.id


def _first(
    code: str, rows: Sequence[HardwareRow], order: Callable[[HardwareRow], tuple[object, ...]]
) -> Recommendation | None:
    return Recommendation(code, min(rows, key=order)) if rows else None


def _least_memory(rows: Sequence[HardwareRow]) -> HardwareRow | None:
    """The row with the least memory in all its devices; of as much, the one with the fewest devices."""
    return min(rows, key=lambda row: (row.memory_gb, row.gpus, -row.tokens_per_s, row.host.id), default=None)
