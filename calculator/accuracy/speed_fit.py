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
from scipy.optimize import least_squares

from calculator.accuracy.speed_predict import FIGURES, Prepared, predicted, stacked
from calculator.accuracy.speed_priors import POOLS, PRIORS, Prior
from calculator.estimation.configuration import Configuration
from calculator.estimation.throughput.rates import Rates, UNITS, constant_names

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


def classes_of(c: Configuration) -> tuple[str, ...]:
    """From broad to narrow: pool, back end, kinds of device."""
    broad_first = tuple(reversed(c.accelerator.device_classes))[-2:]
    return (POOLS[family_of(c)], c.backend, *broad_first)


def nodes_of(name: str, prior: Prior, c: Configuration) -> list[Node]:
    """The factors whose product is a constant for a configuration."""
    path = classes_of(c)
    out: list[Node] = [(name, path[: depth + 1]) for depth in range(min(prior.depth, 3) + 1)]
    if prior.depth > 3:  # noqa: PLR2004
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
            out.append({f: [n for name in own for n in nodes_of(name, priors[name], c)] for f, own in names.items()})
        return out

    @cached_property
    def nodes(self) -> dict[Node, int]:
        """Every factor with its place in the vector that is fitted."""
        found = {node: None for row in self._row_nodes for own in row.values() for node in own}
        return {node: place for place, node in enumerate(found)}

    @cached_property
    def incidence(self) -> dict[str, Any]:
        """Which factors make up each field, rows × factors."""
        out = {}
        for field in UNITS:
            matrix = np.zeros((len(self.rows), len(self.nodes)))
            for place, row in enumerate(self._row_nodes):
                for node in row[field]:
                    matrix[place, self.nodes[node]] = 1.0
            out[field] = matrix
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


def fit(problem: Problem, used: Any) -> Any:
    """The logarithms of all factors, fitted on the rows where `used` is true."""
    observed = problem.observed
    mask = np.isfinite(observed) & used[None, :]
    root = np.sqrt(problem.weights) * mask

    def deviations(factors: Any) -> tuple[Any, Any]:
        rates = problem.rates(factors)
        predicted_logs = problem.logarithms(rates)
        return np.where(mask, predicted_logs - np.where(mask, observed, 0.0), 0.0), (rates, predicted_logs)

    def residuals(factors: Any) -> Any:
        away, _ = deviations(factors)
        size = np.sqrt(2.0 * (np.sqrt(1.0 + (away / ROBUST) ** 2) - 1.0))
        above = [max(0.0, factors[list(own)].sum() - limit) / STIFF for own, limit in problem.bounded]
        prior = (factors - problem.start) / problem.spreads
        return np.concatenate([(np.sign(away) * size * root).ravel(), prior, above])

    def jacobian(factors: Any) -> Any:
        away, (rates, base) = deviations(factors)
        slope = _slope(away) * root
        out = np.zeros((*base.shape, len(factors)))
        for field, matrix in problem.incidence.items():
            changed = Rates(**{f: getattr(rates, f) * (1.001 if f == field else 1.0) for f in UNITS})
            change = np.where(mask, (problem.logarithms(changed) - base) / np.log(1.001), 0.0)
            out += (change * slope)[:, :, None] * matrix[None]
        above = np.zeros((len(problem.bounded), len(factors)))
        for place, (own, limit) in enumerate(problem.bounded):
            if factors[list(own)].sum() > limit:
                above[place, list(own)] = 1.0 / STIFF
        return np.concatenate([out.reshape(-1, len(factors)), np.diag(1.0 / problem.spreads), above])

    found = least_squares(residuals, problem.start, jac=jacobian, method="trf", max_nfev=60, x_scale=problem.spreads)
    return found.x


def _slope(away: Any) -> Any:
    """Derivative of the robust deviation by the plain one."""
    scaled = np.sqrt(1.0 + (away / ROBUST) ** 2)
    size = np.sqrt(2.0 * (scaled - 1.0))
    small = np.abs(away) < 1e-6  # noqa: PLR2004
    with np.errstate(invalid="ignore", divide="ignore"):
        slope = np.abs(away) / ROBUST**2 / scaled / size
    return np.where(small, 1.0 / ROBUST, slope)


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


def pools(rows: Sequence[Prepared]) -> Mapping[str, Problem]:
    """The rows by pool of engines, without those whose speed the host decides."""
    on_gpu = [row for row in rows if not row.configuration.plan.host_expert_layers]
    return {
        pool: Problem(pool, [row for row in on_gpu if POOLS[family_of(row.configuration)] == pool])
        for pool in PRIORS
    }
