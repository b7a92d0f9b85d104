"""Read the catalogue's files: the only place that opens them. Every file is checked before anything is built from it."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterator
from functools import cache
from pathlib import Path
from typing import Any

from catalog.importers.schema import CatalogueError, check_file
from catalog.snapshot import Snapshot, build_snapshot

DATA = Path(__file__).resolve().parent.parent / "data"

_ENTRY_KIND = {
    "models": "models",
    "accelerators": "accelerators",
    "systems": "systems",
    "formats": "formats",
    "engine": "engines",
    "count-ladders": "ladders",
    "calibration": "constants",
    "measurements": "measurements",
    "providers": "providers",
    "device-names": "device_names",
    "offers": "offers",
    "purchase-prices": "purchase_prices",
    "api-prices": "api_prices",
    "electricity": "electricity",
    "colocation": "colocation",
    "assumptions": "assumptions",
}
"""Which entries a file's `items` are, by the file's kind."""


def read_entries(root: Path = DATA) -> dict[str, list[dict[str, Any]]]:
    """All entries by kind, checked; raises `CatalogueError` with a sentence for every fault found."""
    entries: dict[str, list[dict[str, Any]]] = {kind: [] for kind in _ENTRY_KIND.values()}
    entries |= {"labs": [], "format_rules": []}
    checkpoints: list[dict[str, Any]] = []
    faults: list[str] = []
    for path in catalogue_files(root):
        where = path.relative_to(root).as_posix()
        try:
            data = json.loads(path.read_text(encoding="utf-8"))
            check_file(where, data)
        except json.JSONDecodeError as error:
            faults.append(f"{where}: line {error.lineno} is not valid JSON ({error.msg}).")
        except CatalogueError as error:
            faults += error.faults
        else:
            _add(entries, data)
            checkpoints += data["items"] if data["kind"] == "checkpoints" else []
    if not faults:  # a file of models that cannot be read would leave all of its checkpoints alone
        faults += _give_checkpoints(entries["models"], checkpoints)
    faults += _repeated_ids(entries)
    if faults:
        raise CatalogueError(faults)
    return entries


def catalogue_files(root: Path = DATA) -> list[Path]:
    return sorted(root.rglob("*.json"))


def _add(entries: dict[str, list[dict[str, Any]]], data: dict[str, Any]) -> None:
    """Sort a file's items in; a model's entry is given the id of the lab in the file's head."""
    items = data.get("items", [])
    if data["kind"] == "models":
        entries["labs"].append(data["lab"])
        items = [{**item, "lab": data["lab"]["id"]} for item in items]
    if data["kind"] == "format-rules":
        entries["format_rules"].append(data)
    elif data["kind"] in _ENTRY_KIND:
        entries[_ENTRY_KIND[data["kind"]]] += items


def _give_checkpoints(models: list[dict[str, Any]], checkpoints: list[dict[str, Any]]) -> Iterator[str]:
    """Put each checkpoint into its model's entry; a fault for every one whose model does not exist."""
    by_id = {model["id"]: model for model in models}
    for row in checkpoints:
        own = {key: value for key, value in row.items() if key != "model"}
        if model := by_id.get(row["model"]):
            model.setdefault("checkpoints", []).append(own)
        else:
            yield f"checkpoints: {row['repo']} belongs to {row['model']}, which is no model of the catalogue."


def _repeated_ids(entries: dict[str, list[dict[str, Any]]]) -> Iterator[str]:
    for kind, rows in entries.items():
        seen: set[str] = set()
        for identity in (row["id"] for row in rows if "id" in row):
            if identity in seen:
                yield f"{kind}: the id {identity} stands twice."
            seen.add(identity)


def data_version(root: Path = DATA) -> str:
    """A name for the state of the files: it changes with any of them."""
    digest = hashlib.sha256()
    for path in catalogue_files(root):
        digest.update(path.relative_to(root).as_posix().encode() + b"\0" + path.read_bytes())
    return digest.hexdigest()[:12]


def data_updated(root: Path = DATA) -> str:
    """The day of the newest figure in the files."""
    return str(json.loads((root / "about.json").read_text(encoding="utf-8"))["updated"])


@cache
def snapshot_from_files(root: Path = DATA) -> Snapshot:
    """The shipped catalogue without a database, for tests and benchmarks."""
    return build_snapshot(read_entries(root), data_version(root), data_updated(root))
