"""What stays in host memory: experts first, then whole layers; as much on the GPU as fits (formulas §6.1, §6.2). PURE."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

from calculator.estimation.configuration import Configuration
from calculator.estimation.plans import moved_to_host
from calculator.estimation.terms import Reason, Verdict
from catalog.architecture.mlp import MoeMlp

Judge = Callable[[Configuration], Verdict]
"""The verdict of a configuration, without looking at its offload."""


def expert_layers(configuration: Configuration) -> int:
    """Layers of the model that have routed experts [1]."""
    architecture = configuration.model.architecture
    return sum(isinstance(architecture.blocks[index].mlp, MoeMlp) for index in architecture.sequence)


def refusal(configuration: Configuration) -> Reason | None:
    """Why the engine cannot keep part of the model in host memory, None when it can or need not."""
    kind = configuration.offload.kind
    if kind in ("none", "auto"):
        return None
    able = configuration.engine.rules.get("offload", ())
    if kind not in able:
        return Reason("offload_not_in_engine", {"engine": configuration.engine.name, "kind": kind})
    if kind == "experts" and not configuration.model.architecture.is_moe:
        return Reason("no_experts", {"model": configuration.model.name})
    return None


def settled(configuration: Configuration, judge: Judge) -> Configuration:
    """The configuration with its offload turned into a plan.

    `layers` and `experts` without a number keep as many on the GPU as fit. `auto` keeps all when all fits, else moves
    experts while that is enough, else whole layers.
    """
    offload, able = configuration.offload, configuration.engine.rules.get("offload", ())
    if offload.kind == "none" or refusal(configuration) is not None or configuration.plan.tp > 1:
        return configuration
    if offload.kind == "experts":
        return _with_experts(configuration, judge, offload.host_expert_layers)
    if offload.kind == "layers":
        return _with_layers(configuration, judge, offload.gpu_layers)
    if not able or judge(configuration) in ("fits", "tight", "unsupported"):
        return configuration
    if "experts" in able and configuration.model.architecture.is_moe:
        moved = _with_experts(configuration, judge, None)
        if judge(moved) in ("fits", "tight"):
            return moved
    return _with_layers(configuration, judge, None) if "layers" in able else configuration


def _with_experts(configuration: Configuration, judge: Judge, asked: int | None) -> Configuration:
    """The experts of the first MoE layers in host memory: as asked, or the fewest layers with which it fits."""
    most = expert_layers(configuration)

    def moved(layers: int) -> Configuration:
        return replace(configuration, plan=replace(configuration.plan, host_expert_layers=layers))

    if asked is not None:
        return moved(min(asked, most))
    return moved(_fewest(most, lambda layers: judge(moved(layers))))


def _with_layers(configuration: Configuration, judge: Judge, asked: int | None) -> Configuration:
    """Whole layers in host memory: `-ngl` as asked (the head is one more), or the fewest with which it fits.

    The head is the first to come to a GPU, before the last layer; up to builds of 2025 it was the last.
    """
    layers = configuration.model.architecture.layer_count
    output_last = bool(configuration.engine.rules.get("output_last"))

    def moved(host: int) -> Configuration:
        """host: how many of the layers and the head, which counts as one, are in host memory."""
        if host == 0:
            return configuration
        if output_last:
            return replace(configuration, plan=moved_to_host(configuration, host - 1, output_on_host=True))
        beyond = host > layers
        return replace(configuration, plan=moved_to_host(configuration, host - beyond, output_on_host=beyond))

    if asked is not None:
        return moved(max(0, layers + 1 - asked))
    return moved(_fewest(layers + 1, lambda host: judge(moved(host))))


def _fewest(most: int, verdict: Callable[[int], Verdict]) -> int:
    """The smallest number that fits outright, else the smallest that fits at all, else all.

    Moving more to the host never needs more of the GPU, so the search halves the range.
    """
    for wanted in (("fits",), ("fits", "tight")):
        if verdict(most) not in wanted:
            continue
        low, high = 0, most
        while low < high:
            middle = (low + high) // 2
            if verdict(middle) in wanted:
                high = middle
            else:
                low = middle + 1
        return low
    return most
