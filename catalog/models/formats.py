"""Formats of weights."""

from collections.abc import Iterator
from typing import Any

from django.db import models

from catalog.models.row import CatalogRow, Entry, positive

MOST_OFF = 2.0
"""Scales and unquantized tensors add to the bits of the label, but not as much again."""


class WeightsFormat(CatalogRow):
    """A format of weights. `bits_nominal` is for labels; bytes come from the rule of its family."""

    entries = "formats"
    REQUIRED = {
        "id": "slug",
        "name": "name",
        "family": "family",
        "bits_nominal": "bits_nominal",
        "engines": "engines",
        "hardware": "hardware",
        "quality": "quality",
        "order": "order",
        "use": "use",
        "sources": "sources",
    }
    OPTIONAL = {
        column: column
        for column in (
            "bits_block",
            "bits_file_llama3_8b",
            "min_compute_capability",
            "native_compute_capability",
            "published_only",
            "dynamic",
            "note",
        )
    }

    family = models.CharField(
        max_length=40, help_text="gguf, mlx, float, fp8 …: picks the rule of the bytes."
    )
    bits_nominal = models.FloatField(null=True, blank=True, help_text="For labels, never for bytes.")
    bits_block = models.FloatField(
        null=True, blank=True, help_text="Bits per weight of one block of the format."
    )
    bits_file_llama3_8b = models.FloatField(
        "bits of a Llama 3 8B file", null=True, blank=True, help_text="Bits per weight over the whole file."
    )
    engines = models.JSONField(default=list, help_text="Ids of the engines that read it.")
    hardware = models.JSONField(default=dict, help_text="What it needs, in words: {en, zh}.")
    min_compute_capability = models.CharField(
        max_length=8, blank=True, help_text="NVIDIA: below it, it does not run."
    )
    native_compute_capability = models.CharField(
        max_length=8,
        blank=True,
        help_text="NVIDIA: from it on, it computes in the format instead of only storing it.",
    )
    published_only = models.BooleanField(
        default=False, help_text="Used only where a file of it is published."
    )
    dynamic = models.BooleanField(default=False, help_text="The recipe picks types tensor by tensor.")
    order = models.PositiveIntegerField(help_text="Place in lists, from the best quality down.")
    quality = models.JSONField(default=dict, help_text="badge, labels, measured loss, source, kind.")
    use = models.JSONField(default=dict, help_text="When to use it, in words: {en, zh}.")

    class Meta(CatalogRow.Meta):
        ordering = ["order", "slug"]
        verbose_name = "weights format"
        constraints = [
            positive(column, "format") for column in ("bits_nominal", "bits_block", "bits_file_llama3_8b")
        ]

    def doubts(self) -> Iterator[tuple[str, str]]:
        if self.bits_nominal is None:
            return
        for column in ("bits_block", "bits_file_llama3_8b"):
            bits = getattr(self, column)
            if bits is not None and not self.bits_nominal / MOST_OFF <= bits <= self.bits_nominal * MOST_OFF:
                sentence = f"{bits:g} bits per weight is far from the {self.bits_nominal:g} of the label."
                yield column, sentence


class FormatRules(CatalogRow):
    """One row: other names of formats, the badges of quality and the rules of the recommendation, as one document."""

    SLUG = "format-rules"
    retirable = False

    entries = "format_rules"
    REQUIRED = {}
    OPTIONAL = {"sources": "sources"}

    name = None  # type: ignore[assignment]
    note = None  # type: ignore[assignment]

    class Meta(CatalogRow.Meta):
        verbose_name = verbose_name_plural = "rules of formats"

    def __str__(self) -> str:
        return "Rules of formats"

    @classmethod
    def key(cls, entry: Entry) -> str:  # noqa: ARG003 - one row, whatever it holds
        return cls.SLUG

    def take(self, entry: Entry) -> None:
        super().take(entry)
        self.slug = self.SLUG

    def save(self, *args: Any, **kwargs: Any) -> None:
        self.slug = self.SLUG
        super().save(*args, **kwargs)
