"""Weights: bytes of a model in a format. Published exact bytes come before the per-tensor rule; the layout says which it
was (formulas §2.2, §2.3). PURE.
"""

from __future__ import annotations

from dataclasses import replace
from functools import lru_cache

from calculator.estimation.weights.gguf import METADATA_BYTES_PER_TOKEN, gguf_layout
from calculator.estimation.weights.layout import WeightLayout
from calculator.estimation.weights.published import PublishedSize, exact_size, published_file, rounded_size
from calculator.estimation.weights.recipes import RECIPES, nearest_recipe
from calculator.estimation.weights.safetensors import (
    KEEPS_HEAD,
    LAB_SPREAD,
    RULES,
    native_rule,
    rule_for,
    safetensors_layout,
    spread_of,
)
from catalog.records import LanguageModel, WeightsFormat

__all__ = ["WeightLayout", "has_rule", "published_file", "weight_layout"]

NEAR_THE_RULE = 0.0005
"""A published file this close to the rule is the rule's tensors and some metadata."""

IMATRIX_FORMATS = ("iq", "q4_0", "q5_0")
"""File types whose quantizer picks other types for some tensors when it is given an importance matrix."""

IMATRIX_SPREAD = 0.013
"""How far files made with an importance matrix lie from the rule of files made without, at most (published sizes)."""

PARTS_SPREAD = 0.02
"""A published checkpoint that holds encoders or MTP beside the language model: what of it is text, by the rule."""

MOST_FROM_RULE = 0.25
"""A checkpoint further from the rule than this is another recipe or another model: a check, not an input."""


def has_rule(model: LanguageModel, weights_format: WeightsFormat) -> bool:
    """Whether the bytes can be computed: by rule, or from a published size."""
    if weights_format.id == "native":
        return (
            model.native_format is not None
            and native_rule(model.native_format, model.native_rest) is not None
        )
    if weights_format.family == "gguf":
        return weights_format.id in RECIPES or rounded_size(model, weights_format.id) is not None
    return weights_format.id in RULES


@lru_cache(maxsize=4096)
def weight_layout(model: LanguageModel, weights_format: WeightsFormat) -> WeightLayout:
    """Bytes of the model in the format, divided by layers.

    Raises LookupError when neither a rule nor a published size exists (`has_rule` tells before).
    """
    if weights_format.id == "native" or model.native_format == f"{weights_format.id}-experts":
        return _native(model)
    if weights_format.family == "gguf":
        return _gguf(model, weights_format.id)
    return _checkpoint(model, weights_format.id)


def _checkpoint(model: LanguageModel, name: str) -> WeightLayout:
    """A safetensors, MLX or EXL checkpoint: exact bytes of a published one divided as the rule divides them."""
    rule = rule_for(name, model.architecture)
    if rule is None:
        raise LookupError(name)
    layout = safetensors_layout(
        model.architecture,
        rule,
        spread=spread_of(name),
        source="§2.3",
        keeps_head=name.startswith(KEEPS_HEAD),
    )
    size = exact_size(model, name)
    return _as_published(layout, size) if size else layout


def _as_published(layout: WeightLayout, size: PublishedSize) -> WeightLayout:
    """The layout scaled to a published checkpoint; which of encoders and MTP it holds is what comes nearest the rule."""
    extras = {0, layout.vision_bytes, layout.mtp_bytes, layout.vision_bytes + layout.mtp_bytes}
    whole = min((layout.text_bytes + extra for extra in extras), key=lambda own: abs(own - size.size_bytes))
    if abs(size.size_bytes / whole - 1) > MOST_FROM_RULE:
        return layout
    text = layout.text_bytes * size.size_bytes // whole
    scaled = layout.scaled(text, size.source)
    return scaled if len(extras) == 1 else replace(scaled, spread=PARTS_SPREAD)


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


def _gguf(model: LanguageModel, name: str) -> WeightLayout:
    """A GGUF file: exact bytes, else the rule, else a rounded size with its rounding as interval."""
    size = exact_size(model, name)
    if name in RECIPES:
        layout = gguf_layout(model.architecture, name, model.class_name)
        if name in LAB_RECIPES:
            layout = replace(layout, spread=LAB_SPREAD)
        elif name.startswith(IMATRIX_FORMATS):
            layout = replace(layout, spread=IMATRIX_SPREAD)
        if size is None or abs(size.size_bytes / layout.file_bytes - 1) > MOST_FROM_RULE:
            return layout
    else:
        size = size or rounded_size(model, name)
        layout = gguf_layout(model.architecture, nearest_recipe(name), model.class_name)
    if size is None:
        raise LookupError(name)
    metadata = METADATA_BYTES_PER_TOKEN * model.architecture.vocabulary_size
    tensors = size.size_bytes - metadata
    if name in RECIPES and abs(tensors / layout.text_bytes - 1) < NEAR_THE_RULE:
        tensors = layout.text_bytes
    scaled = layout.scaled(tensors, size.source)
    return replace(scaled, metadata_bytes=size.size_bytes - tensors, spread=size.spread)


LAB_RECIPES = frozenset({"nvfp4-gguf"})
"""Conversions whose other tensors are kept by each publisher's own choice."""
