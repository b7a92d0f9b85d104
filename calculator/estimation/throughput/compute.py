"""Which rate the multiplications of a format really run at on a device (formulas §7, §7.3). PURE.

A format of few bits is not a fast one by itself: 4-bit weights without 4-bit kernels are unpacked and multiplied in 16
bits, and an FP8 checkpoint on a card without FP8 likewise.
"""

from __future__ import annotations

from calculator.estimation.configuration import Configuration
from catalog.records import Accelerator, WeightsFormat


def sixteen_bit_flops_per_s(accelerator: Accelerator) -> float | None:
    """The dense 16-bit rate, with 32-bit sums where both are published; None when no figure exists [FLOP/s].

    Where only 8-bit rates are published it is half of them, as on every device that has both.
    """
    rates = accelerator.dense_flops_per_s
    if published := rates.get("fp16") or rates.get("bf16"):
        return published
    eight = rates.get("fp8") or rates.get("int8")
    return eight / 2 if eight else None


def compute_rate(c: Configuration) -> str | None:
    """The name of the rate that weights are multiplied at: fp16, int8, fp8 or fp4; None without a compute figure.

    The first rate of the engine's row for the format that the device has, and that is not slower than 16 bits.
    """
    sixteen = sixteen_bit_flops_per_s(c.accelerator)
    for row in c.engine.rules.get("speed", {}).get("compute_rates", ()):
        if not _about(row, c):
            continue
        for rate in row["rates"]:
            flops = c.accelerator.dense_flops_per_s.get(rate)
            if flops and flops >= (sixteen or 0.0):
                return str(rate)
    return "fp16" if sixteen else None


def peak_flops_per_s(c: Configuration) -> float | None:
    """The dense peak of the rate that weights are multiplied at; None without a compute figure [FLOP/s]."""
    rate = compute_rate(c)
    if rate is None:
        return None
    return sixteen_bit_flops_per_s(c.accelerator) if rate == "fp16" else c.accelerator.dense_flops_per_s[rate]


def _about(row: dict[str, list[str]], c: Configuration) -> bool:
    """Whether a row of the engine's rates names the format (a native checkpoint: the one it is kept in)."""
    if "backends" in row and c.backend not in row["backends"]:
        return False
    identity, family = _kept_in(c.weights_format, c.model.native_format)
    return identity in row.get("ids", ()) or family in row.get("families", ())


def _kept_in(weights_format: WeightsFormat, native: str | None) -> tuple[str, str]:
    """(id, family) of the format, of a native checkpoint those of what it is kept in."""
    if weights_format.id != "native" or not native:
        return weights_format.id, weights_format.family
    kept = native.removesuffix("-experts")
    return kept, "fp8" if "fp8" in kept else kept
