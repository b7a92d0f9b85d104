"""Every device for a question as rows of a table, with units in the heads."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from calculator.web.answer import Answer
from calculator.web.hardware_list import listed, view_of

HEADS = (
    "id",
    "name",
    "kind",
    "vendor",
    "units",
    "gpus",
    "verdict",
    "memory_gb",
    "needed_per_gpu_bytes",
    "usable_per_gpu_bytes",
    "max_context_fits_tokens",
    "decode_tokens_per_s",
    "decode_low_tokens_per_s",
    "decode_high_tokens_per_s",
    "price_usd",
    "price_condition",
    "price_date",
)


def hardware_rows(answer: Answer, asked: Mapping[str, str]) -> Iterator[tuple[object, ...]]:
    """The head, then one row a device or system; empty is what is not known."""
    yield HEADS
    _view, narrowed = view_of(asked, answer.snapshot)
    for row in listed(answer.scenario, answer.snapshot, narrowed):
        rate = row.speed.decode_tokens_per_s_per_user if row.speed else None
        price = row.price
        yield (
            row.host.id,
            row.host.name,
            row.host.kind,
            row.host.accelerator.vendor,
            row.units,
            row.gpus,
            row.verdict,
            row.memory_gb,
            int(row.needed.value) if row.needed else "",
            int(row.limit.usable.value) if row.limit else "",
            row.capacity.max_context_fits_tokens if row.capacity else "",
            *((f"{end:.4g}" for end in (rate.value, rate.low, rate.high)) if rate else ("", "", "")),
            "" if row.price_usd is None else f"{row.price_usd:.2f}",
            price.condition if price else "",
            price.date if price else "",
        )
