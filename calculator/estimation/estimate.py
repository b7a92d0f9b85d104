"""From one Configuration to one Estimate: verdict, reasons, memory, cache, capacity (formulas §0, §4.7). PURE."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable, Iterator
from dataclasses import replace
from functools import lru_cache
from typing import Any, TypeVar

from calculator.estimation import offload
from calculator.estimation.cache import state_bytes
from calculator.estimation.capacity import (
    MOST_TOKENS,
    capacity_of,
    longest_context,
    most_users,
    users_bound,
)
from calculator.estimation.configuration import Configuration, Keyed
from calculator.estimation.engines import is_built, rules_of
from calculator.estimation.engines.acceptance import plugin_for
from calculator.estimation.known import ORDER, Axis, Known, known_of
from calculator.estimation.memory import Sum, memory_of, sum_of
from calculator.estimation.numbers import ceil_div
from calculator.estimation.placement import Stage, stages
from calculator.estimation.plans import on_one_gpu
from calculator.estimation.terms import (
    Cache,
    CacheGroup,
    Capacity,
    Estimate,
    Factor,
    Interval,
    Limit,
    Memory,
    Reason,
    Verdict,
)
from calculator.estimation.throughput.energy import energy_of
from calculator.estimation.throughput.speed import missing_for_speed, speed_of
from calculator.estimation.weights import has_rule
from catalog.architecture import CacheEntry, Mixer, StateEntry

_Kept = TypeVar("_Kept", CacheEntry, StateEntry)


def estimate(configuration: Configuration, *, capacity: bool = True, speed: bool = True) -> Estimate:
    """The answer to one configuration.

    Never raises for a configuration that resolve made: what cannot be computed is None, with the reason. `capacity`
    False leaves out longest context and most users, `speed` False speed and power.
    """
    missing = not_computable(configuration)
    if missing:
        return Estimate(configuration, "unsupported", missing, None, None, None)
    refused = _refusals(configuration)
    asked = spread = configuration
    if not refused:
        configuration = on_one_gpu(spread, verdict_of)
        if configuration is spread:
            configuration = spread = offload.settled(spread, verdict_of)
    sum_ = sum_of(configuration)
    memory = memory_of(sum_, configuration.workload.context_tokens, configuration.workload.users)
    cache = cache_of(configuration)
    if memory is None:
        reason = Reason("memory_unknown", {"device": configuration.accelerator.name})
        return Estimate(configuration, "unsupported", (*refused, reason), None, cache, None)
    if refused:
        return Estimate(configuration, "unsupported", refused + _remarks(configuration), memory, cache, None)
    verdict, reasons = _verdict(sum_, memory)
    found = capacity_of(spread) if capacity else None
    if found and spread is not asked and asked.offload.kind == "auto":
        found = _without_offload_first(found, capacity_of(asked))
    answer = Estimate(configuration, verdict, reasons + _remarks(configuration), memory, cache, found)
    return _with_speed(answer) if speed and verdict in RUNS else answer


RUNS: tuple[Verdict, ...] = ("fits", "tight", "offload")
"""Verdicts of what runs: nothing else has a speed."""


def _with_speed(answer: Estimate) -> Estimate:
    """The estimate with speed and power where the device's figures allow them, and what is missing where not."""
    c = answer.configuration
    found = speed_of(c)
    if found is None:
        return replace(answer, speed_reasons=missing_for_speed(c))
    energy = energy_of(c, found)
    if isinstance(energy, Reason):
        return replace(answer, speed=found, speed_reasons=(energy,))
    return replace(answer, speed=found, energy=energy)


def _without_offload_first(moved: Capacity, alone: Capacity | None) -> Capacity:
    """The capacity of `auto`, which keeps everything on the GPUs while that is tight: what fits outright with parts on the
    host may be asked for and be tight. Then the most that fits outright is the most that does so without offload."""
    if alone is None:
        return moved
    context, users = moved.max_context_fits_tokens, moved.max_users_fits
    if alone.max_context_fits_tokens < context <= alone.max_context_tokens:
        context = alone.max_context_fits_tokens
    if alone.max_users_fits < users <= alone.max_users:
        users = alone.max_users_fits
    return replace(moved, max_context_fits_tokens=context, max_users_fits=users)


def verdict_of(configuration: Configuration) -> Verdict:
    """The verdict of `estimate` alone, for searches that ask for many configurations; offload that is not settled yet
    counts as none. A machine's verdicts are remembered, and what follows from them is not computed again."""
    known = known_of(configuration.machine)
    tokens, users = configuration.workload.context_tokens, configuration.workload.users
    verdict = known.at(tokens, users)
    if verdict is None:
        verdict = judged(configuration)
        known.learn(tokens, users, verdict)
        axis = known.moving(tokens, users)
        if axis and verdict in ORDER[:3]:
            _learn_border(configuration, known, axis)
    return verdict


