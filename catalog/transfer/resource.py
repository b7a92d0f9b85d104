"""One resource for every table of the catalogue, made from its row class (django-import-export).

A file holds what the admin's form shows: published figures with the changes that wait put in. Rows are found by their
id; a column that a file leaves out stays as it is. A row is checked by the same rules as a form, and written by the
same function, so an editor's import waits for a publisher.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache
from typing import Any, ClassVar

from django.core.exceptions import ValidationError
from import_export import fields, resources

from catalog import publishing
from catalog.changes import Change, changes
from catalog.models import CatalogRow, LanguageModel
from catalog.models.drafts import Status
from catalog.models.row import plain
from catalog.transfer import parts
from catalog.transfer.cells import Cell
from catalog.transfer.upload import ABSENT

ID = "id"
STATE = ("status", "retired")


class Column(fields.Field):
    """A field under the name that the entry's key has in the data files."""

    def get_value(self, instance: Any) -> Any:
        return getattr(instance, str(self.attribute))


class PartsColumn(fields.Field):
    """Files or checkpoints of a model; they are written after the model."""

    def get_value(self, instance: Any) -> Any:
        return instance.parts()[self.column_name]

    def save(self, instance: Any, row: Any, is_m2m: bool = False, **kwargs: Any) -> None:  # noqa: FBT001, FBT002
        try:
            instance.parts_to_save[self.column_name] = parts.read(
                str(self.column_name), row[self.column_name]
            )
        except ValidationError as error:
            raise ValidationError({str(self.column_name): error.messages}) from error


class PartsCell(Cell):
    """A list of parts, written as JSON."""

    def __init__(self) -> None:
        super().__init__(LanguageModel, "facts")


def key_columns(table: type[CatalogRow]) -> dict[str, str]:
    """Columns of the table by the name that a file gives them, the id first."""
    told = {**table.REQUIRED, **table.OPTIONAL}
    rest = {key: column for key, column in told.items() if column != "slug"}
    state = STATE if table.retirable else STATE[:1]
    return {ID: "slug", **rest, "facts": "facts", **{name: name for name in state}}


def column_names(table: type[CatalogRow]) -> list[str]:
    """Every name that the head of a file may have, in the order in which one is written."""
    own = list(key_columns(table))
    at = own.index("facts")
    return [*own[:at], *parts.PARTS.get(table, {}), *own[at:]]


class EntryResource(resources.ModelResource):
    """Import and export of one table. may_publish: whose import is shown at once."""

    table: ClassVar[type[CatalogRow]]

    def __init__(self, *, may_publish: bool = False) -> None:
        super().__init__()
        self.may_publish = may_publish
        self.found: dict[int, list[Change]] = {}
        self.doubts: dict[int, list[tuple[str, str]]] = {}
        self._before: dict[str, Any] = {}

    def get_queryset(self) -> Any:
        return self.table.complete()

    def export_resource(self, instance: Any, selected_fields: Any = None, **kwargs: Any) -> list[Any]:
        return super().export_resource(instance.with_proposed(), selected_fields, **kwargs)

    def get_instance(self, instance_loader: Any, row: Any) -> Any:
        instance = super().get_instance(instance_loader, row)
        if instance is not None:
            instance.take_proposed()
        return instance

    def before_import_row(self, row: Any, **kwargs: Any) -> None:
        for name in [name for name, value in row.items() if value is ABSENT]:
            del row[name]

    def after_init_instance(self, instance: Any, new: bool, row: Any, **kwargs: Any) -> None:  # noqa: FBT001
        instance.parts_to_save = {}
        if new:
            instance.status = Status.DRAFT
        self._before = {} if new else shown_state(instance)
        self._held = (instance.status, instance.retired)

    def import_instance(self, instance: Any, row: Any, **kwargs: Any) -> None:
        """As in the library, but every fault of a row is told, and an id never changes."""
        errors: dict[str, Any] = {}
        for field in self.get_import_fields():
            if instance.pk and field.attribute == "slug":
                continue
            try:
                self.import_field(field, instance, row, **kwargs)
            except ValidationError as error:
                errors = (
                    error.update_error_dict(errors)
                    if hasattr(error, "error_dict")
                    else errors | {str(field.attribute): error.messages}
                )
        if (instance.status, instance.retired) != self._held and not self.may_publish:
            errors["status"] = ["Only a publisher publishes, retires or brings back."]
        if errors:
            raise ValidationError(errors)

    def validate_instance(
        self,
        instance: Any,
        import_validation_errors: Any = None,
        validate_unique: bool = True,  # noqa: FBT001, FBT002
    ) -> None:
        own = {field.name for field in instance._meta.fields}  # noqa: SLF001
        errors = dict(import_validation_errors or {})
        try:
            instance.full_clean(exclude=set(errors) & own, validate_unique=validate_unique)
        except ValidationError as error:
            for name, texts in error.message_dict.items():
                errors.setdefault(name, texts)
        if errors:
            raise ValidationError(errors)

    def skip_row(self, instance: Any, original: Any, row: Any, import_validation_errors: Any = None) -> bool:
        if import_validation_errors:
            return False
        after = shown_state(instance)
        return bool(self._before) and self._before == after

    def do_instance_save(self, instance: Any, is_create: bool) -> None:  # noqa: FBT001
        publishing.save_edit(instance, may_publish=self.may_publish)
        published = instance.published and not is_create
        for key, items in instance.parts_to_save.items():
            parts.save(instance, key, items, may_publish=self.may_publish or not published)

    def after_import_row(self, row: Any, row_result: Any, **kwargs: Any) -> None:
        instance = row_result.instance
        found = changes(self._before, shown_state(instance))
        self.found[kwargs["row_number"]] = found
        places = {column: key for key, column in key_columns(self.table).items()}
        if found:
            changed = {change.place.split(".")[0].split("[")[0] for change in found}
            self.doubts[kwargs["row_number"]] = [
                (places.get(name, name), sentence)
                for name, sentence in instance.doubts()
                if places.get(name, name) in changed
            ]


def shown_state(row: Any) -> dict[str, Any]:
    """What an import can change of a row, in the words of its file, for comparing."""
    held = {key: plain(getattr(row, column)) for key, column in key_columns(type(row)).items()}
    belonging = row.parts() if row.pk and type(row) in parts.PARTS else {}
    given = getattr(row, "parts_to_save", {})
    return held | {key: [_plainly(item) for item in rows] for key, rows in {**belonging, **given}.items()}


def _plainly(item: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in item.items() if (name, value) != ("status", Status.PUBLISHED)}


@cache
def resource_for(table: type[CatalogRow]) -> Callable[..., EntryResource]:
    """The resource class of a table."""
    made: dict[str, Any] = {
        key: Column(attribute=column, column_name=key, widget=Cell(table, column))
        for key, column in key_columns(table).items()
    }
    for key in parts.PARTS.get(table, {}):
        made[key] = PartsColumn(attribute=key, column_name=key, widget=PartsCell())
    meta = {
        "model": table,
        "fields": column_names(table),
        "import_id_fields": [ID],
        "clean_model_instances": True,
        "store_instance": True,
        "skip_unchanged": True,
        "skip_diff": True,
        "use_transactions": True,
    }
    attrs = {**made, "table": table, "Meta": type("Meta", (), meta), "__module__": __name__}
    made_by: Any = type(EntryResource)
    resource: Callable[..., EntryResource] = made_by(f"{table.__name__}Resource", (EntryResource,), attrs)
    return resource
