"""What the editor of an architecture shows: rows of inputs, from flat values."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from catalog.admin import block_specs
from catalog.admin.block_specs import FLAG, OBJECT, PARTS, Spec, specs_of
from catalog.admin.blocks import TITLES, Flat, Reading
from catalog.architecture.kinds import MIXERS

FLAGS = ("", "yes", "element", "head", "full", "per-head-weights")
BLANK = 1
"""Empty rows at the end of each list, to add one."""


@dataclass(frozen=True, slots=True)
class Input:
    """One field with its name, label, value and, for a choice, its options."""

    name: str
    label: str
    kind: str
    value: str
    options: tuple[str, ...] = ()
    required: bool = False


@dataclass(frozen=True, slots=True)
class Row:
    """One mixer, MLP, block, run of the order or extra. inner: rows inside of it (an object's pairs, parallel parts)."""

    prefix: str
    title: str
    keys: str
    inputs: list[Input]
    inner: list[Rows]
    blank: bool


@dataclass(frozen=True, slots=True)
class Rows:
    """A list of rows under a heading."""

    name: str
    title: str
    help: str
    rows: list[Row]

    @property
    def count(self) -> int:
        return len(self.rows)


HELP = {
    "mixers": "What mixes positions: attention, a recurrent state, a convolution. A kind's fields appear once it is chosen and the page is saved.",
    "mlps": "What follows the mixer in a layer.",
    "blocks": "One kind of layer each: a mixer with an MLP.",
    "order": "Runs of equal layers, first layer first. Places may be fractions, to put a run between two others.",
    "extras": "Weights outside the layers: vision towers, projectors, lookup tables, multi-token prediction.",
}


def sections(flat: Flat, name: str) -> tuple[Row, list[Rows]]:
    """The general fields, and every list."""
    reading = Reading(flat)
    general = _row(reading, f"{name}-general", "General", block_specs.GENERAL, keys_name=f"{name}-keys")
    names = {
        group: tuple(
            text
            for index in range(reading.count(f"{name}-{group}"))
            if (text := reading.text(f"{name}-{group}-{index}-name"))
        )
        for group in ("mixers", "mlps", "blocks")
    }
    lists = [_kinds(reading, f"{name}-{group}", group) for group in ("mixers", "mlps")]
    lists.append(_blocks(reading, f"{name}-blocks", names))
    lists.append(_order(reading, f"{name}-order", names["blocks"]))
    lists.append(
        _list(
            f"{name}-extras",
            "extras",
            [
                _row(reading, prefix, reading.text(f"{prefix}-name"), block_specs.EXTRA, blank=blank)
                for prefix, blank in _prefixes(reading, f"{name}-extras")
            ],
        )
    )
    return general, lists


def _prefixes(reading: Reading, name: str) -> list[tuple[str, bool]]:
    count = reading.count(name)
    return [(f"{name}-{index}", index >= count) for index in range(count + BLANK)]


def _list(name: str, group: str, rows: list[Row]) -> Rows:
    return Rows(name, TITLES[group], HELP.get(group, ""), rows)


def _kinds(reading: Reading, name: str, group: str) -> Rows:
    kinds = block_specs.KINDS[group]
    rows = []
    for prefix, blank in _prefixes(reading, name):
        own = Input(f"{prefix}-name", "name", block_specs.WORDS, reading.text(f"{prefix}-name"))
        rows.append(_kind_row(reading, prefix, own.value, kinds, blank=blank, first=[own]))
    return _list(name, group, rows)


def _kind_row(
    reading: Reading,
    prefix: str,
    title: str,
    kinds: Mapping[str, type[Any]],
    *,
    blank: bool,
    first: list[Input],
) -> Row:
    kind = reading.text(f"{prefix}-kind")
    choice = Input(f"{prefix}-kind", "kind", block_specs.CHOICE, kind, ("", *kinds))
    return _row(reading, prefix, title, specs_of(kind, kinds), blank=blank, first=[*first, choice])


def _blocks(reading: Reading, name: str, names: Mapping[str, tuple[str, ...]]) -> Rows:
    rows = []
    for prefix, blank in _prefixes(reading, name):
        own = reading.text(f"{prefix}-name")
        chosen = [Input(f"{prefix}-name", "name", block_specs.WORDS, own)]
        for key, group in (("mixer", "mixers"), ("mlp", "mlps")):
            value = reading.text(f"{prefix}-{key}")
            options = tuple(dict.fromkeys(["", *names[group], value]))
            chosen.append(Input(f"{prefix}-{key}", key, block_specs.CHOICE, value, options))
        rows.append(_row(reading, prefix, own, block_specs.BLOCK[2:], blank=blank, first=chosen))
    return _list(name, "blocks", rows)


def _order(reading: Reading, name: str, names: tuple[str, ...]) -> Rows:
    rows = []
    for prefix, blank in _prefixes(reading, name):
        block = reading.text(f"{prefix}-block")
        options = tuple(dict.fromkeys(["", *names, block]))
        place = reading.text(f"{prefix}-place") or str(int(prefix.rsplit("-", 1)[-1]) + 1)
        inputs = [
            Input(f"{prefix}-place", "place", "number", place),
            Input(f"{prefix}-block", "block", block_specs.CHOICE, block, options),
            Input(f"{prefix}-count", "count [layers]", block_specs.WHOLE, reading.text(f"{prefix}-count")),
        ]
        rows.append(Row(prefix, "", "", inputs, [], blank))
    return _list(name, "order", rows)


def _row(
    reading: Reading,
    prefix: str,
    title: str,
    specs: tuple[Spec, ...],
    *,
    blank: bool = False,
    first: list[Input] | None = None,
    keys_name: str = "",
) -> Row:
    inputs = list(first or ())
    inner = []
    for spec in specs:
        name = f"{prefix}-{spec.key}"
        if spec.kind == OBJECT:
            inner.append(_pairs(reading, name, spec))
        elif spec.kind == PARTS:
            parts = [
                _kind_row(reading, inside, f"part {number}", MIXERS, blank=empty, first=[])
                for number, (inside, empty) in enumerate(_prefixes(reading, name), 1)
            ]
            inner.append(Rows(name, "Side by side", "Mixers of one layer that run in parallel.", parts))
        else:
            inputs.append(_input(reading, name, spec, blank=blank))
    return Row(prefix, title, reading.text(keys_name or f"{prefix}-keys"), inputs, inner, blank)


def _input(reading: Reading, name: str, spec: Spec, *, blank: bool) -> Input:
    value = reading.text(name)
    given = any(key.startswith(f"{name.rsplit('-', 1)[0]}-") for key in reading.flat)
    if not given and spec.default not in (None, False, block_specs.NEEDED):
        value = "on" if spec.default is True else str(spec.default)
    options = spec.options
    if spec.kind == FLAG:
        options = tuple(dict.fromkeys([*FLAGS, value]))
    elif options and value not in options:
        options = (*options, value)
    return Input(name, spec.label, spec.kind, value, options, spec.required and not blank)


def _pairs(reading: Reading, name: str, spec: Spec) -> Rows:
    rows = []
    for prefix, blank in _prefixes(reading, name):
        inputs = [
            Input(f"{prefix}-{key}", key, block_specs.WORDS, reading.text(f"{prefix}-{key}"))
            for key in ("key", "value")
        ]
        rows.append(Row(prefix, "", "", inputs, [], blank))
    return Rows(name, spec.label, "", rows)
