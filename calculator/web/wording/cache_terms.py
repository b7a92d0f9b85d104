"""The multiplication behind cache and state: per token, then what a request holds in the engine's own steps."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calculator.estimation.terms import Term
from calculator.web.wording.speech import gettext_lazy as _
from calculator.web.wording.text import Template, say

KINDS: Mapping[str, Template] = {
    "kv_gqa": _("{layers} attention layers"),
    "kv_mla": _("{layers} MLA layers"),
    "kv_window": _("{layers} layers with a window of {window} tokens"),
    "kv_chunk": _("{layers} layers with chunks of {window} tokens"),
    "kv_cross": _("{layers} layers that attend to an image"),
    "index_keys": _("{layers} layers with an index"),
}
STATE_KINDS: Mapping[str, Template] = {
    "kda": _("{layers} KDA layers"),
    "gated_deltanet": _("{layers} gated DeltaNet layers"),
    "mamba2": _("{layers} Mamba-2 layers"),
    "mamba1": _("{layers} Mamba-1 layers"),
    "shortconv": _("{layers} short convolutions"),
    "shortconv_beside": _("{layers} layers with short convolutions beside attention"),
    "csa_compressor": _("{layers} compressors"),
    "lightning": _("{layers} lightning attention layers"),
}
_STATE_OTHER = _("{layers} layers with a state")

COMPRESSED: Mapping[str, Template] = {
    "kv_compressed": _("{layers} layers × {held} entries of {entry_bytes:exact}, one per {pool} tokens"),
    "kv_raw_window": _(
        "{layers} layers × {held} entries of {entry_bytes:exact} for the last {window} tokens"
    ),
    "index_keys": _(
        "{layers} layers with an index × {held} keys of {entry_bytes:exact}, one per {pool} tokens"
    ),
}
"""Entries that hold several tokens, and the raw entries beside them."""

_IN_PAGES = _("{first}, in {blocks} pages of {page_bytes:exact}")

STATE_TERMS = frozenset(
    {
        "state_gdn",
        "state_kda",
        "state_mamba2",
        "state_mamba1",
        "state_lightning",
        "state_shortconv",
        "state_compressor",
    }
)
CACHE_TERMS = frozenset(KINDS) | frozenset(COMPRESSED) | STATE_TERMS

_PADDED = _("{what}, padded to {slots},")
_BY_ELEMENTS = _("{what} × {elements} × {element_bytes:plain} B = {bytes_per_token:exact} per token")
_BY_BYTES = _("{what} × {bytes_per_token_layer:exact} = {bytes_per_token:exact} per token")
_BY_SHARE = _(
    "{what} × {bytes_per_token_layer:exact} on each of {ranks} GPUs = {bytes_per_token:exact} per token"
)

_HELD: Mapping[tuple[bool, bool], Template] = {
    (False, False): _("{first}, × {held} tokens = {value:exact}."),
    (False, True): _("{first}, × {held} tokens × {users} requests = {value:exact}."),
    (True, False): _("{first}, × {held} tokens ({blocks} blocks of {block_tokens}) = {value:exact}."),
    (True, True): _(
        "{first}, × {held} tokens ({blocks} blocks of {block_tokens}) × {users} requests = {value:exact}."
    ),
}
"""By whether the tokens are rounded up to blocks, and whether there is more than one request."""

_CELLS: Mapping[tuple[bool, bool], Template] = {
    **_HELD,
    (True, False): _("{first}, × {held} cells for a context of {tokens} = {value:exact}."),
    (True, True): _("{first}, × {held} cells for a context of {tokens} × {users} requests = {value:exact}."),
}
_WINDOWED: Mapping[bool, Template] = {
    False: _(
        "{first}, × {held} tokens: the window and the batches in flight, in whole blocks = {value:exact}."
    ),
    True: _(
        "{first}, × {held} tokens: the window and the batches in flight, in whole blocks, × {users} requests "
        "= {value:exact}."
    ),
}
"""Layers that keep a window only: cells for more than the window, because a batch is written before the oldest go."""

_PAGES = _(
    "{first}. Pages are as large as the largest: {slots} × {page_bytes:exact} × {blocks} blocks "
    "× {users} requests = {value:exact}."
)

_STATE_LAYER = _(
    "{what} × {bytes_per_layer:exact} (state {state_elements} × {state_width} B, "
    "convolution {conv_elements} × {conv_width} B)"
)
_STATE_SHARE = _(
    "{what} × {bytes_per_layer:exact} on each of {ranks} GPUs (whole: state {state_elements} × {state_width} B, "
    "convolution {conv_elements} × {conv_width} B)"
)
_STATE = _("{first} × {users} requests = {value:exact}.")
_TOTAL = _("{first} = {value:exact}.")
_STATE_DRAFTED = _("{first} × {copies} for drafted tokens × {users} requests = {value:exact}.")
_STATE_ONE = _("{first} = {value:exact}, however long the request is.")
_STATE_PAGES = _(
    "{first}. The engine keeps each in a page of {page_bytes:exact}, {pages} pages = {value:exact}."
)


def cache_words(term: Term, units: str) -> str:
    """The explanation of a cache or state term."""
    factors: dict[str, Any] = {**term.factors, "value": term.value}
    if term.code in COMPRESSED and (term.code != "index_keys" or factors.get("pool", 1) > 1):
        return _compressed_words(term.code, factors, units)
    return (
        _state_words(factors, units) if term.code in STATE_TERMS else _token_words(term.code, factors, units)
    )


def _token_words(code: str, factors: dict[str, Any], units: str) -> str:
    per_layer, layers = factors["bytes_per_token_layer"], factors["layers"]
    slots = factors.get("slots", layers)
    blocks, block = factors.get("blocks"), factors.get("block_tokens")
    held = blocks * block if blocks is not None else factors["cells"]
    factors |= {"slots": slots, "held": held, "what": _padded(KINDS[code], factors, slots, units)}
    factors["bytes_per_token"] = slots * per_layer
    factors["first"] = _first(code, factors, units)
    page = factors.get("page_bytes")
    if page and page != per_layer * block:
        return say(_PAGES, factors, units)
    if (factors.get("window") or 0) < held < factors["tokens"] and code in ("kv_window", "kv_chunk"):
        return say(_WINDOWED[factors["users"] > 1], factors, units)
    key = (held != factors["tokens"], factors["users"] > 1)
    return say((_HELD if blocks is not None else _CELLS)[key], factors, units)


def _compressed_words(code: str, factors: dict[str, Any], units: str) -> str:
    """Layers, entries and their bytes; with pages where the engine rounds up to them."""
    blocks = factors.get("blocks", 1)
    factors |= {
        "held": factors["cells"] if "cells" in factors else factors["entries"] * blocks,
        "entry_bytes": factors.get("entry_bytes", factors.get("bytes_per_token_layer")),
    }
    factors["first"] = say(COMPRESSED[code], factors, units)
    if "page_bytes" in factors and factors["page_bytes"] != factors["entries"] * factors["entry_bytes"]:
        factors["first"] = say(_IN_PAGES, factors, units)
    return say(_STATE if factors["users"] > 1 else _TOTAL, factors, units)


def _padded(kind: Template, factors: Mapping[str, Any], slots: int, units: str) -> str:
    what = say(kind, factors, units)
    return say(_PADDED, {"what": what, "slots": slots}, units) if slots != factors["layers"] else what


def _first(code: str, factors: dict[str, Any], units: str) -> str:
    """Bytes per token: from the elements where the cache type has a plain width, else from the bytes of a layer."""
    elements, per_layer = factors.get("elements", 0), factors["bytes_per_token_layer"]
    width = per_layer / elements if elements else 0
    whole = factors.get("ranks", 1) == 1 or code == "kv_mla"  # a latent is never divided
    if whole and width and float(width * 32).is_integer():
        return say(_BY_ELEMENTS, {**factors, "element_bytes": width}, units)
    return say(_BY_BYTES if whole else _BY_SHARE, factors, units)


def _state_words(factors: dict[str, Any], units: str) -> str:
    slots = factors.get("slots", factors["layers"])
    what = say(STATE_KINDS.get(str(factors["kind"]), _STATE_OTHER), factors, units)
    copies = factors.get("copies", 1)
    factors |= {"slots": slots, "what": what, "pages": slots * factors["users"] * copies}
    factors["first"] = say(_STATE_SHARE if factors.get("ranks", 1) > 1 else _STATE_LAYER, factors, units)
    if (
        slots * factors.get("page_bytes", factors["bytes_per_layer"])
        != factors["layers"] * factors["bytes_per_layer"]
    ):
        return say(_STATE_PAGES, factors, units)
    if copies > 1:
        return say(_STATE_DRAFTED, factors, units)
    return say(_STATE if factors["users"] > 1 else _STATE_ONE, factors, units)
