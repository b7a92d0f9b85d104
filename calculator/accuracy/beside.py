"""Measured speeds beside a calculated one: what was measured of the same model on the same devices. PURE.

The runs of a snapshot are sorted once; a question then looks at the few of its own model, devices and engine.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from functools import lru_cache

from calculator.estimation.configuration import Configuration
from catalog.records import (
    Accelerator,
    Conditions,
    Engine,
    LanguageModel,
    Measurement,
    Observation,
    WeightsFormat,
)
from catalog.snapshot import Snapshot
from catalog.sources import source_url

FIGURES = ("decode", "prefill", "throughput", "ttft")
"""Figures that are looked up, in the order of a page."""

MOST = 3
"""Runs of one figure that are returned unless told otherwise."""

DOUBTED = frozenset(
    {
        "physically impossible",
        "outlier",
        "figures contradict each other",
        "weights format contradicted",
        "weights format uncertain",
        "weights format not stated",
        "weights format inferred, not stated",
        "device inferred, not stated",
        "device not stated exactly",
        "number of GPUs not stated",
        "middle of a range over workloads",
        "prompt cache reused",
    }
)
"""Reasons against comparing a run that make its figure no answer to anybody's question."""

NEAR_TOKENS = 1024
"""Contexts below this differ little in speed [tokens]."""

OTHER_FORMAT = 2.0
OTHER_ENGINE = 1.0
OTHER_BACKEND = 0.5
NOT_COMPARABLE = 4.0
USERS_WEIGH = 2.0
UNKNOWN_USERS = 3.0
"""How far a difference places a run from the question, where a doubled context counts ln 2 = 0.7."""


@dataclass(frozen=True, slots=True)
class Measured:
    """One measured figure with its conditions, and where it stands.

    figure: decode (answer tokens of one user), prefill (prompt tokens), throughput (answer tokens of all users, prompt
    phases included) in `unit` tokens/s; ttft in s. users, prompt_tokens, output_tokens, depth_tokens (held when decoding
    begins), start_tokens (held before the prompt): None where the source does not say. model, format, device, engine_version: as the source writes them.
    model_id, format_id, engine, backend: ours. same_model: the question's own model, not only one of the same shape.
    same_format: its weights format (or one that holds the same bytes), not only one of its family. caveats: why a calculation cannot be held against it (power-capped …), in the source's
    readers' words. split: `fit` when constants were fitted on it, `check` when none was. url: None where the source is no
    address.
    """

    id: str
    figure: str
    value: float
    unit: str
    users: int | None
    prompt_tokens: int | None
    output_tokens: int | None
    depth_tokens: int | None
    start_tokens: int | None
    model: str
    model_id: str
    same_model: bool
    format: str
    format_id: str
    same_format: bool
    device: str
    gpus: int
    engine: str
    engine_version: str
    backend: str
    caveats: tuple[str, ...]
    split: str
    source: str
    url: str | None
    date: str | None


@dataclass(frozen=True, slots=True)
class _Run:
    """A run of the index with what a question is compared by."""

    run: Measurement
    given: Conditions
    users: int | None
    held_tokens: int
    gpus: int
    format_id: str
    stored: str
    bits: float
    backend: str


@dataclass(frozen=True, slots=True)
class _Asked:
    """The question, the format that stands for its own, and that one's bits per weight."""

    configuration: Configuration
    stored: str
    bits: float


Key = tuple[object, object, str, str]
"""Shape of the model, device, family of engines, family of weights formats: what a question and a run must agree in."""

SAME_BYTES: Mapping[str, str] = {
    "f16": "bf16",
    "fp16": "bf16",
    "mxfp4_moe": "mxfp4",
    "mxfp4-experts": "mxfp4",
    "int4-experts": "int4",
}
"""Formats that are read and computed alike, by the one that stands for them."""

SAME_FAMILY: Mapping[str, str] = {"awq": "int4", "gptq": "int4", "w4a16": "int4"}
"""Families of formats that differ in how they were quantized, not in how they run."""


def _shape(model: LanguageModel) -> object:
    """What of a model its speed depends on; a fine-tune has its base's."""
    own = model.architecture
    return own.layer_count, own.hidden_size, own.text_parameters, own.active_parameters, own.kinds


def _chip(device: Accelerator) -> object:
    """What of a device speed depends on: of one that shares the host's memory, not its size."""
    if not device.unified:
        return device.id
    return device.device_classes[0], device.bandwidth_bytes_per_s, device.dense_flops_per_s.get("fp16")


def _stored(weights_format: WeightsFormat, model: LanguageModel) -> str:
    """The format that stands for all that hold the same bytes; the native one is the model's own."""
    name = (model.native_format or "") if weights_format.id == "native" else weights_format.id
    return SAME_BYTES.get(name, name)


def _key(model: LanguageModel, device: Accelerator, engine: Engine, stored: WeightsFormat) -> Key:
    family = str(engine.rules.get("constants_from") or engine.family)
    return _shape(model), _chip(device), family, SAME_FAMILY.get(stored.family, stored.family)


