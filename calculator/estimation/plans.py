"""Which plan lays the model over the GPUs: the one rule of `split=auto`, and what a visitor asks for (formulas §5.1).

PURE.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace

from calculator.estimation.configuration import Choice, Configuration, Plan
from calculator.estimation.engines import is_built, rules_of
from calculator.estimation.placement import layer_split, pipeline_layers
from catalog.records import GIB, MIB, Accelerator, System

NODE_GPUS = 8
"""Loose data-centre accelerators stand in nodes of so many."""


@dataclass(frozen=True, slots=True)
class Hardware:
    """The devices in question: `count` of one kind, as `units` of a system or loose; `cards` one by one
    when they are unequal (then `accelerator` is the smallest)."""

    accelerator: Accelerator
    count: int
    system: System | None
    units: int
    cards: tuple[Accelerator, ...] = ()

    @property
    def gpus_per_node(self) -> int:
        """Devices of one machine: of the system, of a node of 8, or all of them (one desktop; Macs stand alone)."""
        if self.system:
            return min(self.system.node_size, self.count)
        if self.accelerator.kind == "datacenter":
            return min(NODE_GPUS, self.count)
        return 1 if self.accelerator.kind in ("apple", "apu", "edge") else self.count

    @property
    def nodes(self) -> int:
        return -(-self.count // self.gpus_per_node)

    @property
    def fast_domain(self) -> int:
        """Devices that a fast link joins, else those of one machine."""
        domain = self.system.scale_up_domain if self.system else self.accelerator.scale_up_domain
        return max(self.gpus_per_node, domain or 1)


@dataclass(frozen=True, slots=True)
class AskedPlan:
    """What the visitor fixed: `split` auto, tensor, layer or expert; sizes, None where he left them open."""

    split: str = "auto"
    tp: int | None = None
    pp: int | None = None
    ep: int | None = None
    adp: int | None = None
    dcp: int | None = None
    dp: int | None = None

    @property
    def sizes(self) -> bool:
        """A tensor or pipeline size was written down."""
        return self.tp is not None or self.pp is not None


def choose_plan(configuration: Configuration, hardware: Hardware, asked: AskedPlan) -> tuple[Plan, Choice]:
    """The plan for a configuration whose engine, model and device are settled, and why it is that one."""
    layers = configuration.model.architecture.layer_count
    copies = asked.dp or 1
    base = Plan(
        nodes=hardware.nodes, gpus_per_node=hardware.gpus_per_node, dp=copies, layers_per_stage=(layers,)
    )
    count = max(1, configuration.count // copies)
    plan, choice = _widths(base, configuration, hardware, asked, count)
    ep = asked.ep or (plan.tp if asked.split == "expert" and configuration.model.architecture.is_moe else 1)
    return replace(plan, ep=ep, adp=asked.adp or 1, dcp=asked.dcp or 1), choice


def _widths(
    base: Plan, configuration: Configuration, hardware: Hardware, asked: AskedPlan, count: int
) -> tuple[Plan, Choice]:
    """Tensor width and stages of one replica on `count` devices."""
    if asked.sizes:
        tp = asked.tp or max(1, count // (asked.pp or 1))
        pp = asked.pp or max(1, count // tp)
        return _laid(base, configuration, tp, pp), _asked(tp, pp)
    if count == 1:
        return base, Choice("split", "single", "plan_single")
    if asked.split == "tensor":
        return _laid(base, configuration, count, 1), _asked(count, 1)
    if configuration.engine.rules.get("max_gpus_layer_split"):
        return _laid(base, configuration, 1, count), Choice(
            "split", "layer", "plan_layer_split", {"gpus": count}
        )
    if asked.split == "layer":
        return _laid(base, configuration, 1, count), _asked(1, count)
    tp = _tensor_size(configuration, hardware, count)
    plan = _laid(base, configuration, tp, count // tp)
    code = "plan_tensor_in_domain" if plan.pp == 1 else "plan_tensor_pipeline"
    return plan, Choice("split", "tensor", code, {"tp": tp, "pp": plan.pp, "gpus": count})


def _asked(tp: int, pp: int) -> Choice:
    return Choice("split", "tensor" if tp > 1 else "layer", "plan_asked", {"tp": tp, "pp": pp})


def _tensor_size(configuration: Configuration, hardware: Hardware, count: int) -> int:
    """The largest power of two inside the fast domain that divides the count and the model (formulas §5.1)."""
    size = 1
    candidate = 2
    domain = count if "hosts" in configuration.engine.rules.get("counts", {}) else hardware.fast_domain
    while candidate <= min(domain, count, 64):
        if count % candidate == 0 and not _refused(configuration, candidate):
            size = candidate
        candidate *= 2
    return size


def _refused(configuration: Configuration, tp: int) -> bool:
    if not is_built(configuration.engine):
        return False
    return bool(rules_of(configuration.engine.family).tensor_refusals(configuration, tp))


def _laid(base: Plan, configuration: Configuration, tp: int, pp: int) -> Plan:
    """A plan of tp × pp with the layers of each stage as the engine deals them; pp beyond the layers is left for the
    engine's refusal."""
    layers = configuration.model.architecture.layer_count
    stages = max(1, min(pp, layers))
    split = "tensor" if tp > 1 else ("layer" if pp > 1 else "single")
    return replace(base, split=split, tp=tp, pp=pp, layers_per_stage=_dealt(configuration, stages))  # type: ignore[arg-type]


def _dealt(configuration: Configuration, stages: int) -> tuple[int, ...]:
    """Layers per stage; unequal cards of a layer split by their memory."""
    layers = configuration.model.architecture.layer_count
    if not is_built(configuration.engine):
        return pipeline_layers(layers, stages)
    if len(configuration.cards) == stages:
        return layer_split(layers, stages, card_shares(configuration.cards))
    return rules_of(configuration.engine.family).deal_layers(layers, stages)


def card_shares(cards: tuple[Accelerator, ...]) -> tuple[int, ...]:
    """Each card's memory [MiB], which is what a layer split goes by."""
    return tuple((card.process_bytes or card.memory_gb * GIB) // MIB for card in cards)


def on_one_gpu(configuration: Configuration, judge: Callable[[Configuration], str]) -> Configuration:
    """An engine that takes one GPU when all fits there outright, else all of them (Ollama, LM Studio)."""
    c = configuration
    automatic = any(choice.code == "plan_layer_split" for choice in c.choices)
    if not automatic or c.cards or c.plan.dp > 1 or not c.engine.rules.get("one_gpu_first"):
        return c
    layers = (c.model.architecture.layer_count,)
    alone = replace(c, plan=replace(c.plan, split="single", pp=1, layers_per_stage=layers))
    return alone if judge(alone) == "fits" else c


def moved_to_host(configuration: Configuration, host_layers: int, *, output_on_host: bool) -> Plan:
    """The plan with the first layers in host memory and the others dealt over the same devices."""
    plan = configuration.plan
    left = configuration.model.architecture.layer_count - host_layers
    shares = card_shares(configuration.cards)
    dealt = layer_split(left, plan.pp, shares, with_output=not output_on_host)
    return replace(plan, host_layers=host_layers, output_on_host=output_on_host, layers_per_stage=dealt)
