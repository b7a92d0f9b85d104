"""Which weights formats a model can be had in, the one with the most bits first. PURE."""

from __future__ import annotations

from collections.abc import Collection, Iterable

from calculator.estimation.configuration import Configuration
from calculator.estimation.engines.acceptance import format_refusal
from calculator.resolve import default_format
from catalog.records import LanguageModel, WeightsFormat

AS_THEY_ARE = ("native", "bf16", "f16", "fp8", "bnb-int8", "nf4")
"""Formats that every model has: its own, 16 bits, and what engines make of those while they load."""

MADE_BY_TOOLS = ("gguf", "mlx")
OTHERS_RECIPES = ("ud-", "fp4", "fp8", "_xl", "k_l")
"""Formats of these families that the engine's tool does not make of any model: a publisher's own mixtures, 4-bit floats.
q3_k_l is the tool's own."""

SIXTEEN_BITS = 16.0

SEVERE = "severe-loss"
"""The badge of formats that change a model so much that none is proposed by itself."""

DIVERGENCE = "kld_llama3_8b"
"""The measurement by which formats of about the same size are compared."""

NOTHING_GAINED = 1.1
"""A format of so many times the bits of the published checkpoint holds nothing more than it."""


def exists(configuration: Configuration, weights_format: WeightsFormat) -> bool:
    """Whether this model can be had in the format: as published, in 16 bits, as a file that somebody published, or made
    by the engine itself, while it loads or with its own tool."""
    model, name = configuration.model, weights_format.id
    if name in AS_THEY_ARE or name == default_format(configuration.engine, model)[0]:
        return True
    if any(file.weights_format == name for file in model.files):
        return True
    made = weights_format.family in MADE_BY_TOOLS and not weights_format.published_only
    return made and (name == "q3_k_l" or not any(mark in name for mark in OTHERS_RECIPES))


def native_bits(model: LanguageModel) -> float:
    """Bits per weight of the checkpoint as published [1]."""
    size = model.native_weight_bytes
    return 8.0 * size / model.parameters if size and model.parameters else SIXTEEN_BITS


def nominal_bits(model: LanguageModel, weights_format: WeightsFormat) -> float:
    """Bits per weight as a file of the format usually has them: of a native checkpoint its own [1]."""
    if weights_format.id == "native":
        return native_bits(model)
    return weights_format.bits_file_llama3_8b or weights_format.bits_nominal or SIXTEEN_BITS


def formats_of(configuration: Configuration, formats: Collection[WeightsFormat]) -> tuple[WeightsFormat, ...]:
    """The formats that are worth choosing, most bits first; of as many bits the checkpoint as published.

    The engine loads them on this device, the model can be had in them, they have no more bits than its checkpoint (of one
    published in 4 bits: than its file in the same types), their loss is not severe, and no other of as few bits was
    measured to lose less. What the engine takes by itself is always among them.
    """
    c = configuration
    usual, why = default_format(c.engine, c.model)
    most = NOTHING_GAINED * native_bits(c.model)
    if why == "format_native_4bit":
        most = min(nominal_bits(c.model, each) for each in formats if each.id in (usual, "native"))
    had = [
        (nominal_bits(c.model, each), each)
        for each in formats
        if exists(c, each) and format_refusal(c.engine, each, c.accelerator, c.model) is None
    ]
    worth = [
        (bits, each)
        for bits, each in had
        if each.id == usual or (bits <= most and not _severe(each) and not _surpassed(bits, each, had))
    ]
    worth.sort(key=lambda pair: (-pair[0], pair[1].id != "native", pair[1].id))
    return tuple(each for _, each in worth)


def _severe(weights_format: WeightsFormat) -> bool:
    return weights_format.quality.get("badge") == SEVERE


def _surpassed(
    bits: float, weights_format: WeightsFormat, others: Iterable[tuple[float, WeightsFormat]]
) -> bool:
    """Whether another format of no more bits was measured to be nearer to the model, by KL divergence."""
    own = weights_format.quality.get(DIVERGENCE)
    return own is not None and any(
        other is not weights_format
        and other_bits <= bits
        and other.quality.get(DIVERGENCE) is not None
        and other.quality[DIVERGENCE] < own
        for other_bits, other in others
    )
