"""The key figure of cost: what a million generated tokens cost, by which price."""

from __future__ import annotations

from calculator.estimation.economics.cost import output_cost_of
from calculator.estimation.terms import Interval
from calculator.web import figures
from calculator.web.answer import Answer
from calculator.web.panels.per_snapshot import unmoved
from calculator.web.panels.shapes import Figure
from calculator.web.wording.prices import of_date, usd_range
from calculator.web.wording.reasons import reason_words
from calculator.web.wording.speech import gettext as _


def cost_figure(answer: Answer) -> Figure:
    """Range and price below it; a dash with the reason where a price is missing."""
    e = answer.estimate
    assert e.configuration.money is not None
    label = _("Cost per 1M output")
    found = output_cost_of(e.configuration, e.speed, e.energy, e.configuration.money)
    if not isinstance(found, Interval):
        why = reason_words(found[0], answer.units)
        return {"label": label, "value": figures.MISSING, "unit": "", "detail": why, "title": ""}
    price = unmoved(answer, "price_words", lambda: price_words(answer))
    ends = usd_range(found.low, found.high)
    return {
        "label": label,
        "value": figures.usd(found.value),
        "unit": "",
        "detail": f"{ends} · {price}",
        "title": "",
    }


def price_words(answer: Answer) -> str:
    """`rented, of 2026-08`, `owned, price of 2026-06`, `owned, your price`."""
    priced = answer.resolved.priced
    if priced.money.source == "rent":
        offer = priced.rented.offer if priced.rented else None
        return (
            _("rented, price {date}").format(date=of_date(offer.as_of)) if offer else _("rented, your price")
        )
    row = priced.bought.row if priced.bought else None
    return _("owned, price {date}").format(date=of_date(row.as_of)) if row else _("owned, your price")
