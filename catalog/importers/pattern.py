"""The shipped files as the pattern for new ones: which entry stands in which file, and which file a new entry goes to."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import Any

from django.utils.text import slugify

from catalog.importers.files import catalogue_files
from catalog.models import TABLES, Entry

SCHEMA = 1
"""`schema` in the head of a file that is new."""

TABLE_OF = {table.entries: table for table in TABLES}


@dataclass(frozen=True, slots=True)
class Layout:
    """Files of one kind. head: the key in a file's head that says what its entries share; shared: an entry's value of it,
    empty where one file holds all."""

    kind: str
    folder: str
    head: str = ""
    shared: Callable[[Entry], str] = lambda _: ""


def _measured(entry: Entry) -> str:
    """A file holds one engine's runs of one task; those of memory stand at the top."""
    engine, task = str(entry["engine"]), str(entry["task"])
    return engine if task == "memory" else f"{task}/{engine}"


LAYOUTS: dict[str, Layout] = {
    "models": Layout("models", "models", "lab", lambda entry: str(entry["lab"])),
    "accelerators": Layout("accelerators", "accelerators", "vendor", lambda entry: str(entry["vendor"])),
    "systems": Layout("systems", "systems", "system_kind", lambda entry: str(entry["kind"])),
    "formats": Layout("formats", "formats", "family", lambda entry: str(entry["family"])),
    "engines": Layout("engine", "engines", "", lambda entry: str(entry["id"])),
    "ladders": Layout("count-ladders", "count-ladders"),
    "constants": Layout("calibration", "calibration"),
    "measurements": Layout("measurements", "measurements", "", _measured),
    "providers": Layout("providers", "providers"),
    "device_names": Layout("device-names", "device-names"),
    "offers": Layout("offers", "offers", "", lambda entry: str(entry["provider"])),
    "purchase_prices": Layout("purchase-prices", "prices/purchase"),
    "api_prices": Layout("api-prices", "prices/api"),
    "electricity": Layout("electricity", "prices/electricity"),
    "colocation": Layout("colocation", "prices/colocation"),
    "assumptions": Layout("assumptions", "prices/assumptions"),
}
"""By kind of entries. Labs stand in the heads of the files of models; checkpoints stand apart from their models, and the
rules of formats are one document: catalog.importers.export knows these three."""


@dataclass(frozen=True, slots=True)
class Shipped:
    """An entry that ships: its file, what its file says, and what it shares with the others there."""

    path: str
    entry: Entry
    shared: str


class Pattern:
    """The files below a folder, read once."""

    def __init__(self, root: Path) -> None:
        self.files: dict[str, dict[str, Any]] = {
            path.relative_to(root).as_posix(): json.loads(path.read_text(encoding="utf-8"))
            for path in catalogue_files(root)
        }

    @cached_property
    def entries(self) -> Mapping[str, dict[str, Shipped]]:
        """By kind and id, in the order of the files; a model's entry names its lab."""
        return {kind: dict(self._of(kind, layout)) for kind, layout in LAYOUTS.items()}

    def _of(self, kind: str, layout: Layout) -> list[tuple[str, Shipped]]:
        found = []
        for path, data in self.files.items():
            for item in data["items"] if data["kind"] == layout.kind else ():
                entry = {**item, "lab": data["lab"]["id"]} if kind == "models" else item
                found.append((TABLE_OF[kind].key(entry), Shipped(path, entry, layout.shared(entry))))
        return found

    def path_of(self, kind: str, shared: str) -> str:
        """The file of entries that share this: the one that ships, else a new one named for it."""
        layout = LAYOUTS[kind]
        for shipped in self.entries[kind].values():
            if shipped.shared == shared:
                return shipped.path
        name = shared if shared == shared.lower() and " " not in shared else slugify(shared)
        return f"{layout.folder}/{name}.json" if shared else f"{layout.folder}.json"

    def head(self, path: str, kind: str, shared: str) -> dict[str, Any]:
        """What stands around the items of a file."""
        if path in self.files:
            return self.files[path]
        layout = LAYOUTS[kind]
        own = {layout.head: shared} if layout.head else {}
        return {"kind": layout.kind, "schema": SCHEMA, **own}
