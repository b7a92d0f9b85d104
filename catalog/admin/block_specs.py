"""Which fields the parts of an architecture have, and how each is written in a form.

Those of mixers and MLPs are the fields of their classes, so a new kind needs nothing here.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, get_args

from catalog.architecture.kinds import MIXERS, MLPS
from catalog.architecture.model import Part

NEEDED = object()
"""Default of a field that has none."""

WHOLE, YES_NO, FLAG, WORDS, OBJECT, CHOICE, PARTS = (
    "whole",
    "yes_no",
    "flag",
    "words",
    "object",
    "choice",
    "parts",
)
UNITS = {
    "hidden_size": "elements",
    "vocabulary_size": "tokens",
    "embedding_rows": "tokens",
    "head_dim": "elements",
    "v_head_dim": "elements",
    "key_head_dim": "elements",
    "value_head_dim": "elements",
    "qk_rope_head_dim": "elements",
    "qk_nope_head_dim": "elements",
    "q_lora_rank": "elements",
    "kv_lora_rank": "elements",
    "o_lora_rank": "elements",
    "window": "tokens",
    "intermediate": "elements",
    "expert_intermediate": "elements",
    "shared_intermediate": "elements",
    "latent_size": "elements",
    "dense_beside": "elements",
    "state_size": "elements",
    "inner": "elements",
    "dt_rank": "elements",
    "conv_kernel": "tokens",
    "compress_ratio": "tokens per entry",
    "parameters": "weights",
    "extra_parameters": "weights",
    "count": "layers",
}
SET_BY_THE_MODEL = {("shortconv", "width")}


@dataclass(frozen=True, slots=True)
class Spec:
    """One field: its key in the JSON, how it is written, and what a missing key means."""

    key: str
    kind: str
    default: Any = NEEDED
    nullable: bool = False
    options: tuple[str, ...] = ()

    @property
    def required(self) -> bool:
        return self.default is NEEDED and not self.nullable

    @property
    def label(self) -> str:
        unit = f" [{UNITS[self.key]}]" if self.key in UNITS else ""
        return self.key.replace("_", " ") + unit


ORDER_BASES = (
    "",
    "config file",
    "code default",
    "documentation",
    "derived",
    "assumed evenly",
    "one kind of layer",
)
GENERAL = (
    Spec("hidden_size", WHOLE),
    Spec("vocabulary_size", WHOLE),
    Spec("embedding_rows", WHOLE, None, nullable=True),
    Spec("tied_embeddings", YES_NO, default=False),
    Spec("head_bias", YES_NO, default=False),
    Spec("output_head", YES_NO, default=True),
    Spec("final_norm_vectors", WHOLE, 1),
    Spec("hyper_connections", WHOLE, None, nullable=True),
    Spec("rope_factors", WHOLE, 0),
    Spec("order_basis", CHOICE, "", options=ORDER_BASES),
    Spec("attention_residual", OBJECT, None, nullable=True),
)
BLOCK = (
    Spec("mixer", WORDS),
    Spec("mlp", WORDS),
    Spec("norm_vectors", WHOLE, 2),
    Spec("extra_parameters", WHOLE, 0),
)
EXTRA = (
    Spec("name", WORDS),
    Spec("parameters", WHOLE),
    Spec("part", CHOICE, options=("", *get_args(Part))),
    Spec("remainder", YES_NO, default=False),
    Spec("derived", YES_NO, default=False),
    Spec("note", WORDS, ""),
)
KINDS = {"mixers": MIXERS, "mlps": MLPS}


def specs_of(kind: str, kinds: Mapping[str, type[Any]]) -> tuple[Spec, ...]:
    """The fields of a kind of mixer or MLP, from its class."""
    if kind not in kinds:
        return ()
    found = []
    for item in dataclasses.fields(kinds[kind]):
        if (kind, item.name) not in SET_BY_THE_MODEL:
            told = str(item.type)
            default = NEEDED if item.default is dataclasses.MISSING else item.default
            found.append(Spec(item.name, _written(told), default, nullable="None" in told))
    return tuple(found)


def _written(told: str) -> str:
    """How a value of this annotation is written in a form."""
    names = {part.strip() for part in told.split("|")} - {"None"}
    if any(name.startswith("dict") for name in names):
        return OBJECT
    if any(name.startswith("tuple") for name in names):
        return PARTS
    if names == {"bool"}:
        return YES_NO
    if names == {"bool", "str"}:
        return FLAG
    return WHOLE if names == {"int"} else WORDS
