"""Fit the constants of the speed model to measured rows: robust, by group, classes drawn to their relatives.

The fit share alone is used. The spread of each figure comes from rows whose group the fit had not seen (groups left out
by turns), so that the intervals hold for new models and machines. PURE; SciPy is imported here only.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from calculator.accuracy.speed_predict import FIGURES, Prepared, predicted, stacked
from calculator.accuracy.speed_priors import OLD_BUILDS, POOLS, PRIORS, Prior
from calculator.estimation.configuration import Configuration
from calculator.estimation.throughput.rates import UNITS, Rates, constant_names
from catalog.snapshot import version_key

Node = tuple[str, tuple[str, ...]]
"""A constant's name and the class it is a factor for, from the pool down."""

ROBUST = 0.15
"""Errors beyond about this count linearly instead of squared (soft L1, in logarithms)."""

FIGURE_WEIGHT = {"decode": 1.0, "prefill": 0.8, "throughput": 0.5, "ttft": 0.35}
"""How much a figure counts beside the others; the throughput of a row repeats much of its decode rate."""

FOLDS = 5


def family_of(c: Configuration) -> str:
    """The family whose constants the engine works with."""
    return str(c.engine.rules.get("constants_from") or c.engine.family)


def is_old(c: Configuration) -> bool:
    """Whether the engine's build is one of `OLD_BUILDS`."""
    first_new = OLD_BUILDS.get(c.engine.family)
    return first_new is not None and version_key(c.engine_version) < version_key(first_new)


def classes_of(c: Configuration) -> tuple[str, ...]:
    """From broad to narrow: pool, back end, one or two classes of devices; the vendor alone says too little."""
    narrow_first = c.accelerator.device_classes[:-1]
    return (POOLS[family_of(c)], c.backend, *reversed(narrow_first))


def nodes_of(name: str, prior: Prior, c: Configuration) -> list[Node]:
    """The factors whose product is a constant for a configuration."""
    path = classes_of(c)
    out: list[Node] = [(name, path[: depth + 1]) for depth in range(min(prior.depth, 3, len(path) - 1) + 1)]
    if prior.ages and is_old(c):
        out += [(name, (path[0], "old")), (name, (path[0], path[1], "old"))]
    if prior.depth > 3:
        out.append((name, (path[0], f"engine {family_of(c)}")))
    return out


@dataclass(frozen=True, eq=False)
class Problem:
    """The rows of one pool of engines as arrays, and the factors that their rates are products of."""

    pool: str
    rows: Sequence[Prepared]

    @cached_property
    def load(self) -> Any:
        return stacked([row.load for row in self.rows])

    @cached_property
    def users(self) -> Any:
        return np.array([row.users for row in self.rows])

    @cached_property
    def batched(self) -> Any:
        return np.array([row.batched for row in self.rows])

    @cached_property
    def observed(self) -> Any:
        """Logarithms of the observed figures, NaN where a row has none; figures × rows."""
        return np.log(
            np.array([[row.case.observed.get(figure, np.nan) for row in self.rows] for figure in FIGURES])
        )

    @cached_property
    def _row_nodes(self) -> list[dict[str, list[Node]]]:
        """For every row and field of the rates, the factors in it."""
        priors, out = PRIORS[self.pool], []
        for row in self.rows:
            c = row.configuration
            names = constant_names(c)
            out.append(
                {f: [n for name in own for n in nodes_of(name, priors[name], c)] for f, own in names.items()}
            )
        return out

    @cached_property
    def nodes(self) -> dict[Node, int]:
        """Every factor with its place in the vector that is fitted."""
        found = {node: None for row in self._row_nodes for own in row.values() for node in own}
        return {node: place for place, node in enumerate(found)}

    @cached_property
    def incidence(self) -> dict[str, Any]:
        """Which factors make up each field, rows × factors, sparse."""
        from scipy import sparse

        out = {}
        for field in UNITS:
            places = [(i, self.nodes[n]) for i, row in enumerate(self._row_nodes) for n in row[field]]
            rows, columns = np.array(places).T
            shape = (len(self.rows), len(self.nodes))
            out[field] = sparse.csr_matrix((np.ones(len(places)), (rows, columns)), shape=shape)
        return out

    @cached_property
    def start(self) -> Any:
        priors = PRIORS[self.pool]
        return np.array([np.log(priors[n].start) if len(path) == 1 else 0.0 for n, path in self.nodes])

    @cached_property
    def spreads(self) -> Any:
        priors = PRIORS[self.pool]
        return np.array(
            [priors[n].spread if len(path) == 1 else priors[n].class_spread for n, path in self.nodes]
        )

    def rates(self, factors: Any) -> Rates:
        """The rates of all rows for given logarithms of the factors."""
        return Rates(**{f: UNITS[f] * np.exp(matrix @ factors) for f, matrix in self.incidence.items()})

    def logarithms(self, rates: Rates) -> Any:
        """Logarithms of the predicted figures; figures × rows."""
        with np.errstate(invalid="ignore", divide="ignore"):
            return np.log(np.array(predicted(self.load, rates, self.users, self.batched)))

    def errors(self, factors: Any) -> Any:
        """ln(observed ÷ predicted), NaN where nothing was observed; figures × rows."""
        return self.observed - self.logarithms(self.rates(factors))

    @cached_property
    def weights(self) -> Any:
        """A group counts as the square root of its rows, whatever they are; figures × rows."""
        sizes = Counter(row.case.group for row in self.rows)
        own = np.array([sizes[row.case.group] ** -0.5 for row in self.rows])
        figures = np.array([[FIGURE_WEIGHT[figure]] for figure in FIGURES])
        return figures * own / own.mean()

    @cached_property
    def bounded(self) -> list[tuple[Any, float]]:
        """Sums of factors that may not exceed a physical limit."""
        priors, out = PRIORS[self.pool], {}
        for row in self.rows:
            c = row.configuration
            for own in constant_names(c).values():
                for name in own:
                    if np.isfinite(priors[name].most):
                        chosen = tuple(self.nodes[n] for n in nodes_of(name, priors[name], c))
                        out[chosen] = np.log(priors[name].most)
        return list(out.items())


