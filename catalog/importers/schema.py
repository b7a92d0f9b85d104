"""What a catalogue file may say: typed shapes for every kind, and faults as sentences that name file, id and field."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import BaseModel, ValidationError, model_validator

from catalog.importers.schema_checkpoints import CheckpointsFile
from catalog.importers.schema_engines import EngineFile
from catalog.importers.schema_fields import (
    CatalogueDate,
    Head,
    NonNegative,
    Positive,
    Slug,
    SourceEntry,
    Sources,
    Strict,
    Text,
)
from catalog.importers.schema_hardware import AcceleratorFile, LadderFile, SystemFile
from catalog.importers.schema_measurements import MeasurementFile
from catalog.importers.schema_models import ModelFile
from catalog.importers.schema_prices import (
    ApiPriceFile,
    AssumptionFile,
    ColocationFile,
    DeviceNameFile,
    ElectricityFile,
    OfferFile,
    ProviderFile,
    PurchaseFile,
)


class CatalogueError(ValueError):
    """The catalogue cannot be used as it is; `faults` are sentences for the person who edits it."""

    def __init__(self, faults: list[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


class Quality(Strict):
    badge: Text
    label_en: Text
    label_zh: Text
    kld_llama3_8b: NonNegative | None = None
    ppl_increase_llama3_8b: float | None = None
    score_points_default: float | None = None
    score_points_kind: Text | None = None
    mmlu_pro_points: dict[str, float] | None = None
    source: Text | None = None
    kind: Text | None = None


class InTwoLanguages(Strict):
    en: Text
    zh: Text


class FormatEntry(Strict):
    id: Slug
    name: Text
    family: Text
    bits_nominal: Positive | None
    bits_block: Positive | None = None
    bits_file_llama3_8b: Positive | None = None
    engines: list[Slug]
    hardware: InTwoLanguages
    min_compute_capability: Text | None = None
    native_compute_capability: Text | None = None
    quality: Quality
    published_only: bool = False
    dynamic: bool = False
    order: int
    use: InTwoLanguages
    sources: Sources
    note: Text | None = None


class FormatFile(Head):
    kind: Literal["formats"]
    family: Text
    items: list[FormatEntry]


class StarRule(Strict):
    order: int
    engines: list[Slug]
    when: Text
    star: list[Slug]
    why_en: Text
    why_zh: Text


class Badge(Strict):
    label_en: Text
    label_zh: Text
    dots: Text


class FormatRules(Head):
    kind: Literal["format-rules"]
    aliases: dict[str, Slug]
    alias_rules: list[Text]
    badges: dict[str, Badge]
    badge_rule: Text
    star_rules: list[StarRule]
    sources: list[SourceEntry]


class ConstantEntry(Strict):
    engine: Text
    name: Text
    value: float
    low: float
    high: float
    unit: Text
    version_from: Text | None = None
    version_until: Text | None = None
    device_class: Text | None = None
    backend: Text | None = None
    cases: int | None = None
    basis: Text
    source: Text
    date: CatalogueDate

    @model_validator(mode="after")
    def value_lies_in_its_interval(self) -> ConstantEntry:
        if not self.low <= self.value <= self.high:
            raise ValueError(f"{self.value} lies outside of its interval {self.low} to {self.high}")
        return self


class CalibrationFile(Head):
    kind: Literal["calibration"]
    items: list[ConstantEntry]


class AboutFile(Head):
    kind: Literal["catalogue"]
    updated: CatalogueDate


FILES: dict[str, type[BaseModel]] = {
    "models": ModelFile,
    "accelerators": AcceleratorFile,
    "systems": SystemFile,
    "count-ladders": LadderFile,
    "formats": FormatFile,
    "format-rules": FormatRules,
    "engine": EngineFile,
    "calibration": CalibrationFile,
    "checkpoints": CheckpointsFile,
    "measurements": MeasurementFile,
    "providers": ProviderFile,
    "device-names": DeviceNameFile,
    "offers": OfferFile,
    "purchase-prices": PurchaseFile,
    "api-prices": ApiPriceFile,
    "electricity": ElectricityFile,
    "colocation": ColocationFile,
    "assumptions": AssumptionFile,
    "catalogue": AboutFile,
}
"""The shape of a file by the `kind` in its head."""


def check_file(where: str, data: Any) -> None:
    """Raise `CatalogueError` unless `data` is a well-formed catalogue file; `where` is its name for the sentences."""
    kind = data.get("kind") if isinstance(data, dict) else None
    if kind not in FILES:
        raise CatalogueError([f"{where}: kind is {kind!r}; it may be {', '.join(FILES)}."])
    try:
        FILES[kind].model_validate(data)
    except ValidationError as error:
        raise CatalogueError([_sentence(where, data, fault) for fault in error.errors()]) from error


def _sentence(where: str, data: dict[str, Any], fault: Any) -> str:
    """One fault of pydantic's as a sentence: file, id of the entry, field, what is wrong, what was given."""
    path = list(fault["loc"])
    entry = ""
    if len(path) > 1 and path[0] == "items" and isinstance(path[1], int):
        item = data["items"][path[1]]
        named = item.get("id") or item.get("repo") or item.get("name") if isinstance(item, dict) else None
        entry, path = f"{named or f'entry {path[1] + 1}'}: ", path[2:]
    place = ".".join(str(part) for part in path) or "the entry"
    message = fault["msg"].removeprefix("Value error, ").rstrip(".")
    given = fault["input"]
    shown = f" (given: {given!r})" if isinstance(given, (str, int, float, bool)) else ""
    return f"{where}: {entry}{place}: {message[0].lower()}{message[1:]}{shown}."
