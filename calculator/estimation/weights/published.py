"""Published sizes of a model in a format: exact bytes are an input, rounded ones only where no rule exists (formulas
§2.2). PURE."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import lru_cache

from catalog.records import GIB, LanguageModel, PublishedFile

GIGA = 10**9

EXACT = frozenset({"exact", "exact bytes"})

ROUNDING_BYTES = {
    "GiB to 1 decimal": 0.05 * GIB,
    "GiB to 2 decimals": 0.005 * GIB,
    "GB to 2 decimals, decimal units": 0.005 * GIGA,
    "rounded (GB)": 0.5 * GIGA,
    "GB rounded": 0.5 * GIGA,
}
"""Half of the last digit that a source prints [B]."""

ROUNDING_SHARE = 0.005
"""The same for sizes whose rounding the source does not say, as a share of the size (assumption)."""

_TRUST = {"lab": 0, "hardware vendor": 1, "community": 2}
"""Whose checkpoint is taken where several are exact."""


@dataclass(frozen=True, slots=True)
class PublishedSize:
    """The bytes of one published file or checkpoint [B]. half_bytes: half-width of what the source rounded away."""

    size_bytes: int
    half_bytes: float
    source: str

    @property
    def spread(self) -> float:
        return self.half_bytes / self.size_bytes


def published_file(model: LanguageModel, weights_format: str) -> PublishedFile | None:
    """The exact published file of this model in this format, None without one.

    Files that hold more than the language model (MTP, vision) are a check, not an input.
    """
    for file in model.files:
        if file.weights_format == weights_format and file.exact and not file.includes:
            return file
    return None


@lru_cache(maxsize=4096)
def exact_size(model: LanguageModel, weights_format: str) -> PublishedSize | None:
    """Exact bytes of a published file or checkpoint, None where nobody printed them."""
    file = published_file(model, weights_format)
    if file:
        return PublishedSize(file.size_bytes, 0.0, file.source)
    return next((size for size in _checkpoint_sizes(model, weights_format) if not size.half_bytes), None)


@lru_cache(maxsize=4096)
def rounded_size(model: LanguageModel, weights_format: str) -> PublishedSize | None:
    """The size that was rounded least, None where none is published."""
    sizes = [
        PublishedSize(file.size_bytes, rounding(file.precision, file.size_bytes), file.source)
        for file in model.files
        if file.weights_format == weights_format and not file.includes
    ]
    sizes += _checkpoint_sizes(model, weights_format)
    return min(sizes, key=lambda size: size.half_bytes, default=None)


def _checkpoint_sizes(model: LanguageModel, weights_format: str) -> Iterator[PublishedSize]:
    """Sizes in the catalogue's checkpoints, the lab's own first. A recipe of its own is another format."""
    for checkpoint in sorted(model.checkpoints, key=lambda row: _TRUST.get(row.publisher_kind, 3)):
        for file in checkpoint.files:
            if file.weights_format == weights_format and file.size_bytes:
                half = rounding(file.precision or "", file.size_bytes)
                yield PublishedSize(file.size_bytes, half, file.source)
        if checkpoint.weights_format == weights_format and checkpoint.size_bytes and not checkpoint.recipe:
            half = rounding(checkpoint.precision or "", checkpoint.size_bytes)
            yield PublishedSize(checkpoint.size_bytes, half, checkpoint.sources[0])


def rounding(precision: str, size_bytes: int) -> float:
    """Half-width of what was rounded away, by the words of the source [B]."""
    if precision in EXACT:
        return 0.0
    return ROUNDING_BYTES.get(precision, ROUNDING_SHARE * size_bytes)
