"""Linear attention with a matrix state per head: gated DeltaNet, Kimi Delta Attention, lightning attention."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from catalog.architecture.parts import AttentionWork, CacheEntry, StateEntry, Tensor, vector


@dataclass(frozen=True, slots=True)
class GatedDeltaNet:
    """Gated DeltaNet (Qwen3-Next, Qwen3.5 and later; formulas §2.0, §3.1)."""

    KIND: ClassVar[str] = "gated_deltanet"

    key_heads: int
    value_heads: int
    key_head_dim: int
    value_head_dim: int
    conv_kernel: int

    @property
    def key_width(self) -> int:
        return self.key_heads * self.key_head_dim

    @property
    def value_width(self) -> int:
        return self.value_heads * self.value_head_dim

    def tensors(self, hidden_size: int) -> tuple[Tensor, ...]:
        d, kd, vd = hidden_size, self.key_width, self.value_width
        return (
            Tensor("linear_attn_qkv", 2 * kd + vd, d),
            Tensor("linear_attn_gate", vd, d),
            Tensor("linear_attn_beta_alpha", 2 * self.value_heads, d),
            Tensor("linear_attn_conv", 2 * kd + vd, self.conv_kernel, family="convolution"),
            vector("linear_attn_decay", 2 * self.value_heads, sharded=True),
            vector("linear_attn_norm", self.value_head_dim),
            Tensor("linear_attn_output", d, vd),
        )

    def caches(self) -> tuple[CacheEntry, ...]:
        return ()

    def attention(self) -> tuple[AttentionWork, ...]:
        """About six operations per element of the state and token, however long the context."""
        return (AttentionWork(token_flops=6 * self.value_heads * self.key_head_dim * self.value_head_dim),)

    def states(self) -> tuple[StateEntry, ...]:
        """value_heads × value_head_dim × key_head_dim, and conv_kernel − 1 columns of the convolution."""
        state = self.value_heads * self.value_head_dim * self.key_head_dim
        conv = (2 * self.key_width + self.value_width) * (self.conv_kernel - 1)
        return (StateEntry(self.KIND, state, conv, self.key_heads, self.conv_kernel - 1),)


@dataclass(frozen=True, slots=True)
class Kda:
    """Kimi Delta Attention (Kimi Linear, Kimi K3; formulas §2.0, §3.1): a decay per channel, made by a low-rank pair."""

    KIND: ClassVar[str] = "kda"

    key_heads: int
    value_heads: int
    key_head_dim: int
    value_head_dim: int
    conv_kernel: int
    gate: str = "lowrank"
    extra_parameters: int = 0

    @property
    def key_width(self) -> int:
        return self.key_heads * self.key_head_dim

    @property
    def value_width(self) -> int:
        return self.value_heads * self.value_head_dim

    def tensors(self, hidden_size: int) -> tuple[Tensor, ...]:
        d, kd, vd, hk = hidden_size, self.key_width, self.value_width, self.key_head_dim
        out = [
            Tensor("attn_q", kd, d),
            Tensor("attn_k", kd, d),
            Tensor("attn_v", vd, d),
            Tensor("linear_attn_conv", 2 * kd + vd, self.conv_kernel, family="convolution"),
            vector("linear_attn_decay", self.value_heads, sharded=True),
            Tensor("linear_attn_decay_a", hk, d, sharded=False),
            Tensor("linear_attn_decay_b", kd, hk),
            vector("linear_attn_decay_bias", kd, sharded=True),
            Tensor("linear_attn_beta", self.value_heads, d),
            vector("linear_attn_norm", self.value_head_dim),
            Tensor("attn_output", d, vd),
        ]
        if self.gate == "full":
            out.append(Tensor("linear_attn_gate", vd, d))
        else:
            out += [Tensor("linear_attn_gate_a", hk, d, sharded=False), Tensor("linear_attn_gate_b", vd, hk)]
        if self.extra_parameters:
            out.append(vector("attn_extra", self.extra_parameters))
        return tuple(out)

    def caches(self) -> tuple[CacheEntry, ...]:
        return ()

    def attention(self) -> tuple[AttentionWork, ...]:
        """About six operations per element of the state and token, however long the context."""
        return (AttentionWork(token_flops=6 * self.value_heads * self.key_head_dim * self.value_head_dim),)

    def states(self) -> tuple[StateEntry, ...]:
        """value_heads × key_head_dim × value_head_dim, and conv_kernel − 1 columns over q, k and v."""
        state = self.value_heads * self.key_head_dim * self.value_head_dim
        conv = (2 * self.key_width + self.value_width) * (self.conv_kernel - 1)
        return (StateEntry(self.KIND, state, conv, self.value_heads, self.conv_kernel - 1),)


@dataclass(frozen=True, slots=True)
class Lightning:
    """Lightning linear attention (MiniMax-M1, Ring and Ling 2.5): a square state per head, no convolution."""

    KIND: ClassVar[str] = "lightning"

    heads: int
    head_dim: int
    state: str | None = None
    gate: str | bool = False
    extra_parameters: int = 0

    def tensors(self, hidden_size: int) -> tuple[Tensor, ...]:
        d, width = hidden_size, self.heads * self.head_dim
        out = [Tensor("linear_attn_qkv", 3 * width, d), Tensor("linear_attn_gate", width, d)]
        out.append(Tensor("linear_attn_output", d, width))
        if self.extra_parameters:
            out.append(vector("attn_extra", self.extra_parameters))
        return tuple(out)

    def caches(self) -> tuple[CacheEntry, ...]:
        return ()

    def attention(self) -> tuple[AttentionWork, ...]:
        """About six operations per element of the state and token, however long the context."""
        return (AttentionWork(token_flops=6 * self.heads * self.head_dim * self.head_dim),)

    def states(self) -> tuple[StateEntry, ...]:
        return (StateEntry(self.KIND, self.heads * self.head_dim * self.head_dim, 0, self.heads),)
