"""The vocabulary that every kind of layer is described with: tensors, cache entries, states."""

from __future__ import annotations

from dataclasses import MISSING, dataclass, fields
from fractions import Fraction
from typing import Any, Literal, TypeVar

Family = Literal["linear", "expert", "router", "vector", "convolution", "embedding", "head", "lookup"]
"""How a weights format treats a tensor: `linear` and `expert` matrices are what a quantizer quantizes; the router,
vectors (norms, biases, gates) and convolutions stay in 16 or 32 bits; embedding, head and lookup tables go by recipe."""


class ArchitectureError(ValueError):
    """A description that cannot be a model; the text is a sentence for the person who edits it."""


@dataclass(frozen=True, slots=True)
class Tensor:
    """One weight matrix of a layer, or `copies` equal ones.

    rows: output features. columns: input features (1 for a vector). copies: equal matrices, for instance experts or
    heads. sharded: tensor parallelism divides it; else every rank holds all of it. shard_limit: most ways it can be
    divided (the KV heads of a K projection); beyond it the shards are repeated. active_fraction: the share of the copies
    that one token multiplies.
    """

    role: str
    rows: int
    columns: int = 1
    copies: int = 1
    family: Family = "linear"
    sharded: bool = True
    shard_limit: int | None = None
    active_fraction: Fraction = Fraction(1)

    @property
    def parameters(self) -> int:
        """Weights of all copies [1]."""
        return self.rows * self.columns * self.copies

    @property
    def active_parameters(self) -> int:
        """Weights that one decoded token multiplies [1]."""
        active = self.parameters * self.active_fraction
        return int(active)


def vector(
    role: str, length: int, *, sharded: bool = False, active_fraction: Fraction = Fraction(1)
) -> Tensor:
    """A norm, bias or other one-dimensional tensor of `length` weights."""
    return Tensor(role, length, family="vector", sharded=sharded, active_fraction=active_fraction)


@dataclass(frozen=True, slots=True)
class CacheEntry:
    """What one layer keeps per token, in elements of the cache type.

    kind: `gqa` (keys and values per KV head), `mla` (one latent, no separate values) …
    key_elements, value_elements: per token on one unsharded copy. kv_heads: how many heads tensor parallelism can
    divide; None for a latent that every rank holds whole. window: tokens kept, None for all. chunked: the window is a
    chunk that is emptied at its end. index_elements: width of the sparse-attention index key, 0 without an indexer of
    its own. index_pool: tokens per stored index key. sparse: an indexer selects (own or shared). pool: tokens per
    stored entry.
    """

    kind: str
    key_elements: int
    value_elements: int
    kv_heads: int | None
    window: int | None = None
    chunked: bool = False
    index_elements: int = 0
    index_pool: int = 1
    sparse: bool = False
    rope_elements: int = 0
    pool: int = 1

    @property
    def elements(self) -> int:
        """Elements per token without the index key [1]."""
        return self.key_elements + self.value_elements


@dataclass(frozen=True, slots=True)
class StateEntry:
    """What one layer keeps per request, however long it is: a recurrent state and the tail of a convolution [elements].

    conv_columns: past inputs in the tail; drafted tokens add more. doubtful_elements: further ones that are not sure to
    exist. float32: 32 bits wide in every engine. replicated: every tensor-parallel rank holds all of it. row_elements:
    elements of one token's row where tokens in flight are kept in it too (compressors), 0 elsewhere.
    """

    kind: str
    state_elements: int
    conv_elements: int
    heads: int
    conv_columns: int = 0
    doubtful_elements: int = 0
    float32: bool = False
    replicated: bool = False
    row_elements: int = 0


@dataclass(frozen=True, slots=True)
class AttentionWork:
    """What a new token does in one layer beside multiplying weights (formulas §7.2).

    entry: the cached entries that it reads, None without a cache; of another layer where that one's cache is shared.
    decode_flops, prefill_flops: operations per new token and attended entry, when decoding one token at a time and when a
    prompt is read. index_flops: operations per new token and index key. token_flops: operations per new token however
    long the context (linear attention). selected: entries attended to at most (sparse attention), None for all.
    """

    entry: CacheEntry | None = None
    decode_flops: int = 0
    prefill_flops: int = 0
    index_flops: int = 0
    token_flops: int = 0
    selected: int | None = None


SELECTED_TOKENS = 2048
"""Entries that an indexer selects where nobody published the number (formulas §7.2, assumption)."""


_Made = TypeVar("_Made")


def build(cls: type[_Made], data: dict[str, Any], what: str) -> _Made:
    """Make a dataclass from a JSON object; unknown or missing keys raise `ArchitectureError` with a sentence."""
    known = {field.name: field for field in fields(cls)}  # type: ignore[arg-type]
    given = {key: value for key, value in data.items() if key != "kind"}
    if unknown := sorted(set(given) - set(known)):
        raise ArchitectureError(
            f"{what} has no field {', '.join(unknown)}; its fields are {', '.join(known)}."
        )
    missing = [name for name, field in known.items() if name not in given and field.default is MISSING]
    if missing:
        raise ArchitectureError(f"{what} needs {', '.join(missing)}.")
    for name, value in given.items():
        if isinstance(value, (int, float)) and not isinstance(value, bool) and value < 0:
            raise ArchitectureError(f"{what}: {name} is {value}; it cannot be negative.")
    return cls(**given)


def dump(part: Any, kind: str) -> dict[str, Any]:
    """The JSON object that `build` reads back: the kind first, defaults left out."""
    out: dict[str, Any] = {"kind": kind}
    for field in fields(part):
        value = getattr(part, field.name)
        if field.default is MISSING or value != field.default:
            out[field.name] = value
    return out
