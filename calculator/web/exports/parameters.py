"""The question's parameters as OpenAPI describes them, generated from the one table."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from calculator.scenario import PARAMETERS, Parameter, text_of
from calculator.web.wording.fields import help_of


def schema_of(parameter: Parameter) -> dict[str, Any]:
    """The JSON schema of one parameter's value."""
    if parameter.kind == "choice":
        return {"type": "string", "enum": list(parameter.choices)}
    if parameter.kind == "switch":
        return {"type": "string", "enum": ["on", "off"] if parameter.default in ("on", "off") else ["1", "0"]}
    if parameter.kind == "id":
        return {"type": "string", "maxLength": parameter.longest}
    return {
        "type": "integer" if parameter.kind == "whole" else "number",
        "minimum": parameter.low,
        "maximum": parameter.high,
    }


def description_of(parameter: Parameter) -> str:
    """What it is, its unit, its default, and whether it is computed yet."""
    words = help_of(parameter.name)
    text = words[:1].upper() + words[1:]
    if parameter.unit:
        text += f" [{parameter.unit}]"
    text += f". Default: {text_of(parameter.default)}." if parameter.default is not None else "."
    return text if parameter.built else f"{text} Kept in the link, not computed yet."


def query_parameters() -> list[dict[str, Any]]:
    """All of them for GET."""
    return [
        {
            "name": parameter.name,
            "in": "query",
            "required": False,
            "description": description_of(parameter),
            "schema": schema_of(parameter),
        }
        for parameter in PARAMETERS
    ]


def over_parameter(names: Sequence[str]) -> dict[str, Any]:
    """The parameter that a sweep goes over."""
    return {
        "name": "over",
        "in": "query",
        "required": True,
        "description": "The parameter whose values are gone through.",
        "schema": {"type": "string", "enum": list(names)},
    }


def body_schema() -> dict[str, Any]:
    """All of them for POST: the same names in one object."""
    properties = {
        parameter.name: {**schema_of(parameter), "description": description_of(parameter)}
        for parameter in PARAMETERS
    }
    return {
        "type": "object",
        "properties": properties,
        "example": {"model": "llama-3.1-8b-instruct", "ctx": 8192},
    }
