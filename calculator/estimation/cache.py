"""What one layer stores per token and per request, by cache type, as engines lay it out (formulas §3.1, §3.2). PURE."""

from __future__ import annotations

from fractions import Fraction
from functools import lru_cache

from catalog.architecture import Architecture, CacheEntry, StateEntry
from catalog.architecture.gqa import Gqa

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
    "q8": Fraction(8, 8) + Fraction(2, 32),
    "q6": Fraction(6, 8) + Fraction(2, 32),
    "q4": Fraction(4, 8) + Fraction(2, 32),
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

COMPRESSED_PAGE_STEPS = {584: 576, 528: 512}
"""Pages of compressed entries are whole multiples of this, by the bytes of an entry in 8 bits (formulas §3.2) [B]."""

IMAGE_TOKENS = (6404, 1601)
"""Encoder tokens that cross attention keeps for an image: four tiles of 1601, and one tile of a small image [tokens]."""

STATE_CODES = {
    "gated_deltanet": "state_gdn",
    "kda": "state_kda",
    "mamba2": "state_mamba2",
    "mamba1": "state_mamba1",
    "lightning": "state_lightning",
    "shortconv": "state_shortconv",
    "shortconv_beside": "state_shortconv",
    "csa_compressor": "state_compressor",
}
"""Codes of the state terms by mixer kind."""

RULE_STATES = frozenset({"lightning", "shortconv_beside", "csa_compressor"})
"""Kinds of state whose width or layout in the engines was not measured: their terms carry an interval."""


@lru_cache(maxsize=4096)
def entry_bytes(entry: CacheEntry, cache_type: str, shards: int = 1) -> int:
    """Bytes of one stored entry of one layer on one rank, without the index key [B]. An entry holds `entry.pool` tokens.

    shards: tensor-parallel size; KV heads are divided until each rank has one, a latent is repeated on every rank.
    """
    each, scale = _element_and_scale(cache_type)
    if entry.kind == "csa":
        return _compressed_bytes(entry, cache_type, each)
    if entry.kind == "mla":
        if entry.sparse and cache_type in ("fp8", "nvfp4"):
            return _sparse_latent_bytes(entry, cache_type)
        return int(entry.elements * each) + scale
    heads = max(1, entry.kv_heads or 1)
    own = -(-heads // shards)
    return int(entry.elements * each * own / heads) + 2 * scale * own


def _element_and_scale(cache_type: str) -> tuple[Fraction, int]:
    """Bytes per element, and bytes of a scale per token and head."""
    return PER_HEAD_BYTES.get(cache_type) or (ELEMENT_BYTES[cache_type], 0)


def _sparse_latent_bytes(entry: CacheEntry, cache_type: str) -> int:
    """FlashMLA's packed layout for models with an index: 656 B in 8 bits, 352 B in 4 bits for a latent of 512 + 64.

    8 bits: an FP32 scale per 128 elements, the rotary part in 16 bits; 4 bits: 1 B per 16 elements, the rotary part in 8.
    """
    latent, rope = entry.elements - entry.rope_elements, entry.rope_elements
    if cache_type == "fp8":
        return latent + 4 * -(-latent // 128) + 2 * rope
    return latent // 2 + latent // 16 + rope


def _compressed_bytes(entry: CacheEntry, cache_type: str, each: Fraction) -> int:
    """One entry of compressed attention: 584 B in 8 bits (V4: rotary part in 16 bits, 8 B of scales), 528 B (V4.1: a
    scale per 32 elements), 288 B in 4 bits."""
    if not entry.elements:
        return 0
    if cache_type == "fp8":
        rope = entry.rope_elements
        return entry.elements + rope + 8 if rope else entry.elements + entry.elements // 32
    if cache_type == "nvfp4":
        return entry.elements // 2 + entry.elements // 16
    return int(entry.elements * each)


def index_bytes(entry: CacheEntry, cache_type: str) -> int:
    """The index key as llama.cpp and MLX keep it: in the type of the keys [B]."""
    return int(entry.index_elements * _element_and_scale(cache_type)[0])


def index_bytes_fp8(entry: CacheEntry) -> int:
    """The index key as vLLM and SGLang keep it: 8 bits and an FP32 scale per 128 elements, whatever the cache type [B]."""
    if not entry.index_elements:
        return 0
    return entry.index_elements + 4 * -(-entry.index_elements // 128)


def index_key_bytes(entry: CacheEntry, cache_type: str) -> int:
    """The index key in a server: 8 bits beside a latent, in the cache type beside keys and values (MiniMax M3) [B]."""
    return index_bytes(entry, cache_type) if entry.kind == "gqa" else index_bytes_fp8(entry)


def index_spread(entry: CacheEntry) -> tuple[float, float]:
    """How far an index key may lie from its bytes, as factors: pooled keys beside keys and values are not documented."""
    return (0.5, float(entry.index_pool)) if entry.kind == "gqa" and entry.index_pool > 1 else (1.0, 1.0)


@lru_cache(maxsize=4096)
def state_bytes(
    entry: StateEntry, state_width: int, conv_width: int, shards: int = 1, drafted: int = 0
) -> int:
    """A layer's fixed state per request on one rank [B]. Widths: bytes per element of state and convolution tail.

    drafted: speculative tokens, for each of which the convolution remembers one more column.
    """
    conv = entry.conv_elements
    if drafted and entry.conv_columns:
        conv = conv * (entry.conv_columns + drafted) // entry.conv_columns
    size = entry.state_elements * state_width + conv * conv_width
    return size if entry.replicated else -(-size // shards)


def state_most(entry: StateEntry, state_width: int, conv_width: int) -> float:
    """How much larger than its bytes a state may be, as a factor: 1 where its layout is known.

    Lightning states may be 32 bits wide; a stream of convolutions that nobody confirmed may exist.
    """
    size = entry.state_elements * state_width + entry.conv_elements * conv_width
    if entry.kind == "lightning":
        return max(1.0, 4 * entry.state_elements / size)
    return 1.0 + entry.doubtful_elements * conv_width / size


@lru_cache(maxsize=4096)
def encoder_entries(
    architecture: Architecture, first: int, layers: int
) -> tuple[tuple[CacheEntry, int], ...]:
    """Cross-attention caches of a run of layers, with the number of layers that keep each."""
    counts: dict[CacheEntry, int] = {}
    for index in architecture.sequence[first : first + layers]:
        mixer = architecture.blocks[index].mixer
        entry = mixer.encoder_cache() if isinstance(mixer, Gqa) else None
        if entry:
            counts[entry] = counts.get(entry, 0) + 1
    return tuple(counts.items())
