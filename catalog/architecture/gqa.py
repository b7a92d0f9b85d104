"""Grouped-query attention and its relatives: MHA, MQA, sliding window, chunked, shared KV, cross attention."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import Any, ClassVar

from catalog.architecture.parts import SELECTED_TOKENS, AttentionWork, CacheEntry, StateEntry, Tensor, vector


@dataclass(frozen=True, slots=True)
class Gqa:
    """Attention with `heads` query heads over `kv_heads` key and value heads (formulas §2.0, §3.1).

    kv_heads = heads is MHA, 1 is MQA. window: sliding window in tokens; with `chunk` it is chunked local attention.
    gate: an output gate per element or per head. shares_cache: reads an earlier layer's keys and values.
    """

    KIND: ClassVar[str] = "gqa"

    heads: int
    kv_heads: int
    head_dim: int
    v_head_dim: int
    window: int | None = None
    chunk: bool = False
    bias: bool = False
    o_bias: bool = False
    qk_norm: bool | str = False
    gate: bool | str = False
    sinks: bool = False
    cross_attention: bool = False
    shares_cache: bool = False
    kv_weights_in_checkpoint: bool = False
    k_eq_v: bool = False
    causal: bool = True
    indexer: dict[str, Any] | None = None
    short_conv: dict[str, Any] | None = None
    extra_parameters: int = 0

    def tensors(self, hidden_size: int) -> tuple[Tensor, ...]:
        """Weights of one such layer; `hidden_size` is the model's width d [elements]."""
        d, h, g, hd, hv = hidden_size, self.heads, self.kv_heads, self.head_dim, self.v_head_dim
        own_kv = not self.shares_cache or self.kv_weights_in_checkpoint
        out = [Tensor("attn_q", h * hd, d), Tensor("attn_output", d, h * hv)]
        if own_kv:
            out.append(Tensor("attn_k", g * hd, d, shard_limit=g))
            if not self.k_eq_v:
                out.append(Tensor("attn_v", g * hv, d, shard_limit=g))
        if self.bias:
            out.append(vector("attn_bias", h * hd + g * hd + g * hv))
        if self.o_bias:
            out.append(vector("attn_output_bias", d))
        if self.qk_norm in ("full", "per-head-weights"):
            out.append(vector("attn_qk_norm", h * hd + g * hd))
        elif self.qk_norm:
            out.append(vector("attn_qk_norm", 2 * hd if own_kv else hd))
        if self.gate == "element":
            out.append(Tensor("attn_gate", h * hv, d))
        elif self.gate == "head":
            out.append(Tensor("attn_gate", h, d))
        if self.sinks:
            out.append(vector("attn_sinks", h))
        if self.cross_attention:
            out.append(vector("cross_attn_gates", 2))
        if self.indexer:
            width, key = self.indexer["heads"] * self.indexer["head_dim"], self.indexer["head_dim"]
            out += [
                Tensor("indexer_q_proj", width, d, sharded=False),
                Tensor("indexer_k_proj", key, d, sharded=False),
            ]
            out.append(vector("indexer_norm", 2 * key))
        if self.extra_parameters:
            out.append(vector("attn_extra", self.extra_parameters))
        return tuple(out)

    def caches(self) -> tuple[CacheEntry, ...]:
        """Keys and values per token; nothing when they are another layer's or the encoder's."""
        if self.shares_cache or self.cross_attention or not self.causal:
            return ()
        index = self.indexer["head_dim"] if self.indexer else 0
        return (
            CacheEntry(
                "gqa",
                self.kv_heads * self.head_dim,
                self.kv_heads * self.v_head_dim,
                self.kv_heads,
                window=self.window,
                chunked=self.chunk,
                index_elements=index,
                index_pool=self.indexer.get("key_pool", 1) if self.indexer else 1,
                sparse=self.indexer is not None,
            ),
        )

    def attention(self) -> tuple[AttentionWork, ...]:
        """Scores and sums over the attended tokens, 2·heads·(head_dim + v_head_dim) each; cross attention is left out."""
        if self.cross_attention:
            return ()
        flops = 2 * self.heads * (self.head_dim + self.v_head_dim)
        if not self.causal:
            return (AttentionWork(None, flops, flops),)
        (entry,) = replace(self, shares_cache=False).caches()
        index = self.indexer or {}
        blocks = index.get("topk_blocks", 0) * index.get("block", 0)
        selected = (index.get("topk") or blocks or SELECTED_TOKENS) if index else None
        index_flops = 2 * index.get("heads", 0) * index.get("head_dim", 0)
        return (AttentionWork(entry, flops, flops, index_flops, 0, selected),)

    def encoder_cache(self) -> CacheEntry | None:
        """Keys and values per token of an image, where the layer attends to the encoder; text alone needs none."""
        if not self.cross_attention:
            return None
        return CacheEntry(
            "gqa", self.kv_heads * self.head_dim, self.kv_heads * self.v_head_dim, self.kv_heads
        )

    def states(self) -> tuple[StateEntry, ...]:
        """Tails of the short convolutions beside attention (Inkling): kernel − 1 columns of each stream they run on."""
        if not self.short_conv:
            return ()
        columns, model_width = self.short_conv["kernel"] - 1, self.short_conv.get("width", 0)
        widths = {
            "query": self.heads * self.head_dim,
            "key": self.kv_heads * self.head_dim,
            "value": self.kv_heads * self.v_head_dim,
            "attention output": model_width,
            "moe output": model_width,
            "outputs": 2 * model_width,
        }
        sure = sum(widths[on] for on in self.short_conv["on"] if not on.endswith("?"))
        doubtful = sum(widths[on.rstrip("?")] for on in self.short_conv["on"] if on.endswith("?"))
        return (
            StateEntry(
                "shortconv_beside",
                0,
                sure * columns,
                1,
                conv_columns=columns,
                doubtful_elements=doubtful * columns,
            ),
        )
