"""Names as they stand in a line of the answer: short, in the makers' spelling."""

from __future__ import annotations

import re
from collections import Counter
from functools import partial

from calculator.estimation.configuration import Configuration
from calculator.estimation.offload import expert_layers
from calculator.resolve import MOST_CARDS
from calculator.web import figures
from calculator.web.answer import Answer
from calculator.web.panels.per_snapshot import per_snapshot
from calculator.web.wording.speech import gettext as _
from calculator.web.wording.text import engine_name, format_label
from catalog.records import Accelerator, WeightsFormat
from catalog.snapshot import Snapshot

_MAKER = re.compile(r"^(NVIDIA|Intel|Google|AWS|Huawei) (?=\S)")
_SIZE = re.compile(r" \d+ GB$")


def _short(name: str, *, keep_size: bool) -> str:
    bare = _MAKER.sub("", name)
    return bare if keep_size else _SIZE.sub("", bare)


def _short_names(snapshot: Snapshot) -> dict[str, str]:
    """Device names without maker and memory, where that leaves no two alike."""
    bare = Counter(_short(device.name, keep_size=False) for device in snapshot.accelerators.values())
    return {
        device.id: _short(
            device.name, keep_size=device.unified or bare[_short(device.name, keep_size=False)] > 1
        )
        for device in snapshot.accelerators.values()
    }


short_names = partial(per_snapshot, _short_names)


def cards_of(asked: str, snapshot: Snapshot) -> list[tuple[Accelerator, int]]:
    """The cards of a list such as `rtx-3090:2,rtx-3060-12:1` with their numbers, in the order given; alike ones
    together. Empty unless the list names several kinds, and not more cards than can be computed."""
    counts: Counter[Accelerator] = Counter()
    for item in asked.split(","):
        name, _colon, number = item.strip().partition(":")
        if found := snapshot.hosts(name):
            own = int(number) if number.isascii() and number.isdigit() else 1
            counts[found[0]] += found[1] * max(1, own)
    return list(counts.items()) if len(counts) > 1 and counts.total() <= MOST_CARDS else []


def cards_words(asked: str, snapshot: Snapshot) -> str:
    """`2 × RTX 3090 + RTX 3060 12 GB`; empty unless unequal cards are asked for."""
    return " + ".join(_counted(count, card_name(card)) for card, count in cards_of(asked, snapshot))


def card_name(card: Accelerator) -> str:
    """`RTX 3060 12 GB`: as short as several cards in a row need it."""
    return _short(card.name, keep_size=True).removeprefix("GeForce ")


def _counted(count: int, name: str) -> str:
    return f"{figures.whole(count)} × {name}" if count > 1 else name


def settled(answer: Answer) -> Configuration:
    """The configuration that was computed: with what offload moved, on the GPUs that are used."""
    return answer.estimate.configuration


def gpus_used(answer: Answer) -> int:
    """GPUs that hold something; an engine may take one of several."""
    memory = answer.estimate.memory
    return sum(load.gpus for load in memory.gpus) if memory else answer.configuration.count


def device_name(configuration: Configuration, snapshot: Snapshot) -> str:
    """`H100 SXM`, `Apple M4 Max (40-core GPU) 128 GB`."""
    device = configuration.accelerator
    return short_names(snapshot).get(device.id, device.name)


def hardware_words(configuration: Configuration, snapshot: Snapshot, asked: str = "") -> str:
    """`32 × H100 SXM`; a single device without the count; unequal cards of the list asked for one by one."""
    return cards_words(asked, snapshot) or _counted(configuration.count, device_name(configuration, snapshot))


def host_words(gpu: str, units: int, snapshot: Snapshot) -> str:
    """What `gpu` names, counted as the question counts it: `2 × HGX H100 8-GPU`; empty for a list of cards."""
    if system := snapshot.systems.get(gpu):
        return _counted(units, system.name)
    device = snapshot.accelerators.get(gpu)
    return _counted(units, short_names(snapshot)[device.id]) if device else ""


def version_words(version: str) -> str:
    """A version as people say it: 0.33 for 0.33.0."""
    return version.removesuffix(".0") if version.count(".") > 1 else version


def engine_words(configuration: Configuration) -> str:
    """`vLLM 0.33`."""
    return f"{engine_name(configuration.engine.id)} {version_words(configuration.engine_version)}".strip()


def format_words(weights_format: WeightsFormat, native: str | None) -> str:
    """`Q4_K_M`; the model's own format with its kind: `native (MXFP4)`."""
    if weights_format.id != "native":
        return weights_format.name
    if not native:
        return _("native")
    return _("native ({kind})").format(kind=format_label(native.removesuffix("-experts")))


def plan_words(configuration: Configuration) -> str:
    """How the GPUs share the model: `tensor 8 × 4 stages`, `layers over 2`; empty for one GPU, and what of the model
    stays in system RAM: `23 of 80 layers in RAM`."""
    return " · ".join(part for part in (_sharing(configuration), _host(configuration)) if part)


def _host(configuration: Configuration) -> str:
    plan = configuration.plan
    if plan.host_expert_layers:
        moe = expert_layers(configuration)
        return _("experts of {layers} of {all} layers in RAM").format(
            layers=min(plan.host_expert_layers, moe), all=moe
        )
    if plan.layers_on_host:
        layers = configuration.model.architecture.layer_count
        return _("{layers} of {all} layers in RAM").format(layers=plan.host_layers, all=layers)
    return ""


def _sharing(configuration: Configuration) -> str:
    plan = configuration.plan
    if configuration.count < 2:
        return ""
    if plan.gpus == 1:
        return _("on one GPU")
    if plan.tp == plan.dp == 1:
        if "max_gpus_layer_split" in configuration.engine.rules:
            return _("layers over {count}").format(count=plan.pp)
        return _("pipeline of {count} stages").format(count=plan.pp)
    words = _("tensor {tp}").format(tp=plan.tp) if plan.tp > 1 or plan.pp == 1 else ""
    stages = _("{pp} stages").format(pp=plan.pp) if plan.pp > 1 else ""
    copies = _("{dp} copies").format(dp=plan.dp) if plan.dp > 1 else ""
    shared = " × ".join(part for part in (words, stages, copies) if part)
    more = (
        (plan.ep, _("experts over {ep}").format(ep=plan.ep)),
        (plan.adp, _("attention in {adp} groups").format(adp=plan.adp)),
        (plan.dcp, _("cache over {dcp}").format(dcp=plan.dcp)),
    )
    return ", ".join([shared, *(text for size, text in more if size > 1)])
