"""Measurements: what a model really took on a device, or how fast it ran, with the question that a calculation answers."""

from __future__ import annotations

from typing import Any, get_args

from django.core.exceptions import ValidationError
from django.db import models

from catalog.importers.schema_measurements import Attention, Confidence, Split, Task
from catalog.models.row import CatalogRow, Entry, date_rule
from catalog.scenario_check import scenario_faults


def can_be_asked(scenario: Any) -> None:
    """Refuse a question that nobody could ask: an unknown parameter, a value out of range, an id that nothing has.

    A validator of the field and not part of `clean`: a device that was retired since makes the question odd, not the row
    unusable.
    """
    readable = isinstance(scenario, dict) and all(isinstance(value, str) for value in scenario.values())
    if readable and (faults := scenario_faults(scenario)):
        raise ValidationError(faults)


def _choices(words: Any) -> list[tuple[str, str]]:
    return [(word, word.replace("_", " ")) for word in get_args(words)]


class Measurement(CatalogRow):
    """One measured run: nothing of it is calculated, and the arithmetic is held against it."""

    entries = "measurements"
    REQUIRED = {
        "id": "slug",
        "task": "task",
        "split": "split",
        "group": "group",
        "engine": "engine",
        "engine_version": "engine_version",
        "model": "model",
        "model_id": "model_slug",
        "repo": "repo",
        "attention": "attention",
        "format": "weights_format",
        "device": "device",
        "scenario": "scenario",
        "observed": "observed",
        "comparable": "comparable",
        "compare": "compare",
        "source": "source",
        "date": "date",
        "confidence": "confidence",
    }
    OPTIONAL = {"conditions": "conditions", "why_not": "why_not", "note": "note"}

    name = None  # type: ignore[assignment]
    sources = None  # one run, one source
    task = models.CharField(max_length=20, choices=_choices(Task), default="memory")
    split = models.CharField(
        max_length=5,
        choices=[("fit", "fit: constants may be fitted on it"), ("check", "check: nothing is fitted on it")],
        help_text="All measurements of one group are in the same split, or the record would flatter.",
    )
    group = models.CharField(
        max_length=200,
        help_text="Architecture, engine and source: model|engine|document. It stays in one split.",
    )
    engine = models.CharField(max_length=60, help_text="Id of the engine; forks name theirs in the version.")
    engine_version = models.CharField(  # noqa: DJ001 - null as in the files
        max_length=120, null=True, blank=True, help_text="As the source writes it. Empty: not said."
    )
    model = models.CharField(max_length=200, help_text="As the source writes it.")
    model_slug = models.CharField(  # noqa: DJ001
        "model of the catalogue",
        max_length=120,
        null=True,
        blank=True,
        help_text="Id of the model with the same architecture, a fine-tune's base. Empty: the catalogue has none.",
    )
    repo = models.CharField(  # noqa: DJ001
        "repository",
        max_length=200,
        null=True,
        blank=True,
        help_text="Of the weights that ran, where it is known.",
    )
    attention = models.CharField(max_length=20, choices=_choices(Attention))
    weights_format = models.CharField(  # noqa: DJ001
        max_length=80,
        null=True,
        blank=True,
        help_text="As the source writes it; our id stands in the scenario's quant.",
    )
    device = models.CharField(  # noqa: DJ001
        max_length=120,
        null=True,
        blank=True,
        help_text="As the source writes it, with the count: 2 × H100 80GB.",
    )
    scenario = models.JSONField(
        default=dict,
        blank=True,
        validators=[can_be_asked],
        help_text='The question that this run answers: parameters and values as in a link of the calculator, {"model": '
        '"llama-3.1-8b-instruct", "gpu": "h100-sxm", "ctx": "8192"}. Empty: the set-up is none that can be asked.',
    )
    observed = models.JSONField(
        help_text='The figures: [{"part": "kv_cache", "device": "CUDA0", "bytes": 1073741824, "printed": "1024.00 MiB"}]. '
        "The amount is one of bytes, tokens, ratio, count; printed: figure and unit as the source has them, which bound "
        "what can be compared. Devices: per_gpu, CUDA0 …, host, all_gpus; null: the whole model. Of a speed: "
        '[{"part": "decode", "device": null, "tokens_per_s": 126}], or ms; parts: decode, prefill, throughput, ttft, tpot.'
    )
    conditions = models.JSONField(
        null=True,
        blank=True,
        help_text='How a speed was measured: {"users": 1, "prompt_tokens": 512, "output_tokens": 128, "depth_tokens": 0}. '
        "Further: start_tokens (in the cache before the prompt), weights_gib (size of the file), host_gb_s (bandwidth of "
        "host memory), speculation, offload (as the source writes them). Left out: not said. Empty for memory.",
    )
    comparable = models.BooleanField(default=True, help_text="A calculation can be held against it.")
    why_not = models.JSONField(
        default=list,
        blank=True,
        help_text="Why it is not comparable; on a comparable one, a warning. A list.",
    )
    compare = models.JSONField(
        default=list,
        blank=True,
        help_text='The observed parts that can be compared: ["weights", "kv_cache"].',
    )
    source = models.TextField(help_text="owner/repository:path, owner/repository#issue, or a page's address.")
    date = models.CharField(  # noqa: DJ001
        max_length=10,
        null=True,
        blank=True,
        validators=[date_rule],
        help_text="Of the run, as far as it is known.",
    )
    confidence = models.CharField(max_length=10, choices=_choices(Confidence))

    class Meta(CatalogRow.Meta):
        constraints = [
            models.CheckConstraint(
                condition=models.Q(split__in=get_args(Split)),
                name="catalog_measurement_split_is_fit_or_check",
                violation_error_message="The split is fit or check.",
            ),
            models.CheckConstraint(
                condition=models.Q(comparable=False) | models.Q(model_slug__isnull=False),
                name="catalog_measurement_comparable_has_a_model",
                violation_error_message="A comparable measurement names a model of the catalogue.",
            ),
        ]

    def __str__(self) -> str:
        return f"{self.model} · {self.engine} · {self.slug}"

    @property
    def unverified(self) -> list[Entry]:
        return []
