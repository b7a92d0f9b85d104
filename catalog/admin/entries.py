"""What the admin pages of all tables share."""

from __future__ import annotations

from typing import Any, ClassVar

from django.contrib import admin, messages
from django.db import models, transaction
from django.http import HttpRequest
from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from catalog import live
from catalog.admin.editors import EntryForm, JsonEditor
from catalog.admin.filters import Provenance, Verified
from catalog.importers import write
from catalog.importers.files import read_entries
from catalog.models import CatalogRow
from catalog.models.row import FROM_MEMORY

Fieldset = tuple[str | None, dict[str, Any]]


class JsonFields(admin.options.BaseModelAdmin):
    """JSON columns are edited as the data files write them."""

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if isinstance(db_field, models.JSONField):
            kwargs["form_class"] = JsonEditor
        field = super().formfield_for_dbfield(db_field, request, **kwargs)
        if isinstance(field, JsonEditor):
            field.when_empty = db_field.get_default()
            field.show_hidden_initial = False  # the row tells what changed; a page need not hold it twice
        return field


class EntryAdmin(JsonFields, admin.ModelAdmin):
    """A table of entries. Subclasses name `groups`, their own fieldsets; provenance is added to them."""

    form = EntryForm
    groups: ClassVar[tuple[Fieldset, ...]]
    columns: ClassVar[tuple[str, ...]]
    own_filters: ClassVar[tuple[Any, ...]] = ()
    search_fields: ClassVar[tuple[str, ...]] = ("slug", "name")
    readonly_fields: ClassVar[tuple[str, ...]] = ("sources_table", "origin", "edited_at")
    actions = ("retire", "bring_back", "take_shipped_figures")
    list_per_page = 60
    save_on_top = True

    class Media:
        css = {"all": ("catalog/admin.css",)}

    def _has(self, column: str) -> bool:
        return any(field.name == column for field in self.opts.fields)

    def get_list_display(self, request: HttpRequest) -> Any:
        return [*self.columns, "state"]

    def get_list_filter(self, request: HttpRequest) -> list[Any]:
        sources = (Verified,) if self._has("sources") else ()
        retired = ("retired",) if self.model.retirable else ()
        return [*self.own_filters, Provenance, *sources, *retired]

    def get_fieldsets(self, request: HttpRequest, obj: Any = None) -> Any:
        further = [name for name in ("note", "facts") if self._has(name)]
        state = ["origin", "edited_at", *(["retired"] if self.model.retirable else [])]
        groups = list(self.groups)
        if self._has("sources"):
            description = "Every figure has its source; a figure from memory is shown as unverified."
            groups.append(("Sources", {"fields": ["sources_table", "sources"], "description": description}))
        groups.append(("More", {"fields": further}))
        groups.append(("State", {"fields": state, "description": STATE}))
        return groups

    def get_readonly_fields(self, request: HttpRequest, obj: Any = None) -> list[str]:
        fixed = ["slug"] if obj else []
        return [*self.readonly_fields, *fixed]

    def has_delete_permission(self, request: HttpRequest, obj: Any = None) -> bool:
        """A shipped row is retired instead: a deleted one would come back with the next change of the files."""
        own = obj is None or obj.origin == CatalogRow.Origin.ADMIN
        return own and super().has_delete_permission(request, obj)

    def get_actions(self, request: HttpRequest) -> dict[str, Any]:
        actions = super().get_actions(request)
        unwanted = (
            {"delete_selected"} if self.model.retirable else {"delete_selected", "retire", "bring_back"}
        )
        return {name: action for name, action in actions.items() if name not in unwanted}

    @admin.display(description="state")
    def state(self, row: CatalogRow) -> str:
        words = [
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

    @admin.action(description="Retire: leave out of the calculator", permissions=["change"])
    def retire(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> None:
        self._set_retired(request, queryset, retired=True)

    @admin.action(description="Bring back into the calculator", permissions=["change"])
    def bring_back(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> None:
        self._set_retired(request, queryset, retired=False)

    def _set_retired(self, request: HttpRequest, queryset: models.QuerySet[Any], *, retired: bool) -> None:
        rows = list(queryset.exclude(retired=retired))
        queryset.filter(pk__in=[row.pk for row in rows]).update(retired=retired)
        word = "Retired" if retired else "Brought back"
        for row in rows:
            self.log_change(request, row, f"{word}.")
        self._show_soon()
        self.message_user(request, f"{word}: {', '.join(map(str, rows)) or 'nothing, all were so before'}.")

    @admin.action(description="Take the shipped figures again", permissions=["change"])
    def take_shipped_figures(self, request: HttpRequest, queryset: models.QuerySet[Any]) -> None:
        rows = list(queryset)
        restored, missing = write.restore(rows, read_entries())
        for row in restored:
            self.log_change(request, row, "Took the shipped figures again.")
        self._show_soon()
        if restored:
            self.message_user(request, f"As shipped again: {', '.join(map(str, restored))}.")
        if missing:
            names = ", ".join(map(str, missing))
            self.message_user(request, f"Not shipped, so left alone: {names}.", messages.WARNING)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: Any) -> None:
        super().save_related(request, form, formsets, change)
        self._show_soon()

    def delete_model(self, request: HttpRequest, obj: Any) -> None:
        super().delete_model(request, obj)
        self._show_soon()

    def _show_soon(self) -> None:
        """This process shows the change at once, the others within a second."""
        transaction.on_commit(live.refresh, robust=True)


STATE = (
    "A row that was changed here is left alone by load_catalog; the list's action “Take the shipped figures again” undoes "
    "the changes. A retired row is left out of the calculator, systems of a retired accelerator with it."
)
