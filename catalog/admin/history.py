"""Who changed a row, when, why and what; and an old state to look at and to restore."""

from __future__ import annotations

from typing import Any

from django.contrib import messages
from django.contrib.admin.utils import unquote
from django.core.exceptions import PermissionDenied, ValidationError
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse

from catalog import publishing
from catalog.admin.actions import RowActions
from catalog.changes import Change, changes
from catalog.models.history import state

PER_PAGE = 40


class RowHistoryPages(RowActions):
    """The history page of a row, and one page for each of its records."""

    def get_urls(self) -> list[Any]:
        name = f"{self.opts.app_label}_{self.opts.model_name}_record"
        view = self.admin_site.admin_view(self.record_view)
        return [path("<path:object_id>/history/<int:record_id>/", view, name=name), *super().get_urls()]

    def history_view(
        self, request: HttpRequest, object_id: str, extra_context: dict[str, Any] | None = None
    ) -> HttpResponse:
        row = self._row(request, object_id)
        records = row.history.select_related("history_user")
        pages = Paginator(records, PER_PAGE)
        page = pages.get_page(request.GET.get("p"))
        shown = list(records[page.start_index() - 1 : page.end_index() + 1]) if pages.count else []
        told: list[tuple[Any, list[Change]]] = []
        for record, older in zip(shown, [*shown[1:], None], strict=True):
            if len(told) < len(page.object_list):
                told.append((record, changes(state(older), state(record)) if older else []))
        context = {**self._context(request, row, f"History of {row}"), "records": told, "page": page}
        return TemplateResponse(request, "admin/catalog/history.html", context | (extra_context or {}))

    def record_view(self, request: HttpRequest, object_id: str, record_id: int) -> HttpResponse:
        """What restoring a record would change; with POST, restore it."""
        row = self._row(request, object_id)
        record = row.history.select_related("history_user").filter(history_id=record_id).first()
        if record is None:
            raise Http404
        may = self.has_publish_permission(request)
        if request.method == "POST":
            if not may:
                raise PermissionDenied
            return self._restore(request, row, record)
        figures = {key: value for key, value in state(record).items() if key not in publishing.NO_FIGURES}
        now = {key: value for key, value in row.state().items() if key not in publishing.NO_FIGURES}
        context = {
            **self._context(request, row, f"{row} as of {record.history_date:%Y-%m-%d %H:%M}"),
            "record": record,
            "changes": changes(now, figures),
            "may_restore": may,
        }
        return TemplateResponse(request, "admin/catalog/record.html", context)

    def _restore(self, request: HttpRequest, row: Any, record: Any) -> HttpResponse:
        when = f"{record.history_date:%Y-%m-%d %H:%M}"
        reason = request.POST.get("change_reason", "").strip() or f"Restored the state of {when}."
        try:
            publishing.restore(row, record, request.user, reason)
        except ValidationError as error:
            self.message_user(request, f"Not restored: {' '.join(error.messages)}", messages.ERROR)
        else:
            self.log_change(request, row, f"Restored the state of {when}.")
            self._show_soon()
            self.message_user(request, f"{row} is as of {when} again.")
        return HttpResponseRedirect(self._address(row, "history"))

    def _row(self, request: HttpRequest, object_id: str) -> Any:
        row = (
            self.model.complete().filter(pk=unquote(object_id)).first()
            if unquote(object_id).isdecimal()
            else None
        )
        if row is None:
            raise Http404
        if not self.has_view_or_change_permission(request, row):
            raise PermissionDenied
        return row

    def _address(self, row: Any, page: str) -> str:
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_{page}", args=(row.pk,))

    def _context(self, request: HttpRequest, row: Any, title: str) -> dict[str, Any]:
        return {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": title,
            "row": row,
            "change_url": self._address(row, "change"),
            "history_url": self._address(row, "history"),
            "media": self.media,
        }
