"""All GPUs at once: one cell each, filled to its level; up to four that differ as bars with their layers."""

from __future__ import annotations

from collections.abc import Iterable
from itertools import chain, repeat

from calculator.estimation.terms import GpuLoad, Memory
from calculator.web import figures
from calculator.web.answer import Answer
from calculator.web.panels.bar import Scale, bar_parts, by_colour, percent, scale_of, stretch
from calculator.web.panels.shapes import RackBar, RackCell, RackNode, RackPanel
from calculator.web.wording.speech import gettext as _

MOST_BARS = 4
MOST_CELLS = 64


def rack_panel(answer: Answer, memory: Memory) -> RackPanel | None:
    """The rack, None for a single GPU."""
    gpus = sum(load.gpus for load in memory.gpus)
    if gpus < 2:
        return None
    scale = scale_of(memory)
    alike = len(memory.gpus) == 1
    per_node = max(answer.configuration.plan.gpus_per_node, 1)
    level = figures.percent(round(memory.utilisation, 2))
    panel: RackPanel = {
        "aria": _aria(gpus, -(-gpus // per_node), level, alike=alike),
        "limit_y": percent(100 - scale.at(memory.limit.usable.value)),
        "nodes": [],
        "bars": [],
    }
    if not alike and gpus <= MOST_BARS:
        panel["bars"] = _bars(memory, scale, answer.units)
    else:
        panel["nodes"] = _nodes(memory, scale, gpus, per_node)
    return panel


def _aria(gpus: int, nodes: int, level: str, *, alike: bool) -> str:
    if alike and nodes > 1:
        return _("{gpus} GPUs in {nodes} nodes, each filled to {level} of its usable memory").format(
            gpus=gpus, nodes=nodes, level=level
        )
    if alike:
        return _("{gpus} GPUs, each filled to {level} of its usable memory").format(gpus=gpus, level=level)
    return _("{gpus} GPUs, the fullest filled to {level} of its usable memory").format(gpus=gpus, level=level)


def _each_gpu(memory: Memory) -> Iterable[tuple[int, GpuLoad]]:
    """Every GPU in order, with the index of its load."""
    return chain.from_iterable(repeat((index, load), load.gpus) for index, load in enumerate(memory.gpus))


def _nodes(memory: Memory, scale: Scale, gpus: int, per_node: int) -> list[RackNode]:
    first_of_fullest = sum(load.gpus for load in memory.gpus[: memory.fullest])
    cells: list[RackCell] = []
    for load in memory.gpus:
        height = scale.at(load.needed_bytes.value)
        cell: RackCell = {"y": percent(100 - height), "height": percent(height), "fullest": False}
        cells += [cell] * load.gpus
    cells[first_of_fullest] = {**cells[first_of_fullest], "fullest": True}
    nodes = [cells[start : start + per_node] for start in range(0, gpus, per_node)]
    if gpus > MOST_CELLS:
        return [_one_for_all(memory, nodes, first_of_fullest // per_node)]
    if len(nodes) == 1:
        return [{"label": "", "cells": nodes[0]}]
    return [
        {"label": _("node {number}").format(number=at + 1), "cells": node} for at, node in enumerate(nodes)
    ]


def _one_for_all(memory: Memory, nodes: list[list[RackCell]], fullest: int) -> RackNode:
    alike = len(memory.gpus) == 1
    label = _("node 1 × {count} alike") if alike else _("the fullest of {count} nodes")
    return {"label": label.format(count=len(nodes)), "cells": nodes[fullest][:MOST_CELLS]}


def _bars(memory: Memory, scale: Scale, units: str) -> list[RackBar]:
    usable = memory.limit.usable.value
    out: list[RackBar] = []
    for at, (_index, load) in enumerate(_each_gpu(memory)):
        needed = load.needed_bytes.value
        out.append(
            {
                "name": _("GPU {number}").format(number=at + 1),
                "note": layers_words(load),
                "value": _("{needed} of {usable}").format(
                    needed=figures.bare_size(needed, units), usable=figures.bare_size(usable, units)
                ),
                "parts": bar_parts(by_colour(load.parts), scale, units, labels=False),
                "usable_x": percent(scale.at(usable)),
                "over": stretch(scale, usable, needed),
            }
        )
    return out


def layers_words(load: GpuLoad) -> str:
    """Which layers a GPU holds, counted from 0 as engines do."""
    if load.layers == 1:
        return _("layer {first}").format(first=load.first_layer)
    last = load.first_layer + load.layers - 1
    return _("layers {first}–{last}").format(first=load.first_layer, last=last)
