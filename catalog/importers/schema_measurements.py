"""The shape of the files of measurements: what somebody measured of memory or of speed, and the question that it answers.

One file holds one engine's runs of one task.
"""

from __future__ import annotations

from typing import Annotated, Literal, get_args

from pydantic import Field, model_validator

from catalog.importers.schema_fields import CatalogueDate, Head, Positive, Slug, Strict, Text

Task = Literal["memory", "speed"]
Split = Literal["fit", "check"]
Confidence = Literal["high", "medium"]
Attention = Literal["gqa", "sliding_window", "mla", "hybrid", "compressed", "unknown"]

AMOUNTS = ("bytes", "tokens", "ratio", "count", "tokens_per_s", "ms")
"""Keys for the amount of an observation; the key says the unit, and each observation has exactly one."""

RATES = ("tokens_per_s", "ms")
"""The amounts of a measured speed."""

SpeedPart = Literal["decode", "prefill", "throughput", "ttft", "tpot"]
"""Figures of a measured speed: answer tokens of one user, prompt tokens, answer tokens of all users (prompt phases
included), time to the first token, time per answer token."""


class ObservationEntry(Strict):
    """One figure. An amount may be negative where a log prints it so (memory was given back)."""

    part: Annotated[str, Field(pattern=r"^[a-z][a-z0-9_]*$")]
    device: Text | None
    bytes: int | None = None
    tokens: int | None = None
    ratio: float | None = None
    count: int | None = None
    tokens_per_s: Positive | None = None
    ms: Positive | None = None
    printed: Text | None = None

    @model_validator(mode="after")
    def there_is_one_amount(self) -> ObservationEntry:
        given = [name for name in AMOUNTS if getattr(self, name) is not None]
        if len(given) != 1:
            found = f"{' and '.join(given)} are written" if given else "none is written"
            raise ValueError(f"{self.part} needs exactly one of {', '.join(AMOUNTS)}; {found}")
        return self


class ConditionsEntry(Strict):
    """How a speed was measured, as far as the source says; a missing key: not said. Lengths are tokens of one request.

    depth_tokens: what the cache holds when the measured decoding begins; start_tokens: before the measured prompt.
    weights_gib: size of the weights file. host_gb_s: theoretical bandwidth of host memory. speculation, offload: in the
    source's words.
    """

    users: Annotated[int, Field(ge=1)] | None = None
    prompt_tokens: Annotated[int, Field(ge=0)] | None = None
    output_tokens: Annotated[int, Field(ge=0)] | None = None
    depth_tokens: Annotated[int, Field(ge=0)] | None = None
    start_tokens: Annotated[int, Field(ge=0)] | None = None
    weights_gib: Positive | None = None
    host_gb_s: Positive | None = None
    speculation: Text | None = None
    offload: Text | None = None


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
    conditions: ConditionsEntry | None = None
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
    def its_figures_are_those_of_its_task(self) -> MeasurementEntry:
        speed = self.task == "speed"
        for item in self.observed:
            rate = any(getattr(item, name) is not None for name in RATES)
            if speed != rate or (speed and item.part not in get_args(SpeedPart)):
                raise ValueError(f"{item.part} is no figure of a measurement of {self.task}")
            if not speed and item.printed is None:
                raise ValueError(f"{item.part} needs printed, the figure and unit as the source has them")
        if speed != (self.conditions is not None):
            raise ValueError(
                "a measurement of speed has conditions" if speed else "only a speed has conditions"
            )
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
