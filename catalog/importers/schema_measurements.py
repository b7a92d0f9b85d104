"""The shape of the files of measurements: what somebody measured, and the question that it answers, one engine each."""

from __future__ import annotations

from typing import Annotated, Literal

from pydantic import Field, model_validator

from catalog.importers.schema_fields import CatalogueDate, Head, Slug, Strict, Text

Task = Literal["memory"]
Split = Literal["fit", "check"]
Confidence = Literal["high", "medium"]
Attention = Literal["gqa", "sliding_window", "mla", "hybrid", "compressed", "unknown"]

AMOUNTS = ("bytes", "tokens", "ratio", "count")
"""Keys for the amount of an observation; the key says the unit, and each observation has exactly one."""


class ObservationEntry(Strict):
    """One figure. An amount may be negative where a log prints it so (memory was given back)."""

    part: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    device: Text | None
    bytes: int | None = None
    tokens: int | None = None
    ratio: float | None = None
    count: int | None = None
    printed: Text

    @model_validator(mode="after")
    def there_is_one_amount(self) -> ObservationEntry:
        given = [name for name in AMOUNTS if getattr(self, name) is not None]
        if len(given) != 1:
            found = f"{' and '.join(given)} are written" if given else "none is written"
            raise ValueError(f"{self.part} needs exactly one of {', '.join(AMOUNTS)}; {found}")
        return self


class MeasurementEntry(Strict):
    id: Slug
    task: Task
    split: Split
    group: Text
    engine: Slug
    engine_version: Text | None
    model: Text
    model_id: Slug | None
    repo: Text | None
    attention: Attention
    format: Text | None
    device: Text | None
    scenario: dict[Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")], Text]
    observed: Annotated[list[ObservationEntry], Field(min_length=1)]
    comparable: bool
    why_not: list[Text] = []
    compare: list[Text]
    note: Text | None = None
    source: Text
    date: CatalogueDate | None
    confidence: Confidence

    @model_validator(mode="after")
    def what_can_be_compared_says_with_what(self) -> MeasurementEntry:
        if not self.comparable and not self.why_not:
            raise ValueError("a measurement that is not comparable says in why_not why it is not")
        if not self.comparable and self.compare:
            raise ValueError("a measurement that is not comparable has nothing in compare")
        if self.comparable and not self.compare:
            raise ValueError("a comparable measurement names in compare the parts that can be compared")
        if self.comparable and (self.model_id is None or not self.scenario):
            raise ValueError(
                "a comparable measurement has a model_id and a scenario, the question that it answers"
            )
        return self

    @model_validator(mode="after")
    def what_is_compared_was_observed(self) -> MeasurementEntry:
        observed = {item.part for item in self.observed}
        if unseen := [part for part in self.compare if part not in observed]:
            raise ValueError(f"compare names {', '.join(unseen)}, which is not among the observed parts")
        return self

    @model_validator(mode="after")
    def the_question_is_about_the_model(self) -> MeasurementEntry:
        asked = self.scenario.get("model")
        if self.scenario and asked != self.model_id:
            raise ValueError(f"the scenario asks for the model {asked}, and model_id is {self.model_id}")
        return self


class MeasurementFile(Head):
    kind: Literal["measurements"]
    items: Annotated[list[MeasurementEntry], Field(min_length=1)]
