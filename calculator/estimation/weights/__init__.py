"""Weights: bytes of a model in a format. Published exact bytes come before the per-tensor rule; the layout says which it
was (formulas §2.2, §2.3). PURE.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from calculator.estimation.weights.gguf import METADATA_BYTES_PER_TOKEN, RECIPES, gguf_layout
from calculator.estimation.weights.layout import WeightLayout
from calculator.estimation.weights.safetensors import RULES, native_rule, safetensors_layout, spread_of
from catalog.records import LanguageModel, PublishedFile, WeightsFormat

__all__ = ["WeightLayout", "has_rule", "published_file", "weight_layout"]

GGUF_SPREAD = 0.001
"""Stock file types by rule: ± 0.1 % (formulas §10)."""


def published_file(model: LanguageModel, weights_format: str) -> PublishedFile | None:
    """The exact published file of this model in this format, None without one.

    Files that hold more than the language model (MTP, vision) are a check, not an input.
    """
    for file in model.files:
        if file.weights_format == weights_format and file.exact and not file.includes:
            return file
    return None


def has_rule(model: LanguageModel, weights_format: WeightsFormat) -> bool:
    """Whether the bytes can be computed: by rule, or from a published size."""
    if weights_format.id == "native":
        return (
            model.native_format is not None
            and native_rule(model.native_format, model.native_rest) is not None
        )
    if weights_format.family == "gguf":
        return weights_format.id in RECIPES or published_file(model, weights_format.id) is not None
    return weights_format.id in RULES


@lru_cache(maxsize=4096)
def weight_layout(model: LanguageModel, weights_format: WeightsFormat) -> WeightLayout:
    """Bytes of the model in the format, divided by layers.

    Raises LookupError when neither a rule nor a published size exists (`has_rule` tells before).
    """
    if weights_format.id == "native":
        return _native(model)
    if weights_format.family == "gguf":
        return _gguf(model, weights_format)
    rule = RULES.get(weights_format.id)
    if rule is None:
        raise LookupError(weights_format.id)
    return safetensors_layout(model.architecture, rule, spread=spread_of(weights_format.id), source="§2.3")


def _native(model: LanguageModel) -> WeightLayout:
    """The lab's own checkpoint. A published total is an input only when the language model is all that it holds."""
    rule = native_rule(model.native_format or "", model.native_rest)
    if rule is None:
        raise LookupError("native")
    layout = safetensors_layout(model.architecture, rule, spread=spread_of("native"), source="§2.3")
    kind = model.native_weight_bytes_kind or ""
    exact = kind.startswith("published") and "rounded" not in kind
    if model.native_weight_bytes and exact and layout.checkpoint_bytes == layout.text_bytes:
        return layout.scaled(model.native_weight_bytes, kind)
    return layout


def _gguf(model: LanguageModel, weights_format: WeightsFormat) -> WeightLayout:
    file = published_file(model, weights_format.id)
    if weights_format.id in RECIPES:
        layout = gguf_layout(model.architecture, weights_format.id, model.class_name)
    elif file is not None:
        layout = safetensors_layout(model.architecture, RULES["bf16"], spread=GGUF_SPREAD)
    else:
        raise LookupError(weights_format.id)
    if file is None:
        return layout
    metadata = METADATA_BYTES_PER_TOKEN * model.architecture.vocabulary_size
    tensors = file.size_bytes - metadata
    if abs(tensors / layout.text_bytes - 1) < 0.0005 and weights_format.id in RECIPES:
        tensors = layout.text_bytes
    return replace(layout.scaled(tensors, file.source), metadata_bytes=file.size_bytes - tensors)
