"""What the arithmetic says to a measured speed: the figures of a row, computed as the row was measured. PURE."""

from __future__ import annotations

from dataclasses import dataclass, fields, is_dataclass, replace
from typing import Any

import numpy as np

from calculator.accuracy.speed_cases import SpeedCase
from calculator.estimation.configuration import Configuration
from calculator.estimation.throughput.decode import step_s
from calculator.estimation.throughput.load import Load, load_of, machine_of
from calculator.estimation.throughput.prefill import prompt_s
from calculator.estimation.throughput.rates import Rates
from calculator.estimation.throughput.reads import Reads
from calculator.estimation.throughput.serving import serve
from calculator.estimation.weights import WeightLayout, weight_layout
from calculator.estimation.weights.gguf import gguf_layout
from calculator.estimation.weights.recipes import nearest_recipe
from calculator.resolve import resolve
from catalog.snapshot import Snapshot


@dataclass(frozen=True, slots=True)
class Prepared:
    """A case with what it costs: its configuration and amounts, and how it was measured.

    batched: all prompts in one pass, then all answers (a batch benchmark), instead of requests that come and go;
    its throughput leaves the prompts out.
    """

    case: SpeedCase
    configuration: Configuration
    load: Load
    users: float
    batched: bool


def prepare(case: SpeedCase, snapshot: Snapshot) -> Prepared | None:
    """The amounts of a case; None when the bytes of its format are known neither by rule nor from the row."""
    c = resolve(case.scenario, snapshot).configuration
    if case.host_bandwidth_bytes_per_s:
        c = replace(c, offload=replace(c.offload, ram_bandwidth_bytes_per_s=case.host_bandwidth_bytes_per_s))
        layers = c.model.architecture.layer_count
        c = replace(c, plan=replace(c.plan, host_expert_layers=layers))
    layout = _layout(c, case.weights_bytes)
    if layout is None:
        return None
    load = load_of(
        c,
        context_tokens=float(case.context_tokens),
        prompt_tokens=float(case.prompt_tokens),
        start_tokens=float(case.start_tokens),
        machine=machine_of(c, Reads(c, layout)),
    )
    batched = c.engine.rules["speed"]["prompt_chunk"] == "micro_batch"
    return Prepared(case, c, load, float(case.users), batched and case.users > 1)


def _layout(c: Configuration, size_bytes: int | None) -> WeightLayout | None:
    """The weights by our own rules, scaled to the measured file where its size is given."""
    try:
        layout = weight_layout(c.model, c.weights_format)
    except LookupError:
        if size_bytes is None or c.weights_format.family != "gguf":
            return None
        recipe = nearest_recipe(c.weights_format.id)
        layout = gguf_layout(c.model.architecture, recipe, c.model.class_name)
    return layout.scaled(size_bytes, "the measured file") if size_bytes else layout


def stacked(loads: list[Any]) -> Any:
    """Loads of many cases as one Load of arrays; an unknown rate is NaN."""
    out: dict[str, Any] = {}
    for field in fields(loads[0]):
        values = [getattr(load, field.name) for load in loads]
        if is_dataclass(values[0]):
            out[field.name] = stacked(values)
        else:
            out[field.name] = np.array([np.nan if v is None else float(v) for v in values])
    return type(loads[0])(**out)


FIGURES = ("decode", "prefill", "throughput", "ttft")
"""Figures in the order of `predicted`."""


def predicted(load: Load, rates: Rates, users: Any, batched: Any) -> tuple[Any, Any, Any, Any]:
    """(decode of one user [tokens/s], prefill [tokens/s], throughput [tokens/s], TTFT [s]) as they were measured."""
    served = serve(load, rates, users)
    step = step_s(load, rates, users)
    together = np.where(batched, users, 1.0)
    prompt = prompt_s(load, rates, together)
    decode = np.where(batched, 1 / step, 1 / served.tpot_s)
    throughput = np.where(batched, users / step, served.output_tokens_per_s)
    ttft = np.where(batched, prompt, served.ttft_s)
    return decode, load.prompt_tokens * together / prompt, throughput, ttft
