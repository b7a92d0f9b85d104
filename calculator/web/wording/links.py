"""The names of links."""

from __future__ import annotations

import re

from calculator.web.wording.speech import gettext as _
from calculator.web.wording.speech import gettext_lazy

AUTO_NAME = gettext_lazy("as the machine has it")

_KINDS = {"eth": "Ethernet", "ib": "InfiniBand"}


def slot_name(link: str) -> str:
    """`pcie4x8`: PCIe 4.0 × 8."""
    generation, _x, lanes = link.removeprefix("pcie").partition("x")
    return f"PCIe {generation}.0 × {lanes or 16}"


def network_name(link: str) -> str:
    """`ib400`: InfiniBand, 400 Gbit/s per GPU."""
    if link == "tb5":
        return "Thunderbolt 5"
    found = re.fullmatch(r"([a-z]+)(\d+)", link)
    assert found, link
    return _("{network}, {gigabits} Gbit/s per GPU").format(network=_KINDS[found[1]], gigabits=found[2])
