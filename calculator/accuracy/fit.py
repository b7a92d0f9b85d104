"""Fitting the constants of memory to measured runs: robust, by group, and only on the `fit` share (formulas §10). PURE."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Literal

from calculator.accuracy.asked import Asked, ask
from calculator.accuracy.compare import compared
from calculator.accuracy.report import Comparison
from calculator.estimation.configuration import Configuration
from calculator.estimation.memory import sum_of
from catalog.records import GIB, Constant, Measurement
from catalog.snapshot import Snapshot, measured_on

TAIL = 0.05
"""Share of the cases that lies outside on either side of a central 90 %."""

SHRINK = 5
"""Cases that a prior width weighs as much as: n of its own cases weigh n ÷ (n + SHRINK) (formulas §10)."""

ENOUGH_GROUPS = 10
"""Groups from which a quantile of 5 % is read off the cases themselves."""

MEDIAN_ERROR = 1.645 * 1.2533 / 0.6745
"""Half-width of the central 90 % of a median in median deviations × √groups of a normal distribution."""

HALF_STEP = 0.05
"""A value this close to the median, as a share of it, is not contradicted by any number of cases."""

TAIL_BY_MEDIAN = 1.645 / 0.6745
"""95 % quantile of a normal distribution in median deviations."""

DIGITS = 3
"""Significant digits of a fitted number: more would say more than the cases do."""

Kind = Literal["scale", "spread", "offset_gib"]


@dataclass(frozen=True, slots=True)
class Rule:
    """How one constant is fitted.

    part: the observed part that it rules. kind: `scale`, the figure is proportional to the constant; `spread`, the
    constant is only the range of observed ÷ calculated; `offset_gib`, the constant is added, in GiB. when: the runs that
    it holds for. keeps_value: only the range is fitted, the value is a worked example's. prior: relative half-widths (below, above) that few cases are widened to (offset_gib: in GiB).
    """

    engine: str
    name: str
    part: str
    kind: Kind
    unit: str
    versions: tuple[str | None, str | None] = (None, None)
    device_class: str | None = None
    backend: str | None = None
    when: Callable[[Configuration], bool] = lambda _: True
    prior: tuple[float, float] = (0.1, 0.1)
    keeps_value: bool = False

    @property
    def key(self) -> tuple[object, ...]:
        return (self.engine, self.name, *self.versions, self.device_class, self.backend)


def key_of(constant: Constant) -> tuple[object, ...]:
    """What names a constant: engine, name, versions, class of device, backend."""
    c = constant
    return (c.engine, c.name, c.version_from, c.version_until, c.device_class, c.backend)


def _one(c: Configuration) -> bool:
    return c.plan.gpus == 1


def _tensor(c: Configuration) -> bool:
    return c.plan.tp > 1


def _pipeline(c: Configuration) -> bool:
    return c.plan.tp == 1 and c.plan.pp > 1


def _moe(c: Configuration) -> bool:
    return c.model.architecture.is_moe


def _dense(c: Configuration) -> bool:
    return not c.model.architecture.is_moe


def _plain_dense(c: Configuration) -> bool:
    """One kind of attention, no experts, no state, no encoder, layers on GPUs."""
    a = c.model.architecture
    plain = all(block.mixer.KIND == "gqa" for block in a.blocks)
    return plain and _dense(c) and not c.knobs.vision and not _on_host(c)


def _not_plain(c: Configuration) -> bool:
    return not _plain_dense(c) and not _on_host(c)


def _on_host(c: Configuration) -> bool:
    return bool(c.plan.host_layers or c.plan.host_expert_layers)


def _loads_as(name: str) -> Callable[[Configuration], bool]:
    return lambda c: sum_of(c).loaded_as == name


V0, V1, NOW = (None, "0.8"), ("0.9", "0.16"), ("0.17", "0.20")
"""Versions of vLLM whose memory behaves alike: the first engine, the second as it began, and as it was measured best."""

_CAPTURED = "MiB per captured size"
_LOADS = ("vllm", "sglang")

RULES: tuple[Rule, ...] = (
    *(
        Rule("vllm", f"non_torch_{name}", "non_torch", "scale", "GiB", versions, when=when, prior=prior)
        for versions, prior in ((V0, (0.6, 1.0)), (V1, (0.1, 0.1)), (NOW, (0.05, 0.2)))
        for name, when in (("one", _one), ("tensor", _tensor), ("pipeline", _pipeline))
    ),
    *(
        Rule("vllm", f"graphs_{name}", "cuda_graphs", "scale", _CAPTURED, versions, device, when=when, prior=(0.4, 0.6))
        for name, when in (("dense", _dense), ("moe", _moe))
        for versions, device in (
            (V1, "nvidia-datacenter"),
            (V1, "nvidia-consumer"),
            (V1, "nvidia-workstation"),
            (V1, "amd-workstation"),
            (NOW, None),
            (NOW, "nvidia-apu"),
        )
    ),
    Rule("vllm", "activation_sampler_spread", "activation_peak", "spread", "factor", NOW, when=_plain_dense, prior=(0.05, 0.05)),
    Rule("vllm", "activation_moe", "activation_peak", "offset_gib", "GiB", NOW, when=_moe, prior=(0.3, 0.3), keeps_value=True),
    *(
        Rule(engine, name, "weights", "spread", "factor", when=_loads_as(name), prior=prior)
        for engine in _LOADS
        for name, prior in (
            ("loaded_16bit", (0.004, 0.01)),
            ("loaded_native", (0.01, 0.02)),
            ("loaded_recipe_8bit", (0.1, 0.1)),
            ("loaded_recipe_4bit", (0.1, 0.1)),
        )
    ),
    Rule("llama.cpp", "compute_dense", "compute_buffer", "spread", "factor", when=_plain_dense, prior=(0.1, 0.1)),
    Rule("llama.cpp", "compute_other", "compute_buffer", "spread", "factor", when=_not_plain, prior=(0.3, 0.4)),
)  # fmt: skip
"""Every constant that measured runs decide; all others in the file stay as they were entered."""


@dataclass(frozen=True, slots=True)
class Sample:
    """One case's own value of a constant, and the group that it is weighed with."""

    value: float
    group: str


