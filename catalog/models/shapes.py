"""A row is checked by the same typed shapes as a data file, so that what an admin saves could also be shipped."""

from collections.abc import Iterator
from typing import Any

from pydantic import BaseModel, ValidationError

from catalog.importers import (
    schema,
    schema_checkpoints,
    schema_engines,
    schema_hardware,
    schema_measurements,
    schema_models,
    schema_prices,
)

SHAPES: dict[str, type[BaseModel]] = {
    "labs": schema_models.Lab,
    "models": schema_models.ModelEntry,
    "files": schema_models.FileEntry,
    "checkpoints": schema_checkpoints.CheckpointEntry,
    "accelerators": schema_hardware.AcceleratorEntry,
    "systems": schema_hardware.SystemEntry,
    "ladders": schema_hardware.LadderEntry,
    "formats": schema.FormatEntry,
    "format_rules": schema.FormatRules,
    "engines": schema_engines.EngineEntry,
    "constants": schema.ConstantEntry,
    "measurements": schema_measurements.MeasurementEntry,
    "providers": schema_prices.ProviderEntry,
    "device_names": schema_prices.DeviceNameEntry,
    "offers": schema_prices.OfferEntry,
    "purchase_prices": schema_prices.PurchaseEntry,
    "api_prices": schema_prices.ApiPriceEntry,
    "electricity": schema_prices.ElectricityEntry,
    "colocation": schema_prices.ColocationEntry,
    "assumptions": schema_prices.AssumptionEntry,
}


PLAINLY = {
    "missing": "It is missing",
    "extra_forbidden": "There is no such field",
    "too_short": "Write at least one",
    "dict_type": 'Write an object: {"key": value}',
    "model_type": 'Write an object: {"key": value}',
    "list_type": "Write a list: [value, value]",
    "string_pattern_mismatch": "It is not written the way that this figure is written in the data files",
}
"""Pydantic's words about Python, said for somebody who edits JSON."""


def faults(kind: str, entry: dict[str, Any]) -> Iterator[tuple[str, str]]:
    """(key of the entry, sentence) for everything that a data file could not say; the key is empty for the whole."""
    try:
        SHAPES[kind].model_validate(entry)
    except ValidationError as error:
        for fault in error.errors():
            key, *rest = [str(part) for part in fault["loc"]] or [""]
            message = PLAINLY.get(fault["type"]) or fault["msg"].removeprefix("Value error, ").rstrip(".")
            place = f"{'.'.join(rest)}: " if rest else ""
            yield key, f"{place}{message[:1].upper()}{message[1:]}."
