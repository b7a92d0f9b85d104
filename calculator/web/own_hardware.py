"""Machines that a visitor keeps as theirs: the browser remembers them, a request names them, nothing is stored here.

`yours=rtx-3090|2|64|linux;mac-m4-max-128` names machines by hardware (or a list of cards, as `gpu`), count, system RAM
[GB] and operating system; what is left empty is as the question has it by itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from calculator.scenario import BY_NAME, DEFAULTS, Scenario, Value, parse_value
from calculator.web.panels.names import cards_of
from catalog.snapshot import Snapshot

MOST = 12
"""Machines of one request that are read."""

LONGEST = 2048
"""Characters of it."""

FIELDS = ("gpu", "n", "ram", "os")


@dataclass(frozen=True, slots=True)
class Machine:
    """Hardware as the question names it. ram_gb, os: None for what the question has by itself."""

    gpu: str
    n: int
    ram_gb: Value = None
    os: str | None = None

    def asked(self, scenario: Scenario) -> Scenario:
        """The same question on this machine: its own plan and build, and no price of another."""
        return scenario.replace(
            gpu=self.gpu,
            n=self.n,
            ram=DEFAULTS["ram"] if self.ram_gb is None else self.ram_gb,
            os=self.os,
            split="auto",
            backend=None,
            price=None,
            rent=None,
            **dict.fromkeys(("tp", "pp", "ep", "adp", "dcp", "dp", "ngl", "ncmoe")),
        )


def machines_of(given: str, snapshot: Snapshot) -> tuple[Machine, ...]:
    """The machines that a request names, in its order; one that cannot be read, or is unknown, is left out."""
    return tuple(_machines(given[:LONGEST], snapshot))[:MOST]


def _machines(given: str, snapshot: Snapshot) -> Iterator[Machine]:
    seen: set[str] = set()
    for item in given.split(";"):
        values: dict[str, Value] = {}
        sound = True
        for name, text in zip(FIELDS, item.split("|"), strict=False):
            if text.strip():
                values[name], problem = parse_value(BY_NAME[name], text.strip())
                sound = sound and problem is None
        gpu = str(values.get("gpu", ""))
        if sound and gpu not in seen and (snapshot.hosts(gpu) or cards_of(gpu, snapshot)):
            seen.add(gpu)
            os = values.get("os")
            yield Machine(gpu, int(str(values.get("n", 1))), values.get("ram"), str(os) if os else None)
