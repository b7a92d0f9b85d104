"""What the admin pages of all tables share."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.db import models, transaction
from django.http import HttpRequest, HttpResponse
from django.urls import NoReverseMatch, reverse
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from catalog import live, publishing
from catalog.admin.actions import ACTIONS
from catalog.admin.editors import JsonEditor
from catalog.admin.filters import Checked, Provenance, Shown, Verified
from catalog.admin.forms import REASON, RowForm
from catalog.admin.history import RowHistoryPages
from catalog.admin.transfer import RowTransfer
from catalog.changes import changes
from catalog.models import CatalogRow
from catalog.models.history import recording
from catalog.models.row import FROM_MEMORY

Fieldset = tuple[str | None, dict[str, Any]]


class JsonFields(admin.options.BaseModelAdmin):
    """JSON columns are edited as the data files write them."""

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if isinstance(db_field, models.JSONField):
            kwargs.setdefault("form_class", JsonEditor)
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if isinstance(field, JsonEditor):
            field.when_empty = db_field.get_default()
            field.show_hidden_initial = False  # the row tells what changed; a page need not hold it twice
        return field


class EntryAdmin(JsonFields, RowHistoryPages, RowTransfer):
    """A table of entries: list, form, import, export, history, drafts. Registering one is all that a new table needs.

    Subclasses name `groups`, their own fieldsets; provenance is added to them. effect: the calculator's parameter that
    takes this row's id.
    """

    form = RowForm
    effect: ClassVar[str] = ""
    change_list_template = "admin/catalog/entry_list.html"
    change_form_template = "admin/catalog/entry_form.html"
    groups: ClassVar[tuple[Fieldset, ...]]
    columns: ClassVar[tuple[str, ...]]
    own_filters: ClassVar[tuple[Any, ...]] = ()
    search_fields: ClassVar[tuple[str, ...]] = ("slug", "name")
    readonly_fields: ClassVar[tuple[str, ...]] = ("sources_table", "status", "as_of", "origin", "edited_at")
    actions = ACTIONS
    list_per_page = 60
    save_on_top = True

    class Media:
        css = {"all": ("catalog/admin.css",)}

    def _has(self, column: str) -> bool:
        return any(field.name == column for field in self.opts.fields)

    def get_list_display(self, request: HttpRequest) -> Any:
        return [self.columns[0], "state", *self.columns[1:]]

    def get_list_filter(self, request: HttpRequest) -> list[Any]:
        sources = (Verified,) if self._has("sources") else ()
        retired = ("retired",) if self.model.retirable else ()
        return [Shown, *self.own_filters, Provenance, *sources, Checked, *retired]

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        further = [name for name in ("note", "facts") if self._has(name)]
        state = [("status", "as_of"), "origin", "edited_at", *(["retired"] if self.model.retirable else [])]
        groups = list(self.groups)
        if self._has("sources"):
            description = "Every figure has its source; a figure from memory is shown as unverified."
            groups.append(("Sources", {"fields": ["sources_table", "sources"], "description": description}))
        groups.append(("More", {"fields": further}))
        groups.append(("State", {"fields": state, "description": STATE}))
        return groups

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        fixed = ["slug"] if obj else []
        if self.model.retirable and not self.has_publish_permission(request):
            fixed.append("retired")
        return [*self.readonly_fields, *fixed]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """A shipped row is retired instead: a deleted one would come back with the next change of the files."""
        own = obj is None or obj.origin == CatalogRow.Origin.ADMIN
        return own and super().has_delete_permission(request, obj)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        actions = super().get_actions(request)
        kept = {"retire", "bring_back"} if not self.model.retirable else set()
        unwanted = {"delete_selected"} | kept
        return {name: action for name, action in actions.items() if name not in unwanted}

    @admin.display(description="state")
    def state(self, row: CatalogRow) -> str:
        words = [
            "" if row.published else "draft",
            "changes wait" if row.proposed else "",
            "retired" if row.retired else "",
            "changed here" if row.edited_at else "",
            "added here" if row.origin == CatalogRow.Origin.ADMIN else "",
            "unverified figures" if row.unverified else "",
        ]
        return ", ".join(word for word in words if word) or "shipped"

    @admin.display(description="sources, readable")
    def sources_table(self, row: CatalogRow) -> SafeString | str:
        if not row.sources:
            return "None yet."
        lines = format_html_join(
            "",
            '<tr class="{}"><td>{}</td><td>{}</td><td>{}</td></tr>',
            (
                (
                    "unverified" if source["kind"] == FROM_MEMORY else "",
                    source["what"],
                    source["where"],
                    source["kind"],
                )
                for source in row.sources
            ),
        )
        head = "<thead><tr><th>figure</th><th>read in</th><th>kind</th></tr></thead>"
        return format_html('<table class="source-table">' + head + "<tbody>{}</tbody></table>", lines)

    def get_object(self, request: HttpRequest, object_id: str, from_field: str | None = None) -> Any:
        """The row with the changes that wait: an editor goes on from there."""
        row = super().get_object(request, object_id, from_field)
        if row is not None:
            row.take_proposed()
        return row

    def changeform_view(
        self,
        request: HttpRequest,
        object_id: str | None = None,
        form_url: str = "",
        extra_context: Any = None,
    ) -> Any:
        if request.method != "POST":
            return super().changeform_view(request, object_id, form_url, extra_context)
        with recording(request.user, request.POST.get(REASON, "").strip()):
            return super().changeform_view(request, object_id, form_url, extra_context)

    def render_change_form(
        self, request: HttpRequest, context: Any, *args: Any, **kwargs: Any
    ) -> HttpResponse:
        obj = kwargs.get("obj")
        publisher = self.has_publish_permission(request)
        context |= {
            "row": obj,
            "waiting": self._waiting(obj) if obj and obj.proposed else [],
            "may_publish": publisher,
            "may_keep_aside": publisher and obj is not None and obj.published,
            "may_save_and_publish": publisher and (obj is None or not obj.published),
            "effect_url": self._effect(obj) if obj and not obj.retired else "",
        }
        return super().render_change_form(request, context, *args, **kwargs)

    def _waiting(self, row: CatalogRow) -> list[Any]:
        """What publishing this row would change."""
        stored = type(row).objects.get(pk=row.pk)
        return changes(stored.own_entry(), stored.with_proposed().own_entry())

    def _effect(self, row: CatalogRow) -> str:
        """The calculator with this row in the question, drafts and all; empty where the site has no such page."""
        try:
            return f"{reverse('see-effect')}?{self.effect}={row.slug}" if self.effect else ""
        except NoReverseMatch:
            return ""

    def save_model(self, request: HttpRequest, obj: Any, form: Any, change: Any) -> None:
        aside = "_aside" in request.POST
        waits = publishing.save_edit(obj, may_publish=self.has_publish_permission(request), aside=aside)
        if waits and "_publish" not in request.POST:
            self.message_user(request, WAITS, messages.WARNING)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: Any) -> None:
        super().save_related(request, form, formsets, change)
        if "_publish" in request.POST and self.has_publish_permission(request):
            self.publish_rows(request, [type(form.instance).objects.get(pk=form.instance.pk)])
        self._show_soon()

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        super().delete_model(request, obj)
        self._show_soon()

    def _show_soon(self) -> None:
        """This process shows the change at once, the others within a second."""
        transaction.on_commit(live.refresh, robust=True)


WAITS = "Saved. It waits for a publisher and is not shown in the calculator yet."

STATE = (
    "A row that was changed here is left alone by load_catalog; the list's action “Take the shipped figures again” undoes "
    "the changes. A retired row is left out of the calculator, systems of a retired accelerator with it."
)
