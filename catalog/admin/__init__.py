"""Django's admin for the catalogue: one module per table."""

from catalog.admin import (
    accelerators,
    calibration,
    engines,
    formats,
    labs,
    ladders,
    language_models,
    measurements,
    prices,
    systems,
    version,
)

__all__ = [
    "accelerators",
    "calibration",
    "engines",
    "formats",
    "labs",
    "ladders",
    "language_models",
    "measurements",
    "prices",
    "systems",
    "version",
]
