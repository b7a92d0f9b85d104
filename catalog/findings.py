"""What is missing, unverified or odd in the database's catalogue, as sentences in groups.

An error means that the calculator cannot work with a row; an oddity is worth a look and often has a good reason.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from functools import cached_property

from django.core.exceptions import ValidationError
from django.utils import timezone

from catalog import live, price_findings
from catalog.architecture import Architecture
from catalog.models import (
    TABLES,
    Accelerator,
    CatalogRow,
    Engine,
    LanguageModel,
    Measurement,
    PublishedFile,
    System,
)
from catalog.models.language_models import difference_percent, signed
from catalog.prices import STALE_DAYS
from catalog.scenario_check import Remark, scenario_remarks

ODD_SUM_PERCENT = 0.5
"""From here on a published parameter count is reported: rounding to two digits alone can be as much."""


@dataclass(frozen=True, slots=True)
class Item:
    """One row that a group speaks of; an empty id means the catalogue as a whole."""

    kind: str
    id: str
    text: str


@dataclass(frozen=True, slots=True)
class Group:
    """All items of one kind of finding."""

    code: str
    label: str
    error: bool
    items: tuple[Item, ...]


@dataclass(frozen=True)
class Catalogue:
    """Every row, read once for all checks; retired ones and drafts are looked at only to be listed."""

    every: dict[type[CatalogRow], list[CatalogRow]] = field(
        default_factory=lambda: {table: list(table.complete()) for table in TABLES}
    )

    @cached_property
    def rows(self) -> list[CatalogRow]:
        return [row for rows in self.every.values() for row in rows if row.published and not row.retired]

    @cached_property
    def models(self) -> list[LanguageModel]:
        return [row for row in self.rows if isinstance(row, LanguageModel)]

    @cached_property
    def accelerators(self) -> list[Accelerator]:
        return [row for row in self.rows if isinstance(row, Accelerator)]

    @cached_property
    def measurements(self) -> list[Measurement]:
        return [row for row in self.rows if isinstance(row, Measurement)]

    def known(self, table: type[CatalogRow]) -> set[str]:
        """Ids of a table, those of retired rows too."""
        return {row.slug for row in self.every[table]}

    @cached_property
    def fault(self) -> str:
        """Why the rows in use cannot be put together; empty when they can."""
        try:
            live.refresh()  # the snapshot that the questions of measurements are then checked against
        except Exception as error:  # noqa: BLE001 - whatever it is, the calculator cannot start
            return f"{type(error).__name__}: {error}"
        return ""

    @cached_property
    def asked(self) -> list[tuple[Measurement, list[Remark]]]:
        """Each measurement with what is wrong with its question; none while no question can be asked at all."""
        if self.fault:
            return []
        with live.held():
            return [(row, scenario_remarks(row.scenario)) for row in self.measurements]

    @cached_property
    def shapes(self) -> dict[str, Architecture]:
        """The layers of each model whose description can be read."""
        shapes = {}
        for model in self.models:
            try:
                shapes[model.slug] = model.shape()
            except ValidationError:
                continue  # said by the group of rows that cannot be used
        return shapes


Found = Iterator[Item]


def _item(row: CatalogRow, text: str) -> Item:
    return Item(row.entries, row.slug, text)


def empty(catalogue: Catalogue) -> Found:
    if not catalogue.models or not catalogue.accelerators:
        yield Item("catalogue", "", "There are no models or no accelerators. Run: manage.py load_catalog.")


def unusable(catalogue: Catalogue) -> Found:
    for row in catalogue.rows:
        try:
            row.clean()
        except ValidationError as error:
            for name, sentences in error.message_dict.items():
                place = "" if name == "__all__" else f"{name}: "
                yield _item(row, place + " ".join(sentences))


def unbuildable(catalogue: Catalogue) -> Found:
    if catalogue.fault:
        yield Item("catalogue", "", f"No snapshot can be built: {catalogue.fault}.")


def wrong_sum(catalogue: Catalogue) -> Found:
    for model in catalogue.models:
        shape = catalogue.shapes.get(model.slug)
        if shape and abs(off := difference_percent(shape.parameters, model.parameters)) > ODD_SUM_PERCENT:
            yield _item(
                model, f"our sum {shape.parameters:,} is {signed(off, 2)} % from {model.parameters:,}"
            )


def missing_figure(catalogue: Catalogue) -> Found:
    for accelerator in catalogue.accelerators:
        if accelerator.bandwidth_gb_s is None:
            yield _item(accelerator, "no memory bandwidth, so no speed")
        if accelerator.tdp_w is None:
            yield _item(accelerator, "no power")
        if not any(accelerator.dense_tflops.values()):
            yield _item(accelerator, "no compute rate")
    for model in catalogue.models:
        for column, what in _WANTED.items():
            if getattr(model, column) is None:
                yield _item(model, f"no {what}")


_WANTED = {
    "max_context_tokens": "longest context",
    "native_format": "native format",
    "license": "licence",
    "released": "release date",
}


def no_driver_total(catalogue: Catalogue) -> Found:
    for accelerator in catalogue.accelerators:
        own_memory = accelerator.kind in ("consumer", "workstation", "datacenter")
        if own_memory and not (accelerator.cuda_total_mib or accelerator.reported_mib):
            yield _item(accelerator, f"total by rule: {accelerator.usable_total_kind or 'none'}")


def no_exact_file(catalogue: Catalogue) -> Found:
    for model in catalogue.models:
        files: Iterable[PublishedFile] = model.files.all()
        if not any(file.exact for file in files):
            yield _item(model, "only rounded sizes" if files else "no published file size")


def unknown_format(catalogue: Catalogue) -> Found:
    for model in catalogue.models:
        names = [file.format_as_published for file in model.files.all() if file.weights_format is None]
        if names:
            yield _item(model, f"files in no format of ours: {', '.join(names)}")


def no_source(catalogue: Catalogue) -> Found:
    for row in catalogue.rows:
        if row.sources == []:
            yield _item(row, "no source")


def from_memory(catalogue: Catalogue) -> Found:
    for row in catalogue.rows:
        if remembered := [source["what"] for source in row.unverified]:
            yield _item(row, "; ".join(remembered))
        if isinstance(row, System) and row.power_kind == "from memory":
            yield _item(row, "power")


def assumed_order(catalogue: Catalogue) -> Found:
    for model in catalogue.models:
        shape = catalogue.shapes.get(model.slug)
        if shape and shape.order_assumed:
            yield _item(
                model, "where its kinds of layers stand was not published; they are interleaved evenly"
            )


def unasked(catalogue: Catalogue) -> Found:
    for row, remarks in catalogue.asked:
        yield from (_item(row, remark.sentence) for remark in remarks if not remark.gap)


def outside_catalogue(catalogue: Catalogue) -> Found:
    models, engines = catalogue.known(LanguageModel), catalogue.known(Engine)
    for row in catalogue.measurements:
        if row.model_slug is None:
            yield _item(row, f"no model of this architecture: {row.model}")
        elif row.model_slug not in models:
            yield _item(row, f"no model has the id {row.model_slug}")
        if row.engine not in engines and row.comparable:  # others say in why_not that it is none of ours
            yield _item(row, f"no engine has the id {row.engine}")
    for row, remarks in catalogue.asked:
        yield from (_item(row, remark.sentence) for remark in remarks if remark.gap)


def split_groups(catalogue: Catalogue) -> Found:
    splits: dict[str, set[str]] = {}
    for row in catalogue.measurements:
        splits.setdefault(row.group, set()).add(row.split)
    for row in catalogue.measurements:
        if len(splits[row.group]) > 1:
            yield _item(row, f"its group stands in both splits: {row.group}")


def stale_price(catalogue: Catalogue) -> Found:
    yield from (_item(*told) for told in price_findings.stale_prices(catalogue.rows, timezone.localdate()))


def unsourced_price(catalogue: Catalogue) -> Found:
    yield from (_item(*told) for told in price_findings.unsourced_prices(catalogue.rows))


def pointless_price(catalogue: Catalogue) -> Found:
    devices = {row.slug for row in catalogue.rows if isinstance(row, (Accelerator, System))}
    models = {row.slug for row in catalogue.models}
    yield from (_item(*told) for told in price_findings.pointless_prices(catalogue.rows, devices, models))


def unknown_name(_: Catalogue) -> Found:
    yield from (Item("providers", provider, text) for provider, text in price_findings.unknown_names())


def edited(catalogue: Catalogue) -> Found:
    for row in catalogue.rows:
        if row.edited_at:
            yield _item(row, f"changed on {row.edited_at:%Y-%m-%d}")


def added(catalogue: Catalogue) -> Found:
    for row in catalogue.rows:
        if row.origin == CatalogRow.Origin.ADMIN and not getattr(row, "written_by_refresh", False):
            yield _item(row, "added here")


def waiting(catalogue: Catalogue) -> Found:
    for rows in catalogue.every.values():
        for row in rows:
            if not row.published:
                yield _item(row, "a draft")
            elif row.proposed:
                yield _item(row, f"changes wait: {', '.join(row.proposed)}")


def retired(catalogue: Catalogue) -> Found:
    for rows in catalogue.every.values():
        yield from (_item(row, "retired") for row in rows if row.retired)


CHECKS: tuple[tuple[Callable[[Catalogue], Found], str, bool], ...] = (
    (empty, "An empty catalogue", True),
    (unusable, "Rows that cannot be used", True),
    (unbuildable, "A catalogue that cannot be put together", True),
    (wrong_sum, f"Parameter counts more than {ODD_SUM_PERCENT} % from the sum of the layers", False),
    (missing_figure, "Missing figures", False),
    (no_driver_total, "Graphics cards whose total memory no driver reported", False),
    (no_exact_file, "Models without an exact file size to check weights against", False),
    (unknown_format, "Published files in no format of the catalogue", False),
    (no_source, "Rows without a source", False),
    (from_memory, "Figures from memory", False),
    (assumed_order, "Assumed orders of layers", False),
    (unasked, "Measurements whose question cannot be asked as it stands", False),
    (outside_catalogue, "Measurements that name what the catalogue does not have", False),
    (split_groups, "Measurements of one group in both splits", False),
    (stale_price, f"Prices older than {STALE_DAYS} days or without a date", False),
    (unsourced_price, "Prices without a source", False),
    (pointless_price, "Prices of devices, models or providers that are not in use", False),
    (unknown_name, "Names in the last price lists that nothing here is called", False),
    (edited, "Shipped rows that were changed here", False),
    (added, "Rows that were added here", False),
    (waiting, "Drafts and changes that wait for a publisher", False),
    (retired, "Retired rows", False),
)


def findings() -> list[Group]:
    """Every group, also the empty ones, in the order of their weight."""
    catalogue = Catalogue()
    return [Group(check.__name__, label, error, tuple(check(catalogue))) for check, label, error in CHECKS]
