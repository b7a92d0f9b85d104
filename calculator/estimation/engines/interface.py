"""What every engine family's file offers: the same functions, so that nobody else asks which engine it is. PURE."""

from __future__ import annotations

from typing import Any, Protocol

from calculator.estimation.configuration import Configuration
from calculator.estimation.placement import Stage
from calculator.estimation.terms import Limit, Reason, Term
from catalog.architecture import CacheEntry, StateEntry


class EngineRules(Protocol):
    """The functions of one engine family. tokens and users may be arrays; bytes are on one GPU unless said otherwise."""

    VOCABULARY_STEP: int
    """Embedding and head have a multiple of this many rows."""

    def refusals(self, configuration: Configuration) -> tuple[Reason, ...]:
        """What the engine is known to refuse; empty when it runs."""

    def tensor_refusals(self, configuration: Configuration, tp: int) -> list[Reason]:
        """Why the model cannot be divided `tp` ways."""

    def deal_layers(self, layer_count: int, stages_count: int) -> tuple[int, ...]:
        """Layers of each pipeline stage or device of a layer split, in order."""

    def limit(self, configuration: Configuration) -> Limit | None:
        """What the engine may take of one device; None when no memory figure is known."""

    def stage_cache(self, configuration: Configuration, stage: Stage, tokens: Any, users: Any) -> list[Term]:
        """Cache and state of all requests."""

    def stage_overhead(
        self, configuration: Configuration, stage: Stage, tokens: Any, users: Any
    ) -> list[Term]:
        """Buffers, graphs, contexts."""

    def occupied(self, configuration: Configuration, needed_bytes: int, memory_limit: Limit) -> int:
        """What the device shows as used."""

    def beyond_budget(self, configuration: Configuration, stage: Stage, users: Any) -> list[Term]:
        """What one GPU of the stage holds beside the budget that `limit` is [B]."""

    def occupied_refusal(
        self, configuration: Configuration, occupied_bytes: int, memory_limit: Limit
    ) -> Reason | None:
        """Why taking that much fails, None when it does not."""

    def host_bytes(self, configuration: Configuration, tokens: int, users: int) -> int:
        """Host memory beside the devices, without the embedding."""

    def entry_layout(self, configuration: Configuration, entry: CacheEntry) -> tuple[int, int]:
        """(cache, index) bytes per token of one layer on one unsharded copy."""

    def state_widths(self, configuration: Configuration, entry: StateEntry) -> tuple[int, int]:
        """Bytes per element of (state, convolution tail)."""

    def embedding_on_host(self, configuration: Configuration) -> bool:
        """The input embedding stays in host memory."""

    def pool_block_bytes(self, configuration: Configuration, stage: Stage) -> float:
        """One block of the cache pool on one GPU, of all layers that share it [B]."""

    def printed_tokens(
        self, configuration: Configuration, stage: Stage, pool_bytes: float, request_bytes: float
    ) -> tuple[float, float]:
        """(tokens that its log prints for a cache pool of so many bytes on one GPU, the steps that it prints in);
        request_bytes: what a request of the longest context takes of the pool."""
