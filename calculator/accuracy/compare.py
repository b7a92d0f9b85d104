"""Measurements held against the arithmetic: each observed part beside the calculated one. PURE (takes a Snapshot)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

from calculator.accuracy.asked import Asked, ask
from calculator.accuracy.parts import PARTS, Figure, Gap
from calculator.accuracy.printed import tolerance_of
from calculator.accuracy.report import Comparison, Report, Skipped, summary
from calculator.estimation.estimate import not_computable
from calculator.estimation.uncertainty import quadrature
from catalog.records import Measurement, Observation
from catalog.snapshot import Snapshot

SUMMED = ("weights", "kv_cache", "recurrent_state", "kv_cache_and_state", "compute_buffer", "activation_peak", "non_torch", "cuda_graphs")  # fmt: skip
"""Observed parts of one GPU that do not overlap: their sum is what the GPU holds of them."""


def memory_report(snapshot: Snapshot, measurements: Iterable[Measurement]) -> Report:
    """The record of memory for these measurements: every part that can be held against a calculation, and the reason for
    each that can not."""
    rows = [item for item in measurements if item.task == "memory"]
    comparisons: list[Comparison] = []
    skipped: list[Skipped] = []
    for item in rows:
        found, gaps = compared(snapshot, item)
        comparisons += found
        skipped += gaps
    worst = tuple(sorted(comparisons, key=lambda item: (-abs(item.error), item.measurement.id, item.part)))
    return Report(
        kind="memory",
        cases=len(rows),
        comparable=sum(item.comparable for item in rows),
        compared=len({item.measurement.id for item in worst}),
        skipped=tuple(skipped),
        overall=summary(worst, {}),
        worst=worst,
    )


def compared(snapshot: Snapshot, item: Measurement) -> tuple[list[Comparison], list[Skipped]]:
    """The comparisons of one measurement, and what of it is left out."""
    if not item.comparable:
        reason = item.why_not[0] if item.why_not else "not_comparable"
        return [], [Skipped(item, None, reason)]
    asked = ask(snapshot, item)
    if asked is None:
        return [], [Skipped(item, None, "model_not_in_catalogue")]
    if not_computable(asked.configuration):
        return [], [Skipped(item, None, "not_computed")]
    found: list[Comparison] = []
    gaps: list[Skipped] = []
    for seen in item.observed:
        if seen.part in item.compare:
            figure = _figure(asked, seen)
            if isinstance(figure, Gap):
                gaps.append(Skipped(item, seen.part, figure.reason))
            else:
                found.append(_comparison(item, seen, figure))
    found += _sums(item, found)
    if not found:
        return [], [Skipped(item, None, gaps[0].reason if gaps else "no_part_to_compare")]
    return found, gaps


def _figure(asked: Asked, seen: Observation) -> Figure | Gap:
    if seen.amount <= 0:
        return Gap("printed_zero_or_less")
    return PARTS[seen.part].figure(asked, seen) if seen.part in PARTS else Gap("part_not_computed")


def _comparison(item: Measurement, seen: Observation, figure: Figure) -> Comparison:
    return Comparison(
        measurement=item,
        part=figure.part,
        observed_part=seen.part,
        device=seen.device,
        predicted=figure.value,
        low=figure.low,
        high=figure.high,
        observed=seen.amount,
        tolerance=figure.tolerance + tolerance_of(seen),
        unit=seen.unit,
        basis=figure.basis,
        why=figure.why,
    )


def _sums(item: Measurement, found: list[Comparison]) -> Iterator[Comparison]:
    """The sum of the observed parts of each GPU that has its weights and another part among them."""
    by_device: dict[str | None, list[Comparison]] = {}
    for one in found:
        on_gpu = one.device is not None and not one.device.startswith("host")
        if one.observed_part in SUMMED and on_gpu:
            by_device.setdefault(one.device, []).append(one)
    for device, parts in by_device.items():
        names = {one.observed_part for one in parts}
        if "weights" not in names or len(names) < 2:
            continue
        value = sum(one.predicted for one in parts)
        low, high = quadrature((one.predicted, one.low, one.high) for one in parts)
        yield Comparison(
            measurement=item,
            part="parts",
            observed_part="+".join(sorted(names)),
            device=device,
            predicted=value,
            low=low,
            high=high,
            observed=sum(one.observed for one in parts),
            tolerance=sum(one.tolerance for one in parts),
            unit="bytes",
            basis="calibrated",
        )
