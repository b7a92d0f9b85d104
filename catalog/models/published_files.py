"""Published GGUF files of language models."""

from __future__ import annotations

from typing import Any

from django.core.exceptions import ValidationError
from django.db import models

from catalog.models.drafts import Part
from catalog.models.row import Entry, Versioned, plain, positive, raise_faults, recorder
from catalog.models.shapes import faults

BITS_PER_WEIGHT = (0.5, 34.0)
"""What a whole file can have per weight of the model: from 1-bit files of the largest models to 32-bit with headers."""


class PublishedFile(Part, Versioned):
    """A published GGUF file of a model. Exact bytes are used as they are; rounded ones only check our own figure."""

    REQUIRED = {
        "weights_format": "weights_format",
        "format_as_published": "format_as_published",
        "repo": "repo",
        "bytes": "size_bytes",
        "exact": "exact",
        "precision": "precision",
        "bits_per_weight": "bits_per_weight",
        "source": "source",
        "kind": "kind",
    }

    language_model = models.ForeignKey("catalog.LanguageModel", models.CASCADE, related_name="files")
    position = models.PositiveIntegerField(default=0, editable=False)
    weights_format = models.CharField(  # noqa: DJ001
        max_length=40, null=True, blank=True, help_text="Id of our format; empty: none of ours is the same."
    )
    format_as_published = models.CharField(max_length=80)
    repo = models.CharField(  # noqa: DJ001
        "repository", max_length=200, null=True, blank=True, help_text="Empty: the source does not name it."
    )
    size_bytes = models.BigIntegerField("bytes")
    exact = models.BooleanField(help_text="Off: rounded in the source.")
    precision = models.CharField(max_length=200, help_text="How the source rounds.")
    bits_per_weight = models.FloatField(
        null=True, blank=True, help_text="Of the text parameters; empty: computed."
    )
    source = models.CharField(max_length=400)
    kind = models.CharField(max_length=40)
    includes = models.CharField(max_length=300, blank=True, help_text="Other parts in the size.")

    class Meta:
        ordering = ["language_model", "position", "pk"]
        verbose_name = "published file"
        constraints = [positive("size_bytes", "file"), positive("bits_per_weight", "file")]

    def __str__(self) -> str:
        return f"{self.format_as_published}, {self.size_bytes:,} bytes"

    def to_entry(self) -> Entry:
        """The file as it stands in the model's entry."""
        entry: Entry = {key: plain(getattr(self, column)) for key, column in self.REQUIRED.items()}
        if self.includes:
            entry["includes"] = self.includes
        return entry

    @classmethod
    def from_entry(cls, entry: Entry, position: int) -> PublishedFile:
        """An unsaved file, still without its model."""
        columns = {column: entry.get(key) for key, column in cls.REQUIRED.items()}
        return cls(position=position, includes=entry.get("includes", ""), **columns)

    def clean(self) -> None:
        super().clean()
        weights = self.language_model.text_parameters
        if not self.size_bytes or not weights:
            return
        bits = 8 * self.size_bytes / weights
        low, high = BITS_PER_WEIGHT
        if not low <= bits <= high:
            sentence = (
                f"{self.size_bytes:,} bytes are {bits:.2f} bits per weight; a file has {low:g} to {high:g}."
            )
            raise ValidationError({"size_bytes": sentence})
        if self.bits_per_weight is None:
            self.bits_per_weight = round(bits, 3)
        raise_faults(self, {**self.REQUIRED, "includes": "includes"}, faults("files", self.to_entry()))

    def save(self, *args: Any, **kwargs: Any) -> None:
        recorder.write_before(self.language_model)
        super().save(*args, **kwargs)
        self._model_changed()  # a changed file is a changed model

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        recorder.write_before(self.language_model)
        result = super().delete(*args, **kwargs)
        self._model_changed()
        return result

    def _model_changed(self) -> None:
        """Save the model as it is stored: the one at hand may hold figures that wait."""
        type(self.language_model).objects.get(pk=self.language_model_id).save()
