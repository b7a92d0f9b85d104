"""The question: one table of parameters, and the Scenario that holds their values.

From this table come the parser, the permalink, the API's schema and the controls of the page. The names and defaults are
public promises (`v=1`): extend the table, never change the meaning of a name. PURE.
"""

from __future__ import annotations

import difflib
import math
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, make_dataclass, replace
from operator import attrgetter
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlencode

Value = str | int | float | None
Kind = Literal["id", "choice", "whole", "number", "switch"]

VERSION = 1
"""The version of the defaults that a permalink names with `v=`."""

MAX_TOKENS = 16_777_216
"""Upper bound of every field that counts tokens of one request."""


@dataclass(frozen=True, slots=True)
class Parameter:
    """One parameter of the question.

    default: None means that the catalogue, the engine or the device decides (calculator/resolve.py). low, high: bounds
    of a number; values outside are replaced by the nearest and named. built: its arithmetic exists; else the value is
    kept in the link and answered by the problem `not_computed_yet`, but for the `choices` that are. longest: characters of an id that are looked at.
    """

    name: str
    kind: Kind
    default: Value = None
    low: float = 0
    high: float = 1e15
    choices: tuple[str, ...] = ()
    unit: str = ""
    group: str = ""
    built: bool = True
    alias: tuple[tuple[str, str], ...] = ()
    longest: int = 200


def _whole(name: str, low: int, high: int, default: int | None = None, **more: Any) -> Parameter:
    return Parameter(name, "whole", default, low, high, **more)


def _number(name: str, low: float, high: float, default: float | None = None, **more: Any) -> Parameter:
    return Parameter(name, "number", default, low, high, **more)


def _later(*parameters: Parameter) -> tuple[Parameter, ...]:
    """Parameters whose arithmetic belongs to a later part of the product."""
    return tuple(replace(parameter, built=False) for parameter in parameters)


_ENGINES = ("auto", "llama.cpp", "ollama", "lm-studio", "vllm", "sglang", "tensorrt-llm", "mlx", "transformers", "exllama", "ktransformers")  # fmt: skip
_CACHE_TYPES = ("bf16", "fp8", "q8_0", "q5_1", "q5_0", "q4_1", "q4_0", "iq4_nl", "nvfp4", "int8_per_token_head", "fp8_per_token_head", "int4_per_token_head", "nvfp4_ds_mla", "f32", "q8", "q6", "q4", "mlx-8bit", "mlx-4bit")  # fmt: skip
_LINKS = ("auto", "nvlink", "pcie3", "pcie3x8", "pcie3x4", "pcie4", "pcie4x8", "pcie4x4", "pcie5", "pcie5x8", "pcie5x4", "pcie6", "pcie6x8", "pcie6x4", "tb5", "eth1", "eth10", "eth25", "eth50", "eth100", "eth200", "eth400", "eth800", "ib100", "ib200", "ib400", "ib800")  # fmt: skip
_MARKETS = ("on-demand", "spot", "reserved", "marketplace", "secure", "community")
SHOWN = ("speed-context", "speed-users", "speed-prompt", "hardware", "cost")
"""Parts of the page that `show` opens already."""
_TOKENS: dict[str, Any] = {"unit": "tokens"}

