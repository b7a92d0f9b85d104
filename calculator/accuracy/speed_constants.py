"""From fitted factors to rows of the catalogue's calibration: value, interval, number of cases, date. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calculator.accuracy.speed_fit import Node, Problem, classes_of, family_of, is_old
from calculator.accuracy.speed_predict import FIGURES
from calculator.accuracy.speed_priors import OLD_BUILDS, POOLS, PRIORS, Prior
from calculator.estimation.uncertainty import Z_90
from catalog.records import Constant

DIFFERS = 0.05
"""A class gets a row of its own where its constant differs from its broader class by more than this share."""

SPREADS: Mapping[str, tuple[str, bool]] = {
    "speed_spread_decode": ("decode", True),
    "speed_spread_prefill": ("prefill", True),
    "speed_spread_ttft": ("ttft", False),
    "speed_spread_serving": ("decode", False),
}
"""Constants of the intervals: the figure that they are taken from, and whether of single users or of many."""

BORROWED = 6.0
"""Groups of the broader class that count beside a class's own: rows of one group err alike."""

BEFORE_MEASUREMENTS = (-0.25, 0.25)
"""The 5 % and 95 % points that a pool is drawn to where it has few groups, in logarithms."""

UNMEASURED = 1.4
"""The interval of a class without measurements is so much wider than that of its pool, in logarithms."""


@dataclass(frozen=True, slots=True)
class Fitted:
    """A pool with its solution: factors, their covariance, errors of rows unseen by the fit, and which rows were used."""

    problem: Problem
    factors: Any
    covariance: Any
    unseen: Any
    used: Any


def constants_from(fitted: Fitted, source: str, date: str) -> list[Constant]:
    """All rows of one pool. What its engines share stands once, for `any` engine where they are several; an engine's own
    rows come before those."""
    pool = fitted.problem.pool
    families = [name for name, own in POOLS.items() if own == pool]
    shared = families[0] if len(families) == 1 else "any"
    out: list[Constant] = []
    for name, prior in PRIORS[pool].items():
        out += _rows(fitted, shared, name, prior, source, date)
        if prior.depth > 3:
            for family in families:
                out += _rows(fitted, family, name, prior, source, date)
    return out + list(_spread_rows(fitted, shared, source, date))


def _rows(fitted: Fitted, family: str, name: str, prior: Prior, source: str, date: str) -> Iterator[Constant]:
    """The rows of one constant for one engine: of the pool first, then of classes that differ."""
    pool, known = fitted.problem.pool, fitted.problem.nodes
    ages = prior.ages and family in OLD_BUILDS
    engine: list[Node] = [(name, (pool, f"engine {family}"))]
    for old in (False, True) if ages else (False,):
        said: dict[tuple[str, ...], float] = {}
        for path in _paths(fitted, family, prior):
            own: list[Node] = [(name, path[: depth + 1]) for depth in range(len(path))] + engine
            if old:
                own += [(name, (pool, "old"))] + ([(name, (pool, path[1], "old"))] if len(path) > 1 else [])
            places = [known[node] for node in own if node in known]
            value = _value(fitted, places, prior)
            broader = next((said[path[:n]] for n in range(len(path) - 1, 0, -1) if path[:n] in said), None)
            if broader is not None and abs(np.log(value / broader)) < DIFFERS:
                continue
            said[path] = value
            spread = _sd(fitted, places, prior)
            yield Constant(
                engine=family,
                name=name,
                value=_rounded(value),
                low=_rounded(value * np.exp(-Z_90 * spread)),
                high=_rounded(min(value * np.exp(Z_90 * spread), max(prior.most, value))),
                unit=prior.unit,
                version_from=OLD_BUILDS[family] if ages and not old else None,
                version_until=_before(OLD_BUILDS[family]) if old else None,
                device_class=path[-1] if len(path) > 2 else None,
                backend=path[1] if len(path) > 1 else None,
                cases=_cases(fitted, path, old=old, ages=ages),
                basis="measured",
                source=source,
                date=date,
            )


