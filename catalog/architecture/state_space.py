"""State-space mixers and short convolutions: Mamba 1, Mamba 2, LFM2's gated short convolution."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from catalog.architecture.parts import AttentionWork, CacheEntry, StateEntry, Tensor, vector


@dataclass(frozen=True, slots=True)
class Mamba2:
    """Mamba 2 (Nemotron-H, Granite 4 H, Falcon H1; formulas §2.0, §3.1)."""

    KIND: ClassVar[str] = "mamba2"

    heads: int
    head_dim: int
    state_size: int
    groups: int
    conv_kernel: int

    def tensors(self, hidden_size: int) -> tuple[Tensor, ...]:
        d, inner, shared = hidden_size, self.heads * self.head_dim, self.groups * self.state_size
        return (
            Tensor("ssm_in", 2 * inner + 2 * shared + self.heads, d),
            Tensor("ssm_conv", inner + 2 * shared, self.conv_kernel, family="convolution"),
            vector("ssm_conv_bias", inner + 2 * shared, sharded=True),
            vector("ssm_decay", 3 * self.heads, sharded=True),
            vector("ssm_norm", inner, sharded=True),
            Tensor("ssm_out", d, inner),
        )

    def caches(self) -> tuple[CacheEntry, ...]:
        return ()

    def attention(self) -> tuple[AttentionWork, ...]:
        """About six operations per element of the state and token."""
        return (AttentionWork(token_flops=6 * self.heads * self.head_dim * self.state_size),)

    def states(self) -> tuple[StateEntry, ...]:
        """heads × head_dim × state_size, and conv_kernel − 1 columns of x, B and C."""
        inner = self.heads * self.head_dim
        conv = (inner + 2 * self.groups * self.state_size) * (self.conv_kernel - 1)
        return (StateEntry(self.KIND, inner * self.state_size, conv, self.heads, self.conv_kernel - 1),)


@dataclass(frozen=True, slots=True)
class Mamba1:
    """Mamba 1 (Falcon Mamba, Jamba; formulas §2.0, §3.1)."""

    KIND: ClassVar[str] = "mamba1"

    inner: int
    state_size: int
    dt_rank: int
    conv_kernel: int
    inner_norms: bool = False

    def tensors(self, hidden_size: int) -> tuple[Tensor, ...]:
        d, i, n, r = hidden_size, self.inner, self.state_size, self.dt_rank
        out = [
            Tensor("ssm_in", 2 * i, d),
            Tensor("ssm_conv", i, self.conv_kernel, family="convolution"),
            vector("ssm_conv_bias", i, sharded=True),
            Tensor("ssm_x", r + 2 * n, i),
            Tensor("ssm_dt", i, r),
            vector("ssm_dt_bias", i, sharded=True),
            vector("ssm_decay", i * n, sharded=True),
            vector("ssm_d", i, sharded=True),
            Tensor("ssm_out", d, i),
        ]
        if self.inner_norms:
            out.append(vector("ssm_norm", r + 2 * n))
        return tuple(out)

    def caches(self) -> tuple[CacheEntry, ...]:
        return ()

    def attention(self) -> tuple[AttentionWork, ...]:
        """About six operations per element of the state and token."""
        return (AttentionWork(token_flops=6 * self.inner * self.state_size),)

    def states(self) -> tuple[StateEntry, ...]:
        columns = self.conv_kernel - 1
        return (
            StateEntry(self.KIND, self.inner * self.state_size, self.inner * columns, self.inner, columns),
        )


@dataclass(frozen=True, slots=True)
class ShortConv:
    """Gated short convolution (LFM2): remembers conv_kernel − 1 hidden vectors, has no other state."""

    KIND: ClassVar[str] = "shortconv"

    conv_kernel: int
    width: int | None = None

    def tensors(self, hidden_size: int) -> tuple[Tensor, ...]:
        d = hidden_size
        return (
            Tensor("shortconv_in", 3 * d, d),
            Tensor("shortconv_conv", d, self.conv_kernel, family="convolution"),
            Tensor("shortconv_out", d, d),
        )

    def caches(self) -> tuple[CacheEntry, ...]:
        return ()

    def attention(self) -> tuple[AttentionWork, ...]:
        """The convolution alone: its weights are tensors, nothing is added."""
        return ()

    def states(self) -> tuple[StateEntry, ...]:
        """The last conv_kernel − 1 inputs, each as wide as the model (`width`, set by the architecture)."""
        columns = self.conv_kernel - 1
        return (StateEntry(self.KIND, 0, (self.width or 0) * columns, 1, columns),)