def measured_beside(
    c: Configuration, snapshot: Snapshot, figure: str = "decode", most: int = MOST
) -> tuple[Measured, ...]:
    """The measured speeds of the question's model, family of weights formats, devices (kind and number) and engine (or
    one that runs the same kernels, as Ollama runs llama.cpp's), nearest in context and users first.

    figure: one of `FIGURES`. most: how many at most. Empty when nobody measured it, or the cards are unequal.
    """
    if c.cards:
        return ()
    stored = _stored(c.weights_format, c.model)
    weights_format = snapshot.weights_format(stored) or c.weights_format
    key = _key(c.model, c.accelerator, c.engine, weights_format)
    asked = _Asked(c, stored, _bits(weights_format))
    near: list[tuple[float, _Run, Observation]] = []
    for each in _index(snapshot).get(key, ()):
        seen = next((o for o in each.run.observed if o.part == figure), None)
        if seen is not None and each.gpus == c.count:
            near.append((_distance(each, asked, figure), each, seen))
    near.sort(key=lambda found: found[1].run.date or "", reverse=True)
    near.sort(key=lambda found: round(found[0], 2))  # of those as near, the newest first
    return tuple(_measured(each, seen, asked) for _, each, seen in near[:most])


def all_measured_beside(
    c: Configuration, snapshot: Snapshot, most: int = MOST
) -> Mapping[str, tuple[Measured, ...]]:
    """`measured_beside` for every figure that somebody measured."""
    found = {figure: measured_beside(c, snapshot, figure, most) for figure in FIGURES}
    return {figure: own for figure, own in found.items() if own}


def _distance(each: _Run, question: _Asked, figure: str) -> float:
    """How far a run's conditions lie from the question's; a format of other bits reads other bytes."""
    c = question.configuration
    asked = c.workload
    far = abs(math.log(each.bits / question.bits))
    far += OTHER_FORMAT * (each.stored != question.stored)
    far += OTHER_ENGINE * (each.run.engine != c.engine.id)
    far += OTHER_BACKEND * (bool(each.backend) and each.backend != c.backend)
    far += NOT_COMPARABLE * (not each.run.comparable)
    if figure in ("prefill", "ttft"):
        far += _apart(each.given.prompt_tokens or 0, asked.prompt_tokens)
    else:
        far += _apart(each.held_tokens, asked.context_tokens)
    if each.users is None:
        return far + UNKNOWN_USERS
    return far + USERS_WEIGH * abs(math.log(each.users / asked.users))


def _apart(first: float, second: float) -> float:
    """How many times longer one context is than the other, as a logarithm; short ones are all alike."""
    return abs(math.log((first + NEAR_TOKENS) / (second + NEAR_TOKENS)))


def _bits(weights_format: WeightsFormat) -> float:
    return weights_format.bits_nominal or 8.0


def _measured(each: _Run, seen: Observation, question: _Asked) -> Measured:
    run, given = each.run, each.given
    return Measured(
        id=run.id,
        figure=seen.part,
        value=seen.amount,
        unit=seen.unit,
        users=given.users,
        prompt_tokens=given.prompt_tokens,
        output_tokens=given.output_tokens,
        depth_tokens=given.depth_tokens,
        start_tokens=given.start_tokens,
        model=run.model,
        model_id=run.model_id or "",
        format=run.weights_format,
        format_id=each.format_id,
        same_model=run.model_id == question.configuration.model.id,
        same_format=each.stored == question.stored,
        device=run.device,
        gpus=each.gpus,
        engine=run.engine,
        engine_version=run.engine_version,
        backend=each.backend,
        caveats=run.why_not if not run.comparable else (),
        split=run.split,
        source=run.source,
        url=source_url(run.source),
        date=run.date,
    )


@lru_cache(maxsize=2)
def _index(snapshot: Snapshot) -> Mapping[Key, tuple[_Run, ...]]:
    """The runs of a snapshot by what a question must agree in."""
    found: dict[Key, list[_Run]] = {}
    for run in snapshot.measurements:
        engine = snapshot.engines.get(run.engine)
        if run.task == "speed" and engine and run.scenario and not DOUBTED.intersection(run.why_not):
            _place(found, run, engine, snapshot)
    return {key: tuple(own) for key, own in found.items()}


def _place(found: dict[Key, list[_Run]], run: Measurement, engine: Engine, snapshot: Snapshot) -> None:
    """Sort a run in under everything that a question must agree in with it."""
    asked, given = run.scenario, run.conditions or Conditions()
    model, written = snapshot.models.get(asked["model"]), snapshot.weights_format(asked.get("quant", ""))
    hosts = snapshot.hosts(asked["gpu"])
    if model is None or written is None or hosts is None:
        return
    device, units, _system = hosts
    stored = _stored(written, model)
    weights_format = snapshot.weights_format(stored) or written
    each = _Run(
        run=run,
        given=given,
        users=given.users,
        held_tokens=_held(given),
        gpus=units * int(asked.get("n", "1")),
        format_id=written.id,
        stored=stored,
        bits=_bits(weights_format),
        backend=asked.get("backend", ""),
    )
    found.setdefault(_key(model, device, engine, weights_format), []).append(each)


def _held(given: Conditions) -> int:
    """Tokens of one request at the end of the measured answer."""
    start = given.prompt_tokens if given.depth_tokens is None else given.depth_tokens
    return (start or 0) + (given.output_tokens or 0)