@dataclass(frozen=True, slots=True)
class Fitted:
    """A constant as the measured runs give it, and as it was before (None: it is new)."""

    before: Constant | None
    after: Constant
    groups: int


def fitted(
    snapshot: Snapshot, measurements: Iterable[Measurement], today: str, rules: Sequence[Rule] = RULES
) -> tuple[Fitted, ...]:
    """The constants that the `fit` share of the measurements decides; none of the `check` share is looked at.

    today: the date of a constant that changed; one that did not keeps its own.
    """
    rows = [m for m in measurements if m.split == "fit" and m.comparable and m.task == "memory"]
    known = {key_of(constant): constant for constant in snapshot.constants}
    seen = [(asked, comparison) for row in rows for asked, comparison in _compared(snapshot, row)]
    out = []
    for rule in rules:
        samples = [s for asked, comparison in seen if (s := _sample(rule, asked, comparison)) is not None]
        if samples:
            out.append(_constant(rule, samples, known.get(rule.key), today))
    return tuple(out)


def _compared(snapshot: Snapshot, row: Measurement) -> Iterable[tuple[Asked, Comparison]]:
    asked = ask(snapshot, row)
    if asked is None:
        return
    for comparison in compared(snapshot, row)[0]:
        if comparison.device != "host" and not str(comparison.device).startswith("host:"):
            yield asked, comparison


def _sample(rule: Rule, asked: Asked, comparison: Comparison) -> Sample | None:
    """The constant with which this comparison would have come out right; None where the rule does not hold."""
    c = asked.configuration
    if c.engine.family != rule.engine or comparison.observed_part != rule.part or comparison.device is None:
        return None
    if rule.device_class not in (None, c.accelerator.device_class) or rule.backend not in (None, c.backend):
        return None
    span = Constant(rule.engine, rule.name, 0, 0, 0, "", *rule.versions, None, None, None, "", "", "")
    if not measured_on(span, c.engine_version) or not rule.when(c):
        return None
    ratio = comparison.observed / comparison.predicted
    if rule.kind == "spread":
        return Sample(ratio, comparison.measurement.group)
    active = c.constants[rule.name].value if rule.name in c.constants else 0.0
    if rule.kind == "scale":
        return Sample(active * ratio, comparison.measurement.group)
    return Sample(
        active + (comparison.observed - comparison.predicted) / _unit_bytes(rule.unit),
        comparison.measurement.group,
    )


def _unit_bytes(unit: str) -> int:
    return 10**9 if unit.startswith("GB") else GIB