STIFF = 0.02
"""How hard a physical limit is, in logarithms."""

MOST_STEPS = 60
ENOUGH = 1e-5
"""The fit ends when a step improves the sum of squares by less than this share."""


@dataclass(frozen=True, eq=False)
class _Objective:
    """The penalised robust sum of squares of one fit."""

    problem: Problem
    mask: Any

    @cached_property
    def weights(self) -> Any:
        return self.problem.weights * self.mask

    def away(self, factors: Any) -> tuple[Any, Rates, Any]:
        """ln(predicted ÷ observed) where observed, the rates, and the logarithms predicted."""
        rates = self.problem.rates(factors)
        logs = self.problem.logarithms(rates)
        return np.where(self.mask, logs - np.where(self.mask, self.problem.observed, 0.0), 0.0), rates, logs

    def above(self, factors: Any) -> Any:
        """By how much each bounded sum exceeds its limit, in units of the stiffness."""
        return (
            np.array([max(0.0, factors[list(own)].sum() - most) for own, most in self.problem.bounded])
            / STIFF
        )

    def value(self, factors: Any) -> float:
        away, _, _ = self.away(factors)
        robust = 2.0 * ROBUST**2 * (np.sqrt(1.0 + (away / ROBUST) ** 2) - 1.0)
        prior = (factors - self.problem.start) / self.problem.spreads
        return float(
            (self.weights * robust).sum() / ROBUST**2 + prior @ prior + (self.above(factors) ** 2).sum()
        )

    def linear(self, factors: Any) -> tuple[list[Any], Any, Any]:
        """(derivatives of each figure's rows by the factors, weights of the rows, how far they are away)."""
        away, rates, base = self.away(factors)
        weight = self.weights / np.sqrt(1.0 + (away / ROBUST) ** 2) / ROBUST**2
        changes = {field: self._change(field, rates, base) for field in UNITS}
        return [self._slopes(figure, changes) for figure in range(len(FIGURES))], weight, away

    def normal(self, factors: Any) -> tuple[Any, Any]:
        """(JᵀWJ, −gradient/2) of the reweighted squares."""
        blocks, weight, away = self.linear(factors)
        square = np.diag(self.problem.spreads**-2.0)
        right = (self.problem.start - factors) / self.problem.spreads**2
        for figure, slopes in enumerate(blocks):
            weighted = slopes.multiply(weight[figure][:, None])
            square += (slopes.T @ weighted).toarray()
            right -= slopes.T @ (weight[figure] * away[figure])
        for (own, _), over in zip(self.problem.bounded, self.above(factors), strict=True):
            if over > 0:
                square[np.ix_(own, own)] += STIFF**-2.0
                right[list(own)] -= over / STIFF
        return square, right

    def _slopes(self, figure: int, changes: Mapping[str, Any]) -> Any:
        """Derivatives of one figure of all rows by all factors, sparse."""
        total: Any = 0
        for field, matrix in self.problem.incidence.items():
            total = total + matrix.multiply(changes[field][figure][:, None])
        return total.tocsr()

    def _change(self, field: str, rates: Rates, base: Any) -> Any:
        """Derivative of all figures by the logarithm of one field of the rates."""
        changed = Rates(**{f: getattr(rates, f) * (NUDGE if f == field else 1.0) for f in UNITS})
        return np.where(self.mask, (self.problem.logarithms(changed) - base) / np.log(NUDGE), 0.0)


