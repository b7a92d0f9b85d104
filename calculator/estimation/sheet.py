"""The sheet of one model: sizes of its checkpoint in every format, its cache and its state, whatever the hardware.

Cache, index keys and state stand in vLLM's layout without its rounding (formulas §3.1, §3.2): what a request adds, not
what an engine reserves. PURE.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass

from calculator.estimation.cache import entry_bytes, index_key_bytes
from calculator.estimation.configuration import Configuration
from calculator.estimation.estimate import cache_of
from calculator.estimation.weights import has_rule, weight_layout
from catalog.architecture import Architecture
from catalog.records import LanguageModel, WeightsFormat

CONTEXTS = (8_192, 32_768, 131_072, 1_048_576)
"""Contexts of the sheet's rows [tokens]; those beyond the model's maximum are left out, the maximum itself is added."""

Q4_K_M_BITS = 4.83
Q4_K_M_TABLE_BITS = 6.5625
"""Bits of Q4_K_M that published tables multiply with: of matrices, and of the input embedding (formulas W-2.13)."""


@dataclass(frozen=True, slots=True)
class CacheRow:
    """One request of `context_tokens` tokens on one unsharded copy [B]. fp8 keeps a sparse latent packed (656 B)."""

    context_tokens: int
    bf16_bytes: int
    fp8_bytes: int
    index_bytes: int


@dataclass(frozen=True, slots=True)
class BuiltSize:
    """The size of a checkpoint or file in one format [B]. basis: published or rule. bits: per weight, all weights.

    least_bytes: what devices hold of it whatever the engine: without encoders, metadata and the input embedding.
    """

    weights_format: WeightsFormat
    size_bytes: int
    least_bytes: int
    basis: str
    bits_per_weight: float
    source: str


@dataclass(frozen=True, slots=True)
class Sheet:
    """Everything that follows from the model alone."""

    nominal: dict[str, float]
    built: tuple[BuiltSize, ...]
    rows: tuple[CacheRow, ...]
    state_bytes: int


def sheet_of(configuration: Configuration, formats: Iterable[WeightsFormat]) -> Sheet:
    """The sheet of the configuration's model; the configuration gives the engine whose layout the state has."""
    model = configuration.model
    built = tuple(built_size(model, each) for each in formats if has_rule(model, each))
    if model.task != "generate":
        return Sheet(nominal_bytes(model), built, (), 0)
    state = cache_of(configuration).state_bytes_per_request
    return Sheet(nominal_bytes(model), built, cache_rows(model), state)


def nominal_bytes(model: LanguageModel) -> dict[str, float]:
    """Sizes as bits × parameters, without scales, as published tables print them [B] (formulas W-2.13).

    bf16 2·P; fp8 P + V·d for each table in 16 bits; q4_k_m 4.83 bits, one table of V·d at 6.5625; native as published.
    """
    architecture = model.architecture
    table = architecture.vocabulary_size * architecture.hidden_size
    tables = 1 if architecture.tied_embeddings else 2
    parameters = model.parameters
    out = {
        "bf16": 2.0 * parameters,
        "fp8": float(parameters + tables * table),
        "q4_k_m": ((parameters - table) * Q4_K_M_BITS + table * Q4_K_M_TABLE_BITS) / 8,
    }
    if model.native_weight_bytes:
        out["native"] = float(model.native_weight_bytes)
    return out


def built_size(model: LanguageModel, weights_format: WeightsFormat) -> BuiltSize:
    """The whole checkpoint, or the GGUF file of the language model with its metadata.

    Raises LookupError when no rule and no published size exists.
    """
    layout = weight_layout(model, weights_format)
    size = layout.file_bytes if weights_format.family == "gguf" else layout.checkpoint_bytes
    least = layout.text_bytes - layout.embedding_bytes - layout.lookup_bytes
    return BuiltSize(weights_format, size, least, layout.basis, layout.bits_per_weight, layout.source)


def contexts_of(model: LanguageModel) -> tuple[int, ...]:
    """The contexts of the sheet's rows [tokens]."""
    longest = model.max_context_tokens
    if longest is None:
        return CONTEXTS[:-1]
    within = [tokens for tokens in CONTEXTS if tokens <= longest]
    return tuple(within) if longest in within else (*within, longest)


def cache_rows(model: LanguageModel) -> tuple[CacheRow, ...]:
    """What one request of each context caches."""
    return tuple(cache_row(model.architecture, tokens) for tokens in contexts_of(model))


def cache_row(architecture: Architecture, tokens: int) -> CacheRow:
    """Keys, values and latents of all layers; a windowed layer keeps its window at most."""
    bf16 = fp8 = index = 0
    blocks = (architecture.blocks[block] for block in architecture.sequence)
    for entry, layers in Counter(entry for block in blocks for entry in block.mixer.caches()).items():
        held = -(-tokens // entry.pool) if entry.window is None else min(tokens, entry.window)
        bf16 += layers * held * entry_bytes(entry, "bf16")
        fp8 += layers * held * entry_bytes(entry, "fp8")
        index += layers * -(-tokens // entry.index_pool) * index_key_bytes(entry, "bf16")
    return CacheRow(tokens, bf16, fp8, index)
