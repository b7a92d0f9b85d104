"""Which plan lays the model over the GPUs: the one rule of `split=auto`, and what a visitor asks for (formulas §5.1).

PURE.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from calculator.estimation.configuration import Choice, Configuration, Plan
from calculator.estimation.engines import is_built, rules_of
from calculator.estimation.placement import pipeline_layers
from catalog.records import Accelerator, System

NODE_GPUS = 8
"""Loose data-centre accelerators stand in nodes of so many."""


@dataclass(frozen=True, slots=True)
class Hardware:
    """The devices in question: `count` of one kind, as `units` of a system or loose."""

    accelerator: Accelerator
    count: int
    system: System | None
    units: int

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
    """What the visitor fixed: `split` auto, tensor or layer; sizes, None where he left them open."""

    split: str = "auto"
    tp: int | None = None
    pp: int | None = None


def choose_plan(configuration: Configuration, hardware: Hardware, asked: AskedPlan) -> tuple[Plan, Choice]:
    """The plan for a configuration whose engine, model and device are settled, and why it is that one."""
    count, layers = configuration.count, configuration.model.architecture.layer_count
    base = Plan(nodes=hardware.nodes, gpus_per_node=hardware.gpus_per_node, layers_per_stage=(layers,))
    if asked.tp is not None or asked.pp is not None:
        tp = asked.tp or max(1, count // (asked.pp or 1))
        pp = asked.pp or max(1, count // tp)
        return _laid(base, configuration, tp, pp), Choice(
            "split", "asked", "plan_asked", {"tp": tp, "pp": pp}
        )
    if count == 1:
        return base, Choice("split", "single", "plan_single")
    if configuration.engine.rules.get("max_gpus_layer_split"):
        if asked.split == "tensor":
            plan = _laid(base, configuration, count, 1)
            return plan, Choice("split", "tensor", "plan_asked", {"tp": count, "pp": 1})
        return _laid(base, configuration, 1, count), Choice(
            "split", "layer", "plan_layer_split", {"gpus": count}
        )
    if asked.split == "tensor":
        return _laid(base, configuration, count, 1), Choice(
            "split", "tensor", "plan_asked", {"tp": count, "pp": 1}
        )
    if asked.split == "layer":
        return _laid(base, configuration, 1, count), Choice(
            "split", "layer", "plan_asked", {"tp": 1, "pp": count}
        )
    tp = _tensor_size(configuration, hardware)
    plan = _laid(base, configuration, tp, count // tp)
    code = "plan_tensor_in_domain" if plan.pp == 1 else "plan_tensor_pipeline"
    return plan, Choice("split", "tensor", code, {"tp": tp, "pp": plan.pp, "gpus": count})


def _tensor_size(configuration: Configuration, hardware: Hardware) -> int:
    """The largest power of two inside the fast domain that divides the count and the model (formulas §5.1)."""
    size = 1
    candidate = 2
    while candidate <= min(hardware.fast_domain, configuration.count, 64):
        if configuration.count % candidate == 0 and not _refused(configuration, candidate):
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
    layers = configuration.model.architecture.layer_count
    if not is_built(configuration.engine):
        return pipeline_layers(layers, stages)
    return rules_of(configuration.engine.family).deal_layers(layers, stages)
