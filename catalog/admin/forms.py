"""The form of a row: why it is changed, and whether an unusual figure is meant."""

from __future__ import annotations

from functools import cached_property
from typing import Any

from django import forms

from catalog.admin.editors import EntryForm
from catalog.models.history import MOST_REASON

REASON, CONFIRM = "change_reason", "confirm_unusual"


class RowForm(EntryForm):
    """A doubt stands beside its field until it is confirmed; the reason goes into the history."""

    change_reason = forms.CharField(
        label="Reason",
        required=False,
        max_length=MOST_REASON,
        help_text="Why this is changed, for the history: a new datasheet, a correction of a reader …",
        widget=forms.TextInput(attrs={"class": "vTextField"}),
    )
    confirm_unusual = forms.BooleanField(label="The unusual figures are right", required=False)
    doubted = False

    def _post_clean(self) -> None:
        super()._post_clean()  # type: ignore[misc]
        if self.errors or self.cleaned_data.get(CONFIRM):
            return
        for name, sentence in self.instance.doubts():
            if name in self.changed_data:
                self.doubted = True
                self.add_error(name, f"{sentence} Tick “The unusual figures are right” if it is so.")

    @cached_property
    def changed_data(self) -> list[Any]:
        return [name for name in super().changed_data if name not in (REASON, CONFIRM)]
