"""Language models with their files, and what their layers add up to beside the published counts."""

from __future__ import annotations

from typing import Any

from django.contrib import admin, messages
from django.core.exceptions import ValidationError
from django.db.models import Q
from django.http import HttpRequest

from catalog.admin.architecture import ArchitectureEditor
from catalog.admin.editors import EntryForm
from catalog.admin.entries import EntryAdmin, JsonFields
from catalog.admin.filters import ByCondition
from catalog.findings import ODD_SUM_PERCENT
from catalog.models import Checkpoint, LanguageModel, PublishedFile
from catalog.models.drafts import Status
from catalog.models.language_models import difference_percent, signed
from catalog.roles import may_publish


class Missing(ByCondition):
    title = "missing figure"
    parameter_name = "missing"
    conditions = {
        "context": ("longest context", Q(max_context_tokens__isnull=True)),
        "native_format": ("native format", Q(native_format__isnull=True)),
        "licence": ("licence", Q(license__isnull=True)),
        "released": ("release date", Q(released__isnull=True)),
        "engine": ("an engine that lists it", Q(engines=[])),
    }


class PartInline(JsonFields, admin.options.InlineModelAdmin):
    """Parts of a model. What an editor adds to a published model is a draft, and only drafts are an editor's to change."""

    form = EntryForm
    extra = 0
    readonly_fields = ("status",)

    def get_queryset(self, request: HttpRequest) -> Any:
        rows = super().get_queryset(request)
        if may_publish(request.user, LanguageModel):
            return rows
        return rows.filter(Q(status=Status.DRAFT) | Q(language_model__status=Status.DRAFT))


class PublishedFileInline(PartInline):
    template = admin.TabularInline.template
    model = PublishedFile
    fields = (
        "status",
        "weights_format",
        "format_as_published",
        "size_bytes",
        "exact",
        "precision",
        "bits_per_weight",
        "repo",
        "includes",
        "source",
        "kind",
    )


class CheckpointInline(PartInline):
    template = admin.StackedInline.template
    model = Checkpoint
    classes = ("collapse",)
    fields = (
        "status",
        ("weights_format", "repo"),
        ("publisher", "publisher_kind"),
        "engines",
        ("size_bytes", "precision"),
        ("recipe", "hardware"),
        ("formats", "file_pattern", "file_pattern_split"),
        ("parts", "files"),
        "sources",
    )


@admin.register(LanguageModel)
class LanguageModelAdmin(EntryAdmin):
    effect = "model"
    columns = (
        "name",
        "slug",
        "lab",
        "family",
        "parameters_b",
        "active_b",
        "max_context_tokens",
        "native_format",
        "released",
    )
    own_filters = ("task", Missing, "native_format", "lab", "family")
    list_select_related = ("lab",)
    autocomplete_fields = ("lab", "computed_as")
    search_fields = ("slug", "name", "family", "repo", "class_name", "lab__name")
    inlines = (PublishedFileInline, CheckpointInline)
    readonly_fields = (*EntryAdmin.readonly_fields, "layers", "text_sum", "whole_sum", "active_sum")
    groups = (
        (
            None,
            {
                "fields": [
                    "slug",
                    "name",
                    "family",
                    "lab",
                    "repo",
                    "license",
                    "released",
                    "modalities",
                    "task",
                    "reasoning",
                    "max_context_tokens",
                ]
            },
        ),
        (
            "Engines",
            {
                "fields": ["class_name", "model_type", "engines", "computed_as"],
                "description": "An engine loads a model when its list names the class.",
            },
        ),
        (
            "Counts",
            {
                "fields": [
                    ("parameters", "parameters_basis"),
                    "parameters_include",
                    "text_parameters",
                    ("active_parameters", "active_parameters_basis"),
                    "active_parameters_derived",
                ],
                "description": "For display. Arithmetic adds up the layers below.",
            },
        ),
        (
            "Layers",
            {
                "fields": ["layers", "text_sum", "whole_sum", "active_sum", "architecture"],
                "description": "Blocks pair a mixer with an MLP; the order says how many of which follow each other.",
            },
        ),
        (
            "Published weights",
            {
                "fields": [
                    "native_format",
                    "native_rest",
                    "native_weight_bytes",
                    "native_weight_bytes_kind",
                    "gguf_repos",
                ]
            },
        ),
    )

    def formfield_for_dbfield(self, db_field: Any, request: HttpRequest, **kwargs: Any) -> Any:
        if db_field.name == "architecture":
            kwargs["form_class"] = ArchitectureEditor
        return super().formfield_for_dbfield(db_field, request, **kwargs)

    @admin.display(description="parameters [10⁹]", ordering="parameters")
    def parameters_b(self, model: LanguageModel) -> str:
        return f"{model.parameters / 1e9:,.2f}"

    @admin.display(description="active [10⁹]", ordering="active_parameters")
    def active_b(self, model: LanguageModel) -> str:
        return f"{model.active_parameters / 1e9:,.2f}"

    @admin.display(description="layers")
    def layers(self, model: LanguageModel) -> str:
        if not (shape := _shape(model)):
            return UNREADABLE
        counts = dict.fromkeys((block.name for block in shape.blocks), 0)
        for index in shape.sequence:
            counts[shape.blocks[index].name] += 1
        parts = ", ".join(f"{count} {name}" for name, count in counts.items())
        return f"{shape.layer_count}: {parts} (order: {shape.order_basis})"

    @admin.display(description="sum of the language model")
    def text_sum(self, model: LanguageModel) -> str:
        shape = _shape(model)
        return _beside(shape.text_parameters, model.text_parameters) if shape else UNREADABLE

    @admin.display(description="sum of all parts")
    def whole_sum(self, model: LanguageModel) -> str:
        shape = _shape(model)
        return _beside(shape.parameters, model.parameters) if shape else UNREADABLE

    @admin.display(description="sum for one token")
    def active_sum(self, model: LanguageModel) -> str:
        shape = _shape(model)
        return _beside(shape.active_parameters, model.active_parameters) if shape else UNREADABLE

    def save_formset(self, request: HttpRequest, form: Any, formset: Any, change: Any) -> None:
        stored = LanguageModel.objects.get(pk=form.instance.pk)
        if stored.published and ("_aside" in request.POST or not self.has_publish_permission(request)):
            for added in formset.extra_forms:
                added.instance.status = Status.DRAFT
        super().save_formset(request, form, formset, change)

    def save_related(self, request: HttpRequest, form: Any, formsets: Any, change: Any) -> None:
        super().save_related(request, form, formsets, change)
        model = form.instance
        off = difference_percent(model.shape().parameters, model.parameters)
        if abs(off) > ODD_SUM_PERCENT:
            sentence = (
                f"The sum of all parts lies {signed(off, 2)} % from the published count. Is that rounding?"
            )
            self.message_user(request, sentence, messages.WARNING)


UNREADABLE = "Not yet: the description below cannot be read."


def _shape(model: LanguageModel) -> Any:
    if not model.architecture:
        return None
    try:
        return model.shape()
    except ValidationError:
        return None


def _beside(ours: int, published: int) -> str:
    return f"{ours:,} against {published:,} above: {signed(difference_percent(ours, published), 3)} %"
