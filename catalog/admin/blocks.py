"""An architecture as rows of form fields and back: the same values under flat names.

    flatten: the JSON of a model  →  {"a-mixers-0-heads": "32", …}, what a browser would send for it
    assemble: what a browser sent →  the JSON, and a sentence for each field that cannot be read
    sections: flat values         →  what a template shows

The fields of a mixer or an MLP are those of its class, so a new kind needs nothing here. Keys that an entry spells out
although they hold the default stay spelled out; so every shipped architecture comes back as it was.
"""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from catalog.admin.block_specs import (
    BLOCK,
    EXTRA,
    FLAG,
    GENERAL,
    KINDS,
    NEEDED,
    OBJECT,
    PARTS,
    WHOLE,
    YES_NO,
    Spec,
    specs_of,
)
from catalog.architecture.kinds import MIXERS

Flat = Mapping[str, Any]
NOTHING = object()
"""Value of a field that is left out."""
TITLES = {"mixers": "Mixers", "mlps": "MLPs", "blocks": "Blocks", "order": "Order", "extras": "Extras"}
MOST_ROWS = 400


# --- From JSON to flat values ------------------------------------------------------------------------------------------


def flatten(data: Mapping[str, Any], name: str) -> dict[str, str]:
    """What a browser sends for an architecture that nobody touched."""
    flat = {f"{name}-keys": ",".join(data)}
    flat |= _flat_fields(data, GENERAL, f"{name}-general")
    for group in ("mixers", "mlps"):
        flat |= _flat_rows(
            [{"name": key, **_flat_kind(entry, KINDS[group])} for key, entry in _items(data.get(group))],
            f"{name}-{group}",
        )
    blocks = [
        {"name": key, "keys": ",".join(entry), **_flat_fields(entry, BLOCK)}
        for key, entry in _items(data.get("blocks"))
    ]
    order = [
        {"place": str(place), "block": str(block), "count": str(count)}
        for place, (block, count) in enumerate(data.get("order") or (), 1)
    ]
    extras = [{"keys": ",".join(entry), **_flat_fields(entry, EXTRA)} for entry in data.get("extras") or ()]
    for group, rows in (("blocks", blocks), ("order", order), ("extras", extras)):
        flat |= _flat_rows(rows, f"{name}-{group}")
    return flat


def _items(group: Any) -> list[tuple[str, Mapping[str, Any]]]:
    return (
        [(key, entry) for key, entry in group.items() if isinstance(entry, Mapping)]
        if isinstance(group, Mapping)
        else []
    )


def _flat_rows(rows: list[dict[str, str]], name: str) -> dict[str, str]:
    flat = {f"{name}-N": str(len(rows))}
    for index, row in enumerate(rows):
        flat |= {f"{name}-{index}-{key}": value for key, value in row.items()}
    return flat


def _flat_kind(entry: Mapping[str, Any], kinds: Mapping[str, type[Any]]) -> dict[str, str]:
    kind = str(entry.get("kind", ""))
    flat = {"kind": kind, "keys": ",".join(entry)}
    flat |= _flat_fields(entry, specs_of(kind, kinds))
    return flat


def _flat_fields(entry: Mapping[str, Any], specs: tuple[Spec, ...], name: str = "") -> dict[str, str]:
    flat: dict[str, str] = {}
    for spec in specs:
        value = entry.get(spec.key, None if spec.default is NEEDED else spec.default)
        place = f"{name}-{spec.key}" if name else spec.key
        if spec.kind == OBJECT:
            pairs = [{"key": key, "value": literal(item)} for key, item in (value or {}).items()]
            flat |= _flat_rows(pairs, place)
        elif spec.kind == PARTS:
            flat |= _flat_rows([_flat_kind(part, MIXERS) for part in value or ()], place)
        elif value is True or value is False:
            flat |= {place: "yes" if spec.kind == FLAG and value else "on" if value else ""}
        else:
            flat[place] = "" if value is None else str(value)
    return flat


def literal(value: Any) -> str:
    """A value of a free object as text: bare words stay bare."""
    text = json.dumps(value, ensure_ascii=False)
    if not isinstance(value, str):
        return text
    return value if value and value == value.strip() and _literal(value) == value else text


def _literal(text: str) -> Any:
    try:
        return json.loads(text)
    except json.JSONDecodeError:
        return text


# --- From flat values to JSON ------------------------------------------------------------------------------------------


@dataclass
class Reading:
    """Flat values while they are read; faults are sentences that name their place."""

    flat: Flat
    faults: list[str] = field(default_factory=list)

    def text(self, name: str) -> str:
        return str(self.flat.get(name) or "").strip()

    def count(self, name: str) -> int:
        text = self.text(f"{name}-N")
        return min(int(text), MOST_ROWS) if text.isdecimal() else 0

    def rows(self, name: str) -> Iterator[tuple[int, str]]:
        """(number as people count, prefix) of each row that is not to be removed."""
        for index in range(self.count(name)):
            if not self.flat.get(f"{name}-{index}-gone"):
                yield index + 1, f"{name}-{index}"


