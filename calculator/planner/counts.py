"""The smallest count of a device that holds the model, by trying the engine's ladder (formulas §5.3)."""

from __future__ import annotations

from dataclasses import dataclass

from calculator.estimation import least_gpus, verdict_of
from calculator.estimation.configuration import Configuration
from calculator.resolve import resolve
from calculator.scenario import Scenario
from catalog.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class CountAnswer:
    """The smallest counts whose verdict is `fits` and `tight` (a smaller one), None where none is; and what was tried."""

    fits: int | None
    tight: int | None
    tried: tuple[int, ...]


def counts_to_try(configuration: Configuration) -> tuple[int, ...]:
    """The counts that the engine's row proposes for this kind of device: inside one machine, then whole nodes."""
    counts = configuration.engine.rules.get("counts", {})
    inside = sorted({1, *(counts.get("layer") or counts.get("tensor", ()))})
    if configuration.accelerator.kind != "datacenter":
        return tuple(inside)
    rack = counts.get("rack")
    domain = configuration.accelerator.scale_up_domain
    if rack and domain:
        step = int(rack["step"])
        return tuple(sorted({*inside, *range(step, min(domain, int(rack["domain"])) + 1, step)}))
    nodes = counts.get("nodes_of_8", ())
    return tuple(inside) + tuple(8 * node for node in nodes if 8 * node > max(inside))


def smallest_counts(scenario: Scenario, snapshot: Snapshot) -> CountAnswer:
    """The smallest count on the scenario's device whose verdict is `fits`, and a smaller `tight` one beside it.

    Plans that the visitor fixed (tp, pp, split) are left to the engine's own choice: another count needs another plan.
    """
    free = scenario.replace(tp=None, pp=None, split="auto")
    found = snapshot.hosts(scenario.gpu)
    base = resolve(free, snapshot).configuration
    per_unit = found[1] if found else 1
    units = sorted({-(-count // per_unit) for count in counts_to_try(base)})
    tight, tried = None, []
    least = least_gpus(base)
    for count in units:
        tried.append(count * per_unit)
        if count * per_unit < least:
            continue
        verdict = verdict_of(resolve(free.replace(n=count), snapshot).configuration)
        if verdict == "fits":
            return CountAnswer(count, tight, tuple(tried))
        if verdict == "tight" and tight is None:
            tight = count
    return CountAnswer(None, tight, tuple(tried))
