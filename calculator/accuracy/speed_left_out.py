"""How far the speed model is from runs of a model that its fit had not seen: each model left out in turn. PURE.

The record is kept beside the constants, because finding it takes a fit for every model.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from calculator.accuracy.speed_fit import Problem, unseen_models
from calculator.accuracy.speed_predict import FIGURES
from catalog.records import Constant
from catalog.snapshot import Snapshot

PREFIX = "speed_left_out_"
"""Begins the names of these rows: the part of the record follows (speed_compare.PARTS)."""

NINE_TENTHS = 0.9

Solved = tuple[Problem, Any, Any]
"""A pool of engines, which of its rows were fitted, and the solution."""


def left_out_constants(solved: Iterable[Solved], date: str) -> list[Constant]:
    """For each figure the errors of runs whose model the fit had not seen, |predicted ÷ observed − 1|: value is the
    median, high the 90 % point, cases the runs."""
    errors: dict[str, list[float]] = {}
    models = 0
    for problem, used, factors in solved:
        models += len({row.case.scenario.model for row, use in zip(problem.rows, used, strict=True) if use})
        logarithms = unseen_models(problem, used, factors)
        for figure, own in zip(FIGURES, logarithms, strict=True):
            for part, users in _parts(figure):
                chosen = own[np.isfinite(own) & users(problem.users)]
                errors.setdefault(part, []).extend(np.abs(np.exp(-chosen) - 1.0).tolist())
    return [_row(part, np.array(own), models, date) for part, own in errors.items() if own]


def _parts(figure: str) -> list[tuple[str, Any]]:
    """The parts that a figure is recorded in, with the rows that belong there by their users."""
    if figure == "decode":
        return [("decode", lambda users: users == 1), ("decode_many", lambda users: users > 1)]
    return [(figure, lambda users: users > 0)]


def _row(part: str, errors: Any, models: int, date: str) -> Constant:
    return Constant(
        engine="any",
        name=f"{PREFIX}{part}",
        value=round(float(np.median(errors)), 4),
        low=0.0,
        high=round(float(np.quantile(errors, NINE_TENTHS)), 4),
        unit="share",
        version_from=None,
        version_until=None,
        device_class=None,
        backend=None,
        cases=len(errors),
        basis="derived",
        source=f"fitted on all models of an engine's runs but one, {models} times; the runs of that one compared",
        date=date,
    )


def left_out_of(snapshot: Snapshot) -> dict[str, Constant]:
    """The kept record by part of the comparison."""
    rows = (row for row in snapshot.constants if row.name.startswith(PREFIX))
    return {row.name.removeprefix(PREFIX): row for row in rows}
