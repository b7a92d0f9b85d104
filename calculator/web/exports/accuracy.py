"""The record of accuracy as plain rows: every comparison, in bytes, tokens or requests; of speed in tokens/s or s."""

from __future__ import annotations

from collections.abc import Iterable

from calculator.accuracy.report import Comparison
from calculator.web.panels.accuracy.written import asked_href
from catalog.records import Conditions

HEAD = (
    "id",
    "split",
    "group",
    "engine",
    "engine_version",
    "model_id",
    "model",
    "attention",
    "weights_format",
    "hardware",
    "date",
    "part",
    "observed_part",
    "device",
    "unit",
    "observed",
    "tolerance",
    "predicted",
    "low",
    "high",
    "error",
    "basis",
    "within_print",
    "in_range",
    "why",
    "note",
    "source",
    "question",
)


SPEED_HEAD = (
    *HEAD,
    "device_class",
    "backend",
    "architecture",
    "users",
    "prompt_tokens",
    "output_tokens",
    "depth_tokens",
)


def comparison_rows(comparisons: Iterable[Comparison]) -> list[tuple[object, ...]]:
    """The head, then one row a comparison; in_range is empty for figures without a range."""
    return [HEAD, *(_row(item) for item in comparisons)]


def speed_rows(comparisons: Iterable[Comparison]) -> list[tuple[object, ...]]:
    """The same for speeds, with how they were measured; what a source does not say is empty."""
    return [SPEED_HEAD, *((*_row(item), *_conditions(item)) for item in comparisons)]


def _conditions(item: Comparison) -> tuple[object, ...]:
    given = item.measurement.conditions or Conditions()
    said = (given.users, given.prompt_tokens, given.output_tokens, given.depth_tokens)
    traits = (item.traits["device"], item.traits["backend"], item.traits["architecture"])
    return (*traits, *("" if value is None else value for value in said))


def _row(item: Comparison) -> tuple[object, ...]:
    log = item.measurement
    return (
        log.id,
        log.split,
        log.group,
        log.engine,
        log.engine_version,
        log.model_id or "",
        log.model,
        log.attention,
        log.weights_format,
        log.device,
        log.date or "",
        item.part,
        item.observed_part,
        item.device or "",
        item.unit,
        _plain(item.observed),
        _plain(item.tolerance),
        _plain(item.predicted),
        _plain(item.low),
        _plain(item.high),
        f"{item.error:.6f}",
        item.basis,
        int(item.within_print),
        "" if item.exact else int(item.covered),
        item.why,
        log.note,
        log.source,
        asked_href(log, "gib"),
    )


def _plain(value: float) -> str:
    """Without exponent and without decimals that say nothing."""
    return f"{value:.{_DECIMALS if abs(value) < 1 else _FEW_DECIMALS}f}".rstrip("0").rstrip(".")


_DECIMALS, _FEW_DECIMALS = 6, 3
"""Decimals of amounts below one, such as seconds, and of others."""
