"""The whole catalogue in memory: frozen records with look-ups, built once per catalogue version.

A request works on one snapshot from start to end. PURE: no Django, no files, no clock.
"""

from __future__ import annotations

import difflib
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, lru_cache
from itertools import product
from typing import Any

from catalog import entries as entry_to
from catalog.price_book import PriceBook, build_price_book
from catalog.prices import ApiPrice, ElectricityPrice, Offer, PurchasePrice
from catalog.records import (
    Accelerator,
    Constant,
    CountLadder,
    Engine,
    LanguageModel,
    Measurement,
    System,
    WeightsFormat,
)

NEAR_NAMES = 3
"""How many ids are proposed for one that does not exist."""
_NEAR_ENOUGH = 0.6
_PART = 10_000
"""Weight of one part of a version number against the next when distances are compared; builds go up to five digits."""


@dataclass(frozen=True, eq=False)
class Snapshot:
    """Everything that exists, by id. `updated` is the day of the newest change, `version` names the state."""

    models: Mapping[str, LanguageModel]
    accelerators: Mapping[str, Accelerator]
    systems: Mapping[str, System]
    formats: Mapping[str, WeightsFormat]
    engines: Mapping[str, Engine]
    constants: tuple[Constant, ...]
    ladders: Mapping[str, CountLadder]
    version: str
    updated: str
    format_aliases: Mapping[str, str] = field(default_factory=dict)
    format_rules: Mapping[str, Any] = field(default_factory=dict)
    built_in: Mapping[str, Accelerator] = field(default_factory=dict)
    """Accelerators of systems that change them (a smaller memory than the card of that name), by system id."""
    measurements: tuple[Measurement, ...] = ()
    """What was measured, for the record of accuracy; no answer reads it."""
    prices: PriceBook = field(default_factory=PriceBook)
    """Offers, purchase and API prices, electricity, colocation and what a calculation of cost assumes."""

    def offers_for(self, accelerator_id: str) -> tuple[Offer, ...]:
        """What clouds ask for this accelerator, the newest first; of one day the cheapest per GPU first."""
        return self.prices.offers_by_accelerator.get(accelerator_id, ())

    def purchase_prices_for(self, device_id: str) -> tuple[PurchasePrice, ...]:
        """What an accelerator or a system costs to buy (new, used, mixed, server), the newest first."""
        return self.prices.purchases_by_device.get(device_id, ())

    def api_prices_for(self, model_id: str) -> tuple[ApiPrice, ...]:
        """What hosted APIs ask for tokens of this model, the newest first; of one day the cheapest output first."""
        return self.prices.api_prices_by_model.get(model_id, ())

    def electricity(self, region: str) -> tuple[ElectricityPrice, ...]:
        """What a kWh costs in a region, households first; of one sort of customer the newest first."""
        return self.prices.electricity_by_region.get(region, ())

    def weights_format(self, name: str) -> WeightsFormat | None:
        """A format by its id or by another name in use, whatever the case."""
        wanted = name.lower()
        return self.formats.get(self.format_aliases.get(wanted, wanted))

    def hosts(self, gpu_id: str) -> tuple[Accelerator, int, System | None] | None:
        """What `gpu` names: the device, how many of them one unit has, and the system if it is one; None if nothing."""
        if accelerator := self.accelerators.get(gpu_id):
            return accelerator, 1, None
        if system := self.systems.get(gpu_id):
            accelerator = self.built_in.get(system.id) or self.accelerators[system.accelerator_id]
            return accelerator, system.count, system
        return None

    def near_names(self, kind: str, wrong_id: str) -> tuple[str, ...]:
        """Up to three ids that a wrong one may have meant, best first. kind: model, gpu, engine, quant."""
        wanted = wrong_id.strip().lower()
        known = self._names(kind)
        near = [identity for name, identity in known if wanted and name.startswith(wanted)]
        alike = difflib.get_close_matches(
            wanted, [name for name, _ in known], n=3 * NEAR_NAMES, cutoff=_NEAR_ENOUGH
        )
        by_name = dict(reversed(known))
        return tuple(dict.fromkeys(near + [by_name[name] for name in alike]))[:NEAR_NAMES]

    def _names(self, kind: str) -> list[tuple[str, str]]:
        """(name as typed, id) of everything of a kind: ids first, then display names, then aliases."""
        kinds: dict[str, tuple[Mapping[str, Any], ...]] = {
            "model": (self.models,),
            "gpu": (self.accelerators, self.systems),
            "engine": (self.engines,),
            "quant": (self.formats,),
        }
        records = [record for group in kinds[kind] for record in group.values()]
        names = [(record.id, record.id) for record in records]
        names += [(record.name.lower(), record.id) for record in records]
        return names + (list(self.format_aliases.items()) if kind == "quant" else [])

    @cached_property
    def _constants_of(self) -> Mapping[tuple[str, str | None, str | None], tuple[Constant, ...]]:
        """The calibrated constants by engine, back end and class of devices."""
        rows: dict[tuple[str, str | None, str | None], list[Constant]] = {}
        for row in self.constants:
            rows.setdefault((row.engine, row.backend, row.device_class), []).append(row)
        return {key: tuple(own) for key, own in rows.items()}

    def constants_for(
        self,
        engine_family: str,
        version: str,
        device_class: str | Sequence[str] | None = None,
        backend: str | None = None,
    ) -> tuple[Mapping[str, Constant], bool]:
        """The calibrated constants of an engine at a version, by name, and whether one was measured on other versions.

        device_class: the device's class, or all that it belongs to, the narrowest first. Of the rows of one name the version decides first, then
        how closely a row fits: this engine before `any`, this backend before all, a narrow class before a broad one.
        """
        classes = (device_class,) if isinstance(device_class, str) else tuple(device_class or ())
        fitting: dict[str, list[Constant]] = {}
        backends, kinds = dict.fromkeys((None, backend)), dict.fromkeys((None, *classes))
        for key in product(dict.fromkeys((engine_family, "any")), backends, kinds):
            for row in self._constants_of.get(key, ()):
                fitting.setdefault(row.name, []).append(row)
        wanted = version_key(version)

        def order(row: Constant) -> tuple[float, bool, bool, int]:
            narrow = classes.index(row.device_class) if row.device_class else len(classes)
            return _distance(row, wanted), row.engine == "any", row.backend is None, narrow

        chosen = {name: rows[0] if len(rows) == 1 else min(rows, key=order) for name, rows in fitting.items()}
        return chosen, any(_distance(row, wanted) > 0 for row in chosen.values())


