"""Names as they stand in a line of the answer: short, in the makers' spelling."""

from __future__ import annotations

import re
from collections import Counter
from functools import partial

from calculator.estimation.configuration import Configuration
from calculator.web.panels.per_snapshot import per_snapshot
from calculator.web.wording.speech import gettext as _
from calculator.web.wording.text import engine_name, format_label
from catalog.records import WeightsFormat
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


def device_name(configuration: Configuration, snapshot: Snapshot) -> str:
    """`H100 SXM`, `Apple M4 Max (40-core GPU) 128 GB`."""
    device = configuration.accelerator
    return short_names(snapshot).get(device.id, device.name)


def hardware_words(configuration: Configuration, snapshot: Snapshot) -> str:
    """`32 × H100 SXM`; a single device without the count."""
    name = device_name(configuration, snapshot)
    return f"{configuration.count} × {name}" if configuration.count > 1 else name


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
    """How the GPUs share the model: `tensor 8 × 4 stages`, `layer split over 2`; empty for one GPU."""
    plan = configuration.plan
    if configuration.count < 2:
        return ""
    if plan.split == "layer":
        return _("layers over {count}").format(count=max(plan.pp, 1))
    words = _("tensor {tp}").format(tp=plan.tp) if plan.tp > 1 or plan.pp == 1 else ""
    stages = _("{pp} stages").format(pp=plan.pp) if plan.pp > 1 else ""
    copies = _("{dp} copies").format(dp=plan.dp) if plan.dp > 1 else ""
    return " × ".join(part for part in (words, stages, copies) if part)