def _constant(rule: Rule, samples: Sequence[Sample], before: Constant | None, today: str) -> Fitted:
    weighted = by_group(samples)
    n, groups = len(samples), len({sample.group for sample in samples})
    middle = 1.0 if rule.kind == "spread" else rounded(_middle(rule, weighted, groups, before))
    unit = 1.0 if rule.kind == "offset_gib" else middle
    below = shrunk(half_width([(middle - v, w) for v, w in weighted], groups), rule.prior[0] * unit, groups)
    above = shrunk(half_width([(v - middle, w) for v, w in weighted], groups), rule.prior[1] * unit, groups)
    value, low, high = (rounded(number) for number in (middle, max(0.0, middle - below), middle + above))
    after = Constant(
        rule.engine, rule.name, value, min(low, value), max(high, value), rule.unit, *rule.versions,
        rule.device_class, rule.backend, n, "fitted",
        f"median and central 90 % of {n} measured runs in {groups} groups, each group weighed once", today,
    )  # fmt: skip
    if before is not None and replace(before, date=today) == after:
        after = before
    return Fitted(before, after, groups)


def _middle(
    rule: Rule, weighted: Sequence[tuple[float, float]], groups: int, before: Constant | None
) -> float:
    """The median, or the value that stood before while the cases do not contradict it: while it lies in the central 90 %
    of where the median of so many groups may fall."""
    median = quantile(weighted, 0.5)
    if before is None or not before.value:
        return median
    if rule.keeps_value:
        return before.value
    deviation = quantile(sorted((abs(value - median), weight) for value, weight in weighted), 0.5)
    error = MEDIAN_ERROR * deviation / groups**0.5
    return before.value if abs(before.value - median) <= max(error, HALF_STEP * abs(median)) else median


def by_group(samples: Sequence[Sample]) -> list[tuple[float, float]]:
    """(value, weight) in the order of values: each group weighs 1, however many cases it has."""
    sizes: dict[str, int] = {}
    for sample in samples:
        sizes[sample.group] = sizes.get(sample.group, 0) + 1
    return sorted((sample.value, 1 / sizes[sample.group]) for sample in samples)


def quantile(weighted: Sequence[tuple[float, float]], share: float) -> float:
    """The weighted quantile: the value at which so much of the weight lies below, half of its own weight counted; between
    two values in proportion.

    >>> quantile([(1, 1), (2, 1), (4, 1)], 0.5)
    2
    """
    total = sum(weight for _, weight in weighted)
    before, places = 0.0, []
    for value, weight in weighted:
        places.append(((before + weight / 2) / total, value))
        before += weight
    if share <= places[0][0]:
        return places[0][1]
    for (left, low), (right, high) in itertools.pairwise(places):
        if share <= right:
            return low + (high - low) * (share - left) / (right - left)
    return places[-1][1]


def half_width(deviations: Sequence[tuple[float, float]], groups: int) -> float:
    """The half-width of a central 90 % on the side where deviations are positive.

    From many groups the quantile itself; from few, where one odd run would be that quantile, what a normal distribution
    with the same median deviation has.
    """
    if groups >= ENOUGH_GROUPS:
        return quantile(sorted(deviations), 1 - TAIL)
    outside = sorted((d, w) for d, w in deviations if d > 0)
    return TAIL_BY_MEDIAN * quantile(outside, 0.5) if outside else 0.0


def shrunk(width: float, prior: float, groups: int) -> float:
    """A half-width from few groups, drawn towards the prior one: variances weighed n : SHRINK."""
    own = max(0.0, width)
    return float(((groups * own**2 + SHRINK * prior**2) / (groups + SHRINK)) ** 0.5)


def rounded(number: float) -> float:
    """A number to the digits that a fit supports."""
    return float(f"{number:.{DIGITS}g}")


def table(results: Iterable[Fitted]) -> list[Mapping[str, object]]:
    """Before and after of each constant, for printing."""
    return [
        {
            "engine": item.after.engine,
            "name": item.after.name,
            "versions": f"{item.after.version_from or ''}–{item.after.version_until or ''}",
            "device": item.after.device_class or item.after.backend or "",
            "cases": item.after.cases,
            "groups": item.groups,
            "before": _span(item.before),
            "after": _span(item.after),
        }
        for item in results
    ]


def _span(constant: Constant | None) -> str:
    return f"{constant.value:g} ({constant.low:g} … {constant.high:g})" if constant else "new"
