"""The section Hardware: every device and system for the present question, and what to name first."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import urlencode

from calculator.planner.hardware import HardwareRow, Price, shortage
from calculator.planner.recommend import Recommendations, recommend
from calculator.scenario import Scenario
from calculator.web import figures
from calculator.web.answer import Answer, permalink
from calculator.web.hardware_list import listed, vendor_id, view_of
from calculator.web.panels.hardware_shapes import (
    HardwareLine,
    HardwarePanel,
    Head,
    Pill,
    Pills,
    Recommended,
)
from calculator.web.panels.names import plan_words
from calculator.web.wording.prices import CONDITIONS, of_date
from calculator.web.wording.reasons import reason_words
from calculator.web.wording.recommendations import (
    HEADS,
    KINDS,
    LEAST_MEMORY,
    NEAREST,
    RECOMMENDED_MEMORY,
    rule_words,
    title_words,
)
from calculator.web.wording.speech import gettext as _
from calculator.web.wording.speech import ngettext
from calculator.web.wording.verdicts import NAMES

FIRST = 12
"""Rows before `Show all`."""

MEMORIES = (16, 24, 48, 80, 128)
"""Steps of the filter by memory [GB]."""

DESCENDING = ("speed", "headroom", "context")
"""Orders that begin with the largest."""

VENDORS = 6
"""Vendors that stand as pills: those with the most devices."""


def hardware_panel(answer: Answer, asked: Mapping[str, str]) -> HardwarePanel:
    """The table as `asked` narrows and orders it; what cannot be understood of that is left out."""
    view, narrowed = view_of(asked, answer.snapshot)
    scenario = answer.scenario
    rows = listed(scenario, answer.snapshot, narrowed)
    shown = rows if view.get("all") else _first(rows, scenario)
    found = recommend(rows)
    return {
        "view": urlencode(view),
        "heads": _heads(answer, view),
        "pills": [
            _pills(_("Kind"), "kind", _kinds(answer), answer, view),
            _pills(_("Maker"), "vendor", _vendors(answer), answer, view),
            _pills(_("Memory of one"), "memory_min", _memories(), answer, view),
            _pills(_("Model on"), "gpu_only", [("1", _("GPU memory alone"))], answer, view),
        ],
        "rows": [_line(row, scenario, answer) for row in shown],
        "recommended": list(_recommended(found, scenario)),
        "nearest": str(NEAREST) if found.nearest else "",
        "count": _counted(rows),
        "more_label": _("Show all {count}").format(count=figures.whole(len(rows)))
        if len(shown) < len(rows)
        else "",
        "more_view": urlencode({**view, "all": "1"}),
        "more_href": _href(answer, {**view, "all": "1"}),
        "csv_query": f"?{scenario.query()}&{urlencode(view)}",
    }


def _href(answer: Answer, view: Mapping[str, str]) -> str:
    """The page with the section open in this view, for browsers without a script."""
    shown = answer.permalink(show="hardware")
    return f"{shown}&{urlencode(view)}#hardware" if view else f"{shown}#hardware"


def _heads(answer: Answer, view: Mapping[str, str]) -> list[Head]:
    present = view.get("sort", "rank")
    heads: list[Head] = []
    for name, label in HEADS.items():
        other = {key: value for key, value in view.items() if key != "sort"}
        if name != "rank":
            other["sort"] = name
        heads.append(
            {
                "label": str(label),
                "href": _href(answer, other),
                "view": urlencode(other),
                "sorted": ("descending" if name in DESCENDING else "ascending") if name == present else "",
                "number": name not in ("name", "rank"),
            }
        )
    return heads


def _kinds(answer: Answer) -> list[tuple[str, str]]:
    """Kinds of devices that the catalogue has."""
    present = {device.kind for device in answer.snapshot.accelerators.values()}
    return [(kind, str(label)) for kind, label in KINDS.items() if kind in present]


def _vendors(answer: Answer) -> list[tuple[str, str]]:
    counted: dict[str, int] = {}
    for device in answer.snapshot.accelerators.values():
        counted[device.vendor] = counted.get(device.vendor, 0) + 1
    first = sorted(counted, key=lambda vendor: -counted[vendor])[:VENDORS]
    return [(vendor_id(vendor), vendor) for vendor in first]


def _memories() -> list[tuple[str, str]]:
    return [(str(size), _("{size} GB and more").format(size=size)) for size in MEMORIES]


def _pills(
    label: str, name: str, choices: Sequence[tuple[str, str]], answer: Answer, view: Mapping[str, str]
) -> Pills:
    """One filter: its values as links, and the way back to all."""
    rest = {key: value for key, value in view.items() if key not in (name, "all")}
    all_label = _("either") if name == "gpu_only" else _("all")
    pills: list[Pill] = []
    for value, words in [("", all_label), *choices]:
        other = {**rest, name: value} if value else rest
        current = view.get(name, "") == value
        pills.append(
            {"label": words, "href": _href(answer, other), "view": urlencode(other), "current": current}
        )
    return {"label": label, "name": name, "pills": pills}


def _first(ordered: Sequence[HardwareRow], scenario: Scenario) -> list[HardwareRow]:
    """The first rows, and the present device below them where it is not among them."""
    shown = list(ordered[:FIRST])
    return shown + [row for row in ordered[FIRST:] if row.host.id == scenario.gpu]


def _line(row: HardwareRow, scenario: Scenario, answer: Answer) -> HardwareLine:
    units, device = answer.units, row.host.accelerator
    needed, limit, speed = row.needed, row.limit, row.speed
    rate = speed.decode_tokens_per_s_per_user if speed else None
    capacity = row.capacity.max_context_fits_tokens or row.capacity.max_context_tokens if row.capacity else 0
    return {
        "name": row.host.name,
        "href": permalink(scenario.replace(gpu=row.host.id, n=row.units, show=None)),
        "mine": row.host.id == scenario.gpu,
        "plan": plan_words(row.configuration),
        "count": f"{figures.whole(row.units)} × {row.host.per_unit}"
        if row.host.per_unit > 1
        else figures.whole(row.units),
        "tight": _tight(row),
        "memory": f"{figures.whole(device.memory_gb)}{figures.NO_BREAK}GB",
        "bandwidth": figures.bandwidth(device.bandwidth_bytes_per_s)
        if device.bandwidth_bytes_per_s
        else figures.MISSING,
        "announced": "" if device.exists else _("announced"),
        "needs": figures.bare_size(needed.value, units) if needed else figures.MISSING,
        "usable": figures.size(limit.usable.value, units) if limit else figures.MISSING,
        "code": row.verdict,
        "chip": str(NAMES[row.verdict]),
        "speed": figures.rate(rate.value) if rate else figures.MISSING,
        "range": figures.rate_range(rate.low, rate.high) if rate else "",
        "context": figures.tokens(capacity, down=True) if capacity else figures.MISSING,
        "why": _why(row, units),
        "price": figures.MISSING if row.price_usd is None else figures.usd(row.price_usd),
        "price_note": f"{CONDITIONS[row.price.condition]}, {of_date(row.price.date)}" if row.price else "",
    }


def _tight(row: HardwareRow) -> str:
    if row.tight_units is None:
        return ""
    return _("{count} are tight").format(count=figures.whole(row.tight_units))


def _why(row: HardwareRow, units: str) -> str:
    """Why a row has no speed."""
    if row.why is not None:
        return reason_words(row.why, units)
    if row.verdict == "does_not_fit" and row.needed and row.limit:
        short = figures.size(row.needed.value - row.limit.usable.value, units)
        return _("Each GPU is short of {short} with the largest count that was tried.").format(short=short)
    return ""


def _counted(rows: Sequence[HardwareRow]) -> str:
    """`203 of 345 devices and systems run it`."""
    works = sum(row.works for row in rows)
    return ngettext(
        "{works} of {count} device runs it.", "{works} of {count} devices and systems run it.", len(rows)
    ).format(works=figures.whole(works), count=figures.whole(len(rows)))


def _recommended(found: Recommendations, scenario: Scenario) -> Iterable[Recommended]:
    """The recommendations, each with its rule; what comes closest where nothing works."""
    for one in found.found:
        yield _named(title_words(one.code), rule_words(one.code), one.row, scenario, one.price)
    for code, rule, row in (
        ("least_memory", LEAST_MEMORY, found.minimum),
        ("recommended_memory", RECOMMENDED_MEMORY, found.recommended),
    ):
        if row is not None and not (code == "recommended_memory" and row is found.minimum):
            yield _named(title_words(code), str(rule), row, scenario, None)
    for row in found.nearest:
        missing = _("{share} more is needed").format(share=figures.percent(shortage(row)))
        yield _named("", missing, row, scenario, None)


def _named(title: str, rule: str, row: HardwareRow, scenario: Scenario, price: Price | None) -> Recommended:
    money = ""
    if price is not None:
        cost = figures.usd(price.usd * row.units)
        money = f"{cost}, {CONDITIONS[price.condition]}, {of_date(price.date)}"
    return {
        "title": title,
        "rule": rule,
        "name": f"{figures.whole(row.units)} × {row.host.name}" if row.units > 1 else row.host.name,
        "href": permalink(scenario.replace(gpu=row.host.id, n=row.units, show=None)),
        "memory": f"{figures.whole(row.memory_gb)}{figures.NO_BREAK}GB",
        "price": money,
        "code": row.verdict,
    }
