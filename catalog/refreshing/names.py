"""Which of our devices a price list means by a name."""

from __future__ import annotations

from collections.abc import Iterable

from catalog.models import DeviceName
from catalog.models.drafts import Status
from catalog.refreshing.lists import Size

SAME_MEMORY_GB = 1.0
"""Lists round memory in their own ways: 79.6 and 80 GB are the same card."""


class Names:
    """The names in use; the most telling rule first: a word in the instance's name, then the memory."""

    def __init__(self, rows: Iterable[DeviceName] | None = None) -> None:
        if rows is None:
            rows = DeviceName.objects.filter(
                status=Status.PUBLISHED, retired=False, accelerator__retired=False
            )
        self.rules: dict[str, list[DeviceName]] = {}
        for row in sorted(rows, key=lambda row: (not row.instance_word, row.memory_gb is None, row.slug)):
            self.rules.setdefault(normal(row.name), []).append(row)

    def device(self, size: Size) -> str | None:
        """The id of the accelerator, None when no rule fits."""
        for rule in self.rules.get(normal(size.gpu_name), ()):
            known = rule.memory_gb is None or (
                size.gpu_memory_gb is not None and abs(size.gpu_memory_gb - rule.memory_gb) <= SAME_MEMORY_GB
            )
            if known and rule.instance_word.lower() in size.instance.lower():
                return str(rule.accelerator_id)
        return None


def normal(name: str) -> str:
    """A name as lists differ in it: without case, spaces, hyphens and the word tpu."""
    return name.lower().replace(" ", "").replace("-", "").replace("_", "").removeprefix("tpu")


def told(size: Size) -> str:
    """A name for the report of unknown ones."""
    memory = f" {size.gpu_memory_gb:g} GB" if size.gpu_memory_gb else ""
    return f"{size.gpu_name}{memory}"
