"""Write the database's catalogue back as files in the layout that ships: the way of a correction into the next release.

An entry that the database holds unchanged is written as its file has it, so an untouched database gives the same bytes;
of a changed one only what changed moves; a new one goes to the end of the file of its lab, vendor, kind, family or
engine. What stays here (drafts, rows added and retired here) leaves the file's own entry as it is.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from catalog.importers.dump import dump_json
from catalog.importers.files import DATA
from catalog.importers.ordering import in_order_of_shape, like, merged, same
from catalog.importers.pattern import LAYOUTS, SCHEMA, TABLE_OF, Pattern
from catalog.importers.schema import CatalogueError, check_file
from catalog.models import TABLES, CatalogRow, CatalogVersion, Checkpoint, Entry, FormatRules
from catalog.models.drafts import Status

KINDS = ("models", "checkpoints", *(kind for kind in LAYOUTS if kind != "models"))
"""Kinds of files that can be asked for alone."""

Rows = dict[str, dict[str, Entry]]


@dataclass
class FileOutcome:
    """What differs between a file that ships and the database: ids, and how many entries are the same."""

    added: list[str] = field(default_factory=list)
    changed: list[str] = field(default_factory=list)
    removed: list[str] = field(default_factory=list)
    unchanged: int = 0

    @property
    def differs(self) -> bool:
        return bool(self.added or self.changed or self.removed)

    def count(self, name: str, before: Any, after: Any) -> None:
        """Note one entry; before: as its file has it, None when it was not there."""
        if before is None:
            self.added.append(name)
        elif before is after or same(before, after):
            self.unchanged += 1
        else:
            self.changed.append(name)


@dataclass(frozen=True, slots=True)
class LeftOut:
    """A row that does not go into the files, and why."""

    kind: str
    id: str
    why: str


@dataclass
class Export:
    """The files by path, what differs in each, which rows are in none, and which shipped files have no entry left."""

    files: dict[str, dict[str, Any]] = field(default_factory=dict)
    emptied: list[str] = field(default_factory=list)
    outcomes: dict[str, FileOutcome] = field(default_factory=dict)
    left_out: list[LeftOut] = field(default_factory=list)

    def outcome(self, path: str) -> FileOutcome:
        return self.outcomes.setdefault(path, FileOutcome())

    def texts(self, only: str = "") -> dict[str, str]:
        """The text of every file, or of one kind's; raises CatalogueError when one says what a file may not say."""
        faults: list[str] = []
        wanted = {
            path: data
            for path, data in sorted(self.files.items())
            if not only or path.startswith(_PREFIX[only])
        }
        for path, data in wanted.items():
            try:
                check_file(path, data)
            except CatalogueError as error:
                faults += error.faults
        if faults:
            raise CatalogueError(faults)
        return {path: dump_json(data) for path, data in wanted.items()}


_PREFIX = {
    kind: (f"{folder}/", f"{folder}.")
    for kind in KINDS
    for folder in (LAYOUTS[kind].folder if kind in LAYOUTS else kind,)
}
"""How the paths of a kind's files begin: a folder, or the name of the only one."""


def export(*, drafts: bool = False, root: Path = DATA) -> Export:
    """The database's catalogue in files, after the pattern of those in `root`."""
    pattern, result = Pattern(root), Export()
    rows = _rows(pattern, result.left_out, drafts=drafts)
    for kind in LAYOUTS:
        _place(result, pattern, kind, rows[kind])
    _write_labs(result, pattern, rows["labs"])
    _place_checkpoints(result, pattern, rows["models"])
    _write_rules(result, pattern, rows["format_rules"][FormatRules.SLUG])
    about = pattern.files["about.json"]
    if any(outcome.differs for outcome in result.outcomes.values()):
        about = {**about, "updated": max(about["updated"], CatalogVersion.current().updated.isoformat())}
    result.files["about.json"] = about
    result.emptied = sorted(pattern.files.keys() - result.files.keys())
    return result


# --- what goes in -----------------------------------------------------------------------------------------------------


