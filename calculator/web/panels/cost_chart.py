"""Cumulative cost against months, and what matters most, placed for the template."""

from __future__ import annotations

from collections.abc import Sequence

from calculator.estimation.economics.results import Cumulative, Line, Ownership, Tornado
from calculator.web import figures
from calculator.web.charts import apart, polyline, round_steps
from calculator.web.panels.bar import percent
from calculator.web.panels.cost_shapes import MoneyChart, MoneyLine, MoneyTick, TornadoRow
from calculator.web.wording.economics import BAR_NAMES, LINE_NAMES
from calculator.web.wording.money import months as months_words
from calculator.web.wording.speech import gettext as _

PERCENT = 100
HEAD_ROOM = 1.08
LABEL_APART = 0.07
YEAR = 12


def money_chart(owned: Ownership) -> MoneyChart | None:
    """The lines of every way that has a price; None where there is nothing to draw."""
    spent = owned.cumulative
    top = max((max(line.usd) for line in spent.lines), default=0.0) * HEAD_ROOM
    last = spent.months[-1] if spent.months else 0.0
    if top <= 0 or last <= 0:
        return None
    meets = next((paid.simple.value for paid in owned.paybacks if paid.instead_of == "rent"), None)
    inside = meets is not None and 0 < meets <= last
    return {
        "description": _described(spent),
        "lines": _lines(spent, last, top),
        "x_ticks": [_tick(month / last, figures.whole(month)) for month in _month_ticks(last)],
        "y_ticks": [_tick(1 - usd / top, figures.usd(usd)) for usd in round_steps(top)],
        "meets_x": percent(PERCENT * float(meets) / last) if inside and meets is not None else "",
        "meets_label": months_words(meets) if inside and meets is not None else "",
    }


def _tick(share: float, label: str) -> MoneyTick:
    return {"at": percent(PERCENT * share), "label": label}


def _month_ticks(last: float) -> list[int]:
    """Whole years, every second or fifth of them on long axes; months of short ones."""
    step = YEAR if last <= 6 * YEAR else 2 * YEAR if last <= 12 * YEAR else 5 * YEAR
    if last < 2 * YEAR:
        step = 6 if last > 6 else 1
    return list(range(0, int(last) + 1, step))


def _lines(spent: Cumulative, last: float, top: float) -> list[MoneyLine]:
    ends = apart([1 - line.usd[-1] / top for line in spent.lines], LABEL_APART)
    return [
        {
            "name": str(LINE_NAMES[line.name]),
            "kind": line.name,
            "points": _points(spent.months, line.usd, last, top),
            "band": _band(spent.months, line, last, top),
            "label_y": percent(PERCENT * end),
        }
        for line, end in zip(spent.lines, ends, strict=True)
    ]


def _at(month: float, usd: float, last: float, top: float) -> tuple[float, float]:
    return month / last, min(max(usd, 0.0), top) / top


def _points(months: Sequence[float], usd: Sequence[float], last: float, top: float) -> str:
    return polyline(_at(month, spent, last, top) for month, spent in zip(months, usd, strict=True))


def _band(months: Sequence[float], line: Line, last: float, top: float) -> str:
    """The range of a line as an outline; empty where it has none."""
    if line.low_usd == line.high_usd:
        return ""
    there = [_at(month, usd, last, top) for month, usd in zip(months, line.high_usd, strict=True)]
    back = [_at(month, usd, last, top) for month, usd in zip(months, line.low_usd, strict=True)]
    return polyline([*there, *reversed(back)])


def _described(spent: Cumulative) -> str:
    """The chart in words: what each way has cost at the end."""
    ends = [f"{LINE_NAMES[line.name]} {figures.usd(line.usd[-1])}" for line in spent.lines]
    return _("After {months}: {ends}.").format(months=months_words(spent.months[-1]), ends=", ".join(ends))


def tornado_rows(tornado: Tornado) -> list[TornadoRow]:
    """The bars, the widest first: NPV at both ends, or the cost of a million tokens where nothing is bought."""
    pairs = [
        (bar, bar.npv_usd if tornado.instead_of else bar.usd_per_million)
        for bar in tornado.bars
        if (bar.npv_usd if tornado.instead_of else bar.usd_per_million)
    ]
    ends = [end for _bar, pair in pairs if pair for end in pair]
    if not ends or max(ends) <= min(ends):
        return []
    low, span = min(ends), max(ends) - min(ends)
    rows: list[TornadoRow] = []
    for bar, pair in pairs:
        assert pair is not None
        left, right = min(pair), max(pair)
        rows.append(
            {
                "name": str(BAR_NAMES[bar.name]),
                "low": figures.usd(pair[0]),
                "high": figures.usd(pair[1]),
                "x": percent(PERCENT * (left - low) / span),
                "width": percent(PERCENT * (right - left) / span),
            }
        )
    return rows
