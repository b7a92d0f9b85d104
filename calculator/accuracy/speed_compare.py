"""Measured speeds held against the arithmetic: each figure beside the one calculated for the same conditions. PURE.

A run is computed as it was measured (speed_predict), with the constants that the page uses and the ranges that it shows.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping

from calculator.accuracy.report import Comparison, Report, Skipped, summary
from calculator.accuracy.speed_cases import SkippedCase, SpeedCase, read_case
from calculator.accuracy.speed_predict import FIGURES, Prepared, predicted, prepare
from calculator.estimation.terms import Interval
from calculator.estimation.throughput.decode import decode_step, floor_s
from calculator.estimation.throughput.intervals import of_rate, of_time, spread_of
from calculator.estimation.throughput.prefill import prompt_floor_s
from calculator.estimation.throughput.rates import rates_of
from calculator.estimation.throughput.speed import step_shares
from catalog.records import Measurement
from catalog.snapshot import Snapshot

PARTS = ("decode", "decode_many", "throughput", "prefill", "ttft")
"""What a comparison is of: answer tokens per second of a lone user, of one among many, of all together; prompt tokens per
second; time to the first token."""

BANDS: Mapping[int, str] = {128: "128+", 32: "32-127", 8: "8-31", 2: "2-7", 1: "1"}
"""Names of the numbers of users that are looked at together, by the first of them."""


def speed_report(snapshot: Snapshot, measurements: Iterable[Measurement]) -> Report:
    """The record of speed for these measurements: every figure that can be held against a calculation, and the reason for
    each run that can not."""
    rows = [item for item in measurements if item.task == "speed"]
    comparisons: list[Comparison] = []
    skipped: list[Skipped] = []
    for item in rows:
        found = compared(snapshot, item)
        if isinstance(found, Skipped):
            skipped.append(found)
        else:
            comparisons += found
    worst = tuple(sorted(comparisons, key=lambda item: (-abs(item.error), item.measurement.id, item.part)))
    return Report(
        kind="speed",
        cases=len(rows),
        comparable=sum(item.comparable for item in rows),
        compared=len({item.measurement.id for item in worst}),
        skipped=tuple(skipped),
        overall=summary(worst, {}),
        worst=worst,
    )


def compared(snapshot: Snapshot, item: Measurement) -> list[Comparison] | Skipped:
    """The comparisons of one run, or why there is none."""
    case = read_case(item, snapshot)
    if isinstance(case, SkippedCase):
        return Skipped(item, None, case.reason)
    prepared = prepare(case, snapshot)
    if prepared is None:
        return Skipped(item, None, "bytes_unknown")
    traits = traits_of(prepared)
    return [
        Comparison(
            measurement=item,
            part="decode_many" if figure == "decode" and case.users > 1 else figure,
            observed_part=figure,
            device=None,
            predicted=interval.value,
            low=interval.low,
            high=interval.high,
            observed=case.observed[figure],
            tolerance=0.0,
            unit="s" if figure == "ttft" else "tokens/s",
            basis="calibrated",
            traits=traits,
        )
        for figure, interval in calculated(prepared)
        if figure in case.observed
    ]


def traits_of(row: Prepared) -> Mapping[str, str]:
    """What runs are grouped by beside their engine: back end, device class, dense or MoE, users at once."""
    c = row.configuration
    return {
        "backend": c.backend,
        "device": c.accelerator.device_class,
        "architecture": "moe" if c.model.architecture.is_moe else "dense",
        "users": band_of(row.case),
    }


def band_of(case: SpeedCase) -> str:
    """The number of users in its band: 1, 2-7, 8-31, 32-127, 128+."""
    return next(name for first, name in BANDS.items() if case.users >= first)


def calculated(row: Prepared) -> Iterator[tuple[str, Interval]]:
    """Every figure as it would have been measured, with its 90 % range: rates in tokens/s, the time in s."""
    c, load, users = row.configuration, row.load, row.users
    rates = rates_of(c)
    values = dict(zip(FIGURES, (float(v) for v in predicted(load, rates, users, row.batched)), strict=True))
    seconds = step_shares(decode_step(load, rates, max(users, float(load.copies))))
    whole = sum(seconds.values())
    shares: dict[str, float] = {name: part / whole for name, part in seconds.items()}
    spread = spread_of(c, "decode" if users == 1 else "serving", shares)
    most = users / float(floor_s(load, users))
    together = users if row.batched else 1.0
    shortest = float(prompt_floor_s(load))
    yield "decode", of_rate(values["decode"], spread, most)
    yield "throughput", of_rate(values["throughput"], spread, most)
    prompt = spread_of(c, "prefill", shares)
    yield "prefill", of_rate(values["prefill"], prompt, together * load.prompt_tokens / shortest)
    yield "ttft", of_time(values["ttft"], spread_of(c, "ttft", {}), shortest)
