"""One cell: a column's value as the text of a CSV file, and back without loss; in JSON it is the value itself."""

from __future__ import annotations

import json
from typing import Any

from django import forms
from django.core.exceptions import ValidationError
from django.db import models
from import_export import widgets

from catalog.models import CatalogRow
from catalog.models.row import plain
from catalog.transfer.upload import ABSENT, parse_json

YES, NO = ("true", "1", "yes"), ("false", "0", "no")
LONGEST_GIVEN = 60
FORMULA = ("=", "+", "-", "@", "\t", "\r")
"""A spreadsheet would compute a text that begins so; an apostrophe before it makes it a text."""


class Cell(widgets.Widget):
    """A column of a table. What is left empty is the column's default."""

    def __init__(self, table: type[CatalogRow], column: str) -> None:
        super().__init__()
        field = table._meta.get_field(column)  # noqa: SLF001
        assert isinstance(field, models.Field)
        self.field = field
        self.default = table.default_of

    def render(self, value: Any, obj: Any = None, **kwargs: Any) -> Any:
        value = plain(value)
        if kwargs.get("native"):
            return value
        if isinstance(self.field, models.JSONField):
            return "" if value is None else json.dumps(value, ensure_ascii=False)
        return written(value)

    def clean(self, value: Any, row: Any = None, **kwargs: Any) -> Any:
        if value is ABSENT or value is None or value == "":
            return self.default(self.field.attname)
        if isinstance(self.field, models.JSONField):
            return json_cell(value) if isinstance(value, str) else value
        if isinstance(self.field, models.BooleanField):
            return _yes_or_no(value)
        if isinstance(value, (dict, list)):
            raise ValidationError("Write one value here, not a list or an object.")
        return self._one(written(value) if not isinstance(value, str) else as_read(value))

    def _one(self, text: str) -> Any:
        if self.field.is_relation:
            return text
        form_field = self.field.formfield()
        if isinstance(form_field, forms.CharField):
            form_field.strip = False  # what is exported comes back to the letter
        try:
            return form_field.clean(text) if form_field else self.field.to_python(text)
        except ValidationError as error:
            given = text if len(text) <= LONGEST_GIVEN else f"{text[:LONGEST_GIVEN]}…"
            raise ValidationError([f"{sentence} (given: {given})" for sentence in error.messages]) from error


def written(value: Any) -> str:
    """A single value as text that gives the same value back."""
    if value is None:
        return ""
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, str):
        return f"'{value}" if value.lstrip("'").startswith(FORMULA) else value
    return repr(value)


def as_read(text: str) -> str:
    """A text without the apostrophe that `written` puts before what a spreadsheet would compute."""
    return text[1:] if text.startswith("'") and text.lstrip("'").startswith(FORMULA) else text


def json_cell(text: str) -> Any:
    """A structure that stands in a cell as JSON."""
    try:
        return parse_json(text)
    except json.JSONDecodeError as error:
        place = f"line {error.lineno}, character {error.colno}"
        raise ValidationError(f"This is not valid JSON ({error.msg} at {place}).") from error
    except ValueError as error:
        raise ValidationError(str(error)) from error


def _yes_or_no(value: Any) -> bool:
    text = str(value).strip().lower()
    if text in YES:
        return True
    if text in NO:
        return False
    raise ValidationError(f"Write true or false, not {value}.")