PARAMETERS: tuple[Parameter, ...] = (
    Parameter("model", "id", "llama-3.1-8b-instruct", group="question"),
    Parameter("gpu", "id", "rtx-4090", group="question", longest=8192),
    _whole("n", 1, 4096, 1, group="question"),
    Parameter(
        "engine",
        "choice",
        "auto",
        choices=_ENGINES,
        group="question",
        alias=(("llamacpp", "llama.cpp"), ("exllamav3", "exllama")),
    ),
    Parameter("engine_version", "id", group="engine"),
    Parameter(
        "backend", "choice", choices=("cuda", "rocm", "vulkan", "metal", "sycl", "cpu"), group="engine"
    ),
    Parameter("quant", "id", group="question"),
    Parameter(
        "kv",
        "choice",
        "bf16",
        choices=_CACHE_TYPES,
        group="question",
        alias=(("f16", "bf16"), ("fp16", "bf16")),
    ),
    _whole("ctx", 1, MAX_TOKENS, 8192, group="question", **_TOKENS),
    _whole("prompt", 1, MAX_TOKENS, group="lengths", **_TOKENS),
    _whole("output", 1, MAX_TOKENS, group="lengths", **_TOKENS),
    _whole("users", 1, 65_536, 1, unit="requests", group="question"),
    _number("ttft", 1, 3_600_000, unit="ms", group="targets"),
    _number("tpot", 0.1, 600_000, unit="ms", group="targets"),
    _whole("prefix", 0, MAX_TOKENS, 0, group="lengths", **_TOKENS),
    Parameter("split", "choice", "auto", choices=("auto", "tensor", "layer", "expert"), group="plan"),
    _whole("tp", 1, 1024, group="plan"),
    _whole("pp", 1, 1024, group="plan"),
    _whole("ep", 1, 1024, group="plan"),
    _whole("adp", 1, 1024, group="plan"),
    _whole("dcp", 1, 1024, group="plan"),
    _whole("dp", 1, 1024, group="plan"),
    Parameter("link", "choice", "auto", choices=_LINKS, group="plan"),
    Parameter("offload", "choice", "none", choices=("none", "auto", "layers", "experts"), group="offload"),
    _whole("ngl", 0, 10_000, unit="layers", group="offload"),
    _whole("ncmoe", 0, 10_000, unit="layers", group="offload"),
    _number("ram", 1, 100_000, 64, unit="GB", group="offload"),
    _number("ram_bw", 1, 10_000, unit="GB/s", group="offload"),
    *_later(_number("disk_bw", 0.05, 1000, 5, unit="GB/s", group="offload")),
    _number("util", 0.05, 1, group="engine"),
    Parameter("seqs", "id", group="engine"),
    _whole("batched", 16, 1_048_576, group="engine", **_TOKENS),
    _whole("ubatch", 16, 65_536, group="engine", **_TOKENS),
    Parameter("fa", "switch", group="engine"),
    Parameter("eager", "switch", "0", group="engine"),
    _whole("maxlen", 1, MAX_TOKENS, group="engine", **_TOKENS),
    Parameter("os", "choice", choices=("linux", "windows", "wsl", "macos15", "macos26"), group="platform"),
    Parameter("display", "switch", "0", group="platform"),
    _number("wired", 1, 100_000, unit="GB", group="platform"),
    _number("vgm", 0.25, 100_000, unit="GB", group="platform"),
    Parameter("vision", "switch", "0", group="question"),
    _whole("mtp", 0, 64, 0, group="speculative", **_TOKENS),
    _number("accept", 0, 1, group="speculative"),
    *_later(Parameter("draft", "id", group="speculative")),
    _number("hours", 0, 24, 8, unit="hours/day", group="money"),
    _number("days", 0, 31, 30.4, unit="days/month", group="money"),
    _number("duty", 0, 100, 50, unit="%", group="money"),
    Parameter("region", "id", "us", group="money"),
    _number("kwh", 0, 100, unit="USD/kWh", group="money"),
    _number("pue", 1, 5, group="money"),
    _number("price", 0, 1e12, unit="USD", group="money"),
    _number("server_share", 0, 1000, unit="%", group="money"),
    _number("colo", 0, 1e9, 0, unit="USD/month", group="money"),
    _number("maintenance", 0, 100, 3, unit="%/year", group="money"),
    _number("years", 0.25, 20, 3, unit="years", group="money"),
    _number("resale", 0, 200, 30, unit="%", group="money"),
    _number("rate", -50, 100, 6, unit="%/year", group="money"),
    _number("rent_trend", -90, 500, 0, unit="%/year", group="money"),
    Parameter("source", "choice", choices=("rent", "own"), group="money"),
    Parameter("provider", "id", group="money"),
    Parameter("market", "choice", choices=_MARKETS, group="money"),
    _number("rent", 0, 1e7, unit="USD/hour", group="money"),
    _number("api_in", 0, 1e6, unit="USD/1M tokens", group="money"),
    _number("api_out", 0, 1e6, unit="USD/1M tokens", group="money"),
    *_later(
        Parameter("method", "choice", "qlora", choices=("qlora", "lora", "full"), group="finetuning"),
        _whole("rank", 1, 4096, 16, group="finetuning"),
        Parameter("targets", "id", "all-linear", group="finetuning"),
        _whole("seq", 1, MAX_TOKENS, 2048, group="finetuning", **_TOKENS),
        _whole("batch", 1, 65_536, 1, group="finetuning"),
        _whole("accum", 1, 65_536, 8, group="finetuning"),
        Parameter("optimizer", "id", "adamw-8bit", group="finetuning"),
        Parameter("checkpointing", "switch", "on", group="finetuning"),
        Parameter("packing", "switch", "on", group="finetuning"),
        Parameter("ce", "choice", "chunked", choices=("plain", "chunked"), group="finetuning"),
        Parameter("shard", "choice", "ddp", choices=("ddp", "zero1", "zero2", "zero3"), group="finetuning"),
        Parameter("train_offload", "id", "none", group="finetuning"),
        Parameter("pref", "choice", "none", choices=("none", "dpo", "grpo"), group="finetuning"),
        _number("tokens", 1, 1e15, 1e7, group="finetuning", **_TOKENS),
        _number("epochs", 0.01, 1000, 1, group="finetuning"),
    ),
    Parameter("units", "choice", "gib", choices=("gib", "gb"), group="page"),
    Parameter("lang", "choice", choices=("en", "zh-hans"), group="page"),
    Parameter("show", "id", group="page", built=False, choices=SHOWN),
)

