"""The feed-forward part of a layer: dense, mixture of experts, or none."""

from __future__ import annotations

from dataclasses import dataclass
from fractions import Fraction
from typing import ClassVar

from catalog.architecture.parts import Family, Tensor, vector


def _matrices(
    names: tuple[str, str, str],
    matrices: int,
    width: int,
    inner: int,
    copies: int = 1,
    family: Family = "linear",
    active_fraction: Fraction = Fraction(1),
) -> list[Tensor]:
    """Gate (only with three matrices), up and down projection between `width` and `inner`."""
    gate, up, down = names
    out = (
        [Tensor(gate, inner, width, copies, family, active_fraction=active_fraction)] if matrices == 3 else []
    )
    out.append(Tensor(up, inner, width, copies, family, active_fraction=active_fraction))
    out.append(Tensor(down, width, inner, copies, family, active_fraction=active_fraction))
    return out


@dataclass(frozen=True, slots=True)
class DenseMlp:
    """One MLP for every token: three matrices when gated (SwiGLU), two when plain."""

    KIND: ClassVar[str] = "dense"

    intermediate: int
    matrices: int
    bias: bool = False

    def tensors(self, hidden_size: int) -> tuple[Tensor, ...]:
        out = _matrices(("ffn_gate", "ffn_up", "ffn_down"), self.matrices, hidden_size, self.intermediate)
        if self.bias:
            out.append(vector("ffn_bias", (self.matrices - 1) * self.intermediate + hidden_size))
        return tuple(out)

    @property
    def activation_width(self) -> int:
        """Intermediate elements of one token [elements]."""
        return self.intermediate


@dataclass(frozen=True, slots=True)
class MoeMlp:
    """A mixture of experts: a router picks `experts_per_token` of `experts`; shared experts see every token.

    latent_size: the experts work in this narrower width. dense_beside: a dense MLP of this width beside them.
    zero_experts: choices of the router that have no weights.
    """

    KIND: ClassVar[str] = "moe"

    experts: int
    experts_per_token: int
    expert_intermediate: int
    shared_experts: int
    shared_intermediate: int
    matrices: int
    router_bias: bool
    latent_size: int | None = None
    shared_gate: bool = False
    router: str | None = None
    dense_beside: int = 0
    expert_bias: int = 0
    zero_experts: int = 0
    extra_parameters: int = 0

    def tensors(self, hidden_size: int) -> tuple[Tensor, ...]:
        d, width, active = (
            hidden_size,
            self.latent_size or hidden_size,
            Fraction(self.experts_per_token, self.experts),
        )
        out = [Tensor("router", self.experts + self.zero_experts, d, family="router", sharded=False)]
        out += _matrices(
            ("ffn_gate_exps", "ffn_up_exps", "ffn_down_exps"),
            self.matrices,
            width,
            self.expert_intermediate,
            self.experts,
            "expert",
            active,
        )
        if self.router_bias:
            out.append(vector("router_bias", self.experts))
        if self.expert_bias:
            out.append(
                vector("expert_bias", self.experts * self.expert_bias, sharded=True, active_fraction=active)
            )
        if self.shared_intermediate:
            names = ("ffn_gate_shexp", "ffn_up_shexp", "ffn_down_shexp")
            out += _matrices(names, self.matrices, d, self.shared_intermediate)
        if self.shared_gate:
            out.append(vector("shared_expert_gate", d))
        if self.latent_size:
            out += [
                Tensor("latent_down", width, d, sharded=False),
                Tensor("latent_up", d, width, sharded=False),
            ]
        if self.dense_beside:
            out += _matrices(("ffn_gate", "ffn_up", "ffn_down"), 3, d, self.dense_beside)
        if self.extra_parameters:
            out.append(vector("ffn_extra", self.extra_parameters))
        return tuple(out)

    @property
    def activation_width(self) -> int:
        """Intermediate elements of one token: its experts and the shared ones [elements]."""
        return (
            self.experts_per_token * self.expert_intermediate + self.shared_intermediate + self.dense_beside
        )


@dataclass(frozen=True, slots=True)
class NoMlp:
    """A layer without a feed-forward part."""

    KIND: ClassVar[str] = "none"

    def tensors(self, hidden_size: int) -> tuple[Tensor, ...]:
        return ()

    @property
    def activation_width(self) -> int:
        return 0
