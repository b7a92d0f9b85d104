"""The rule behind every recommendation, in a sentence."""

from __future__ import annotations

from collections.abc import Mapping

from calculator.web.wording.speech import gettext_lazy as _
from calculator.web.wording.text import Template

RECOMMENDATIONS: Mapping[str, Template] = {
    "best_single_gpu": _(
        "One card: a consumer card before a workstation card before a data-centre one, and of its kind the fastest."
    ),
    "best_value": _("The most tokens per second for the money; a used price counts where one is known."),
    "best_unified": _(
        "One machine whose GPU shares its memory, the fastest; of equals the one with the least memory."
    ),
    "smallest_server": _(
        "The fewest data-centre devices in one machine; of equals those with the least memory."
    ),
    "smallest_cluster": _(
        "The fewest data-centre devices in several machines, of a kind of which one machine is too small."
    ),
}

TITLES: Mapping[str, Template] = {
    "best_single_gpu": _("Best single card"),
    "best_value": _("Best value"),
    "best_unified": _("Best shared memory"),
    "smallest_server": _("Smallest server"),
    "smallest_cluster": _("Smallest cluster"),
    "least_memory": _("Least memory"),
    "recommended_memory": _("Least memory that fits"),
}
"""The names of the recommendations."""

KINDS: Mapping[str, Template] = {
    "consumer": _("Consumer"),
    "workstation": _("Workstation"),
    "datacenter": _("Data centre"),
    "apple": _("Apple"),
    "apu": _("APU"),
    "edge": _("Edge"),
    "cpu": _("CPU"),
}
"""Kinds of devices, as filters name them."""

HEADS: Mapping[str, Template] = {
    "name": _("Device"),
    "gpus": _("GPUs"),
    "memory": _("Memory"),
    "headroom": _("Needs of usable"),
    "rank": _("Verdict"),
    "speed": _("tok/s, one user"),
    "context": _("Longest context"),
    "price": _("Price"),
}
"""Heads of the table by the order that they lead to."""

FILTERS: Mapping[str, Template] = {
    "kind": _("kind of device"),
    "vendor": _("maker of the device, such as nvidia or moore-threads"),
    "gpu_only": _("1 leaves out machines whose GPU shares its memory, and processors"),
    "memory_min": _("least memory of one device by its name"),
    "best": _("1 adds the format with the most bits that fits on one unit"),
    "sort": _("order of the list"),
}
"""What narrows and orders the list of hardware."""

LEAST_MEMORY = _("The least memory with which it runs at all, tight included.")
RECOMMENDED_MEMORY = _("The least memory with which it fits outright.")
NEAREST = _("Nothing fits. What comes closest, by the share that is missing.")


def title_words(code: str) -> str:
    """The name of a recommendation."""
    return str(TITLES[code])


def rule_words(code: str) -> str:
    """The rule of a recommendation."""
    return str(RECOMMENDATIONS[code])


def filter_words(name: str) -> str:
    """What a filter is, as the API's documentation says it."""
    text = str(FILTERS[name])
    return f"{text[:1].upper()}{text[1:]}."
