"""The catalogue's health: what is missing, contradicts itself or lies far from the arithmetic, worst first.

`findings_of` asks the snapshot alone, so it is public and makes no query. `all_findings` adds for the staff what only the
database knows: drafts, edits, what is overdue. The arithmetic is the site's own, so this lives beside the pages.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, replace
from datetime import date

from calculator.estimation.weights import WeightLayout, has_rule, weight_layout
from calculator.web.panels.per_snapshot import once
from catalog import findings as database
from catalog.models import TABLES
from catalog.models.language_models import signed
from catalog.records import LanguageModel, Source
from catalog.snapshot import Snapshot, measured_on

ODD_SIZE_PERCENT = 2.0
"""From here on a published size is listed: rounding to two digits alone can be as much."""

ODD_SUM_PERCENT = database.ODD_SUM_PERCENT

OVERDUE_DAYS = {"systems": 90, "engines": 90}
USUALLY_OVERDUE_DAYS = 365
"""Prices and engines' versions age within a quarter; figures of devices, models and formats within a year."""


@dataclass(frozen=True, slots=True)
class Finding:
    """One row of the catalogue and what is the matter with it. weight: how bad, for sorting; any scale within a group."""

    kind: str
    id: str
    text: str
    weight: float = 0.0


@dataclass(frozen=True, slots=True)
class Group:
    """All findings of one sort, worst first. looked_at: rows that the check is about, 0 where that says nothing."""

    code: str
    label: str
    error: bool
    looked_at: int
    findings: tuple[Finding, ...]


Found = Iterator[Finding]
Check = tuple[str, str, Callable[[Snapshot], Iterable[Finding]], Callable[[Snapshot], int]]


# --- what the snapshot alone tells ------------------------------------------------------------------------------------


def _missing(snapshot: Snapshot) -> Found:
    for device in snapshot.accelerators.values():
        lacks = [
            name
            for name, there in (
                ("memory bandwidth, so no speed", device.bandwidth_bytes_per_s),
                ("memory that a process sees", device.process_bytes or device.unified),
                ("compute rate", any(device.dense_flops_per_s.values())),
                ("power", device.tdp_w),
            )
            if not there
        ]
        if lacks:
            yield Finding("accelerators", device.id, f"no {'; no '.join(lacks)}", len(lacks))
    for model in snapshot.models.values():
        lacks = [
            name
            for name, there in (
                ("longest context", model.max_context_tokens),
                ("native format", model.native_format),
                ("licence", model.license),
                ("release date", model.released),
            )
            if not there
        ]
        if lacks:
            yield Finding("models", model.id, f"no {'; no '.join(lacks)}", len(lacks))


def _wrong_sums(snapshot: Snapshot) -> Found:
    for model in snapshot.models.values():
        ours = model.architecture.parameters
        off = 100 * (ours / model.parameters - 1)
        if abs(off) > ODD_SUM_PERCENT:
            text = f"our sum {ours:,} is {signed(off, 2)} % from the published {model.parameters:,}"
            yield Finding("models", model.id, text, abs(off))


def _published(model: LanguageModel) -> Iterator[tuple[str, int, str]]:
    """(format, bytes, where) of every published size of a model; a recipe or part of its own is no check of ours."""
    for file in model.files:
        if file.weights_format and not file.includes:
            yield file.weights_format, file.size_bytes, file.repo or file.source
    for checkpoint in model.checkpoints:
        for each in checkpoint.files:
            if each.size_bytes:
                yield each.weights_format, each.size_bytes, checkpoint.repo
        if checkpoint.size_bytes and not checkpoint.recipe:
            yield checkpoint.weights_format, checkpoint.size_bytes, checkpoint.repo


def _by_rule(layout: WeightLayout, size_bytes: int) -> int:
    """Our bytes for what a publication may hold: the language model with or without encoders and MTP, the nearest."""
    text = layout.text_bytes + layout.metadata_bytes
    extras = {0, layout.vision_bytes, layout.mtp_bytes, layout.vision_bytes + layout.mtp_bytes}
    return min((text + extra for extra in extras), key=lambda own: abs(own - size_bytes))


def _sizes(snapshot: Snapshot) -> Iterator[tuple[str, str, int, int, str]]:
    """(model, format, our bytes by rule, published bytes, where) of every published size that a rule exists for."""
    for model in snapshot.models.values():
        bare = replace(model, files=(), checkpoints=(), native_weight_bytes=None)
        for name, size_bytes, where in set(_published(model)):
            weights_format = snapshot.formats.get(name)
            if weights_format and has_rule(bare, weights_format):
                own = _by_rule(weight_layout.__wrapped__(bare, weights_format), size_bytes)
                yield model.id, name, own, size_bytes, where


def _all_sizes(snapshot: Snapshot) -> tuple[tuple[str, str, int, int, str], ...]:
    return once(snapshot, "published sizes", lambda: tuple(_sizes(snapshot)))


def _odd_sizes(snapshot: Snapshot) -> Found:
    for model, name, ours, published, where in _all_sizes(snapshot):
        off = 100 * (ours / published - 1)
        if abs(off) > ODD_SIZE_PERCENT:
            text = f"{name}: by rule {ours:,} bytes, {signed(off, 1)} % from {published:,} ({where})"
            yield Finding("models", model, text, abs(off))


def _no_source(snapshot: Snapshot) -> Found:
    tables: Mapping[str, Mapping[str, object]] = {
        "accelerators": snapshot.accelerators,
        "models": snapshot.models,
        "systems": snapshot.systems,
        "formats": snapshot.formats,
    }
    for kind, records in tables.items():
        for identity, record in records.items():
            sources: tuple[Source, ...] = getattr(record, "sources", ())
            if not sources:
                yield Finding(kind, identity, "no source")


