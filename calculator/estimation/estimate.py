"""From one Configuration to one Estimate: verdict, reasons, memory, cache, capacity (formulas §0, §4.7). PURE."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from functools import lru_cache
from typing import Any, TypeVar

from calculator.estimation.cache import NOT_COMPUTED, not_computed, state_bytes
from calculator.estimation.capacity import capacity_of
from calculator.estimation.configuration import Configuration, Keyed
from calculator.estimation.engines import is_built, rules_of
from calculator.estimation.memory import Sum, memory_of
from calculator.estimation.placement import stages
from calculator.estimation.terms import Cache, CacheGroup, Estimate, Memory, Reason, Verdict
from calculator.estimation.weights import has_rule
from catalog.architecture import CacheEntry, Mixer, StateEntry
from catalog.records import LanguageModel

_Kept = TypeVar("_Kept", CacheEntry, StateEntry)


def estimate(configuration: Configuration, *, capacity: bool = True) -> Estimate:
    """The answer to one configuration.

    Never raises for a configuration that resolve made: what cannot be computed is None, with the reason. `capacity`
    False leaves out longest context and most users.
    """
    missing = not_computable(configuration)
    if missing:
        return Estimate(configuration, "unsupported", missing, None, None, None)
    refused = rules_of(configuration.engine.family).refusals(configuration)
    sum_ = Sum(configuration)
    memory = memory_of(sum_)
    cache = cache_of(configuration)
    if memory is None:
        reason = Reason("memory_unknown", {"device": configuration.accelerator.name})
        return Estimate(configuration, "unsupported", (*refused, reason), None, cache, None)
    if refused:
        return Estimate(configuration, "unsupported", refused + _remarks(configuration), memory, cache, None)
    verdict, reasons = _verdict(sum_, memory)
    found = capacity_of(configuration) if capacity else None
    return Estimate(configuration, verdict, reasons + _remarks(configuration), memory, cache, found)


def verdict_of(configuration: Configuration) -> Verdict:
    """The verdict of `estimate` alone, for searches that ask for many configurations."""
    if not_computable(configuration) or rules_of(configuration.engine.family).refusals(configuration):
        return "unsupported"
    sum_ = Sum(configuration)
    if sum_.limit is None:
        return "unsupported"
    usable = sum_.limit.usable.value
    if sum_.least_weights > usable:
        return "does_not_fit"
    needed = sum_.fullest(configuration.workload.context_tokens, configuration.workload.users)
    if needed.value > usable:
        return "does_not_fit"
    occupied = sum_.rules.occupied(configuration, int(needed.value), sum_.limit)
    if needed.high > usable - sum_.limit.margin_bytes or sum_.rules.occupied_refusal(
        configuration, occupied, sum_.limit
    ):
        return "tight"
    return "fits"


def least_gpus(configuration: Configuration) -> int:
    """GPUs of this kind that the weights alone need, whatever the plan; 1 where nothing is known [1]."""
    sum_ = Sum(configuration)
    if not_computable(configuration) or sum_.limit is None:
        return 1
    return math.ceil(sum_.least_weights * configuration.plan.gpus / sum_.limit.usable.value)


def not_computable(configuration: Configuration) -> tuple[Reason, ...]:
    """What the arithmetic does not have yet, or what no figure exists for."""
    c = configuration
    if not is_built(c.engine):
        return (Reason("not_computed_yet", {"what": c.engine.name}),)
    if what := kind_not_computed(c.model):
        return (Reason("not_computed_yet", {"what": what}),)
    if not has_rule(c.model, c.weights_format):
        refused = rules_of(c.engine.family).refusals(c)
        return refused or (Reason("not_computed_yet", {"what": c.weights_format.name}),)
    return ()


@lru_cache(maxsize=1024)
def kind_not_computed(model: LanguageModel) -> str | None:
    """The mixer kind of the model whose cache is not computed yet, None when all are."""
    for block in model.architecture.blocks:
        if block.mixer.KIND in NOT_COMPUTED:
            return block.mixer.KIND
        if getattr(block.mixer, "cross_attention", False):
            return "cross_attention"
        if getattr(block.mixer, "short_conv", None):
            return "shortconv_beside_attention"
        for entry in block.mixer.caches():
            if what := not_computed(entry):
                return what
    return None


def _verdict(sum_: Sum, memory: Memory) -> tuple[Verdict, tuple[Reason, ...]]:
    """Fits when the high end of needed keeps to the limit (and llama.cpp's margin), tight when the value does."""
    limit, needed = memory.limit, memory.needed
    usable = limit.usable.value
    taken = sum_.rules.occupied_refusal(sum_.configuration, memory.occupied_bytes, limit)
    if needed.value > usable:
        weights = next(part.per_gpu_bytes for part in memory.parts if part.name == "weights")
        short = Reason(
            "short_of", {"missing_bytes": int(needed.value - usable), "gpus": sum_.configuration.count}
        )
        if weights > usable:
            alone = Reason("weights_alone_too_large", {"weights_bytes": weights, "limit_bytes": int(usable)})
            return "does_not_fit", (short, alone)
        return "does_not_fit", (short,)
    room = Reason("fits_with_room", {"headroom_bytes": memory.headroom_bytes})
    reasons = [room]
    if needed.high > usable:
        reasons.append(Reason("high_end_over", {"over_bytes": int(needed.high - usable)}))
    elif needed.high > usable - limit.margin_bytes:
        reasons.append(Reason("inside_fit_margin", {"margin_bytes": limit.margin_bytes}))
    if taken:
        reasons.append(taken)
    return ("fits" if len(reasons) == 1 else "tight"), tuple(reasons)


def _remarks(c: Configuration) -> tuple[Reason, ...]:
    """What a reader should know beside the verdict: assumptions and widened intervals."""
    out: list[Reason] = []
    if not c.class_listed:
        factors: dict[str, Any] = {"engine": c.engine.name, "class_name": c.model.class_name, "relative": c.model.computed_as or "", "version": c.engine_version}  # fmt: skip
        out.append(Reason("class_not_listed", factors))
    elif not c.measured:
        share = c.constants["weights_unmeasured"].high
        factors = {"engine": c.engine.name, "class_name": c.model.class_name, "share": share}
        out.append(Reason("architecture_not_measured", factors))
    if c.model.architecture.order_assumed and c.plan.pp > 1:
        out.append(Reason("order_assumed", {}))
    if c.widened:
        low, high = c.measured_versions
        named = {"engine": c.engine.name, "version": c.engine_version, "low": low, "high": high}
        out.append(Reason("version_outside_measured", named))
    if c.model.task != "generate":
        out.append(Reason("no_generation", {"model": c.model.name}))
    return tuple(out)


@lru_cache(maxsize=4096)
def _groups(kind: Keyed) -> tuple[CacheGroup, ...]:
    return (*_cache_groups(kind.configuration), *_state_groups(kind.configuration))


def cache_of(configuration: Configuration) -> Cache:
    """The cache of one request on one unsharded copy, group by group, and what the engine reserves for it."""
    c = configuration
    if c.model.task != "generate":
        return Cache(0, 0, 0, 0, ())
    groups = _groups(Keyed((c.model, c.engine, c.cache_type), c))
    whole = stages(c.model.architecture, (c.model.architecture.layer_count,))[0]
    terms = rules_of(c.engine.family).stage_cache(c.one_copy(), whole, c.workload.context_tokens, 1)
    return Cache(
        bytes_per_token=sum(group.bytes_per_token for group in groups if group.window_tokens is None),
        index_bytes_per_token=sum(group.bytes_per_token for group in groups if group.kind == "index"),
        state_bytes_per_request=sum(group.bytes_per_request for group in groups),
        bytes_per_request=sum(term.value for term in terms),
        groups=groups,
    )


def _cache_groups(c: Configuration) -> Iterator[CacheGroup]:
    """Layers that cache alike, and their index keys apart."""
    for entry, layers in _layers_of(c, lambda mixer: mixer.caches()).items():
        each, index = rules_of(c.engine.family).entry_layout(c, entry)
        kind = entry.kind if entry.window is None else ("chunk" if entry.chunked else "window")
        named = {"layers": layers, "elements": entry.elements, "bytes_per_token_layer": each, "window": entry.window or 0}  # fmt: skip
        yield CacheGroup(kind, layers, layers * each, 0, entry.window, named)
        if index:
            named = {"layers": layers, "elements": entry.index_elements, "bytes_per_token_layer": index, "window": 0}  # fmt: skip
            yield CacheGroup("index", layers, layers * index, 0, None, named)


def _state_groups(c: Configuration) -> Iterator[CacheGroup]:
    """Layers that keep a state of the same size."""
    for state, layers in _layers_of(c, lambda mixer: mixer.states()).items():
        widths = rules_of(c.engine.family).state_widths(c, state)
        size = layers * state_bytes(state, *widths)
        named = {"layers": layers, "elements": state.state_elements, "conv_elements": state.conv_elements, "state_width": widths[0], "conv_width": widths[1]}  # fmt: skip
        yield CacheGroup(state.kind, layers, 0, size, None, named)


def _layers_of(c: Configuration, kept: Callable[[Mixer], tuple[_Kept, ...]]) -> Counter[_Kept]:
    """How many layers keep the same, over the whole model in its order."""
    architecture = c.model.architecture
    mixers = (architecture.blocks[index].mixer for index in architecture.sequence)
    return Counter(entry for mixer in mixers for entry in kept(mixer))
