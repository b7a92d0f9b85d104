"""Measurements held against the arithmetic: each observed part beside the calculated one. PURE (takes a Snapshot)."""

from __future__ import annotations

from collections.abc import Iterable

from calculator.accuracy.report import Report
from catalog.records import Measurement
from catalog.snapshot import Snapshot


def memory_report(snapshot: Snapshot, measurements: Iterable[Measurement]) -> Report:
    """The record of memory for these measurements."""
    raise NotImplementedError