def _unknown_formats(snapshot: Snapshot) -> Found:
    formats = {*snapshot.formats, *snapshot.format_aliases, "gguf"}
    for model in snapshot.models.values():
        named = {checkpoint.weights_format for checkpoint in model.checkpoints}
        named |= {file.weights_format for checkpoint in model.checkpoints for file in checkpoint.files}
        named |= {name for checkpoint in model.checkpoints for name in checkpoint.formats}
        if unknown := sorted(named - formats):
            yield Finding("models", model.id, f"{', '.join(unknown)}: no format of ours", len(unknown))


def _unknown_references(snapshot: Snapshot) -> Found:
    for model in snapshot.models.values():
        if model.computed_as and model.computed_as not in snapshot.models:
            yield Finding("models", model.id, f"computed as {model.computed_as}, which does not exist", 100)
    for system in snapshot.systems.values():
        if system.accelerator_id not in snapshot.accelerators:
            yield Finding("systems", system.id, f"made of {system.accelerator_id}, which does not exist", 100)
    families = {engine.family for engine in snapshot.engines.values()} | {"any"}
    for constant in snapshot.constants:
        if constant.engine not in families:
            text = f"{constant.name} is of {constant.engine}, which no engine is"
            yield Finding("constants", _constant_id(constant), text, 10)


def _constant_id(constant: object) -> str:
    names = ("engine", "name", "backend", "device_class", "version_from", "version_until")
    return "--".join(str(getattr(constant, name) or "all") for name in names)


def _old_constants(snapshot: Snapshot) -> Found:
    for engine in snapshot.engines.values():
        if engine.rules.get("constants_from") or engine.rules.get("family", engine.id) != engine.id:
            continue  # it takes another engine's constants, which are judged there
        version = str(engine.rules.get("family_version", engine.version))
        used, _ = snapshot.constants_for(engine.family, version)
        for constant in used.values():
            if constant.engine != "any" and not measured_on(constant, version):
                spread = (constant.high - constant.low) / constant.value if constant.value else 0.0
                text = (
                    f"measured on {constant.version_from or 'the first'} to {constant.version_until or 'the newest'} "
                    f"by {constant.cases or 0} cases; the engine is at {version}"
                )
                yield Finding("constants", _constant_id(constant), text, spread)


CHECKS: tuple[Check, ...] = (
    ("missing_figure", "Missing figures", _missing, lambda s: len(s.accelerators) + len(s.models)),
    (
        "wrong_sum",
        f"Parameter sums more than {ODD_SUM_PERCENT} % from the published total",
        _wrong_sums,
        lambda s: len(s.models),
    ),
    (
        "odd_size",
        f"Published sizes more than {ODD_SIZE_PERCENT:g} % from the rule",
        _odd_sizes,
        lambda s: len(_all_sizes(s)),
    ),
    ("no_source", "Rows without a source", _no_source, lambda s: len(s.accelerators) + len(s.models) + len(s.systems) + len(s.formats)),
    ("unknown_reference", "References to what does not exist", _unknown_references, lambda s: len(s.models) + len(s.systems) + len(s.constants)),
    ("unknown_checkpoint_format", "Checkpoints in formats that the catalogue does not hold", _unknown_formats, lambda s: len(s.models)),
    ("old_constant", "Constants measured on other versions than the engine’s present one", _old_constants, lambda s: len(s.constants)),
)  # fmt: skip


def findings_of(snapshot: Snapshot) -> tuple[Group, ...]:
    """What anybody may read, from the snapshot alone; worked out once for each state of the catalogue."""
    return once(snapshot, "health", lambda: tuple(group_of(check[0], snapshot) for check in CHECKS))


def group_of(code: str, snapshot: Snapshot) -> Group:
    """What one check finds."""
    _, label, found, looked_at = next(check for check in CHECKS if check[0] == code)
    return Group(code, label, code == "unknown_reference", looked_at(snapshot), _sorted(found(snapshot)))


def _sorted(found: Iterable[Finding]) -> tuple[Finding, ...]:
    return tuple(sorted(found, key=lambda each: (-each.weight, each.kind, each.id, each.text)))


# --- what the database tells the staff --------------------------------------------------------------------------------


def all_findings(snapshot: Snapshot, today: date) -> tuple[Group, ...]:
    """Everything, errors first; worked out once for each state of the catalogue and day."""
    return once(snapshot, ("health of the database", today), lambda: _all(snapshot, today))


def _all(snapshot: Snapshot, today: date) -> tuple[Group, ...]:
    own = findings_of(snapshot)
    seen = {group.code for group in own}
    others = [
        Group(
            group.code, group.label, group.error, 0, tuple(Finding(i.kind, i.id, i.text) for i in group.items)
        )
        for group in database.findings()
        if group.code not in seen
    ]
    groups = [*own, overdue(today), *others]
    return tuple(sorted(groups, key=lambda group: not (group.error and group.findings)))


def overdue(today: date) -> Group:
    """Rows that nobody checked for longer than their kind allows."""
    return Group("overdue", "Figures not checked for long", False, 0, _sorted(_overdue(today)))


def _overdue(today: date) -> Found:
    for table in TABLES:
        most = OVERDUE_DAYS.get(table.entries, USUALLY_OVERDUE_DAYS)
        for row in table.complete().filter(retired=False):
            checked = row.as_of
            if checked and (age := (today - checked).days) > most:
                text = f"checked {age} days ago, on {checked}; after {most} it is old"
                yield Finding(table.entries, row.slug, text, age / most)
