"""What a printed figure leaves open: half a step of its last digit. PURE."""

from __future__ import annotations

import re

from catalog.records import GIB, MIB, Observation

_UNITS = {
    "b": 1,
    "kb": 10**3,
    "kib": 2**10,
    "mb": 10**6,
    "mib": MIB,
    "gb": 10**9,
    "gib": GIB,
    "g": GIB,
    "m": 10**6,
    "k": 10**3,
    "": 1,
}


def tolerance_of(seen: Observation) -> float:
    """Half a step of the last printed digit, in the observation's unit; the amount's own rounding where nothing tells.

    >>> tolerance_of(Observation("weights", None, 12.56 * GIB, "bytes", "12.56 GiB")) / GIB
    0.005
    """
    match = re.search(r"(\d[\d,]*)(?:\.(\d+))?\s*([A-Za-z]*)", seen.printed)
    if not match:
        return 0.5
    whole, decimals, unit = match.group(1), match.group(2) or "", match.group(3).lower()
    step = 10.0 ** -len(decimals)
    if seen.unit != "bytes":
        return 0.5 * step * (_UNITS.get(unit, 1) if unit in ("m", "k") else 1)
    written = float(f"{whole.replace(',', '')}.{decimals or 0}")
    # The unit that the source means is the one that gives the amount: some print GiB as "GB".
    scale = seen.amount / written if written else _UNITS.get(unit, 1)
    return 0.5 * step * scale
