"""Read an uploaded table: bounded, parsed and never executed. What cannot be read is said in a sentence."""

from __future__ import annotations

import csv
import difflib
import io
import json
import math
from collections.abc import Sequence
from typing import Any

from tablib import Dataset

FORMATS = ("csv", "json")
MOST_DIGITS = 30
csv.field_size_limit(10**8)  # the layers of a model are one cell; the file as a whole is bounded before
ABSENT = object()
"""Stands in a cell whose key an object of a JSON list leaves out: that figure stays as it is."""


class UploadError(ValueError):
    """The file is no table of this kind; the text says what to do."""


def format_of(file_name: str) -> str:
    """csv or json, by the end of the file's name."""
    ending = file_name.rsplit(".", 1)[-1].lower()
    if ending not in FORMATS:
        raise UploadError(f"Choose a file that ends in .csv or .json; this one is {file_name}.")
    return ending


def read_text(file: Any, most_bytes: int) -> str:
    """The text of an uploaded file, with or without a byte order mark."""
    if file.size > most_bytes:
        raise UploadError(f"The file has {file.size:,} bytes; up to {most_bytes:,} are taken.")
    data: bytes = file.read()
    try:
        return data.decode("utf-8-sig")
    except UnicodeDecodeError as error:
        raise UploadError(f"The file is not UTF-8 (byte {error.start + 1}). Save it as UTF-8.") from error


def read_table(kind: str, text: str, columns: Sequence[str], *, most_rows: int) -> Dataset:
    """The rows of a file in format `kind`. columns: the names that its head may have; the first is needed."""
    headers, rows = _csv(text) if kind == "csv" else _json(text)
    if not rows:
        raise UploadError("The file has no rows below its head." if kind == "csv" else "The list is empty.")
    _check_headers(headers, columns)
    if len(rows) > most_rows:
        raise UploadError(f"The file has {len(rows):,} rows; up to {most_rows:,} are taken at once.")
    return Dataset(*rows, headers=headers)


def _csv(text: str) -> tuple[list[str], list[list[Any]]]:
    head = text.split("\n", 1)[0]
    delimiter = ";" if ";" in head and "," not in head else ","
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    try:
        rows = [row for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as error:
        raise UploadError(f"Line {reader.line_num} is not CSV: {error}.") from error
    if not rows:
        raise UploadError("The file is empty.")
    headers = [cell.strip() for cell in rows[0]]
    for number, row in enumerate(rows[1:], 2):
        if len(row) != len(headers):
            sentence = f"Row {number} has {len(row)} cells; the head has {len(headers)}."
            raise UploadError(f"{sentence} A cell with a comma or a line break stands in quotes.")
    return headers, [list(row) for row in rows[1:]]


def _json(text: str) -> tuple[list[str], list[list[Any]]]:
    try:
        items = parse_json(text)
    except json.JSONDecodeError as error:
        raise UploadError(f"Line {error.lineno} is not valid JSON ({error.msg}).") from error
    except (ValueError, RecursionError) as error:
        raise UploadError(str(error)) from error
    if not isinstance(items, list) or not all(isinstance(item, dict) for item in items):
        raise UploadError('Write a list of objects: [{"id": …}, …].')
    headers = list(dict.fromkeys(key for item in items for key in item))
    return headers, [[item.get(key, ABSENT) for key in headers] for item in items]


def parse_json(text: str) -> Any:
    """What a JSON text says; ValueError with a sentence for figures that are none, such as NaN."""
    try:
        return json.loads(text, parse_constant=_no_figure, parse_float=_finite, parse_int=_whole)
    except RecursionError as error:
        raise ValueError("The JSON is nested too deeply.") from error


def _no_figure(name: str) -> float:
    raise ValueError(f"{name} is no figure. Write null for what is not known.")


def _finite(text: str) -> float:
    value = float(text)
    return value if math.isfinite(value) else _no_figure(text)


def _whole(text: str) -> int:
    if len(text) > MOST_DIGITS:
        raise ValueError(f"{text[:MOST_DIGITS]}… has too many digits.")
    return int(text)


def _check_headers(headers: Sequence[str], columns: Sequence[str]) -> None:
    twice = sorted({name for name in headers if headers.count(name) > 1})
    if twice:
        raise UploadError(f"The head names {', '.join(twice)} twice.")
    for name in headers:
        if name not in columns:
            near = difflib.get_close_matches(name, columns, n=1)
            meant = f" Is {near[0]} meant?" if near else f" There are {', '.join(columns)}."
            raise UploadError(f"This table has no column {name!r}.{meant}")
    if columns[0] not in headers:
        raise UploadError(f"The column {columns[0]} is missing; it says which row each line is about.")