NUDGE = 1.001

AFTER_LEFT_OUT = 2
"""Steps that are left once a model was taken out of the normal equations."""


def fit(problem: Problem, used: Any, start: Any = None, steps: int = MOST_STEPS) -> Any:
    """The logarithms of all factors, fitted on the rows where `used` is true (Levenberg and Marquardt).

    start: a solution for nearly the same rows, from which a few steps are enough.
    """
    objective = _Objective(problem, np.isfinite(problem.observed) & used[None, :])
    factors, damping = problem.start if start is None else start, 1e-2
    value = objective.value(factors)
    for _ in range(steps):
        square, right = objective.normal(factors)
        while damping < 1e6:
            step = np.linalg.solve(square + damping * np.diag(np.diag(square)), right)
            tried = objective.value(factors + step)
            if tried < value:
                break
            damping *= 4.0
        else:
            return factors
        better, factors, value, damping = value - tried, factors + step, tried, damping / 5.0
        if better < ENOUGH * value:
            break
    return factors


def uncertainty(problem: Problem, factors: Any, used: Any) -> Any:
    """Covariance of the logarithms of the factors, from the curvature at the solution."""
    objective = _Objective(problem, np.isfinite(problem.observed) & used[None, :])
    return np.linalg.inv(objective.normal(factors)[0])


def unseen_errors(problem: Problem, used: Any) -> Any:
    """ln(observed ÷ predicted) of the used rows, each by a fit that had not seen its group; figures × rows."""
    groups = sorted({row.case.group for row in problem.rows})
    fold = {group: place % FOLDS for place, group in enumerate(groups)}
    own = np.array([fold[row.case.group] for row in problem.rows])
    out = np.full(problem.observed.shape, np.nan)
    for turn in range(FOLDS):
        factors = fit(problem, used & (own != turn))
        left_out = used & (own == turn)
        out[:, left_out] = problem.errors(factors)[:, left_out]
    return out


def unseen_models(problem: Problem, used: Any, factors: Any) -> Any:
    """ln(observed ÷ predicted) of the used rows, each by a fit that had not seen its model; figures × rows.

    factors: the solution with all of them. A model is taken out of its normal equations, one step leads near the
    solution without it, and few more reach it.
    """
    objective = _Objective(problem, np.isfinite(problem.observed) & used[None, :])
    square, right = objective.normal(factors)
    blocks, weight, away = objective.linear(factors)
    models = np.array([row.case.scenario.model for row in problem.rows])
    out = np.full(problem.observed.shape, np.nan)
    for model in dict.fromkeys(models[used].tolist()):
        own = np.flatnonzero(used & (models == model))
        rest, other = square.copy(), right.copy()
        for figure, slopes in enumerate(blocks):
            mine, heavy = slopes[own], weight[figure][own]
            rest -= (mine.T @ mine.multiply(heavy[:, None])).toarray()
            other += mine.T @ (heavy * away[figure][own])
        near = factors + np.linalg.solve(rest, other)
        out[:, own] = problem.errors(fit(problem, used & (models != model), near, AFTER_LEFT_OUT))[:, own]
    return out


def pools(rows: Sequence[Prepared]) -> Mapping[str, Problem]:
    """The rows by pool of engines, without those whose speed the host decides."""
    on_gpu = [row for row in rows if not row.configuration.plan.host_expert_layers]
    return {
        pool: Problem(pool, [row for row in on_gpu if POOLS[family_of(row.configuration)] == pool])
        for pool in PRIORS
    }
