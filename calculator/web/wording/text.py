"""From a template and its factors to a sentence.

A template is a gettext message with the factors' names in braces; what stands after the colon says how the factor is
written: `{missing_bytes:size}` is 11.9 GiB or 12.8 GB, `{bytes_per_token:exact}` is 27,648 B.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from functools import lru_cache
from string import Formatter
from typing import Any

from calculator.web import figures
from calculator.web.wording.money import input_name, months, years
from calculator.web.wording.speech import gettext_lazy as _
from catalog.records import Engine

Factor = int | float | str | None
Template = Any
"""A text, or a message of speech.py."""

ENGINE_NAMES: Mapping[str, str] = {
    "llama.cpp": "llama.cpp",
    "ollama": "Ollama",
    "lm-studio": "LM Studio",
    "vllm": "vLLM",
    "sglang": "SGLang",
    "tensorrt-llm": "TensorRT-LLM",
    "mlx": "MLX",
    "transformers": "Transformers",
    "exllama": "ExLlamaV3",
    "ktransformers": "KTransformers",
}
"""Product spelling, the same in every language."""


def engine_name(engine: object) -> str:
    """The engine's name as its makers write it, from its id or its full name: llama.cpp for llama.cpp (llama-server)."""
    text = str(engine)
    return ENGINE_NAMES.get(text, text.partition(" (")[0])


def format_label(weights_format: object) -> str:
    """A weights format as it is usually written: Q4_K_M for q4_k_m; a name that is written already stays."""
    text = str(weights_format)
    if text == "native" or text != text.lower():
        return text
    return text.upper().replace("BPW", "bpw").replace("BIT", "bit")


def cache_label(cache_type: str, engine: Engine) -> str:
    """A cache type as the engine calls it: engines with GGML's block types say f16 for 16 bits. int8 per token and head
    is `int8/token-head`."""
    if cache_type == "bf16" and "cache_block" in engine.rules:
        return "f16"
    return cache_type.replace("_per_token_head", "/token-head")


BACKEND_NAMES: Mapping[str, str] = {
    "cuda": "CUDA",
    "rocm": "ROCm",
    "vulkan": "Vulkan",
    "metal": "Metal",
    "sycl": "SYCL",
    "cpu": "CPU",
}


WHAT: Mapping[str, Template] = {
    "csa": _("compressed sparse attention"),
    "windowed_mla": _("MLA with a window"),
    "indexed_gqa": _("grouped attention with an index"),
    "pooled_index": _("an index with pooled keys"),
    "lightning": _("lightning attention"),
    "mamba1": _("Mamba-1"),
    "parallel": _("attention and state side by side"),
    "cross_attention": _("cross attention"),
    "shortconv_beside_attention": _("short convolutions beside attention"),
}
"""Parts of models whose arithmetic is not built yet; an engine or a format stands for itself."""


def what_words(what: object) -> str:
    """What is not computed yet."""
    return str(WHAT[str(what)]) if str(what) in WHAT else engine_name(what)


_Writer = Callable[[Any, str], str]
_WRITERS: Mapping[str, _Writer] = {
    "size": figures.size,
    "exact": lambda value, _units: figures.exact_bytes(value),
    "bytes": lambda value, _units: figures.spelled_bytes(value),
    "percent": lambda value, _units: figures.percent(value),
    "share": lambda value, _units: figures.percent(round(value, 2)),
    "short": lambda value, _units: figures.tokens(int(value)),
    "parameters": lambda value, _units: figures.parameters(int(value)),
    "time": lambda value, _units: figures.duration(value),
    "rate": lambda value, _units: figures.rate(value),
    "bandwidth": lambda value, _units: figures.bandwidth(value),
    "flops": lambda value, _units: figures.operations(value),
    "plain": lambda value, _units: figures.plain(value),
    "engine": lambda value, _units: engine_name(value),
    "backend": lambda value, _units: BACKEND_NAMES.get(str(value), str(value)),
    "what": lambda value, _units: what_words(value),
    "format": lambda value, _units: format_label(value),
    "usd": lambda value, _units: figures.usd(value),
    "months": lambda value, _units: months(value),
    "years": lambda value, _units: years(value),
    "many": lambda value, _units: figures.many_tokens(value),
    "money_input": lambda value, _units: input_name(value),
}


_TEXT_SPECS = ("engine", "format", "backend", "what", "money_input")


def _written(raw: Factor, spec: str, units: str) -> str:
    """A factor as it stands in a sentence."""
    if raw is None:
        return figures.MISSING
    if isinstance(raw, str):
        return _WRITERS[spec](raw, units) if spec in _TEXT_SPECS else raw
    if spec:
        return _WRITERS[spec](raw, units)
    return figures.whole(raw) if float(raw).is_integer() else figures.number(raw)


@lru_cache(maxsize=2048)
def _pieces(text: str) -> tuple[tuple[str, str, str], ...]:
    """A template's text cut at its factors: words, then a factor's name and how it is written."""
    return tuple((words, name or "", spec or "") for words, name, spec, _how in Formatter().parse(text))


def say(template: Template, factors: Mapping[str, Factor], units: str) -> str:
    """The sentence in the present language; raises KeyError when a factor is missing."""
    text = template if isinstance(template, str) else template.chosen(factors)
    return "".join(
        words + _written(factors[name], spec, units) if name else words for words, name, spec in _pieces(text)
    )


def say_code(
    table: Mapping[str, Template], code: str, factors: Mapping[str, Factor], units: str, fallback: Template
) -> str:
    """The sentence of a code; a neutral one when nobody wrote it or a factor is missing (tests look for that)."""
    template = table.get(code)
    if template is None:
        return str(fallback)
    try:
        return say(template, factors, units)
    except (KeyError, IndexError, ValueError, TypeError):
        return str(fallback)
