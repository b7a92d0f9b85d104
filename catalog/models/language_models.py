"""Language models: the published figures in columns, the shape of the layers as JSON."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Self

from django.core.exceptions import ValidationError
from django.db import models
from django.utils import timezone

from catalog.architecture import Architecture, ArchitectureError
from catalog.models.checkpoints import Checkpoint
from catalog.models.labs import Lab
from catalog.models.published_files import PublishedFile
from catalog.models.row import CatalogRow, Entry, date_rule, positive

MOST_DIFFERENCE_PERCENT = 5.0
"""A published total that misses the sum of the layers by more is a wrong total or a wrong layer, not a rounding."""

LONGEST_USUAL_TOKENS = 20_000_000
NATIVE_BITS = {
    "bf16": 16,
    "fp16": 16,
    "fp32": 32,
    "fp8": 8,
    "mxfp8": 8.25,
    "nvfp4": 4.5,
    "mxfp4-experts": 4.25,
}
NATIVE_ROOM = 1.6
"""A checkpoint's bytes per weight against its format: embeddings, norms and other parts stay in 16 bits."""


class LanguageModel(CatalogRow):
    """A published model. Arithmetic starts from `architecture`; the counts beside it are what pages print."""

    entries = "models"
    REQUIRED = {
        "id": "slug",
        "name": "name",
        "family": "family",
        "lab": "lab_id",
        "repo": "repo",
        "license": "license",
        "released": "released",
        "modalities": "modalities",
        "reasoning": "reasoning",
        "class_name": "class_name",
        "parameters": "parameters",
        "parameters_basis": "parameters_basis",
        "parameters_include": "parameters_include",
        "text_parameters": "text_parameters",
        "active_parameters": "active_parameters",
        "active_parameters_basis": "active_parameters_basis",
        "active_parameters_derived": "active_parameters_derived",
        "max_context_tokens": "max_context_tokens",
        "native_format": "native_format",
        "native_weight_bytes": "native_weight_bytes",
        "native_weight_bytes_kind": "native_weight_bytes_kind",
        "engines": "engines",
        "architecture": "architecture",
        "sources": "sources",
    }
    OPTIONAL = {
        "task": "task",
        "model_type": "model_type",
        "computed_as": "computed_as_id",
        "native_rest": "native_rest",
        "gguf_repos": "gguf_repos",
        "note": "note",
    }

    class Task(models.TextChoices):
        GENERATE = "generate", "writes text"
        EMBED = "embed", "embeds (no decode, no cache)"
        RERANK = "rerank", "ranks (no decode, no cache)"

    lab = models.ForeignKey(Lab, models.PROTECT, to_field="slug", related_name="language_models")
    family = models.CharField(max_length=100, help_text="Release family, for grouping.")
    repo = models.CharField(
        "repository", max_length=200, help_text="owner/name of the published weights on the model hub."
    )
    license = models.CharField("licence", max_length=100, null=True, blank=True)  # noqa: DJ001 - null = not found
    released = models.CharField(max_length=10, null=True, blank=True, validators=[date_rule])  # noqa: DJ001
    modalities = models.JSONField(
        default=list, help_text="What it takes in: a list of text, image, video, audio."
    )
    task = models.CharField(max_length=10, choices=Task, default=Task.GENERATE)
    reasoning = models.BooleanField(
        null=True,
        blank=True,
        help_text="Writes a thinking part, by default or on request. Unknown: not found.",
    )

    class_name = models.CharField(
        max_length=120,
        help_text="config.json architectures[0]: the name in the engines' lists of supported models.",
    )
    model_type = models.CharField(
        max_length=120, blank=True, help_text="config.json model_type, where the class name alone misleads."
    )
    engines = models.JSONField(
        default=list, blank=True, help_text="Ids of the engines whose lists were seen to name the class."
    )
    computed_as = models.ForeignKey(
        "self",
        models.RESTRICT,  # not PROTECT: both may go together
        to_field="slug",
        null=True,
        blank=True,
        related_name="computed_for",
        help_text="The nearest relative, when no engine lists the class.",
    )

    parameters = models.BigIntegerField(
        help_text="Weights of the published checkpoint, all parts; a tied head counts once. For display."
    )
    parameters_basis = models.CharField(
        max_length=20, choices=[(word, word) for word in ("published", "published, rounded", "derived")]
    )
    parameters_include = models.JSONField(
        default=list,
        help_text="Parts inside the count: text, vision, audio, vision+audio, mtp, other, scales.",
    )
    text_parameters = models.BigIntegerField(
        help_text="The language model alone: what an engine loads for text. Exactly the sum of the layers."
    )
    active_parameters = models.BigIntegerField(
        help_text="The figure to print: for experts, the maker's round one."
    )
    active_parameters_basis = models.CharField(
        max_length=20, choices=[(word, word) for word in ("dense", "published", "derived", "from memory")]
    )
    active_parameters_derived = models.BigIntegerField(
        help_text="Weights that one decoded token multiplies. Exactly the sum of the layers."
    )
    max_context_tokens = models.PositiveBigIntegerField(
        null=True, blank=True, help_text="Empty: no fixed limit."
    )
    native_format = models.CharField(  # noqa: DJ001
        max_length=40,
        null=True,
        blank=True,
        help_text="Format of the published checkpoint; empty: not found.",
    )
    native_rest = models.CharField(
        max_length=40,
        blank=True,
        help_text="Format of the other linear layers in a checkpoint of 4-bit experts.",
    )
    native_weight_bytes = models.BigIntegerField(null=True, blank=True)
    native_weight_bytes_kind = models.CharField(  # noqa: DJ001
        max_length=300,
        null=True,
        blank=True,
        help_text="published …, published, rounded …, or derived: and the rule.",
    )
    gguf_repos = models.JSONField(
        "GGUF repositories",
        default=list,
        blank=True,
        help_text="Repositories whose file sizes are not recorded.",
    )
    architecture = models.JSONField(
        help_text="The layers: hidden_size, vocabulary_size, mixers, mlps, blocks, order, extras …"
    )

    class Meta(CatalogRow.Meta):
        verbose_name = "language model"
        constraints = [
            positive(column, "language_model")
            for column in (
                "parameters",
                "text_parameters",
                "active_parameters",
                "active_parameters_derived",
                "max_context_tokens",
                "native_weight_bytes",
            )
        ]
        indexes = [models.Index(fields=["family"]), models.Index(fields=["released"])]

    @classmethod
    def complete(cls) -> models.QuerySet[Self]:
        return super().complete().prefetch_related("files", "checkpoints")

    def to_entry(self) -> Entry:
        return self.own_entry() | self._parts_entry(drafts=False)

    def draft_entry(self) -> Entry:
        return super().draft_entry() | self._parts_entry(drafts=True)

    def _parts_entry(self, *, drafts: bool) -> Entry:
        """Files and checkpoints as the entry holds them."""
        if not self.pk:
            return {}
        kinds = {"files": self.files.all(), "checkpoints": self.checkpoints.all()}
        parts = {
            key: [row.to_entry() for row in rows if drafts or row.published] for key, rows in kinds.items()
        }
        return {key: rows for key, rows in parts.items() if rows}

    def parts(self) -> Entry:
        kinds = {"files": self.files.all(), "checkpoints": self.checkpoints.all()}
        return {
            key: [row.to_entry() | ({} if row.published else {"status": row.status}) for row in rows]
            for key, rows in kinds.items()
        }

    @classmethod
    def normal(cls, entry: Entry) -> Entry:
        files = [PublishedFile.from_entry(file, 0).to_entry() for file in entry.get("files", ())]
        rows = [Checkpoint.from_entry(row, 0).to_entry() for row in entry.get("checkpoints", ())]
        children = {"files": files, "checkpoints": rows}
        return super().normal(entry) | {key: value for key, value in children.items() if value}

    def entry_to_check(self) -> Entry:
        """A data file names the lab once, in its head; files are checked one by one."""
        return {key: value for key, value in self.own_entry().items() if key != "lab"}

    def take(self, entry: Entry) -> None:
        super().take({key: value for key, value in entry.items() if key not in ("files", "checkpoints")})

    def shape(self) -> Architecture:
        """The layers as records; raises ValidationError with a sentence beside the field."""
        try:
            return Architecture.from_json(self.architecture)
        except ArchitectureError as error:
            raise ValidationError({"architecture": str(error)}) from error
        except (AttributeError, KeyError, TypeError, ValueError) as error:
            sentence = (
                f"This does not describe a model: {type(error).__name__} at {error}. Compare another model."
            )
            raise ValidationError({"architecture": sentence}) from error

    def clean(self) -> None:
        self.shape()  # nothing else can be said about a model whose layers cannot be read
        super().clean()

    def own_faults(self) -> Iterator[tuple[str, str]]:
        if self.computed_as_id and self.computed_as_id == self.slug:
            yield "computed_as", "A model cannot be computed as itself."
        if self.max_context_tokens == 0:
            yield "max_context_tokens", "No model works with 0 tokens. Leave this empty when it is not known."
        yield from self._wrong_sums(self.shape())

    def doubts(self) -> Iterator[tuple[str, str]]:
        if (longest := self.max_context_tokens) and longest > LONGEST_USUAL_TOKENS:
            yield "max_context_tokens", f"{longest:,} tokens are more than any published model takes."
        if self.released and self.released[:10] > timezone.localdate().isoformat()[: len(self.released)]:
            yield "released", f"{self.released} lies in the future."
        bits = NATIVE_BITS.get(self.native_format or "")
        if bits and self.native_weight_bytes:
            own = 8 * self.native_weight_bytes / self.parameters
            if not bits / NATIVE_ROOM <= own <= bits * NATIVE_ROOM:
                sentence = f"These are {own:.2f} bits per weight; {self.native_format} has about {bits:g}."
                yield "native_weight_bytes", sentence

    def _wrong_sums(self, shape: Architecture) -> Iterator[tuple[str, str]]:
        """Sentences beside each count that the layers contradict."""
        exact = {
            "text_parameters": shape.text_parameters,
            "active_parameters_derived": shape.active_parameters,
        }
        for column, ours in exact.items():
            if (given := getattr(self, column)) and given != ours:
                percent = signed(difference_percent(ours, given), 2)
                hint = layers_missed(shape, given - ours) if column == "text_parameters" else ""
                sentence = (
                    f"The {shape.layer_count} layers add up to {ours:,}, which is not {given:,} ({percent} %). "
                    f"{hint or f'Correct the layers, or write {ours}.'}"
                )
                yield column, sentence
        ours = shape.parameters
        off = difference_percent(ours, self.parameters) if self.parameters else 0.0
        if abs(off) > MOST_DIFFERENCE_PERCENT:
            sentence = (
                f"The {shape.layer_count} layers and the other parts add up to {ours:,}, {signed(off, 1)} % from the published "
                f"{self.parameters:,}. Up to {MOST_DIFFERENCE_PERCENT:g} % can be rounding: look for a missing part."
            )
            yield "parameters", sentence


def layers_missed(shape: Architecture, missing: int) -> str:
    """A sentence when whole layers of one kind make up the difference [weights]: the order is too short or too long."""
    for block, tensors in zip(shape.blocks, shape.block_tensors, strict=True):
        weights = sum(tensor.parameters for tensor in tensors)
        layers, rest = divmod(missing, weights) if weights else (0, 1)
        if rest == 0 and shape.layer_count + layers > 0 and abs(layers) <= shape.layer_count:
            return (
                f"That is {abs(layers)} × {block.name} {'too few' if layers > 0 else 'too many'}: "
                f"layers add up to {shape.layer_count}, expected {shape.layer_count + layers}."
            )
    return ""


def signed(number: float, decimals: int) -> str:
    """With its sign, the minus as it is printed everywhere here (U+2212)."""
    return f"{number:+.{decimals}f}".replace("-", "−")


def difference_percent(ours: int, published: int) -> float:
    """How far our sum lies from the published figure [%]."""
    return 100.0 * (ours - published) / published
