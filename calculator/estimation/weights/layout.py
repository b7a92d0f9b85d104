"""The bytes of one model in one weights format, layer by layer, as tensor parallelism and pipelines divide them."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from itertools import accumulate

from calculator.estimation.numbers import ceil_div
from catalog.architecture import Tensor


@dataclass(frozen=True, slots=True)
class LayerShare:
    """Bytes of one layer: divided by tensor parallelism, held whole by every rank, divided only up to a limit.

    limited: (most shards, bytes), for instance K and V projections that have no more shards than KV heads. experts:
    the part of `sharded` that are routed experts.
    """

    sharded: int = 0
    replicated: int = 0
    limited: tuple[tuple[int, int], ...] = ()
    experts: int = 0

    @property
    def total(self) -> int:
        return self.sharded + self.replicated + sum(size for _, size in self.limited)

    def __add__(self, other: LayerShare) -> LayerShare:
        limited = dict(self.limited)
        for shards, size in other.limited:
            limited[shards] = limited.get(shards, 0) + size
        return LayerShare(
            self.sharded + other.sharded,
            self.replicated + other.replicated,
            tuple(sorted(limited.items())),
            self.experts + other.experts,
        )

    def per_rank(self, tp: int, *, attention: int | None = None, expert_share: Fraction | None = None) -> int:
        """Bytes on each of `tp` ranks [B].

        attention: ways that everything but the routed experts is divided (attention data parallelism), else tp.
        expert_share: the share of the routed experts on the fullest rank (expert parallelism), else 1 ÷ tp.
        """
        ways = attention or tp
        limited = sum(ceil_div(size, min(ways, shards)) for shards, size in self.limited)
        experts = math.ceil(self.experts * (expert_share or Fraction(1, tp)))
        return int(ceil_div(self.sharded - self.experts, ways) + experts + self.replicated + limited)


def share_of(tensor: Tensor, size_bytes: int) -> LayerShare:
    """The share that a tensor of `size_bytes` adds to its layer."""
    if not tensor.sharded:
        return LayerShare(replicated=size_bytes)
    if tensor.shard_limit:
        return LayerShare(limited=((tensor.shard_limit, size_bytes),))
    return LayerShare(sharded=size_bytes, experts=size_bytes if tensor.family == "expert" else 0)


@dataclass(frozen=True, eq=False)
class WeightLayout:
    """Weights of one model in one format [B]. Bytes of encoders and MTP are apart: they are loaded only on request.

    basis: published (exact bytes of a published file) or rule. spread: half-width of the 90 % interval as a share of the
    bytes. tied: the head is the embedding's table.
    """

    layers: tuple[LayerShare, ...]
    embedding_bytes: int
    head_bytes: int
    final_bytes: int
    lookup_bytes: int
    metadata_bytes: int = 0
    vision_bytes: int = 0
    mtp_bytes: int = 0
    text_parameters: int = 0
    basis: str = "rule"
    spread: float = 0.001
    source: str = ""

    @property
    def tied(self) -> bool:
        return self.head_bytes == 0

    @cached_property
    def text_bytes(self) -> int:
        """All tensors of the language model [B]."""
        return (
            sum(layer.total for layer in self.layers)
            + self.embedding_bytes
            + self.head_bytes
            + self.final_bytes
            + self.lookup_bytes
        )

    @property
    def checkpoint_bytes(self) -> int:
        """The whole checkpoint: language model, encoders, MTP, without file metadata [B]."""
        return self.text_bytes + self.vision_bytes + self.mtp_bytes

    @property
    def file_bytes(self) -> int:
        """A file of the language model with its metadata [B]."""
        return self.text_bytes + self.metadata_bytes

    @property
    def bits_per_weight(self) -> float:
        return 8 * self.text_bytes / self.text_parameters if self.text_parameters else 0.0

    @cached_property
    def _before(self) -> tuple[LayerShare, ...]:
        """Sum of the layers before each index."""
        return tuple(accumulate(self.layers, initial=LayerShare()))

    def span(self, first: int, count: int) -> LayerShare:
        """Sum of `count` layers from `first`."""
        until, before = self._before[first + count], self._before[first]
        limited = dict(until.limited)
        for shards, size in before.limited:
            limited[shards] -= size
        return LayerShare(
            until.sharded - before.sharded,
            until.replicated - before.replicated,
            tuple(item for item in limited.items() if item[1]),
            until.experts - before.experts,
        )

    def scaled(self, text_bytes: int, source: str) -> WeightLayout:
        """The same division of a published size: one factor on every tensor (formulas §2.3)."""
        factor = text_bytes / self.text_bytes

        def scale(size: int) -> int:
            return round(size * factor)

        layers = tuple(
            LayerShare(
                scale(layer.sharded),
                scale(layer.replicated),
                tuple((shards, scale(size)) for shards, size in layer.limited),
                scale(layer.experts),
            )
            for layer in self.layers
        )
        head, final, lookup = scale(self.head_bytes), scale(self.final_bytes), scale(self.lookup_bytes)
        rest = text_bytes - sum(layer.total for layer in layers) - head - final - lookup
        return replace(
            self,
            layers=layers,
            head_bytes=head,
            final_bytes=final,
            lookup_bytes=lookup,
            embedding_bytes=rest,
            vision_bytes=scale(self.vision_bytes),
            mtp_bytes=scale(self.mtp_bytes),
            basis="published",
            spread=0.0,
            source=source,
        )