BY_NAME: Mapping[str, Parameter] = {parameter.name: parameter for parameter in PARAMETERS}
DEFAULTS: Mapping[str, Value] = {parameter.name: parameter.default for parameter in PARAMETERS}


_all = attrgetter(*DEFAULTS)


class _Methods:
    """What every Scenario can do, whatever its parameters."""

    def changed(self) -> Iterator[tuple[str, Value]]:
        """The parameters that differ from the defaults of this version, in the table's order."""
        for name, value in zip(DEFAULTS, _all(self), strict=True):
            if value != DEFAULTS[name]:
                yield name, value

    def query(self) -> str:
        """The permalink's query string: only what differs, in the table's order, then `v`."""
        pairs = [(name, text_of(value)) for name, value in self.changed()]
        return urlencode([*pairs, ("v", str(VERSION))], safe=":,.")

    def replace(self, **values: Value) -> Scenario:
        """The same question with some values changed."""
        return Scenario(**{**self.values(), **values})

    def values(self) -> dict[str, Value]:
        """Every parameter by name, defaults included."""
        return dict(zip(DEFAULTS, _all(self), strict=True))


if TYPE_CHECKING:

    class Scenario(_Methods):
        """For the type checker: the fields that code reads by name. At run time they come from PARAMETERS."""

        model: str
        gpu: str
        n: int
        engine: str
        engine_version: str | None
        backend: str | None
        quant: str | None
        kv: str
        ctx: int
        prompt: int | None
        output: int | None
        users: int
        ttft: float | None
        tpot: float | None
        prefix: int
        split: str
        tp: int | None
        pp: int | None
        ep: int | None
        adp: int | None
        dcp: int | None
        dp: int | None
        link: str
        offload: str
        ngl: int | None
        ncmoe: int | None
        ram: float
        ram_bw: float | None
        util: float | None
        seqs: str | None
        batched: int | None
        ubatch: int | None
        fa: str | None
        eager: str
        maxlen: int | None
        os: str | None
        display: str
        wired: float | None
        vgm: float | None
        vision: str
        mtp: int
        accept: float | None
        hours: float
        days: float
        duty: float
        region: str
        kwh: float | None
        pue: float | None
        price: float | None
        server_share: float | None
        colo: float
        maintenance: float
        years: float
        resale: float
        rate: float
        rent_trend: float
        source: str | None
        provider: str | None
        market: str | None
        rent: float | None
        api_in: float | None
        api_out: float | None
        units: str
        lang: str | None
        show: str | None

        def __init__(self, **values: Value) -> None: ...

else:
    Scenario = make_dataclass(
        "Scenario",
        [(parameter.name, Value, parameter.default) for parameter in PARAMETERS],
        bases=(_Methods,),
        frozen=True,
        slots=True,
    )
    Scenario.__module__ = __name__
    Scenario.__doc__ = (
        "One question: a value for every parameter of the table. None: the catalogue or engine decides."
    )


@dataclass(frozen=True, slots=True)
class Problem:
    """A value that could not be taken as it was given: the field, what was given, what is used instead, and a code
    with factors for the sentence."""

    field: str
    given: str
    used: Value
    code: str
    factors: tuple[tuple[str, str | float], ...] = ()


def text_of(value: Value) -> str:
    """A value as it stands in a link: whole numbers without a point, dots for decimals."""
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 1e15 else repr(value)
    return "" if value is None else str(value)


_SUFFIXES = {"k": 1024, "m": 1024**2, "ki": 1024, "mi": 1024**2}
_ON = ("1", "on", "true", "yes")
_OFF = ("0", "off", "false", "no")


