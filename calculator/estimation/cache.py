"""What one layer stores per token and per request, by cache type, as engines lay it out (formulas §3.1, §3.2). PURE."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from catalog.architecture import CacheEntry, StateEntry

ELEMENT_BYTES: dict[str, Fraction] = {
    "f32": Fraction(4),
    "bf16": Fraction(2),
    "fp8": Fraction(1),
    "q8_0": Fraction(34, 32),
    "q5_1": Fraction(24, 32),
    "q5_0": Fraction(22, 32),
    "q4_1": Fraction(20, 32),
    "q4_0": Fraction(18, 32),
    "iq4_nl": Fraction(18, 32),
    "nvfp4": Fraction(1, 2) + Fraction(1, 16),
    "mlx-8bit": Fraction(8, 8) + Fraction(4, 64),
    "mlx-4bit": Fraction(4, 8) + Fraction(4, 64),
}
"""Bytes per cached element of each type (formulas §3.2)."""

PER_HEAD_BYTES: dict[str, tuple[Fraction, int]] = {
    "int8_per_token_head": (Fraction(1), 4),
    "fp8_per_token_head": (Fraction(1), 4),
    "int4_per_token_head": (Fraction(1, 2), 4),
}
"""Bytes per element, and a scale per token and head [B]."""

SPARSE_LATENT_BYTES = {"fp8": 656, "nvfp4": 352}
"""A latent of a model with an index in FlashMLA's packed layout: 512 in 8 bits, 4 FP32 scales, 64 in 16 bits [B]."""

NOT_COMPUTED = frozenset({"csa", "lightning", "mamba1", "parallel"})
"""Mixer kinds whose cache or state is described in the catalogue but not computed yet."""


STATE_CODES = {
    "gated_deltanet": "state_gdn",
    "kda": "state_kda",
    "mamba2": "state_mamba2",
    "shortconv": "state_shortconv",
}
"""Codes of the state terms by mixer kind."""


@lru_cache(maxsize=4096)
def entry_bytes(entry: CacheEntry, cache_type: str, shards: int = 1) -> int:
    """Bytes per token of one layer on one rank, without the index key [B].

    shards: tensor-parallel size; KV heads are divided until each rank has one, a latent is repeated on every rank.
    """
    each, scale = _element_and_scale(cache_type)
    if entry.kind == "mla":
        if entry.sparse and cache_type in SPARSE_LATENT_BYTES:
            return SPARSE_LATENT_BYTES[cache_type]
        return int(entry.elements * each) + scale
    heads = max(1, entry.kv_heads or 1)
    own = -(-heads // shards)
    return int(entry.elements * each * own / heads) + 2 * scale * own


def _element_and_scale(cache_type: str) -> tuple[Fraction, int]:
    """Bytes per element, and bytes of a scale per token and head."""
    return PER_HEAD_BYTES.get(cache_type) or (ELEMENT_BYTES[cache_type], 0)


def index_bytes(entry: CacheEntry, cache_type: str) -> int:
    """The index key as llama.cpp keeps it: in the type of the keys [B]."""
    return int(entry.index_elements * _element_and_scale(cache_type)[0])


def index_bytes_fp8(entry: CacheEntry) -> int:
    """The index key as vLLM and SGLang keep it: 8 bits and an FP32 scale per 128 elements, whatever the cache type [B]."""
    if not entry.index_elements:
        return 0
    return entry.index_elements + 4 * -(-entry.index_elements // 128)


@lru_cache(maxsize=4096)
def state_bytes(entry: StateEntry, state_width: int, conv_width: int, shards: int = 1) -> int:
    """A layer's fixed state per request on one rank [B]. Widths: bytes per element of state and convolution tail."""
    return -(-(entry.state_elements * state_width + entry.conv_elements * conv_width) // shards)


def not_computed(entry: CacheEntry) -> str | None:
    """The code of a cache that is not computed yet, None when it is."""
    if entry.kind == "csa":
        return "csa"
    if entry.kind == "mla" and entry.window:
        return "windowed_mla"
    if entry.kind == "gqa" and entry.index_elements:
        return "indexed_gqa"
    return "pooled_index" if entry.index_pool > 1 else None