def _before(build: str) -> str:
    """The build before one: b3100 → b3099."""
    return f"{build[0]}{int(build[1:]) - 1}"


def _paths(fitted: Fitted, family: str, prior: Prior) -> list[tuple[str, ...]]:
    """The classes that measured rows of the engine stand in, broad ones first."""
    found: dict[tuple[str, ...], None] = {(fitted.problem.pool,): None}
    for row, used in zip(fitted.problem.rows, fitted.used, strict=True):
        if used and family in ("any", family_of(row.configuration)):
            path = classes_of(row.configuration)
            for depth in range(1, min(prior.depth, 3, len(path) - 1) + 1):
                found[path[: depth + 1]] = None
    return sorted(found, key=lambda path: (len(path), path))


def _value(fitted: Fitted, places: Sequence[int], prior: Prior) -> float:
    if not places:
        return prior.start
    return float(min(np.exp(fitted.factors[places].sum()), prior.most))


def _sd(fitted: Fitted, places: Sequence[int], prior: Prior) -> float:
    """Standard deviation of a product of factors, in logarithms."""
    if not places:
        return prior.spread
    return float(np.sqrt(fitted.covariance[np.ix_(places, places)].sum()))


def _cases(fitted: Fitted, path: tuple[str, ...], *, old: bool, ages: bool) -> int:
    """Measured rows of a class that the fit used, of the whole pool where engines share their constants."""
    count = 0
    for row, used in zip(fitted.problem.rows, fitted.used, strict=True):
        if used and classes_of(row.configuration)[: len(path)] == path:
            count += not ages or is_old(row.configuration) == old
    return count


def _spread_rows(fitted: Fitted, family: str, source: str, date: str) -> Iterator[Constant]:
    """Intervals of the figures: 5 % and 95 % points of observed ÷ predicted, where the fit had not seen the group."""
    users = fitted.problem.users
    for name, (figure, single) in SPREADS.items():
        errors = fitted.unseen[FIGURES.index(figure)]
        chosen = np.isfinite(errors) & fitted.used
        if name != "speed_spread_ttft":
            chosen &= (users == 1) == single
        if chosen.sum() == 0:
            continue
        quantiles: dict[tuple[str, ...], tuple[float, float]] = {}
        for path in _paths(fitted, family, Prior(1.0, 0.0, 0.0, 2, "")):
            own = np.array(
                [classes_of(row.configuration)[: len(path)] == path for row in fitted.problem.rows]
            )
            mine = chosen & own
            if not mine.sum():
                continue
            rows = fitted.problem.rows
            groups = len({row.case.group for row, mine_too in zip(rows, mine, strict=True) if mine_too})
            low, high = _quantiles(errors[mine], groups, quantiles.get(path[:-1]))
            quantiles[path] = (low, high)
            factor = UNMEASURED if len(path) < 3 else 1.0
            yield Constant(
                engine=family,
                name=name,
                value=1.0,
                low=_rounded(np.exp(factor * low)),
                high=_rounded(np.exp(factor * high)),
                unit="factor",
                version_from=None,
                version_until=None,
                device_class=path[-1] if len(path) > 2 else None,
                backend=path[1] if len(path) > 1 else None,
                cases=int((chosen & own).sum()),
                basis="measured",
                source=source,
                date=date,
            )


def _quantiles(own: Any, groups: int, broader: tuple[float, float] | None) -> tuple[float, float]:
    """The 5 % and 95 % points of a class, drawn to the broader class where it has few groups; never on one side of zero."""
    base = np.array(broader or BEFORE_MEASUREMENTS)
    mine = np.quantile(own, (0.05, 0.95))
    mixed = (groups * mine + BORROWED * base) / (groups + BORROWED)
    return float(min(mixed[0], -0.03)), float(max(mixed[1], 0.03))


def _rounded(value: float) -> float:
    """Four digits, as a person reads them."""
    return float(f"{value:.4g}")