def parse_number(text: str) -> float | None:
    """A number as people write it: 8192, 8,192, 8k (= 8 × 1024), 128K, 1M; None when it is none."""
    bare = text.strip().lower().replace(",", "").replace("_", "").replace(" ", "").replace("\u202f", "")
    factor = 1
    for suffix, size in _SUFFIXES.items():
        if bare.endswith(suffix) and bare[: -len(suffix)].replace(".", "", 1).isdigit():
            bare, factor = bare[: -len(suffix)], size
            break
    try:
        number = float(bare) * factor
    except ValueError:
        return None
    return None if math.isnan(number) else number


def _parse_number(parameter: Parameter, text: str) -> tuple[Value, Problem | None]:
    whole = parameter.kind == "whole"
    number = parse_number(text)
    if number is None:
        return parameter.default, Problem(parameter.name, text, parameter.default, "not_a_number")
    used = min(max(number, parameter.low), parameter.high)
    value: Value = math.floor(used + 0.5) if whole else used
    if used != number:
        limits = (("low", parameter.low), ("high", parameter.high), ("unit", parameter.unit))
        return value, Problem(parameter.name, text, value, "out_of_range", limits)
    if whole and value != number:
        return value, Problem(parameter.name, text, value, "not_whole")
    return value, None


def parse_value(parameter: Parameter, text: str) -> tuple[Value, Problem | None]:
    """The value of one parameter as it was written, the nearest valid one with a problem where it is none."""
    text = text.encode(errors="replace").decode().strip()
    if parameter.kind in ("whole", "number"):
        return _parse_number(parameter, text)
    lowered = text.lower()
    lowered = dict(parameter.alias).get(lowered, lowered)
    if parameter.kind == "switch":
        words = ("on", "off") if parameter.default in ("on", "off") else ("1", "0")
        if lowered in _ON:
            return words[0], None
        if lowered in _OFF:
            return words[1], None
        return parameter.default, Problem(parameter.name, text, parameter.default, "not_a_switch")
    if parameter.kind == "choice" and lowered not in parameter.choices:
        allowed = (("allowed", ", ".join(parameter.choices)),)
        return parameter.default, Problem(parameter.name, text, parameter.default, "not_a_choice", allowed)
    return lowered if parameter.kind == "choice" else text.lower()[: parameter.longest].rstrip(), None


def parse(given: Mapping[str, str] | Iterable[tuple[str, str]]) -> tuple[Scenario, tuple[Problem, ...]]:
    """Read a query string's pairs: never an exception, bad values named and replaced by the nearest valid ones.

    Unknown names are ignored (`unknown_names` tells them), empty values mean the default. The last of repeated names
    wins.
    """
    pairs = given.items() if isinstance(given, Mapping) else given
    values: dict[str, Value] = {}
    problems: dict[str, Problem] = {}
    for name, text in pairs:
        if name == "v":
            problems.pop(name, None)
            if text and text.strip() not in ("", str(VERSION)):
                problems[name] = Problem(name, text, VERSION, "unknown_version")
        parameter = BY_NAME.get(name)
        if parameter is None or not text or not text.strip():
            continue
        values[name], problem = parse_value(parameter, text)
        problems.pop(name, None)
        if problem:
            problems[name] = problem
        elif not _is_built(parameter, values[name]):
            problems[name] = Problem(name, text, values[name], "not_computed_yet")
    scenario = Scenario(**values)
    return scenario, (*problems.values(), *_contradictions(scenario))


def _is_built(parameter: Parameter, value: Value) -> bool:
    """Whether the answer heeds this value: the parameter's arithmetic exists, or of an id's values this one's does."""
    return (
        parameter.built
        or value == parameter.default
        or (parameter.kind == "id" and value in parameter.choices)
    )


def _contradictions(scenario: Scenario) -> Iterator[Problem]:
    """Values that are right alone and wrong together: kept, and said."""
    prompt, output = scenario.prompt, scenario.output
    if (prompt or 0) + (output or 0) > scenario.ctx:
        field, length = ("prompt", prompt) if prompt else ("output", output)
        factors = (("prompt", prompt or 0), ("output", output or 0), ("context", scenario.ctx))
        yield Problem(field, text_of(length), length, "lengths_above_context", factors)


def unknown_names(names: Iterable[str]) -> Iterator[Problem]:
    """A problem for each name that no parameter has, with near ones: a slip that a page forgives and an API tells."""
    for name in names:
        if name not in BY_NAME and name != "v":
            near = difflib.get_close_matches(name.lower(), list(BY_NAME), n=3, cutoff=0.6)
            yield Problem(name, name, None, "unknown_parameter", (("near", ", ".join(near)),))