def _rows(pattern: Pattern, left_out: list[LeftOut], *, drafts: bool) -> Rows:
    """Entries by kind and id, without those that stay here and those that point to one of these."""
    rows: Rows = {}
    for table in TABLES:
        rows[table.entries] = {}
        for row in table.complete():
            if why := _stays_here(row, drafts=drafts):
                left_out.append(LeftOut(table.entries, row.slug, why))
            else:
                rows[table.entries][row.slug] = row.draft_entry() if drafts else row.to_entry()
    while dangling := list(_dangling(rows, pattern)):
        for each in dangling:
            rows[each.kind].pop(each.id, None)
        left_out += dangling
    used = {entry["lab"] for entry in rows["models"].values()} | {
        shipped.shared for shipped in pattern.entries["models"].values()
    }
    for slug in [slug for slug in rows["labs"] if slug not in used]:
        del rows["labs"][slug]
        left_out.append(LeftOut("labs", slug, "has no model to stand with"))
    return rows


def _stays_here(row: CatalogRow, *, drafts: bool) -> str:
    if row.status == Status.DRAFT and not drafts:
        return "a draft"
    return "added here and retired" if row.retired and row.origin == CatalogRow.Origin.ADMIN else ""


_REFERENCES: tuple[tuple[str, str, Callable[[Entry], str | None]], ...] = (
    ("models", "labs", lambda entry: entry["lab"]),
    ("models", "models", lambda entry: entry.get("computed_as")),
    ("systems", "accelerators", lambda entry: entry["accelerator_id"]),
    ("engines", "engines", lambda entry: entry.get("rules", {}).get("classes_from")),
    ("offers", "providers", lambda entry: entry["provider"]),
    ("offers", "accelerators", lambda entry: entry["accelerator"]),
    ("device_names", "accelerators", lambda entry: entry["accelerator"]),
    ("api_prices", "providers", lambda entry: entry["provider"]),
    ("api_prices", "models", lambda entry: entry["model"]),
)


def _dangling(rows: Rows, pattern: Pattern) -> Iterator[LeftOut]:
    """Rows that point to one that goes into no file."""
    for kind, target_kind, target_of in _REFERENCES:
        known = {*rows[target_kind], *pattern.entries.get(target_kind, ())}
        if target_kind == "labs":
            known |= {shipped.shared for shipped in pattern.entries["models"].values()}
        for slug, entry in rows[kind].items():
            if (target := target_of(entry)) is not None and target not in known:
                yield LeftOut(kind, slug, f"points to {target}, which is left out")


# --- where it goes ----------------------------------------------------------------------------------------------------


def _place(result: Export, pattern: Pattern, kind: str, rows: Mapping[str, Entry]) -> None:
    """Put the entries of one kind into their files, in the files' order; behind them what came from elsewhere or is new."""
    layout, all_shipped = LAYOUTS[kind], pattern.entries[kind]
    behind: list[tuple[str, str, Entry]] = []
    for slug in [*all_shipped, *(slug for slug in rows if slug not in all_shipped)]:
        shipped = all_shipped.get(slug)
        after = _written(kind, rows.get(slug), shipped.entry if shipped else None)
        shared = layout.shared(after)
        if shipped and shipped.shared == shared:
            _append(result, shipped.path, pattern.head(shipped.path, kind, shared), _item(kind, after))
            result.outcome(shipped.path).count(slug, _item(kind, shipped.entry), _item(kind, after))
            continue
        behind.append((slug, shared, _item(kind, after)))
        if shipped:
            result.outcome(shipped.path).removed.append(slug)
    for slug, shared, item in behind:
        path = pattern.path_of(kind, shared)
        _append(result, path, pattern.head(path, kind, shared), item)
        result.outcome(path).added.append(slug)


def _append(result: Export, path: str, head: Mapping[str, Any], item: Entry) -> None:
    """Put one entry at the end of a file, which begins with this head."""
    result.files.setdefault(path, {**head, "items": []})["items"].append(item)


