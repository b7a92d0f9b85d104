"""Compressed sparse attention of DeepSeek V4: one shared entry per several tokens beside a short window."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from catalog.architecture.parts import SELECTED_TOKENS, AttentionWork, CacheEntry, StateEntry, Tensor, vector

_HEAVY_RATIO = 128
"""The ratio at which the layer has one compressor stream instead of two (formulas §2.0, `csa`)."""


@dataclass(frozen=True, slots=True)
class Csa:
    """DeepSeek V4 attention: `compress_ratio` tokens per stored entry, 0 for a layer that keeps the window only.

    mx_cache: in 8 bits the whole entry has one scale per 32 elements (V4.1), else its rotary part stays in 16 bits (V4).
    """

    KIND: ClassVar[str] = "csa"

    heads: int
    kv_heads: int
    head_dim: int
    qk_rope_head_dim: int
    key_is_value: bool
    q_lora_rank: int
    o_groups: int
    o_lora_rank: int
    window: int
    compress_ratio: int
    indexer: dict[str, Any] | None = None
    shares_compressed_cache: bool = False
    extra_parameters: int = 0
    mx_cache: bool = False

    @property
    def _streams(self) -> int:
        """Streams of the compressor: two that overlap, but one at the heavy ratio."""
        return 1 if self.compress_ratio == _HEAVY_RATIO else 2

    @property
    def _writes(self) -> bool:
        """The layer stores compressed entries of its own."""
        return self.compress_ratio > 0 and not self.shares_compressed_cache

    @property
    def _index(self) -> int:
        """Width of the layer's own index key, 0 without one."""
        return int(self.indexer["head_dim"]) if self.indexer and not self.indexer.get("shared") else 0

    def tensors(self, hidden_size: int) -> tuple[Tensor, ...]:
        """Weights of one such layer (formulas §2.0, `csa`)."""
        d, h, hd, ql, r = hidden_size, self.heads, self.head_dim, self.q_lora_rank, self.compress_ratio
        out = [
            Tensor("attn_q_a", ql, d, sharded=False),
            vector("attn_q_a_norm", ql),
            Tensor("attn_q_b", h * hd, ql),
        ]
        out += [Tensor("attn_kv", hd, d, sharded=False), vector("attn_kv_norm", hd)]
        out += [
            Tensor("attn_output_a", self.o_lora_rank, h * hd),
            Tensor("attn_output_b", d, self.o_groups * self.o_lora_rank),
        ]
        out.append(vector("attn_sinks", h))
        if r and not self.shares_compressed_cache:
            streams = self._streams
            out.append(Tensor("compressor", 2 * streams * hd, d, sharded=False))
            out += [vector("compressor_position", streams * r * hd), vector("compressor_norm", hd)]
        if self.indexer and not self.indexer.get("shared"):
            heads, key = self.indexer["heads"], self.indexer["head_dim"]
            out.append(Tensor("indexer_compressor", 4 * key, d, sharded=False))
            out.append(vector("indexer_position", 2 * r * key + key))
            out += [
                Tensor("indexer_q", heads * key, ql, sharded=False),
                Tensor("indexer_weights", heads, d, sharded=False),
            ]
        if self.extra_parameters:
            out.append(vector("attn_extra", self.extra_parameters))
        return tuple(out)

    def caches(self) -> tuple[CacheEntry, ...]:
        """The raw entries of the window; one compressed entry and one index key per so many tokens (formulas §3.1)."""
        rope = 0 if self.mx_cache else self.qk_rope_head_dim
        raw = CacheEntry("csa", self.head_dim, 0, None, window=self.window, rope_elements=rope)
        if not self._writes and not self._index:
            return (raw,)
        pool = self.compress_ratio
        index_pool = int((self.indexer or {}).get("compress_ratio", pool))
        compressed = CacheEntry(
            "csa",
            self.head_dim if self._writes else 0,
            0,
            None,
            index_elements=self._index,
            index_pool=index_pool,
            sparse=self.indexer is not None,
            rope_elements=rope if self._writes else 0,
            pool=pool,
        )
        return raw, compressed

    def attention(self) -> tuple[AttentionWork, ...]:
        """The window's raw entries, and of the compressed ones those that the indexer selects."""
        flops = 4 * self.heads * self.head_dim
        entries = replace(self, shares_compressed_cache=False).caches()
        index = self.indexer or {}
        selected = (index.get("topk") or SELECTED_TOKENS) if index else None
        index_flops = 0 if index.get("shared") else 2 * index.get("heads", 0) * index.get("head_dim", 0)
        raw = AttentionWork(entries[0], flops, flops)
        return (raw, *(AttentionWork(e, flops, flops, index_flops, 0, selected) for e in entries[1:]))

    def states(self) -> tuple[StateEntry, ...]:
        """Compressor and index compressor: rows of key and score per stream, for the tokens not yet compressed."""
        rows = self._streams * self.compress_ratio
        row = 2 * self._streams * self.head_dim if self._writes else 0
        row += 4 * self._index
        if not rows or not row or self.compress_ratio == 1:
            return ()
        kind = "csa_compressor"
        return (StateEntry(kind, rows * row, 0, 1, float32=True, replicated=True, row_elements=row),)
