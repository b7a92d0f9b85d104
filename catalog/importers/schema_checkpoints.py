"""The shape of the files of checkpoints: published repositories of models in weights formats, one lab each."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Field, model_validator

from catalog.importers.schema_fields import Bytes, Count, Head, Slug, Strict, Text


class _Sized(Strict):
    bytes: Bytes | None = None
    precision: Text | None = None

    @model_validator(mode="after")
    def a_size_says_how_it_was_rounded(self) -> Any:
        if (self.bytes is None) != (self.precision is None):
            raise ValueError("bytes and precision go together: write both or none")
        return self


class CheckpointFileEntry(_Sized):
    weights_format: Slug
    file: Text | None = None
    parts: Count | None = None
    source: Text
    note: Text | None = None


class CheckpointEntry(_Sized):
    weights_format: Slug
    repo: Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$")]
    publisher: Text
    publisher_kind: Literal["lab", "hardware vendor", "community"]
    engines: list[Slug]
    recipe: Text | None = None
    hardware: Text | None = None
    formats: list[Slug] = []
    file_pattern: Text | None = None
    file_pattern_split: Text | None = None
    parts: dict[str, Count] = {}
    sources: Annotated[list[Text], Field(min_length=1)]
    files: list[CheckpointFileEntry] = []


class CheckpointItem(CheckpointEntry):
    model: Slug


class CheckpointsFile(Head):
    kind: Literal["checkpoints"]
    items: Annotated[list[CheckpointItem], Field(min_length=1)]
