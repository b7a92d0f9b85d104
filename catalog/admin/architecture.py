"""The editor of a model's layers: rows of fields, with the JSON below for who prefers it."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass
from typing import Any

from django.core.exceptions import ValidationError
from django.forms.renderers import BaseRenderer
from django.template.loader import render_to_string
from django.utils.safestring import SafeString, mark_safe

from catalog.admin.block_rows import sections
from catalog.admin.blocks import assemble, flatten
from catalog.admin.editors import JsonEditor, JsonTextarea
from catalog.importers.dump import dump_json

BOTH = "The rows and the JSON below were both changed, differently. Change one of them."


@dataclass(frozen=True, slots=True)
class Posted:
    """Rows that cannot be put together, to be shown again as they were sent."""

    flat: dict[str, Any]
    faults: list[str]
    text: str


def digest(data: Any) -> str:
    """The same for the same architecture, however it is written."""
    return hashlib.sha256(json.dumps(data, sort_keys=True).encode()).hexdigest()[:16]


class ArchitectureWidget(JsonTextarea):
    """Rows and JSON of one architecture; whichever was changed counts."""

    def render(
        self, name: str, value: Any, attrs: dict[str, Any] | None = None, renderer: BaseRenderer | None = None
    ) -> SafeString:
        posted = value if isinstance(value, Posted) else None
        text = posted.text if posted else str(value or "")
        data = _parsed(text)
        flat = posted.flat if posted else flatten(data, name) if isinstance(data, dict) else None
        if flat is None and not text:
            flat = flatten({}, name)
        general, lists = sections(flat, name) if flat is not None else (None, [])
        context = {
            "name": name,
            "general": general,
            "lists": lists,
            "was": posted.flat.get(f"{name}-was", "") if posted else digest(data),
            "textarea": super().render(name, text, attrs, renderer),
            "text_open": flat is None,
        }
        return mark_safe(render_to_string("admin/catalog/architecture.html", context))  # noqa: S308 - escaped there

    def value_from_datadict(self, data: Any, files: Any, name: str) -> Any:
        text = super().value_from_datadict(data, files, name)
        if f"{name}-mixers-N" not in data:
            return text
        flat = {key: data[key] for key in data if key.startswith(f"{name}-")}
        found, faults = assemble(flat, name)
        was = data.get(f"{name}-was", "")
        written = _parsed(text or "")
        text_changed = bool(text) and digest(written) != was
        rows_changed = bool(faults) or digest(found) != was
        if not rows_changed:
            return text
        if text_changed and not faults and digest(found) == digest(written):
            return text
        if text_changed:
            return Posted(flat, [BOTH], text or "")
        return Posted(flat, faults, text or "") if faults else dump_json(found).rstrip()


def _parsed(text: str) -> Any:
    """What the JSON says; the text itself when it is no JSON."""
    if not text.strip():
        return None
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


class ArchitectureEditor(JsonEditor):
    """The form field: takes rows or JSON, gives the architecture."""

    widget = ArchitectureWidget

    def to_python(self, value: Any) -> Any:
        if isinstance(value, Posted):
            raise ValidationError(value.faults)
        return super().to_python(value)

    def bound_data(self, data: Any, initial: Any) -> Any:
        return data if isinstance(data, Posted) else super().bound_data(data, initial)

    def prepare_value(self, value: Any) -> Any:
        return value if isinstance(value, Posted) else super().prepare_value(value)
