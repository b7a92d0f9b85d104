"""Published checkpoints of language models: repositories with the model in a weights format."""

from __future__ import annotations

from typing import Any

from django.db import models

from catalog.models.drafts import Part
from catalog.models.row import Entry, Versioned, plain, positive, raise_faults, recorder
from catalog.models.shapes import faults


class Checkpoint(Part, Versioned):
    """A repository that somebody published: for links and commands, and for its bytes where they are exact."""

    REQUIRED = {
        "weights_format": "weights_format",
        "repo": "repo",
        "publisher": "publisher",
        "publisher_kind": "publisher_kind",
        "engines": "engines",
        "sources": "sources",
    }
    OPTIONAL = {
        "bytes": "size_bytes",
        "precision": "precision",
        "recipe": "recipe",
        "hardware": "hardware",
        "formats": "formats",
        "file_pattern": "file_pattern",
        "file_pattern_split": "file_pattern_split",
        "parts": "parts",
        "files": "files",
    }
    EMPTY: dict[str, Any] = {"size_bytes": None, "formats": [], "parts": {}, "files": []}
    """What an optional column holds when its key is missing; the others are empty text."""

    language_model = models.ForeignKey("catalog.LanguageModel", models.CASCADE, related_name="checkpoints")
    position = models.PositiveIntegerField(default=0, editable=False)
    weights_format = models.CharField(max_length=40, help_text="Id of our format; gguf: several types.")
    repo = models.CharField("repository", max_length=200, help_text="owner/name on the model hub.")
    publisher = models.CharField(max_length=120)
    publisher_kind = models.CharField(
        max_length=20, choices=[(word, word) for word in ("lab", "hardware vendor", "community")]
    )
    engines = models.JSONField(default=list, blank=True, help_text="Ids of the engines that load it.")
    size_bytes = models.BigIntegerField("bytes", null=True, blank=True, help_text="Empty: nobody printed it.")
    precision = models.CharField(max_length=80, blank=True, help_text="exact, or how the source rounds.")
    recipe = models.CharField(max_length=120, blank=True, help_text="What its name adds to the format.")
    hardware = models.CharField(max_length=120, blank=True, help_text="Only for this hardware.")
    formats = models.JSONField(default=list, blank=True, help_text="GGUF types that it is known to hold.")
    file_pattern = models.CharField(max_length=200, blank=True)
    file_pattern_split = models.CharField(max_length=200, blank=True)
    parts = models.JSONField(default=dict, blank=True, help_text="Parts of a split file by GGUF type.")
    files = models.JSONField(
        default=list, blank=True, help_text="{weights_format, file, parts, bytes, precision, source, note}."
    )
    sources = models.JSONField(default=list, help_text="Where it was read: a list.")

    class Meta:
        ordering = ["language_model", "position", "pk"]
        constraints = [positive("size_bytes", "checkpoint")]

    def __str__(self) -> str:
        return f"{self.repo} ({self.weights_format})"

    def to_entry(self) -> Entry:
        """The checkpoint as it stands in the model's entry."""
        entry: Entry = {key: plain(getattr(self, column)) for key, column in self.REQUIRED.items()}
        for key, column in self.OPTIONAL.items():
            if (value := getattr(self, column)) != self.EMPTY.get(column, ""):
                entry[key] = plain(value)
        return entry

    @classmethod
    def from_entry(cls, entry: Entry, position: int) -> Checkpoint:
        """An unsaved checkpoint, still without its model."""
        columns = {column: entry[key] for key, column in cls.REQUIRED.items()}
        columns |= {column: entry.get(key, cls.EMPTY.get(column, "")) for key, column in cls.OPTIONAL.items()}
        return cls(position=position, **columns)

    def clean(self) -> None:
        super().clean()
        raise_faults(self, {**self.REQUIRED, **self.OPTIONAL}, faults("checkpoints", self.to_entry()))

    def save(self, *args: Any, **kwargs: Any) -> None:
        recorder.write_before(self.language_model)
        super().save(*args, **kwargs)
        self._model_changed()  # a changed checkpoint is a changed model

    def delete(self, *args: Any, **kwargs: Any) -> tuple[int, dict[str, int]]:
        recorder.write_before(self.language_model)
        result = super().delete(*args, **kwargs)
        self._model_changed()
        return result

    def _model_changed(self) -> None:
        """Save the model as it is stored: the one at hand may hold figures that wait."""
        type(self.language_model).objects.get(pk=self.language_model_id).save()
