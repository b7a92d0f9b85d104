"""From fitted factors to rows of the catalogue's calibration: value, interval, number of cases, date. PURE."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from calculator.accuracy.speed_fit import (
    Node,
    Problem,
    classes_of,
    family_of,
    fit,
    is_old,
    pools,
    uncertainty,
    unseen_errors,
)
from calculator.accuracy.speed_left_out import left_out_constants
from calculator.accuracy.speed_predict import FIGURES, Prepared
from calculator.accuracy.speed_priors import OLD_BUILDS, POOLS, PRIORS, Prior
from calculator.estimation.uncertainty import Z_90
from catalog.records import Constant

DIFFERS = 0.05
"""A class gets a row of its own where its constant differs from its broader class by more than this share."""


@dataclass(frozen=True, slots=True)
class Spread:
    """An interval: the figure that it is taken from, of single users or of many (None: all); which interval stands in
    for it where nobody measured the figure, and how much wider."""

    figure: str
    single: bool | None
    instead: str = ""
    wider: float = 1.0


SPREADS: Mapping[str, Spread] = {
    "speed_spread_decode": Spread("decode", True),
    "speed_spread_prefill": Spread("prefill", True),
    "speed_spread_ttft": Spread("ttft", None, "speed_spread_prefill"),
    "speed_spread_serving": Spread("decode", False, "speed_spread_decode", 1.5),
}
"""The constants of intervals by name."""

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


def fitted_constants(rows: Sequence[Prepared], date: str) -> list[Constant]:
    """Every calibrated constant of speed from prepared rows, and the record of models left out (speed_left_out); rows
    whose split is `fit` are used, the others left alone.

    Constants with another basis (links, host memory, power, engines without measurements) are not fitted and not here.
    """
    solved = list(solutions(rows))
    constants = [row for fitted in solved for row in constants_from(fitted, source_of(fitted), date)]
    return constants + left_out_constants(
        [(fitted.problem, fitted.used, fitted.factors) for fitted in solved], date
    )


def solutions(rows: Sequence[Prepared]) -> Iterator[Fitted]:
    """The solution of every pool that has rows to fit."""
    for problem in pools(rows).values():
        used = np.array([row.case.split == "fit" for row in problem.rows], dtype=bool)
        if used.any():
            factors = fit(problem, used)
            covariance, unseen = uncertainty(problem, factors, used), unseen_errors(problem, used)
            yield Fitted(problem, factors, covariance, unseen, used)


def source_of(fitted: Fitted) -> str:
    """What a fitted constant names as its source."""
    return f"{FITTED_ON} {fitted.used.sum()} comparable rows of the catalogue's speed measurements, robust, by group"


FITTED_ON = "fitted on"
"""Begins the source of every constant that comes from here."""


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
                basis="fitted",
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
    """Intervals of the figures: 5 % and 95 % points of observed ÷ predicted, where the fit had not seen the group.

    A figure that no row of the pool measured borrows the interval of the nearest one that was.
    """
    for name, spread in SPREADS.items():
        errors, chosen = _errors(fitted, spread)
        wider, basis = 1.0, "fitted"
        if not chosen.sum() and spread.instead:
            errors, chosen = _errors(fitted, SPREADS[spread.instead])
            wider, basis = spread.wider, "derived"
        quantiles: dict[tuple[str, ...], tuple[float, float]] = {}
        for path in _paths(fitted, family, Prior(1.0, 0.0, 0.0, 2, "")) if chosen.sum() else ():
            rows = fitted.problem.rows
            mine = chosen & np.array([classes_of(row.configuration)[: len(path)] == path for row in rows])
            if not mine.sum():
                continue
            groups = len({row.case.group for row, own in zip(rows, mine, strict=True) if own})
            low, high = _quantiles(errors[mine], groups, quantiles.get(path[:-1]))
            quantiles[path] = (low, high)
            factor = wider * (UNMEASURED if len(path) < 3 else 1.0)
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
                cases=int(mine.sum()),
                basis=basis,
                source=source,
                date=date,
            )


def _errors(fitted: Fitted, spread: Spread) -> tuple[Any, Any]:
    """(errors of the figure, which rows count) for an interval."""
    errors = fitted.unseen[FIGURES.index(spread.figure)]
    chosen = np.isfinite(errors) & fitted.used
    if spread.single is not None:
        chosen &= (fitted.problem.users == 1) == spread.single
    return errors, chosen


def _quantiles(own: Any, groups: int, broader: tuple[float, float] | None) -> tuple[float, float]:
    """The 5 % and 95 % points of a class, drawn to the broader class where it has few groups; never on one side of zero."""
    base = np.array(broader or BEFORE_MEASUREMENTS)
    mine = np.quantile(own, (0.05, 0.95))
    mixed = (groups * mine + BORROWED * base) / (groups + BORROWED)
    return float(min(mixed[0], -0.03)), float(max(mixed[1], 0.03))


def _rounded(value: float) -> float:
    """Four digits, as a person reads them."""
    return float(f"{value:.4g}")
