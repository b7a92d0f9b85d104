"""Which connections the field Link offers: those that the devices can have."""

from __future__ import annotations

from calculator.estimation.configuration import Configuration
from calculator.estimation.links import AUTO, FAST, NETWORKS, SLOTS, fast_link_of, pcie_bytes_per_s
from calculator.web.wording.links import AUTO_NAME, network_name, slot_name


def links_offered(c: Configuration) -> list[tuple[str, str]]:
    """(value, label): `auto`, the device's own fast link, slots up to the card's own, networks where machines are joined."""
    offered = [(AUTO, str(AUTO_NAME))]
    fast = fast_link_of(c.accelerator, c.system)
    if fast and c.plan.gpus_per_node > 1:
        offered.append((FAST, fast.kind))
    if not c.accelerator.unified and c.plan.gpus_per_node > 1:
        own = pcie_bytes_per_s(c.accelerator.pcie)
        offered += [(name, slot_name(name)) for name, rate in SLOTS.items() if own is None or rate <= own]
    if c.plan.nodes > 1:
        offered += [(name, network_name(name)) for name in NETWORKS]
    return offered