_LONGEST_VERSION = 40


def version_key(version: str) -> tuple[int, ...]:
    """A version as numbers: "0.33.0" → (0, 33, 0), "b11434" → (11434,); a suffix such as rc2 does not count."""
    leading = re.match(r"\D*(\d+(?:\.\d+)*)", version[:_LONGEST_VERSION])
    return tuple(int(part) for part in leading.group(1).split(".")) if leading else ()


def _number(key: tuple[int, ...]) -> float:
    """A version as one number, so that distances can be compared."""
    return float(sum(part / float(_PART) ** place for place, part in enumerate(key)))


def _distance(row: Constant, wanted: tuple[int, ...]) -> float:
    """How far a version lies outside the versions a row was measured on; 0 inside. The last one is meant with all its
    patch releases: until 0.16 includes 0.16.5."""
    if not wanted or not (row.version_from or row.version_until):
        return 0.0
    if row.version_from and _number(wanted) < _number(first := version_key(row.version_from)):
        return _number(first) - _number(wanted)
    if row.version_until and wanted[: len(last := version_key(row.version_until))] > last:
        return _number(wanted) - _number(last)
    return 0.0


def measured_on(row: Constant, version: str) -> bool:
    """Whether a constant was measured on this engine version."""
    return _distance(row, version_key(version)) == 0


@lru_cache(maxsize=256)
def engine_at(engine: Engine, version: str) -> Engine:
    """The engine with what its rules say instead for this version (`by_version`: the first row that reaches it)."""
    wanted = version_key(version)
    for row in engine.rules.get("by_version", ()):
        last = version_key(row["until"])
        if wanted[: len(last)] <= last:
            return replace(engine, rules={**engine.rules, **row["rules"]})
    return engine


def _by_id(records: Iterable[Any]) -> dict[str, Any]:
    return {record.id: record for record in records}


def build_snapshot(entries: Mapping[str, list[dict[str, Any]]], version: str, updated: str) -> Snapshot:
    """The snapshot of catalogue entries by kind: labs, models, accelerators, systems, formats, format_rules, engines,
    ladders, constants. An engine that is only named (no `rules`) is left out."""
    labs = {lab["id"]: lab for lab in entries["labs"]}
    ladders = entries["ladders"]
    devices = {entry["id"]: entry for entry in entries["accelerators"]}
    rules = entries["format_rules"][0] if entries.get("format_rules") else {}
    aliases = rules.get("aliases", {})
    return Snapshot(
        models=_by_id(entry_to.model_record(entry, labs[entry["lab"]]) for entry in entries["models"]),
        accelerators=_by_id(entry_to.accelerator_record(entry, ladders) for entry in devices.values()),
        systems=_by_id(entry_to.system_record(entry) for entry in entries["systems"]),
        formats=_by_id(entry_to.format_record(entry, aliases) for entry in entries["formats"]),
        engines=_engines(entries["engines"]),
        constants=tuple(entry_to.constant_record(entry) for entry in entries.get("constants", ())),
        ladders=_by_id(entry_to.ladder_record(entry) for entry in ladders),
        measurements=tuple(entry_to.measurement_record(entry) for entry in entries.get("measurements", ())),
        prices=build_price_book(entries),
        version=version,
        updated=updated,
        format_aliases=aliases,
        format_rules=rules,
        built_in={
            entry["id"]: entry_to.accelerator_record(
                entry_to.overridden(devices[entry["accelerator_id"]], entry["accelerator_override"]), ladders
            )
            for entry in entries["systems"]
            if entry.get("accelerator_override")
        },
    )


def _engines(entries: Iterable[Mapping[str, Any]]) -> dict[str, Engine]:
    """Engines by id; one that starts another engine loads that one's classes too."""
    engines: dict[str, Engine] = _by_id(
        entry_to.engine_record(entry) for entry in entries if entry.get("rules")
    )
    for engine in list(engines.values()):
        if other := engine.rules.get("classes_from"):
            engines[engine.id] = replace(engine, classes=engine.classes | engines[other].classes)
    return engines
