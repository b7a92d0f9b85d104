"""The rows that belong to a model (files, checkpoints) as one cell of the model's row, and back."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from django.core.exceptions import ValidationError

from catalog.models import CatalogRow, Checkpoint, Entry, LanguageModel, PublishedFile
from catalog.models.drafts import Status
from catalog.models.row import recorder
from catalog.models.shapes import faults
from catalog.transfer.cells import json_cell

PARTS: dict[type[CatalogRow], dict[str, type[PublishedFile | Checkpoint]]] = {
    LanguageModel: {"files": PublishedFile, "checkpoints": Checkpoint}
}
"""Tables of parts by the key of the entry that holds them."""


def read(key: str, cell: Any) -> list[Entry]:
    """The items of a cell; raises ValidationError with a sentence for each that the catalogue cannot hold."""
    items = json_cell(cell) if isinstance(cell, str) and cell else cell or []
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise ValidationError("Write a list of objects.")
    sentences = [
        f"{number}, {place}: {sentence}"
        for number, item in enumerate(items, 1)
        for place, sentence in faults(key, {name: value for name, value in item.items() if name != "status"})
    ]
    if sentences:
        raise ValidationError(sentences)
    return items


def save(row: CatalogRow, key: str, items: list[Entry], *, may_publish: bool) -> None:
    """Let the row have these parts. Equal ones stay; what an editor adds to a published model is a draft."""
    table = PARTS[type(row)][key]
    kept = {part.pk: part for part in table.objects.filter(language_model_id=row.pk)}
    recorder.write_before(row)
    for position, item in enumerate(items):
        entry = {name: value for name, value in item.items() if name != "status"}
        same = next((part for part in kept.values() if part.to_entry() == entry), None)
        if same is not None:
            kept.pop(same.pk)
            if same.position != position:
                table.objects.filter(pk=same.pk).update(position=position)
            continue
        part = table.from_entry(entry, position)
        part.language_model = row  # type: ignore[assignment]
        draft = item.get("status") == Status.DRAFT or not may_publish
        part.status = Status.DRAFT if draft else Status.PUBLISHED
        part.save()
    gone = list(kept.values())
    if not may_publish and any(part.published for part in gone):
        raise ValidationError({key: f"Only a publisher takes away or changes {', '.join(_names(gone))}."})
    for part in gone:
        part.delete()


def _names(parts: list[Any]) -> Iterator[str]:
    return (str(part) for part in parts if part.published)
