"""The record of accuracy: comparisons, what was left out and why, and the figures of groups (formulas §10). PURE."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from statistics import median

from calculator.estimation.terms import Basis
from catalog.records import Measurement

HAIR = 0.001
"""A figure that lies halfway between two prints may be printed as either."""

COVERAGE = 0.90
"""Share of observations that the intervals shown are meant to hold."""


@dataclass(frozen=True, slots=True)
class Comparison:
    """One observed figure beside the calculated one, both in `unit` (bytes, tokens, requests; tokens/s, s).

    part, of speed: one of speed_compare.PARTS; of memory: weights, kv_cache, recurrent_state, activations, graphs, communication, compute_buffer, output_buffer,
    pool, capacity, parts (the sum of the observed parts of one GPU), total. observed_part: the name in the case. low,
    high: the central 90 %. tolerance: what the printed figure leaves open on either side. exact: the figure has no interval and is judged by
    `within_print` alone. why: code of a known reason for the difference, empty when none is known. traits: what it is
    grouped by beside the measurement's own fields.
    """

    measurement: Measurement
    part: str
    observed_part: str
    device: str | None
    predicted: float
    low: float
    high: float
    observed: float
    tolerance: float
    unit: str
    basis: Basis
    why: str = ""
    traits: Mapping[str, str] = field(default_factory=dict)

    @property
    def exact(self) -> bool:
        return self.basis in ("exact", "published")

    @property
    def error(self) -> float:
        """Predicted ÷ observed − 1 [1]; 0 within what the print leaves open."""
        if self.within_print:
            return 0.0
        return self.predicted / self.observed - 1

    @property
    def within_print(self) -> bool:
        """The calculated figure is one that the source would have printed so."""
        return abs(self.predicted - self.observed) <= self.tolerance * (1 + HAIR)

    @property
    def covered(self) -> bool:
        """The observed figure, as far as its print goes, lies in the interval."""
        return self.low - self.tolerance <= self.observed <= self.high + self.tolerance


@dataclass(frozen=True, slots=True)
class Skipped:
    """A measurement, or one of its parts, that is not compared: the reason in a code, or in the source's own words."""

    measurement: Measurement
    part: str | None
    reason: str


@dataclass(frozen=True, slots=True)
class Group:
    """Figures of some comparisons: errors are fractions of the observed value.

    n: comparisons. median_abs_error, p90_abs_error, bias (median of the signed error). exact_share: share within the
    print. judged: how many have an interval; coverage_90: share of those that it holds, None without any;
    coverage_error: one standard error of that share.
    """

    by: Mapping[str, str]
    n: int
    measurements: int
    median_abs_error: float
    p90_abs_error: float
    bias: float
    exact_share: float
    judged: int
    coverage_90: float | None
    coverage_error: float | None


@dataclass(frozen=True, slots=True)
class Report:
    """The record of one set of measurements. cases: rows read; comparable: rows that say so; compared: rows with at least
    one comparison. worst: all comparisons, largest error first."""

    kind: str
    cases: int
    comparable: int
    compared: int
    skipped: tuple[Skipped, ...]
    overall: Group
    worst: tuple[Comparison, ...]

    def skipped_counts(self) -> Mapping[str, int]:
        """Whole measurements that are not compared, by reason, most frequent first."""
        whole = Counter(item.reason for item in self.skipped if item.part is None)
        return dict(whole.most_common())

    def parts_skipped_counts(self) -> Mapping[str, int]:
        """Parts of compared measurements that are not compared, by reason."""
        parts = Counter(item.reason for item in self.skipped if item.part is not None)
        return dict(parts.most_common())

    def groups(self, *by: str) -> tuple[Group, ...]:
        """Figures by any of engine, part, attention, model, version, and of speeds backend, device, architecture, users;
        most comparisons first."""
        return groups(self.worst, by)


KEYS: Mapping[str, Callable[[Comparison], str]] = {
    "engine": lambda item: item.measurement.engine,
    "part": lambda item: item.part,
    "attention": lambda item: item.measurement.attention,
    "model": lambda item: item.measurement.model_id or item.measurement.model,
    "version": lambda item: item.measurement.engine_version,
    "backend": lambda item: item.traits.get("backend", ""),
    "device": lambda item: item.traits.get("device", ""),
    "architecture": lambda item: item.traits.get("architecture", ""),
    "users": lambda item: item.traits.get("users", ""),
}


def groups(comparisons: Iterable[Comparison], by: Sequence[str]) -> tuple[Group, ...]:
    """Figures of the comparisons that agree in the keys `by`, most comparisons first."""
    found: dict[tuple[str, ...], list[Comparison]] = {}
    for item in comparisons:
        found.setdefault(tuple(KEYS[name](item) for name in by), []).append(item)
    made = [summary(items, dict(zip(by, key, strict=True))) for key, items in found.items()]
    return tuple(sorted(made, key=lambda group: (-group.n, sorted(group.by.items()))))


def summary(items: Sequence[Comparison], by: Mapping[str, str]) -> Group:
    """The figures of some comparisons; zeros when there are none."""
    errors = [item.error for item in items]
    absolute = sorted(abs(error) for error in errors)
    judged = [item for item in items if not item.exact]
    share = sum(item.covered for item in judged) / len(judged) if judged else None
    return Group(
        by=by,
        n=len(items),
        measurements=len({item.measurement.id for item in items}),
        median_abs_error=median(absolute) if items else 0.0,
        p90_abs_error=quantile(absolute, 0.9),
        bias=median(errors) if items else 0.0,
        exact_share=sum(item.within_print for item in items) / len(items) if items else 0.0,
        judged=len(judged),
        coverage_90=share,
        coverage_error=coverage_error(len(judged)) if judged else None,
    )


def quantile(ordered: Sequence[float], share: float) -> float:
    """The quantile of sorted values, between two of them in proportion; 0 without any."""
    if not ordered:
        return 0.0
    place = share * (len(ordered) - 1)
    below = math.floor(place)
    above = min(below + 1, len(ordered) - 1)
    return ordered[below] + (place - below) * (ordered[above] - ordered[below])


def coverage_error(judged: int, share: float = COVERAGE) -> float:
    """One standard error of an observed coverage when the true one is `share` and `judged` cases were looked at [1]."""
    return math.sqrt(share * (1 - share) / judged)
