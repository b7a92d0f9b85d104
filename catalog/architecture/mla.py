"""Multi-head latent attention (DeepSeek, Kimi, GLM): one compressed vector per token for all heads."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from catalog.architecture.parts import SELECTED_TOKENS, AttentionWork, CacheEntry, StateEntry, Tensor, vector


@dataclass(frozen=True, slots=True)
class Mla:
    """Multi-head latent attention (formulas §2.0, §3.1); with `indexer` DeepSeek sparse attention.

    The cache holds kv_lora_rank + qk_rope_head_dim elements per token, whatever the number of heads. An indexer that is
    `shared` reuses an earlier layer's selection: it has no weights and no key of its own.
    """

    KIND: ClassVar[str] = "mla"

    heads: int
    q_lora_rank: int | None
    kv_lora_rank: int
    qk_rope_head_dim: int
    qk_nope_head_dim: int
    v_head_dim: int
    window: int | None = None
    gate: bool | str = False
    indexer: dict[str, Any] | None = None
    extra_parameters: int = 0

    def tensors(self, hidden_size: int) -> tuple[Tensor, ...]:
        """Weights of one such layer; the down-projections are held whole by every tensor-parallel rank."""
        d, h, ql, c = hidden_size, self.heads, self.q_lora_rank, self.kv_lora_rank
        rope, nope, hv = self.qk_rope_head_dim, self.qk_nope_head_dim, self.v_head_dim
        out: list[Tensor] = []
        if ql:
            out += [Tensor("attn_q_a", ql, d, sharded=False), vector("attn_q_a_norm", ql)]
            out.append(Tensor("attn_q_b", h * (nope + rope), ql))
        else:
            out.append(Tensor("attn_q", h * (nope + rope), d))
        out += [Tensor("attn_kv_a", c + rope, d, sharded=False), vector("attn_kv_a_norm", c)]
        out += [Tensor("attn_k_b", nope, c, copies=h), Tensor("attn_v_b", hv, c, copies=h)]
        out.append(Tensor("attn_output", d, h * hv))
        if self.gate == "element":
            out.append(Tensor("attn_gate", h * hv, d))
        elif self.gate == "head":
            out.append(Tensor("attn_gate", h, d))
        if self.indexer and not self.indexer.get("shared"):
            query_from = d if self.indexer.get("query_from") == "hidden" else (ql or d)
            heads, key = self.indexer["heads"], self.indexer["head_dim"]
            out.append(Tensor("indexer_q", heads * key, query_from, sharded=False))
            out.append(Tensor("indexer_k", key, d, sharded=False))
            out.append(Tensor("indexer_weights", heads, d, sharded=False))
            out.append(vector("indexer_norm", 2 * key))
        if self.extra_parameters:
            out.append(vector("attn_extra", self.extra_parameters))
        return tuple(out)

    def caches(self) -> tuple[CacheEntry, ...]:
        """The latent and its rotary part per token, plus the index key where this layer owns an indexer."""
        owns_index = self.indexer is not None and not self.indexer.get("shared")
        return (
            CacheEntry(
                "mla",
                self.kv_lora_rank + self.qk_rope_head_dim,
                0,
                None,
                window=self.window,
                index_elements=self.indexer["head_dim"] if self.indexer and owns_index else 0,
                index_pool=self.indexer.get("key_pool", 1) if self.indexer else 1,
                sparse=self.indexer is not None,
                rope_elements=self.qk_rope_head_dim,
            ),
        )

    def attention(self) -> tuple[AttentionWork, ...]:
        """Absorbed when decoding (the latent is read as it is), expanded to heads when a prompt is read."""
        (entry,) = self.caches()
        decode = 2 * self.heads * (2 * self.kv_lora_rank + self.qk_rope_head_dim)
        prefill = 2 * self.heads * (self.qk_nope_head_dim + self.qk_rope_head_dim + self.v_head_dim)
        index = self.indexer or {}
        selected = (index.get("topk") or SELECTED_TOKENS) if index else None
        index_flops = 0 if index.get("shared") else 2 * index.get("heads", 0) * index.get("head_dim", 0)
        return (AttentionWork(entry, decode, prefill, index_flops, 0, selected),)

    def states(self) -> tuple[StateEntry, ...]:
        return ()
