"""Links that a visitor may name, by what they carry in one direction. PURE.

A slot's rate is its line rate less its encoding (PCI-SIG: 8, 16, 32 GT/s at 128b/130b; 64 GT/s in FLIT mode, 121 GB/s
left of 128 for 16 lanes). A network's is its name: gigabits of a second per GPU. Thunderbolt 5 carries 80 Gbit/s.
"""

from __future__ import annotations

import re
from collections.abc import Mapping

from catalog.records import Accelerator, Link, System

AUTO = "auto"
FAST = "nvlink"
"""The device's own fast link: NVLink, Infinity Fabric and their kin."""

PCIE_BYTES_PER_S: Mapping[int, float] = {3: 15.75e9, 4: 31.5e9, 5: 63.0e9, 6: 121.0e9}
"""One direction of a slot of 16 lanes by generation, less its encoding [B/s]."""

SLOTS: Mapping[str, float] = {
    f"pcie{generation}{suffix}": rate * lanes / 16
    for generation, rate in PCIE_BYTES_PER_S.items()
    for lanes, suffix in ((16, ""), (8, "x8"), (4, "x4"))
}
"""What stands between the devices of one machine, through their slots [B/s]."""

NETWORKS: Mapping[str, float] = {
    "tb5": 80e9 / 8,
    **{f"eth{gigabits}": gigabits * 1e9 / 8 for gigabits in (1, 10, 25, 50, 100, 200, 400, 800)},
    **{f"ib{gigabits}": gigabits * 1e9 / 8 for gigabits in (100, 200, 400, 800)},
}
"""What stands between machines, for each device [B/s]."""

LINKS: tuple[str, ...] = (AUTO, FAST, *SLOTS, *NETWORKS)


def pcie_bytes_per_s(slot: str | None) -> float | None:
    """One direction of the card's slot, from its name ("PCIe 4.0 x16"); None when it is not known [B/s]."""
    found = re.search(r"(\d)\.\d x(\d+)", slot or "")
    if not found or int(found[1]) not in PCIE_BYTES_PER_S:
        return None
    return PCIE_BYTES_PER_S[int(found[1])] * int(found[2]) / 16


def fast_link_of(device: Accelerator, system: System | None) -> Link | None:
    """The link between the devices of one machine that is faster than the slot, None without one."""
    link = (system.link_inside if system else None) or device.link
    if link is None or not link.bandwidth_bytes_per_s or "PCIe" in link.kind:
        return None
    return link
