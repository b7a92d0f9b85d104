"""One file per engine family, each with the functions of `interface.EngineRules`; the only place where engines differ."""

from __future__ import annotations

from calculator.estimation.engines import (
    exllama,
    ktransformers,
    llamacpp,
    lmstudio,
    mlx,
    ollama,
    sglang,
    tensorrt,
    transformers,
    vllm,
)
from calculator.estimation.engines.interface import EngineRules
from catalog.records import Engine

FAMILIES: dict[str, EngineRules] = {
    "exllama": exllama,
    "ktransformers": ktransformers,
    "llama.cpp": llamacpp,
    "lm-studio": lmstudio,
    "mlx": mlx,
    "ollama": ollama,
    "sglang": sglang,
    "tensorrt-llm": tensorrt,
    "transformers": transformers,
    "vllm": vllm,
}


def rules_of(family: str) -> EngineRules:
    """The functions of an engine family; KeyError when its arithmetic does not exist yet."""
    return FAMILIES[family]


def is_built(engine: Engine) -> bool:
    """Whether the engine's arithmetic exists; one that starts another engine has differences of its own."""
    return bool(engine.rules.get("built")) and engine.family in FAMILIES
