"""The shape of the files of models: one lab each."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Field

from catalog.architecture import Architecture
from catalog.importers.schema_fields import (
    Bytes,
    CatalogueDate,
    Count,
    Head,
    Kind,
    Parameters,
    Positive,
    Slug,
    Sources,
    Strict,
    Text,
)

NativeFormat = Literal["bf16", "fp16", "fp32", "fp8", "mxfp8", "nvfp4", "mxfp4-experts", "int4-experts"]
Included = Literal["text", "vision", "audio", "vision+audio", "mtp", "other", "scales"]


def _can_be_built(data: dict[str, Any]) -> dict[str, Any]:
    """Let the architecture judge its own description; its error is a sentence already."""
    Architecture.from_json(data)
    return data


class FileEntry(Strict):
    weights_format: Slug | None
    format_as_published: Text
    repo: Text | None
    bytes: Bytes
    exact: bool
    precision: Text
    bits_per_weight: Positive
    includes: Text | None = None
    source: Text
    kind: Kind


class ModelEntry(Strict):
    id: Slug
    name: Text
    family: Text
    repo: Annotated[str, Field(pattern=r"^[\w.-]+/[\w.-]+$")]
    license: Text | None
    released: CatalogueDate | None
    released_kind: Text | None = None
    repo_created: CatalogueDate | None = None
    modalities: Annotated[list[Literal["text", "image", "video", "audio"]], Field(min_length=1)]
    task: Literal["generate", "embed", "rerank"] = "generate"
    reasoning: bool | None
    class_name: Text
    architecture_note: Text | None = None
    model_type: Text | None = None
    computed_as: Slug | None = None
    parameters: Parameters
    parameters_basis: Literal["published", "published, rounded", "derived"]
    parameters_include: list[Included]
    text_parameters: Parameters
    active_parameters: Parameters
    active_parameters_basis: Literal["dense", "published", "derived", "from memory"]
    active_parameters_note: Text | None = None
    active_parameters_derived: Parameters
    sum_note: Text | None = None
    max_context_tokens: Count | None
    context_note: Text | None = None
    native_format: NativeFormat | None
    native_rest: Literal["fp8"] | None = None
    native_weight_bytes: Bytes | None
    native_weight_bytes_kind: Text | None
    native_weight_bytes_derived: Bytes | None = None
    weights_gib_published: dict[str, Positive] | None = None
    mtp_layers: Count | None = None
    engines: list[Slug]
    architecture: Annotated[dict[str, Any], AfterValidator(_can_be_built)]
    files: list[FileEntry] = []
    gguf_repos: list[Text] = []
    sources: Sources
    note: Text | None = None


class Lab(Strict):
    id: Slug
    name: Text
    country: Text
    name_zh: Text | None = None


class ModelFile(Head):
    kind: Literal["models"]
    lab: Lab
    items: Annotated[list[ModelEntry], Field(min_length=1)]
