"""What is done to many rows of a list at once."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse
from django.utils import timezone

from catalog import publishing
from catalog.importers import write
from catalog.importers.files import read_entries
from catalog.models.history import recording
from catalog.roles import may_publish
from catalog.transfer import run

ACTIONS = (
    "publish",
    "discard",
    "checked_today",
    "retire",
    "bring_back",
    "take_shipped_figures",
    "export_csv",
    "export_json",
)
CONTENT_TYPES = {"csv": "text/csv; charset=utf-8", "json": "application/json"}


class RowActions(admin.ModelAdmin):
    """Actions on rows of the catalogue. What changes a page needs the right to publish."""

    actions = ACTIONS

    def has_publish_permission(self, request: HttpRequest) -> bool:
        return may_publish(request.user, self.model)

    def _show_soon(self) -> None:
        raise NotImplementedError

    @admin.action(description="Publish: show in the calculator", permissions=["publish"])
    def publish(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self.publish_rows(request, list(queryset))

    def publish_rows(self, request: HttpRequest, rows: list[Any], reason: str = "Published.") -> None:
        """Publish and say which rows are shown now and which cannot be."""
        done, refused = publishing.publish(rows, request.user, reason)
        for row in done:
            self.log_change(request, row, "Published.")
        self._show_soon()
        if done:
            self.message_user(request, f"Published: {', '.join(map(str, done))}.")
        elif not refused:
            self.message_user(request, "Nothing of these rows waits; all is published.")
        for item in refused:
            self.message_user(request, f"{item.row} is not published: {item.why}", messages.ERROR)

    @admin.action(description="Drop changes that wait", permissions=["change"])
    def discard(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        done = publishing.discard(queryset, request.user, "Dropped the changes that waited.")
        for row in done:
            self.log_change(request, row, "Dropped the changes that waited.")
        self.message_user(request, f"Dropped what waited: {', '.join(map(str, done)) or 'nothing did'}.")

    @admin.action(description="Checked today: the figures are as their sources say", permissions=["change"])
    def checked_today(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        rows, today = list(queryset), timezone.localdate()
        publishing.checked(rows, today, request.user, f"Checked on {today}.")
        for row in rows:
            self.log_change(request, row, f"Checked on {today}.")
        self.message_user(request, f"Checked on {today}: {len(rows)} rows.")

    @admin.action(description="Retire: leave out of the calculator", permissions=["publish"])
    def retire(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self._set_retired(request, queryset, retired=True)

    @admin.action(description="Bring back into the calculator", permissions=["publish"])
    def bring_back(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        self._set_retired(request, queryset, retired=False)

    def _set_retired(self, request: HttpRequest, queryset: QuerySet[Any], *, retired: bool) -> None:
        word = "Retired" if retired else "Brought back"
        rows = publishing.set_retired(list(queryset), request.user, f"{word}.", retired=retired)
        for row in rows:
            self.log_change(request, row, f"{word}.")
        self._show_soon()
        self.message_user(request, f"{word}: {', '.join(map(str, rows)) or 'nothing, all were so before'}.")

    @admin.action(description="Take the shipped figures again", permissions=["publish"])
    def take_shipped_figures(self, request: HttpRequest, queryset: QuerySet[Any]) -> None:
        with recording(request.user, "Took the shipped figures again."):
            restored, missing = write.restore(list(queryset), read_entries())
        for row in restored:
            self.log_change(request, row, "Took the shipped figures again.")
        self._show_soon()
        if restored:
            self.message_user(request, f"As shipped again: {', '.join(map(str, restored))}.")
        if missing:
            names = ", ".join(map(str, missing))
            self.message_user(request, f"Not shipped, so left alone: {names}.", messages.WARNING)

    @admin.action(description="Export as CSV", permissions=["view"])
    def export_csv(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse:
        return self.file_of(queryset, "csv")

    @admin.action(description="Export as JSON", permissions=["view"])
    def export_json(self, request: HttpRequest, queryset: QuerySet[Any]) -> HttpResponse:
        return self.file_of(queryset, "json")

    def file_of(self, rows: QuerySet[Any], kind: str) -> HttpResponse:
        """The rows as a file to keep, edit and import again."""
        chosen = self.model.complete().filter(pk__in=[row.pk for row in rows])
        response = HttpResponse(run.export(self.model, kind, chosen), content_type=CONTENT_TYPES[kind])
        response["Content-Disposition"] = f'attachment; filename="{self.model.entries}.{kind}"'
        response["Cache-Control"] = "no-store"
        return response