def _written(kind: str, row: Entry | None, before: Entry | None) -> Entry:
    """The entry for a file: of the row like the file's own; without a row, the file's own."""
    if row is None:
        assert before is not None
        return before
    if before is None:
        return in_order_of_shape(kind, row)
    children = {key: row[key] for key in ("checkpoints",) if key in row}
    return merged(kind, row, before, TABLE_OF[kind].normal(before) | children)


def _item(kind: str, entry: Entry) -> Entry:
    """As it stands in its file: a model's lab is named in the head, its checkpoints are in a file of their own."""
    return {
        key: value for key, value in entry.items() if key not in ("lab", "checkpoints") or kind != "models"
    }


def _write_labs(result: Export, pattern: Pattern, labs: Mapping[str, Entry]) -> None:
    """Put each lab into the head of its models' file."""
    for path, data in list(result.files.items()):
        if data["kind"] != "models":
            continue
        shipped: Entry | None = pattern.files.get(path, {}).get("lab")
        slug = shipped["id"] if shipped else data["lab"]
        if shipped:
            lab = merged("labs", labs.get(slug, shipped), shipped, TABLE_OF["labs"].normal(shipped))
        else:
            lab = in_order_of_shape("labs", labs[slug])
        head = {key: value for key, value in data.items() if key != "items"}
        result.files[path] = {**head, "lab": lab, "items": data["items"]}
        if shipped and not same(lab, shipped):
            result.outcome(path).changed.append(f"lab {slug}")


def _place_checkpoints(result: Export, pattern: Pattern, models: Mapping[str, Entry]) -> None:
    """Put the checkpoints of each model into the file of its lab; a model that stays here keeps its shipped ones."""
    shipped: dict[str, list[Entry]] = {}
    for data in pattern.files.values():
        for item in data["items"] if data["kind"] == "checkpoints" else ():
            shipped.setdefault(item["model"], []).append(item)
    all_models = pattern.entries["models"]
    for slug in [*shipped, *(slug for slug in models if slug not in shipped)]:
        before = shipped.get(slug, [])
        row = models.get(slug)
        after = [_checkpoint(slug, each, before) for each in row.get("checkpoints", ())] if row else before
        lab = row["lab"] if row else all_models[slug].shared
        path = f"checkpoints/{lab}.json"
        stayed = slug in all_models and all_models[slug].shared == lab
        known = {_name(item): item for item in before} if stayed else {}
        for item in after:
            _append(result, path, {"kind": "checkpoints", "schema": SCHEMA}, item)
            result.outcome(path).count(f"{slug} {_name(item)}", known.get(_name(item)), item)
        kept = {_name(item) for item in after} if stayed else set()
        for item in before:
            if _name(item) not in kept:
                was = f"checkpoints/{all_models[slug].shared}.json" if slug in all_models else path
                result.outcome(was).removed.append(f"{slug} {_name(item)}")


def _name(checkpoint: Entry) -> str:
    return f"{checkpoint['repo']} ({checkpoint['weights_format']})"


def _checkpoint(model: str, row: Entry, shipped: list[Entry]) -> Entry:
    """A checkpoint as it stands in its file."""
    before = next((item for item in shipped if _name(item) == _name(row)), None)
    if before is None:
        return {"model": model, **in_order_of_shape("checkpoints", row)}
    normal = Checkpoint.from_entry(
        {key: value for key, value in before.items() if key != "model"}, 0
    ).to_entry()
    own = {key: value for key, value in before.items() if key != "model"}
    return before if same(row, normal) else {"model": model, **merged("checkpoints", row, own, normal)}


def _write_rules(result: Export, pattern: Pattern, rules: Entry) -> None:
    """The rules of formats are one document, head and all."""
    path, shipped = next(
        (path, data) for path, data in pattern.files.items() if data["kind"] == "format-rules"
    )
    result.files[path] = like(rules, shipped)
    result.outcome(path).count(FormatRules.SLUG, shipped, result.files[path])