def assemble(flat: Flat, name: str) -> tuple[dict[str, Any], list[str]]:
    """The architecture that a browser sent, and what cannot be read of it."""
    reading = Reading(flat)
    found = _fields(reading, f"{name}-general", GENERAL, "", keys=reading.text(f"{name}-keys"))
    for group in ("mixers", "mlps"):
        found[group] = _named(reading, f"{name}-{group}", group)
    found["blocks"] = _named(reading, f"{name}-blocks", "blocks")
    found["order"] = _order(reading, f"{name}-order")
    extras = [
        _fields(reading, prefix, EXTRA, f"Extras, row {number}: ", keys=reading.text(f"{prefix}-keys"))
        for number, prefix in reading.rows(f"{name}-extras")
        if any(reading.text(f"{prefix}-{spec.key}") for spec in EXTRA)
    ]
    keys = [key for key in reading.text(f"{name}-keys").split(",") if key]
    if extras or "extras" in keys:
        found["extras"] = extras
    return {key: found[key] for key in dict.fromkeys([*keys, *found]) if key in found}, reading.faults


def _named(reading: Reading, name: str, group: str) -> dict[str, Any]:
    """Rows that have a name: mixers, MLPs, blocks."""
    found: dict[str, Any] = {}
    for number, prefix in reading.rows(name):
        own = reading.text(f"{prefix}-name")
        kind = reading.text(f"{prefix}-kind")
        where = f"{TITLES[group]}, row {number}: "
        if not own:
            if kind or any(reading.text(f"{prefix}-{spec.key}") for spec in BLOCK[:2]):
                reading.faults.append(f"{where}give it a name.")
            continue
        if own in found:
            reading.faults.append(f"{where}the name {own} stands twice.")
        where = f"{TITLES[group]}, {own}: "
        found[own] = (
            _kind(reading, prefix, KINDS[group], where)
            if group in KINDS
            else _fields(reading, prefix, BLOCK, where, keys=reading.text(f"{prefix}-keys"))
        )
    return found


def _kind(reading: Reading, prefix: str, kinds: Mapping[str, type[Any]], where: str) -> dict[str, Any]:
    kind = reading.text(f"{prefix}-kind")
    if kind not in kinds:
        reading.faults.append(f"{where}choose a kind.")
        return {}
    keys = reading.text(f"{prefix}-keys")
    return {"kind": kind, **_fields(reading, prefix, specs_of(kind, kinds), where, keys=keys)}


def _order(reading: Reading, name: str) -> list[list[Any]]:
    rows: list[tuple[float, int, list[Any]]] = []
    for number, prefix in reading.rows(name):
        block, where = reading.text(f"{prefix}-block"), f"Order, row {number}: "
        if not block:
            continue
        count = _whole(reading, f"{prefix}-count", Spec("count", WHOLE), where)
        try:
            place = float(reading.text(f"{prefix}-place") or number)
        except ValueError:
            reading.faults.append(f"{where}the place is a number.")
            place = float(number)
        rows.append((place, number, [block, count]))
    return [row for _, _, row in sorted(rows, key=lambda item: item[:2])]


def _fields(
    reading: Reading, prefix: str, specs: tuple[Spec, ...], where: str, *, keys: str
) -> dict[str, Any]:
    """The fields of one row. keys: those that the entry spelled out, in their order."""
    spelled_out = [key for key in keys.split(",") if key]
    found: dict[str, Any] = {}
    for spec in specs:
        value = _value(reading, f"{prefix}-{spec.key}", spec, where)
        if value is NOTHING:
            continue
        if spec.required or value != spec.default or spec.key in spelled_out:
            found[spec.key] = value
    return {key: found[key] for key in dict.fromkeys([*spelled_out, *found]) if key in found}


def _value(reading: Reading, name: str, spec: Spec, where: str) -> Any:
    if spec.kind == WHOLE:
        return _whole(reading, name, spec, where)
    if spec.kind == OBJECT:
        return _object(reading, name, where) or (None if spec.nullable else {})
    if spec.kind == PARTS:
        rows = reading.rows(name)
        return [
            _kind(reading, prefix, MIXERS, f"{where}part {number}: ")
            for number, prefix in rows
            if reading.text(f"{prefix}-kind")
        ]
    text = reading.text(name)
    if spec.kind == YES_NO:
        return bool(text)
    if spec.kind == FLAG:
        return {"": False, "yes": True}.get(text, text)
    if not text:
        if spec.required:
            reading.faults.append(f"{where}{spec.label} is missing.")
        return None if spec.nullable else NOTHING
    return text


def _whole(reading: Reading, name: str, spec: Spec, where: str) -> Any:
    text = reading.text(name).replace(",", "").replace("_", "")
    if not text:
        if spec.required:
            reading.faults.append(f"{where}{spec.label} is missing.")
        return None if spec.nullable else NOTHING
    try:
        return int(text)
    except ValueError:
        reading.faults.append(f"{where}{spec.label} is a whole number, not {text}.")
        return NOTHING


def _object(reading: Reading, name: str, where: str) -> dict[str, Any]:
    found: dict[str, Any] = {}
    for number, prefix in reading.rows(name):
        key, value = reading.text(f"{prefix}-key"), reading.text(f"{prefix}-value")
        if key and value:
            found[key] = _literal(value)
        elif key or value:
            reading.faults.append(
                f"{where}{name.rsplit('-', 1)[-1]}, pair {number} needs both a name and a value."
            )
    return found
