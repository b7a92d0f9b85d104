"""All GPUs at once: one cell each, filled to its level; up to four that differ as bars with their layers."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from itertools import chain, repeat

from calculator.estimation.engines import rules_of
from calculator.estimation.terms import GpuLoad, Limit, Memory
from calculator.web import figures
from calculator.web.answer import Answer
from calculator.web.panels.bar import Scale, bar_parts, by_colour, percent, scale_of, stretch
from calculator.web.panels.names import card_name, plan_words, settled
from calculator.web.panels.shapes import RackBar, RackCell, RackNode, RackPanel
from calculator.web.wording.speech import gettext as _

MOST_BARS = 4
MOST_CELLS = 64
OVER = 1.06


def rack_panel(answer: Answer, memory: Memory) -> RackPanel | None:
    """The rack, None for a single GPU, and for a plan that the engine refuses: nobody can fill its GPUs."""
    gpus = sum(load.gpus for load in memory.gpus)
    if gpus < 2 or answer.estimate.verdict == "unsupported":
        return None
    cards = settled(answer).cards
    scale = scale_of(memory)
    alike = len(memory.gpus) == 1
    per_node = max(answer.configuration.plan.gpus_per_node, 1)
    level = figures.percent(round(memory.utilisation, 2))
    panel: RackPanel = {
        "aria": _aria(gpus, -(-gpus // per_node), level, alike=alike, mixed=bool(cards)),
        "limit_y": percent(100 - scale.at(memory.limit.usable.value)),
        "nodes": [],
        "bars": [],
    }
    if not alike and gpus <= MOST_BARS:
        panel["bars"] = _bars(memory, scale, answer.units, _limits(answer, memory, gpus))
    else:
        panel["nodes"] = _nodes(memory, scale, gpus, per_node)
    return panel


def _aria(gpus: int, nodes: int, level: str, *, alike: bool, mixed: bool) -> str:
    if mixed:
        return _("{gpus} unequal cards, the one with the least room filled to {level}").format(
            gpus=gpus, level=level
        )
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


def _limits(answer: Answer, memory: Memory, gpus: int) -> list[tuple[str, Limit]]:
    """The short name and the limit of every GPU in order; unequal cards each have their own."""
    configuration = settled(answer)
    if not configuration.cards:
        return [("", memory.limit)] * gpus
    rules = rules_of(configuration.engine.family)
    own = [
        rules.limit(replace(configuration, accelerator=card)) or memory.limit for card in configuration.cards
    ]
    return [(card_name(card), limit) for card, limit in zip(configuration.cards, own, strict=True)]


def _bars(memory: Memory, scale: Scale, units: str, limits: list[tuple[str, Limit]]) -> list[RackBar]:
    """One bar for each GPU, all of one scale: that of the largest card."""
    full = max(scale.full_bytes, *(float(limit.physical_bytes) for _name, limit in limits))
    full = max(full, *(load.needed_bytes.value for load in memory.gpus))
    scale = Scale(full)
    out: list[RackBar] = []
    for at, (_index, load) in enumerate(_each_gpu(memory)):
        needed = load.needed_bytes.value
        card, limit = limits[at]
        usable = limit.usable.value
        out.append(
            {
                "name": card or _("GPU {number}").format(number=at + 1),
                "note": layers_words(load),
                "value": _("{needed} of {usable}").format(
                    needed=figures.bare_size(needed, units), usable=figures.bare_size(usable, units)
                ),
                "parts": bar_parts(by_colour(load.parts), scale, units, labels=False),
                "usable_x": percent(scale.at(usable)),
                "over": stretch(scale, usable, needed),
                "hatch": stretch(scale, usable, limit.physical_bytes),
                "track": percent(scale.at(limit.physical_bytes)),
            }
        )
    return out


def layers_words(load: GpuLoad) -> str:
    """Which layers a GPU holds, counted from 1, as in the table."""
    first, last = load.first_layer + 1, load.first_layer + load.layers
    if load.layers == 1:
        return _("layer {first}").format(first=first)
    return _("layers {first}–{last}").format(first=first, last=last)


def host_panel(answer: Answer, memory: Memory) -> RackBar | None:
    """System RAM as a bar of its own scale, when offload uses it and somebody named how much there is."""
    configuration, units = settled(answer), answer.units
    ram, host = configuration.offload.ram_bytes, memory.host_bytes
    if not ram or not (configuration.plan.layers_on_host or configuration.plan.host_expert_layers):
        return None
    scale = Scale(max(ram, OVER * host))
    return {
        "name": _("System RAM, {total}").format(total=figures.size(ram, units)),
        "note": plan_words(replace(configuration, count=1)),
        "value": _("{needed} of {usable}").format(
            needed=figures.bare_size(host, units), usable=figures.bare_size(ram, units)
        ),
        "parts": bar_parts({"weights": host}, scale, units, labels=False),
        "usable_x": percent(scale.at(ram)),
        "over": stretch(scale, ram, host),
        "hatch": None,
        "track": percent(scale.at(ram)),
    }
