"""Form parts of the admin: structured fields as readable JSON, and errors that find their place."""

from typing import Any

from django import forms
from django.core.exceptions import NON_FIELD_ERRORS, ValidationError
from django.forms.fields import InvalidJSONInput

from catalog.importers.dump import dump_json

FEWEST_ROWS, MOST_ROWS = 3, 32


class JsonTextarea(forms.Textarea):
    """As high as its text, within reason."""

    def get_context(self, name: str, value: Any, attrs: dict[str, Any] | None) -> dict[str, Any]:
        rows = min(max(str(value or "").count("\n") + 1, FEWEST_ROWS), MOST_ROWS)
        attrs = {"class": "json-editor", "spellcheck": "false", **(attrs or {}), "rows": rows}
        return super().get_context(name, value, attrs)


class JsonEditor(forms.JSONField):
    """JSON written as in the data files. What is left empty becomes `when_empty`."""

    widget = JsonTextarea
    when_empty: Any = None

    def prepare_value(self, value: Any) -> Any:
        if value is None or isinstance(value, (InvalidJSONInput, str)):
            return value
        return dump_json(value).rstrip()

    def to_python(self, value: Any) -> Any:
        parsed = super().to_python(value)
        return self.when_empty if parsed is None else parsed


class EntryForm(forms.ModelForm):
    """A model's sentence about a field that the form does not show stands at the top of the form."""

    def add_error(self, field: str | None, error: Any) -> None:
        if field is None and hasattr(error, "error_dict"):
            for name, errors in error.error_dict.items():
                shown = name == NON_FIELD_ERRORS or name in self.fields
                place = "" if shown else f"{name}: "
                sentences = [ValidationError(f"{place}{text}") for text in ValidationError(errors).messages]
                super().add_error(name if name in self.fields else None, ValidationError(sentences))
        else:
            super().add_error(field, error)