def _learn_border(configuration: Configuration, known: Known, axis: Axis) -> None:
    """Where the verdict changes along an axis on which a slider moves: every place on it follows from the border."""
    sum_ = sum_of(configuration)
    if sum_.limit is None or sum_.least_weights > sum_.limit.usable.value:
        return
    workload, machine = configuration.workload, Keyed(configuration.machine, configuration)
    if axis == "context":
        name, edges = "context_tokens", (*longest_context(machine, workload.users), MOST_TOKENS)
    else:
        name, edges = "users", (*most_users(machine, workload.context_tokens), users_bound(configuration))
    for last in {last for edge in edges for last in (edge, edge + 1) if last}:
        moved = replace(workload, **{name: last})
        known.learn(moved.context_tokens, moved.users, judged(configuration.at(moved)))


def judged(configuration: Configuration) -> Verdict:
    """The same, computed."""
    if refusals_of(configuration):
        return "unsupported"
    sum_ = sum_of(configuration)
    if sum_.limit is None:
        return "unsupported"
    if sum_.least_weights > sum_.limit.usable.value:
        return "does_not_fit"
    needed = sum_.fullest(configuration.workload.context_tokens, configuration.workload.users)
    return verdict_within(configuration, needed, sum_.limit)


def verdict_within(configuration: Configuration, needed: Interval, limit: Limit) -> Verdict:
    """The verdict of what is needed on the fullest GPU against what the engine may take of it [B]."""
    if needed.value > limit.usable.value:
        return "does_not_fit"
    rules = rules_of(configuration.engine.family)
    occupied = rules.occupied(configuration, int(needed.value), limit)
    if needed.high > limit.usable.value - limit.margin_bytes or rules.occupied_refusal(
        configuration, occupied, limit
    ):
        return "tight"
    return "fits"


def refusals_of(configuration: Configuration) -> tuple[Reason, ...]:
    """Why nothing is computed for a configuration, or why its engine does not run it; empty when it does."""
    return not_computable(configuration) or _refusals(configuration)


def _refusals(configuration: Configuration) -> tuple[Reason, ...]:
    """What the engine refuses, with what it cannot keep in host memory; of the workload only the users matter."""
    return _refused(Keyed(configuration.machine, configuration), configuration.workload.users)


@lru_cache(maxsize=8192)
def _refused(machine: Keyed, _users: int) -> tuple[Reason, ...]:
    configuration = machine.configuration
    refused = rules_of(configuration.engine.family).refusals(configuration)
    plan, engine = configuration.plan, configuration.engine.name
    if plan.ep > 1 and plan.tp % plan.ep:
        factors: dict[str, Factor] = {"engine": engine, "ep": plan.ep, "tp": plan.tp}
        refused = (*refused, Reason("expert_groups_not_divisible", factors))
    host = offload.refusal(configuration)
    return (*refused, host) if host else refused


def least_gpus(configuration: Configuration) -> int:
    """GPUs of this kind that the weights alone need, whatever the plan; 1 where nothing is known [1]."""
    sum_ = sum_of(configuration)
    if not_computable(configuration) or sum_.limit is None:
        return 1
    return math.ceil(sum_.least_weights * configuration.plan.gpus / sum_.limit.usable.value)


def not_computable(configuration: Configuration) -> tuple[Reason, ...]:
    """What the arithmetic does not have yet, or what no figure exists for."""
    return _not_computable(Keyed(configuration.machine, configuration))


@lru_cache(maxsize=8192)
def _not_computable(machine: Keyed) -> tuple[Reason, ...]:
    c = machine.configuration
    if not is_built(c.engine):
        return (Reason("not_computed_yet", {"what": c.engine.name}),)
    if not has_rule(c.model, c.weights_format):
        refused = rules_of(c.engine.family).refusals(c)
        return refused or (Reason("not_computed_yet", {"what": c.weights_format.name}),)
    return ()


def _verdict(sum_: Sum, memory: Memory) -> tuple[Verdict, tuple[Reason, ...]]:
    """Fits when the high end of needed keeps to the limit (and llama.cpp's margin), tight when the value does."""
    limit, needed = memory.limit, memory.needed
    usable = limit.usable.value
    taken = sum_.rules.occupied_refusal(sum_.configuration, memory.occupied_bytes, limit)
    if needed.value > usable:
        weights = next(part.per_gpu_bytes for part in memory.parts if part.name == "weights")
        short = _short_of(sum_.configuration, memory)
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
    verdict: Verdict = "fits" if len(reasons) == 1 else "tight"
    return _with_host(sum_, memory, verdict, tuple(reasons))


