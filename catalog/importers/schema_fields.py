"""The kinds of fields that catalogue files share: ids, dates, figures in their sane range, sources."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, ConfigDict, Field

Slug = Annotated[str, Field(pattern=r"^[a-z0-9][a-z0-9._-]*$", max_length=80)]
Text = Annotated[str, Field(min_length=1)]
CatalogueDate = Annotated[str, Field(pattern=r"^20\d\d(-\d\d(-\d\d)?)?$")]
"""2026, 2026-11 or 2026-11-30: as much as is known."""

Count = Annotated[int, Field(ge=1)]
Positive = Annotated[float, Field(gt=0)]
NonNegative = Annotated[float, Field(ge=0)]
Fraction = Annotated[float, Field(gt=0, le=1)]
Parameters = Annotated[int, Field(ge=10**6, le=10**14)]
Bytes = Annotated[int, Field(ge=10**6, le=10**15)]
Mib = Annotated[int, Field(ge=1024, le=8 * 2**20)]
"""Memory of one device [MiB]: 1 GiB to 8 TiB."""
BandwidthGbS = Annotated[float, Field(ge=10, le=100_000)]
"""Memory bandwidth of one device [10⁹ B/s]."""
LinkGbS = Annotated[float, Field(ge=0.1, le=10_000)]
Watts = Annotated[float, Field(gt=0, le=10**6)]
Usd = Annotated[float, Field(gt=0, le=10**8)]
Tflops = Annotated[float, Field(ge=0, le=10**6)]
Capability = Annotated[str, Field(pattern=r"^\d+\.\d$")]

Kind = Literal[
    "measured", "datasheet", "config file", "documentation", "derived", "source code", "from memory"
]


class Strict(BaseModel):
    """A shape without room for unknown fields."""

    model_config = ConfigDict(extra="forbid", strict=True, hide_input_in_errors=True)


class SourceEntry(Strict):
    what: Text
    where: Text
    kind: Kind


Sources = Annotated[list[SourceEntry], Field(min_length=1)]
FreeForm = dict[str, Any]
"""Facts for people and for launch guides, not read by the arithmetic."""


class Head(Strict):
    """What every file begins with."""

    schema_version: Literal[1] = Field(alias="schema")
