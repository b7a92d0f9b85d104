"""What cross attention keeps of an image, the same in every engine: keys and values of the encoder's tokens. PURE."""

from __future__ import annotations

from typing import Any

from calculator.estimation.cache import IMAGE_TOKENS, encoder_entries, entry_bytes
from calculator.estimation.configuration import Configuration
from calculator.estimation.numbers import round_up
from calculator.estimation.placement import Stage
from calculator.estimation.terms import Term


def encoder_terms(c: Configuration, stage: Stage, step: int, users: Any) -> list[Term]:
    """Cross-attention caches on one GPU of the stage, one image per request [B]; asked only when vision is used.

    step: tokens that the engine rounds up to.
    """
    out = []
    most, least = (int(round_up(tokens, step)) for tokens in IMAGE_TOKENS)
    for entry, layers in encoder_entries(c.model.architecture, stage.first, stage.layers):
        per_token = entry_bytes(entry, c.cache_type, c.plan.attention_ranks)
        each = layers * per_token * users
        named = {"layers": layers, "elements": entry.elements, "bytes_per_token_layer": per_token, "bytes_per_token": layers * per_token, "cells": most, "tokens": most, "users": users, "ranks": c.plan.attention_ranks}  # fmt: skip
        out.append(
            Term("kv_cross", each * most, 1.0 * each * least, 1.0 * each * most, "rule", named, "§3.1")
        )
    return out