def _short_of(c: Configuration, memory: Memory) -> Reason:
    """What is missing: on each GPU when all hold the same, else where it is most."""
    missing = -memory.headroom_bytes
    if len(memory.gpus) > 1:
        return Reason("short_of_card" if c.cards else "short_of_fullest", {"missing_bytes": missing})
    return Reason("short_of", {"missing_bytes": missing, "gpus": c.count})


def _with_host(
    sum_: Sum, memory: Memory, verdict: Verdict, reasons: tuple[Reason, ...]
) -> tuple[Verdict, tuple[Reason, ...]]:
    """The same verdict as `offload` when part of the model is in host memory; does not fit when that is too small."""
    c, plan = sum_.configuration, sum_.configuration.plan
    if plan.host_expert_layers:
        factors = {
            "layers": min(plan.host_expert_layers, offload.expert_layers(c)),
            "all": offload.expert_layers(c),
            "host_bytes": memory.host_bytes,
        }
        moved = Reason("experts_on_host", factors)
    elif plan.layers_on_host:
        factors = {
            "layers": plan.host_layers,
            "all": c.model.architecture.layer_count,
            "host_bytes": memory.host_bytes,
        }
        code = "layers_and_output_on_host" if plan.output_on_host else "layers_on_host"
        moved = Reason(code, factors)
    else:
        return verdict, reasons
    ram = c.offload.ram_bytes
    if ram is not None and memory.host_bytes > ram:
        short = {"missing_bytes": memory.host_bytes - ram, "ram_bytes": ram, "host_bytes": memory.host_bytes}
        return "does_not_fit", (Reason("host_memory_short", short), moved)
    return "offload", (moved, *reasons)


def _remarks(configuration: Configuration) -> tuple[Reason, ...]:
    """What a reader should know beside the verdict: assumptions and widened intervals."""
    return _remarks_on(Keyed(configuration.machine, configuration))


@lru_cache(maxsize=4096)
def _remarks_on(machine: Keyed) -> tuple[Reason, ...]:
    c = machine.configuration
    out: list[Reason] = []
    if not c.class_listed:
        factors: dict[str, Any] = {"engine": c.engine.name, "class_name": c.model.class_name, "relative": c.model.computed_as or "", "version": c.engine_version}  # fmt: skip
        out.append(Reason("class_not_listed" if c.model.computed_as else "class_not_listed_alone", factors))
    elif not c.measured:
        share = c.constants["weights_unmeasured"].high
        factors = {"engine": c.engine.name, "class_name": c.model.class_name, "share": share}
        out.append(Reason("architecture_not_measured", factors))
    if plugin := plugin_for(c.engine, c.accelerator):
        out.append(Reason("needs_plugin", {"engine": c.engine.name, "plugin": plugin}))
    if c.model.architecture.order_assumed and c.plan.pp > 1:
        out.append(Reason("order_assumed", {}))
    if c.widened:
        low, high = c.measured_versions
        named = {"engine": c.engine.name, "version": c.engine_version, "low": low, "high": high}
        out.append(Reason("version_outside_measured" if low else "version_outside_measured_until", named))
    if c.model.task != "generate":
        out.append(Reason("no_generation", {"model": c.model.name}))
    return tuple(out)


@lru_cache(maxsize=4096)
def _groups(kind: Keyed) -> tuple[CacheGroup, ...]:
    return (*_cache_groups(kind.configuration), *_state_groups(kind.configuration))


@lru_cache(maxsize=4096)
def _alone(machine: Keyed) -> tuple[Configuration, Stage]:
    """One unsharded copy of the model on one device, and all its layers as one stage."""
    c = machine.configuration
    return c.one_copy(), stages(c.model.architecture, (c.model.architecture.layer_count,))[0]


def cache_of(configuration: Configuration) -> Cache:
    """The cache of one request on one unsharded copy, group by group, and what the engine reserves for it."""
    c = configuration
    if c.model.task != "generate":
        return Cache(0, 0, 0, 0, ())
    groups = _groups(Keyed((c.model, c.engine, c.cache_type), c))
    alone, whole = _alone(Keyed(c.machine, c))
    terms = rules_of(c.engine.family).stage_cache(alone.at(c.workload), whole, c.workload.context_tokens, 1)
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
        if entry.elements:
            yield CacheGroup(kind, layers, ceil_div(layers * each, entry.pool), 0, entry.window, named)
        if index:
            named = {"layers": layers, "elements": entry.index_elements, "bytes_per_token_layer": index, "window": 0}  # fmt: skip
            yield CacheGroup("index", layers, ceil_div(layers * index, entry.index_pool), 0, None, named)


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
