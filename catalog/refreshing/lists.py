"""Lists of what clouds ask, one row a size and region: from the library gpuhunt, or from files in its format."""

from __future__ import annotations

import csv
import logging
import socket
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

LONGEST_WAIT_S = 30.0
"""For one answer of a provider or of the library's store."""
COLUMNS = ("instance_name", "location", "price", "gpu_count", "gpu_name", "gpu_memory", "spot")
"""What a file must have; `cpu`, `memory` and `provider` may be there."""


class ListError(Exception):
    """A list that cannot be had or read; the text is a sentence for the person who asked."""


@dataclass(frozen=True, slots=True)
class Size:
    """One size of a provider in one region. gpu_memory_gb: of one GPU, None when the list does not say."""

    provider: str
    instance: str
    region: str
    usd_per_hour: float
    gpus: int
    gpu_name: str
    gpu_memory_gb: float | None
    spot: bool
    vcpus: int | None = None
    ram_gb: float | None = None


@dataclass(frozen=True, slots=True)
class PriceList:
    """Sizes by the library's name of the provider; providers that could not be asked, with the reason."""

    source: str
    sizes: Mapping[str, list[Size]]
    not_reached: Mapping[str, str] = field(default_factory=dict)


def from_library(wanted: Iterable[str]) -> PriceList:
    """What gpuhunt knows now of these providers. Raises ListError when none can be asked."""
    try:
        import gpuhunt  # noqa: PLC0415 - only this command needs it
        from gpuhunt.version import __version__  # noqa: PLC0415
    except ImportError as error:
        raise ListError(
            "The library gpuhunt is not installed. Run: pip install -r requirements.txt; or read a list with --from FILE."
        ) from error
    sizes: dict[str, list[Size]] = {}
    not_reached: dict[str, str] = {}
    with _quiet():
        try:
            catalog = gpuhunt.default_catalog()
        except Exception as error:
            raise ListError(f"The price lists cannot be fetched ({_reason(error)}).") from error
        for name in wanted:
            try:
                found = [_of_item(item) for item in catalog.query(provider=name) if _counts(item)]
            except Exception as error:  # noqa: BLE001 - each provider fails in its own way
                not_reached[name] = _reason(error)
            else:
                sizes[name] = found
                if not found:
                    not_reached[name] = "it listed nothing"
    if not any(sizes.values()):
        reasons = "; ".join(f"{name}: {why}" for name, why in not_reached.items())
        raise ListError(f"No provider's price list could be fetched ({reasons or 'none was asked'}).")
    return PriceList(f"gpuhunt=={__version__}", sizes, not_reached)


@contextmanager
def _quiet() -> Iterator[None]:
    """Without the library's tracebacks, and without waiting for ever: what went wrong is said once, by us."""
    log, timeout = logging.getLogger("gpuhunt"), socket.getdefaulttimeout()
    level = log.level
    log.setLevel(logging.CRITICAL + 1)
    socket.setdefaulttimeout(LONGEST_WAIT_S)
    try:
        yield
    finally:
        log.setLevel(level)
        socket.setdefaulttimeout(timeout)


def _reason(error: BaseException) -> str:
    """The innermost cause, in one line."""
    while error.__cause__ is not None:
        error = error.__cause__
    return " ".join(str(error).split())[:200] or type(error).__name__


def _counts(item: Any) -> bool:
    return bool(item.gpu_count and item.gpu_name and item.price > 0)


def _of_item(item: Any) -> Size:
    return Size(
        provider=item.provider,
        instance=item.instance_name,
        region=item.location,
        usd_per_hour=item.price,
        gpus=item.gpu_count,
        gpu_name=item.gpu_name,
        gpu_memory_gb=item.gpu_memory,
        spot=item.spot,
        vcpus=item.cpu or None,
        ram_gb=item.memory or None,
    )


def from_files(path: Path) -> PriceList:
    """A list in gpuhunt's format: `runpod.csv`, or a folder of such files. Raises ListError with what is wrong where."""
    files = sorted(path.glob("*.csv")) if path.is_dir() else [path]
    if not files:
        raise ListError(f"{path} holds no CSV file.")
    sizes: dict[str, list[Size]] = {}
    for file in files:
        for size in _read(file):
            sizes.setdefault(size.provider, []).append(size)
    return PriceList(path.name, sizes)


def _read(file: Path) -> list[Size]:
    try:
        with file.open(encoding="utf-8", newline="") as stream:
            reader = csv.DictReader(stream)
            if missing := [name for name in COLUMNS if name not in (reader.fieldnames or ())]:
                raise ListError(f"{file.name} has no column {', '.join(missing)}.")
            return [
                size
                for number, row in enumerate(reader, 2)
                if (size := _of_row(file, number, row)) is not None
            ]
    except (OSError, UnicodeDecodeError) as error:
        raise ListError(f"{file} cannot be read ({_reason(error)}).") from error


def _of_row(file: Path, number: int, row: Mapping[str, str]) -> Size | None:
    """A row of a file; None for a size without GPU or without price."""
    try:
        gpus, price = int(row["gpu_count"] or 0), float(row["price"] or 0)
        if gpus < 1 or price <= 0 or not row["gpu_name"]:
            return None
        return Size(
            provider=row.get("provider") or file.stem,
            instance=row["instance_name"],
            region=row["location"],
            usd_per_hour=price,
            gpus=gpus,
            gpu_name=row["gpu_name"],
            gpu_memory_gb=float(row["gpu_memory"]) if row["gpu_memory"] else None,
            spot=row["spot"].strip().lower() == "true",
            vcpus=int(row.get("cpu") or 0) or None,
            ram_gb=float(row.get("memory") or 0) or None,
        )
    except (TypeError, ValueError, AttributeError) as error:
        raise ListError(f"{file.name}, line {number}: a figure cannot be read ({_reason(error)}).") from error
