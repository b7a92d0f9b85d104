"""Where the layers go: pipeline stages and layer splits as slices of the model's order (formulas §5). PURE."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache
from typing import TypeVar

from catalog.architecture import Architecture, CacheEntry, StateEntry
from catalog.architecture.gqa import Gqa
from catalog.architecture.mla import Mla
from catalog.architecture.mlp import MoeMlp

_Kept = TypeVar("_Kept")


@dataclass(frozen=True, eq=False, slots=True)
class Stage:
    """A run of layers on one device, or on one tensor-parallel group of devices.

    caches, states: what its layers keep, with the number of layers that keep it alike. widest: the intermediate elements
    of one token in its widest MLP. moe: the stage has experts.
    """

    index: int
    first: int
    layers: int
    is_first: bool
    is_last: bool
    caches: tuple[tuple[CacheEntry, int], ...]
    states: tuple[tuple[StateEntry, int], ...]
    widest: int
    moe: bool
    query_heads: int
    mixers: tuple[tuple[str, int], ...]


@lru_cache(maxsize=4096)
def stages(
    architecture: Architecture, layers_per_stage: tuple[int, ...], start: int = 0
) -> tuple[Stage, ...]:
    """The stages of a pipeline or layer split from layer `start` on; the counts add up to the layers from there."""
    out, first = [], start
    for index, count in enumerate(layers_per_stage):
        blocks = Counter(architecture.sequence[first : first + count])
        alike = [(architecture.blocks[block], layers) for block, layers in blocks.items()]
        out.append(
            Stage(
                index=index,
                first=first,
                layers=count,
                is_first=index == 0,
                is_last=index == len(layers_per_stage) - 1,
                caches=_added((entry, n) for block, n in alike for entry in block.mixer.caches()),
                states=_added((entry, n) for block, n in alike for entry in block.mixer.states()),
                widest=max((block.mlp.activation_width for block, _ in alike), default=0),
                moe=any(isinstance(block.mlp, MoeMlp) for block, _ in alike),
                query_heads=max((_heads(block.mixer) for block, _ in alike), default=0),
                mixers=_added((block.mixer.KIND, n) for block, n in alike),
            )
        )
        first += count
    return tuple(out)


def _added(counts: Iterable[tuple[_Kept, int]]) -> tuple[tuple[_Kept, int], ...]:
    """Counts of the same added up, in the order in which they come."""
    out: dict[_Kept, int] = {}
    for kept, layers in counts:
        out[kept] = out.get(kept, 0) + layers
    return tuple(out.items())


@lru_cache(maxsize=4096)
def expert_layers_end(architecture: Architecture, count: int) -> int:
    """The index after the first `count` layers that have experts; all layers when there are fewer."""
    seen = 0
    for index, block in enumerate(architecture.sequence):
        seen += isinstance(architecture.blocks[block].mlp, MoeMlp)
        if seen == count:
            return index + 1
    return architecture.layer_count


def _heads(mixer: object) -> int:
    return mixer.heads if isinstance(mixer, (Gqa, Mla)) else 0


def pipeline_layers(layer_count: int, stages_count: int) -> tuple[int, ...]:
    """Layers per pipeline stage as vLLM deals them (vllm-project/vllm:distributed/utils.py get_pp_indices).

    Each stage gets ⌊L/PP⌋; the remainder goes one each to the stages from the last but one backwards: never to the last
    stage, to the first only when PP − 1 are left over.
    """
    each, left = divmod(layer_count, stages_count)
    out = [each] * stages_count
    for back in range(left):
        out[stages_count - 2 - back] += 1
    return tuple(out)


@lru_cache(maxsize=4096)
def layer_split(
    layer_count: int, devices: int, shares: tuple[int, ...] = (), *, with_output: bool = True
) -> tuple[int, ...]:
    """Layers per device of llama.cpp's `-sm layer`.

    The repeating layers, and the output as one more when it is on a GPU, are dealt by the devices' shares of the free
    memory: layer i of n goes to the first device whose cumulative share is above i ÷ n; equal cards have equal shares
    (ggml-org/llama.cpp:src/llama-model.cpp load_tensors).
    """
    slots = layer_count + 1 if with_output else max(1, layer_count)
    weights = shares or (1,) * devices
    total, until, running = sum(weights), [], 0
    for weight in weights:
        running += weight
        until.append(running)
    out = [0] * devices
    for layer in range(layer_count):
        out[next(device for device, end in enumerate(until) if layer * total < end * slots)] += 1
    return tuple(out)
