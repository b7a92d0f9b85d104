"""Import with a preview of every figure that changes, and export, as pages of each list.

The preview holds the file itself, signed: what is imported is what was shown, and no server keeps a file in between.
"""

from __future__ import annotations

from typing import Any

from django import forms
from django.conf import settings
from django.contrib import messages
from django.contrib.admin.options import IncorrectLookupParameters
from django.core import signing
from django.core.exceptions import PermissionDenied
from django.http import Http404, HttpRequest, HttpResponse, HttpResponseRedirect
from django.template.response import TemplateResponse
from django.urls import path, reverse

from catalog.admin.actions import RowActions
from catalog.admin.forms import CONFIRM, REASON
from catalog.models.history import MOST_REASON
from catalog.transfer import run, upload

SALT = "catalog.import"
KEPT_S = 3600
"""How long a preview can be confirmed."""


class UploadForm(forms.Form):
    """A file of at most so many bytes."""

    file = forms.FileField(
        label="File", help_text="CSV or JSON, UTF-8, as the export writes it. Columns may be left out."
    )

    def clean(self) -> dict[str, Any]:
        data = super().clean() or {}
        if file := data.get("file"):
            try:
                data["kind"] = upload.format_of(file.name)
                data["text"] = upload.read_text(file, settings.CATALOG_IMPORT_MOST_BYTES)
            except upload.UploadError as error:
                self.add_error("file", str(error))
        return data


class ConfirmForm(forms.Form):
    """What was previewed, why it is imported, and whether its unusual figures are meant."""

    previewed = forms.CharField(widget=forms.HiddenInput)
    change_reason = forms.CharField(
        label="Reason",
        required=False,
        max_length=MOST_REASON,
        help_text="For the history of every row that changes.",
        widget=forms.TextInput(attrs={"class": "vTextField"}),
    )
    confirm_unusual = forms.BooleanField(label="The unusual figures are right", required=False)


class RowTransfer(RowActions):
    """The pages import/ and export/ of a table."""

    def get_urls(self) -> list[Any]:
        name = f"{self.opts.app_label}_{self.opts.model_name}"
        view = self.admin_site.admin_view
        own = [
            path("import/", view(self.import_view), name=f"{name}_import"),
            path("export/<str:kind>/", view(self.export_view), name=f"{name}_export"),
        ]
        return [*own, *super().get_urls()]

    def has_import_permission(self, request: HttpRequest) -> bool:
        """Importing adds and changes. (A table of one row has no add page, but it is imported too.)"""
        codename = f"{self.opts.app_label}.add_{self.opts.model_name}"
        return self.has_change_permission(request) and bool(request.user.has_perm(codename))

    def changelist_view(self, request: HttpRequest, extra_context: dict[str, Any] | None = None) -> Any:
        filters = f"?{request.GET.urlencode()}" if request.GET else ""
        own = {"may_import": self.has_import_permission(request), "filters": filters}
        return super().changelist_view(request, {**own, **(extra_context or {})})

    def export_view(self, request: HttpRequest, kind: str) -> HttpResponse:
        """The rows that the list shows with these filters, all pages of it."""
        if not self.has_view_permission(request):
            raise PermissionDenied
        if kind not in upload.FORMATS:
            raise Http404
        try:
            listed = self.get_changelist_instance(request)
        except IncorrectLookupParameters:  # the list says what it makes of them
            return HttpResponseRedirect(f"{self._list_url()}?{request.GET.urlencode()}")
        return self.file_of(listed.get_queryset(request), kind)

    def _list_url(self) -> str:
        return reverse(f"admin:{self.opts.app_label}_{self.opts.model_name}_changelist")

    def import_view(self, request: HttpRequest) -> HttpResponse:
        """Upload, then preview, then import; a file with a wrong row is only previewed."""
        if not self.has_import_permission(request):
            raise PermissionDenied
        if request.method == "POST" and "previewed" in request.POST:
            return self._import(request)
        form = UploadForm(request.POST or None, request.FILES or None)
        report = confirm = None
        if request.method == "POST" and form.is_valid():
            kind, text = form.cleaned_data["kind"], form.cleaned_data["text"]
            try:
                report = run.preview(self.model, kind, text, may_publish=self.has_publish_permission(request))
                if report.writes and not report.refused:
                    confirm = ConfirmForm(initial={"previewed": _signed(self.model, kind, text)})
            except upload.UploadError as error:
                form.add_error("file", str(error))
        return self._import_page(request, form, report, confirm)

    def _import(self, request: HttpRequest) -> HttpResponse:
        form = ConfirmForm(request.POST)
        told = _previewed(self.model, request.POST["previewed"])
        if told is None:
            sentence = "That preview is too old or incomplete. Choose the file again."
            self.message_user(request, sentence, messages.ERROR)
            return HttpResponseRedirect(request.path)
        kind, text = told["kind"], told["text"]
        publisher = self.has_publish_permission(request)
        report = run.preview(self.model, kind, text, may_publish=publisher)
        if report.doubts and not request.POST.get(CONFIRM):
            form.add_error(
                CONFIRM, "Some figures are unusual. Tick this if they are right, or correct the file."
            )
        elif form.is_valid():
            report = run.run(
                self.model,
                kind,
                text,
                may_publish=publisher,
                user=request.user,
                reason=form.cleaned_data[REASON] or "Imported.",
            )
            if report.done:
                return self._imported(request, report)
        return self._import_page(request, UploadForm(), report, None if report.refused else form)

    def _imported(self, request: HttpRequest, report: run.Report) -> HttpResponse:
        slugs = {row.id for row in report.rows if row.kind in (run.NEW, run.CHANGED)}
        rows = list(self.model.objects.filter(slug__in=slugs))
        for row in rows:
            self.log_change(request, row, "Imported.")
        self._show_soon()
        waiting = [row for row in rows if row.waits]
        counts = ", ".join(f"{count} {kind}" for count, kind in report.counts())
        self.message_user(request, f"Imported: {counts}.")
        if waiting:
            sentence = f"{len(waiting)} of these rows wait for a publisher and are not shown yet."
            self.message_user(request, sentence, messages.WARNING)
        return HttpResponseRedirect(self._list_url())

    def _import_page(
        self, request: HttpRequest, form: UploadForm, report: run.Report | None, confirm: ConfirmForm | None
    ) -> HttpResponse:
        context = {
            **self.admin_site.each_context(request),
            "opts": self.opts,
            "title": f"Import {self.opts.verbose_name_plural}",
            "form": form,
            "confirm": confirm,
            "report": report,
            "publisher": self.has_publish_permission(request),
            "media": self.media,
        }
        return TemplateResponse(request, "admin/catalog/import.html", context)


def _signed(table: Any, kind: str, text: str) -> str:
    told = signing.dumps({"table": table.entries, "kind": kind, "text": text}, salt=SALT, compress=True)
    if len(told) > settings.DATA_UPLOAD_MAX_MEMORY_SIZE * 0.95:
        raise upload.UploadError("The file is too large to be confirmed in one go. Split it into two.")
    return told


def _previewed(table: Any, signed: str) -> dict[str, str] | None:
    """The file that was shown; None when it is another table's, too old or not ours."""
    try:
        told: dict[str, str] = signing.loads(signed, salt=SALT, max_age=KEPT_S)
    except signing.BadSignature:
        return None
    return told if told["table"] == table.entries else None
