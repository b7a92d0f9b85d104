"""Compressed sparse attention of DeepSeek V4: one shared entry per several tokens beside a short window."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from catalog.architecture.parts import CacheEntry, StateEntry, Tensor, vector

_HEAVY_RATIO = 128
"""The ratio at which the layer has one compressor stream instead of two (formulas §2.0, `csa`)."""


@dataclass(frozen=True, slots=True)
class Csa:
    """DeepSeek V4 attention: `compress_ratio` tokens per stored entry, 0 for a layer that keeps the window only."""

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
            streams = 1 if r == _HEAVY_RATIO else 2
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
        """The shared entry, one per `compress_ratio` tokens; its layouts differ by engine."""
        return (
            CacheEntry("csa", self.head_dim, 0, None, window=self.window, sparse=self.indexer is not None),
        )

    def states(self) -> tuple[StateEntry, ...]:
        return ()
