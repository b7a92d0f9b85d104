"""How much of a device an engine may take (formulas §1.2, §1.3). PURE."""

from __future__ import annotations

from functools import lru_cache

from calculator.estimation.configuration import Platform
from calculator.estimation.terms import Interval, Reason
from catalog.records import GIB, MIB, Accelerator

DESKTOP_BYTES = Interval(0.8 * GIB, 0.3 * GIB, 1.5 * GIB)
"""A compositor and a browser on the same card (assumption, formulas §1.3)."""

WINDOWS_SHARE = 0.05
WINDOWS_LEAST_BYTES = int(0.8 * GIB)
APU_CARVE_OUT_BYTES = GIB // 2
GTT_LEAST_BYTES = 3 * GIB
SHARED_RESERVE_BYTES = Interval(4 * GIB, 2 * GIB, 8 * GIB)
GRACE_SHARES = Interval(0.85, 101.5 / 121.69, 118 / 121.69)
"""DGX Spark: share of the process total that is free beside the system (103.4 of 121.69 GiB; 101.5 after boot, 118 on a
stripped system; formulas §1.3)."""

_MAC_26: tuple[tuple[int, Interval], ...] = (
    (8, Interval(0.70, 0.67, 0.74)),
    (24, Interval(0.74, 0.74, 0.74)),
    (32, Interval(0.78, 0.78, 0.78)),
    (96, Interval(0.80, 0.75, 0.84)),
    (128, Interval(0.84, 0.84, 0.84)),
    (1 << 30, Interval(0.84, 0.75, 0.90)),
)
"""macOS 26: the GPU's share of memory by size of the machine, up to and including so many GB (formulas §1.3)."""


@lru_cache(maxsize=4096)
def physical_bytes(accelerator: Accelerator) -> int | None:
    """All memory of the device as the driver reports it; None when no figure is known [B].

    A driver total that nobody published is found by the rule between driver and process total (formulas §1.2).
    """
    if accelerator.unified:
        return accelerator.process_bytes or accelerator.memory_gb * GIB
    if accelerator.reported_bytes:
        return accelerator.reported_bytes
    if accelerator.process_bytes is None:
        return None
    if accelerator.vendor == "NVIDIA":
        return int((accelerator.process_bytes + 350 * MIB) / 0.996)
    return max(accelerator.process_bytes, accelerator.memory_gb * GIB)


def process_total(accelerator: Accelerator, platform: Platform) -> int | None:
    """What a process sees as the device's total, measured or by rule; None when no figure is known [B].

    Under Windows and WSL that is all but 1 MiB of the driver's total (formulas §1.2).
    """
    physical = physical_bytes(accelerator)
    if platform.os in ("windows", "wsl") and not accelerator.unified and physical is not None:
        return physical - MIB
    return accelerator.process_bytes


def default_os(accelerator: Accelerator) -> str:
    """The operating system a device usually runs."""
    return "macos26" if accelerator.kind == "apple" else "linux"


@lru_cache(maxsize=4096)
def usable_memory(accelerator: Accelerator, platform: Platform) -> tuple[Interval, Reason] | None:
    """What engines may take of one device [B], with its interval and the rule that says so; None when unknown."""
    if accelerator.unified:
        return _unified(accelerator, platform)
    total = accelerator.process_bytes
    physical = physical_bytes(accelerator)
    if total is None or physical is None:
        return None
    measured = accelerator.process_kind == "measured"
    half = 0.06 * GIB if measured else max(0.004 * total, 150 * MIB)
    usable = Interval(total, total - half, total + half)
    reason = Reason("process_total" if measured else "process_total_by_rule", {"process_bytes": total})
    if platform.os in ("windows", "wsl"):
        taken = max(int(WINDOWS_SHARE * physical), WINDOWS_LEAST_BYTES)
        left = physical - MIB - taken
        return Interval(left, left - half, left), Reason("windows_reserve", {"reserve_bytes": taken})
    if platform.display:
        low, high = usable.low - DESKTOP_BYTES.high, usable.high - DESKTOP_BYTES.low
        return Interval(total - DESKTOP_BYTES.value, low, high), Reason(
            "display_reserve", {"reserve_bytes": int(DESKTOP_BYTES.value)}
        )
    return usable, reason


def _unified(accelerator: Accelerator, platform: Platform) -> tuple[Interval, Reason]:
    physical = physical_bytes(accelerator) or accelerator.memory_gb * GIB
    if accelerator.kind == "apple":
        return _mac(accelerator.memory_gb, physical, platform)
    if accelerator.process_bytes:
        shares = GRACE_SHARES
        pool = Interval(shares.value * physical, shares.low * physical, shares.high * physical)
        return pool, Reason("grace_pool", {"process_bytes": physical, "share": shares.value})
    if accelerator.kind == "apu" and accelerator.vendor == "AMD":
        return _apu(physical, platform)
    reserve = SHARED_RESERVE_BYTES
    return Interval(physical - reserve.value, physical - reserve.high, physical - reserve.low), Reason(
        "reserve_4gib", {"reserve_bytes": int(reserve.value)}
    )


def _mac(memory_gb: int, physical: int, platform: Platform) -> tuple[Interval, Reason]:
    if platform.wired_gb is not None:
        wired = min(platform.wired_gb, memory_gb) * GIB
        return Interval(wired, wired, wired), Reason("macos_wired", {"wired_gb": platform.wired_gb})
    if platform.os == "macos15":
        share = 2 / 3 if memory_gb <= 32 else 0.75
        shares = Interval(share, share, share)
    else:
        shares = next(interval for size, interval in _MAC_26 if memory_gb <= size)
    generation = 15 if platform.os == "macos15" else 26
    usable = Interval(shares.value * physical, shares.low * physical, shares.high * physical)
    return usable, Reason("macos_default", {"share": shares.value, "generation": generation})


def _apu(physical: int, platform: Platform) -> tuple[Interval, Reason]:
    if platform.os in ("windows", "wsl"):
        carve = platform.vgm_gb * GIB if platform.vgm_gb is not None else 0.625 * physical
        low, high = (carve, carve) if platform.vgm_gb is not None else (0.5 * physical, 0.75 * physical)
        rest = (physical - carve) / 2 if platform.vgm_gb is not None else 0
        return Interval(carve + rest, low + rest, high + rest), Reason(
            "apu_windows", {"carve_bytes": int(carve)}
        )
    carve = platform.vgm_gb * GIB if platform.vgm_gb is not None else APU_CARVE_OUT_BYTES
    gtt = max(GTT_LEAST_BYTES, (physical - carve) / 2)
    usable = min(float(physical), carve + gtt)
    return Interval(usable, usable, usable), Reason(
        "apu_linux", {"carve_bytes": int(carve), "gtt_bytes": int(gtt)}
    )
