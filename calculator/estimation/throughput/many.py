"""The speed of many configurations at once: their amounts and rates as arrays, the same formulas. PURE."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np

from calculator.estimation.configuration import Configuration
from calculator.estimation.terms import Speed
from calculator.estimation.throughput.communication import Links
from calculator.estimation.throughput.load import Load, Machine, load_of
from calculator.estimation.throughput.rates import Rates, rates_of
from calculator.estimation.throughput.speed import Figures, figures_of, has_speed, speed_from, speed_of

OF_DEVICE = ("bandwidth_bytes_per_s", "flops_per_s", "sixteen_bit_flops_per_s")
"""Amounts of a load that belong to the device; the others follow from what it reads."""


@dataclass(frozen=True, eq=False, slots=True)
class Asked:
    """A configuration with its machine; `Machine.reads` may be shared by all that read alike."""

    configuration: Configuration
    machine: Machine


def speeds_of(asked: Sequence[Asked]) -> list[Speed | None]:
    """The speed of each configuration, the same that `speed_of` finds for it alone. All have the same workload."""
    out: list[Speed | None] = [None] * len(asked)
    together = []
    for place, each in enumerate(asked):
        if not has_speed(each.configuration):
            continue
        if each.machine.flops_per_s is None or _reads_host(each.configuration):
            out[place] = speed_of(each.configuration)
        else:
            together.append(place)
    if together:
        found = _together([asked[place] for place in together])
        for place, speed in zip(together, found, strict=True):
            out[place] = speed
    return out


def _reads_host(c: Configuration) -> bool:
    return bool(c.plan.host_expert_layers) or c.plan.layers_on_host


def _together(asked: Sequence[Asked]) -> list[Speed]:
    loads, own = _loads(asked)
    rates = Rates(**_columns(Rates, [rates_of(each.configuration) for each in asked]))
    users = np.full(len(asked), float(asked[0].configuration.workload.users))
    columns = _rows(figures_of(_load(asked, loads, own), rates, users), len(asked))
    return [
        speed_from(each.configuration, loads[which], figures)
        for each, which, figures in zip(asked, own, columns, strict=True)
    ]


def _loads(asked: Sequence[Asked]) -> tuple[list[Load], list[int]]:
    """The loads of those that read differently, and which of them each has."""
    places: dict[int, int] = {}
    loads: list[Load] = []
    own = []
    for each in asked:
        reads = id(each.machine.reads)
        if reads not in places:
            places[reads] = len(loads)
            loads.append(load_of(each.configuration, machine=each.machine))
        own.append(places[reads])
    return loads, own


def _load(asked: Sequence[Asked], loads: Sequence[Load], own: Sequence[int]) -> Load:
    """All loads as one, its amounts as arrays."""
    which = np.array(own)
    shared: dict[str, Any] = {
        field.name: np.array([getattr(load, field.name) for load in loads])[which]
        for field in fields(Load)
        if field.name not in (*OF_DEVICE, "links", "host")
    }
    device: dict[str, Any] = {
        "bandwidth_bytes_per_s": [each.configuration.accelerator.bandwidth_bytes_per_s for each in asked],
        "flops_per_s": [each.machine.flops_per_s for each in asked],
        "sixteen_bit_flops_per_s": [each.machine.sixteen_bit_flops_per_s for each in asked],
    }
    links = Links(**_columns(Links, [each.machine.links for each in asked]))
    arrays: dict[str, Any] = {name: np.array(column) for name, column in device.items()}
    return replace(loads[0], links=links, **shared, **arrays)


def _columns(kind: type[Any], rows: Sequence[Any]) -> dict[str, Any]:
    return {
        field.name: np.array([getattr(row, field.name) for row in rows], dtype=float)
        for field in fields(kind)
    }


def _rows(found: Figures, count: int) -> Iterable[Figures]:
    """One object for each configuration from the arrays of all."""
    parts = list(zip(*(_list(part, count) for part in found.parts), strict=True))
    names = [field.name for field in fields(Figures) if field.name != "parts"]
    columns = [_list(getattr(found, name), count) for name in names]
    for own, row in zip(parts, zip(*columns, strict=True), strict=True):
        yield Figures(own, *row)


def _list(values: Any, count: int) -> list[float]:
    return np.broadcast_to(values, (count,)).tolist()  # type: ignore[no-any-return]
