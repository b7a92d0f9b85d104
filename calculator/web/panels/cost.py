"""The section Cloud & cost: what a million tokens cost, and rent, buy or API for this question."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from datetime import date

from django.utils import timezone

from calculator.estimation.economics.deal import machines_for
from calculator.estimation.economics.results import Comparison, Cost, EnergyUse, Months, Owned, Path, Payback
from calculator.estimation.estimate import RUNS
from calculator.estimation.terms import Interval, Reason
from calculator.pricing import MARKETS, PUE
from calculator.scenario import BY_NAME, DEFAULTS
from calculator.web import figures
from calculator.web.answer import Answer
from calculator.web.panels.cost_chart import money_chart, tornado_rows
from calculator.web.panels.cost_shapes import CostPanel, CostRow, MoneyField, PaybackRow, WayRow
from calculator.web.panels.problems import field_problem
from calculator.web.panels.shapes import Choice
from calculator.web.wording.economics import NOT_RUNNING, PATH_NAMES, explained_words
from calculator.web.wording.fields import label_of
from calculator.web.wording.money import months as months_words
from calculator.web.wording.prices import (
    BILLINGS,
    CONDITIONS,
    CUSTOMERS,
    age_words,
    usd_range,
)
from calculator.web.wording.prices import (
    MARKETS as MARKET_NAMES,
)
from calculator.web.wording.reasons import reason_words
from calculator.web.wording.speech import gettext as _
from calculator.web.wording.speech import gettext_lazy

FIRST = ("source", "hours", "duty", "region", "kwh", "price", "rent", "years")
"""Fields that stand open."""

MORE = (
    "days",
    "pue",
    "resale",
    "rate",
    "maintenance",
    "server_share",
    "colo",
    "rent_trend",
    "provider",
    "market",
    "api_in",
    "api_out",
)
"""Fields behind `More`."""

FIELDS = (*FIRST, *MORE)

SOURCE_NAMES: Mapping[str, object] = {"rent": gettext_lazy("rented"), "own": gettext_lazy("owned")}

COST_ROWS: tuple[tuple[str, object], ...] = (
    ("usd_per_million_input", gettext_lazy("Input, 1M tokens")),
    ("usd_per_million_cached", gettext_lazy("Cached input, 1M tokens")),
    ("usd_per_million_output", gettext_lazy("Output, 1M tokens")),
    ("usd_per_million_blended", gettext_lazy("Blended, 1M tokens")),
    ("usd_per_request", gettext_lazy("One request")),
    ("usd_per_hour", gettext_lazy("One paid hour")),
)


def cost_panel(answer: Answer, _asked: Mapping[str, str]) -> CostPanel:
    """Everything that the section shows; without figures the fields stay, with the reason."""
    panel: CostPanel = {
        "fields": [_field(answer, name) for name in FIRST],
        "more": [_field(answer, name) for name in MORE],
        "verdict": [],
        "rows": [],
        "ways": [],
        "paybacks": [],
        "energy": [],
        "chart": None,
        "tornado": [],
        "tornado_note": "",
        "prices": list(_prices(answer, timezone.localdate())),
        "words": [],
    }
    if answer.estimate.verdict not in RUNS:
        return {**panel, "prices": [], "words": [str(NOT_RUNNING)]}
    costed, owned = answer.costed, answer.owned
    ownership = owned.ownership
    turns = owned.comparison.reasons if owned.comparison else ()
    panel["words"] = _words(
        answer, (*turns, *costed.reasons, *owned.reasons, *answer.resolved.priced.remarks)
    )
    panel["verdict"] = list(_verdict(owned, answer.units))
    if costed.cost:
        panel["rows"] = list(_cost_rows(costed.cost))
    if owned.comparison:
        panel["ways"] = [_way(path, owned.comparison) for path in owned.comparison.paths]
    energy = ownership.energy if ownership else costed.cost.energy if costed.cost else None
    panel["energy"] = list(_energy(energy)) if energy else []
    if ownership:
        panel["paybacks"] = [_payback(paid, answer.units) for paid in ownership.paybacks]
        panel["chart"] = money_chart(ownership)
        panel["tornado"] = tornado_rows(ownership.tornado)
        panel["tornado_note"] = (
            _("Net present value when each is a fifth lower and higher.")
            if ownership.tornado.instead_of
            else _("Cost of a million tokens when each is a fifth lower and higher.")
        )
    return panel


# --- fields -----------------------------------------------------------------------------------------------------------


def _field(answer: Answer, name: str) -> MoneyField:
    value, parameter = getattr(answer.scenario, name), BY_NAME[name]
    changed = value != DEFAULTS[name]
    choices = _choices(answer, name)
    text = figures.plain(float(value)) if isinstance(value, int | float) else str(value or "")
    return {
        "id": name,
        "label": label_of(name),
        "value": text if changed or choices else "",
        "placeholder": _placeholder(answer, name),
        "unit": _(parameter.unit) if parameter.unit else "",
        "choices": choices,
        "problem": field_problem(answer, name),
    }


def _placeholder(answer: Answer, name: str) -> str:
    """What is taken while the field is left open."""
    priced, default = answer.resolved.priced, DEFAULTS[name]
    money = priced.money
    taken: dict[str, float | None] = {
        "kwh": money.electricity.usd_per_kwh,
        "pue": money.electricity.pue or PUE["home"],
        "price": _whole_price(answer),
        "rent": _whole_rent(answer),
        "server_share": 100 * money.purchase.server_fraction if money.purchase else None,
        "api_in": money.api.usd_per_million_input if money.api else None,
        "api_out": money.api.usd_per_million_output if money.api else None,
    }
    value = taken.get(name, default)
    if isinstance(value, int | float):
        return figures.plain(float(f"{float(value):.4g}"))
    return _("none known") if name in taken else ""


def _whole_price(answer: Answer) -> float | None:
    purchase, c = answer.resolved.priced.money.purchase, answer.configuration
    return machines_for(c.count, purchase.gpus) * purchase.usd.value if purchase else None


def _whole_rent(answer: Answer) -> float | None:
    rent, c = answer.resolved.priced.money.rent, answer.configuration
    return machines_for(c.count, rent.gpus) * rent.usd_per_hour.value if rent else None


def _choices(answer: Answer, name: str) -> list[Choice]:
    if name == "source":
        usual = str(SOURCE_NAMES[answer.resolved.priced.money.source])
        first = usual if answer.scenario.source is None else _("as usual")
        return [
            {"value": "", "label": first},
            *_options((key, str(SOURCE_NAMES[key])) for key in SOURCE_NAMES),
        ]
    book = answer.snapshot.prices
    if name == "region":
        rows = [(region, found[0].name) for region, found in book.electricity_by_region.items()]
        return _options(sorted(rows, key=lambda row: row[1]))
    if name == "market":
        names = [(market, str(MARKET_NAMES[market])) for group in MARKETS for market in group]
        return [{"value": "", "label": _("any, on demand first")}, *_options(names)]
    if name == "provider":
        offers = answer.snapshot.offers_for(answer.configuration.accelerator.id)
        ids = {offer.provider for offer in offers} | ({answer.scenario.provider} - {None})
        named = sorted(((str(key), book.providers[str(key)].name) for key in ids), key=lambda row: row[1])
        return [{"value": "", "label": _("any")}, *_options(named)]
    return []


def _options(rows: Iterable[tuple[str, str]]) -> list[Choice]:
    return [{"value": value, "label": label} for value, label in rows]


# --- figures ----------------------------------------------------------------------------------------------------------


def _ranged(interval: Interval) -> str:
    exact = interval.low == interval.value == interval.high
    return _("exact") if exact else usd_range(interval.low, interval.high)


def _cost_rows(cost: Cost) -> Iterable[CostRow]:
    whys = {row.code: explained_words(row) for row in reversed(cost.explained)}
    whys.setdefault("usd_per_hour", whys.get("own_usd_per_hour", ""))
    for name, label in COST_ROWS:
        value = getattr(cost, name)
        if isinstance(value, Interval):
            yield {
                "name": str(label),
                "value": figures.usd(value.value),
                "range": _ranged(value),
                "why": whys.get(name, ""),
            }
        elif name in whys:
            yield {"name": str(label), "value": figures.usd(value), "range": "", "why": whys[name]}


def _energy(energy: EnergyUse) -> Iterable[CostRow]:
    rows: tuple[tuple[str, Interval | None, str], ...] = (
        (_("Power on average"), energy.average_watts, "W"),
        (_("Energy a month"), energy.kwh_per_month, "kWh"),
        (_("Energy per 1M output"), energy.kwh_per_million_output, "kWh"),
    )
    for name, value, unit in rows:
        if value:
            text = f"{figures.rate(value.value)}{figures.NO_BREAK}{unit}"
            yield {"name": name, "value": text, "range": figures.rate_range(value.low, value.high), "why": ""}
    month = energy.usd_per_month
    yield {
        "name": _("Electricity a month"),
        "value": figures.usd(month.value),
        "range": _ranged(month),
        "why": "",
    }


def _way(path: Path, compared: Comparison) -> WayRow:
    million = path.usd_per_million
    return {
        "name": str(PATH_NAMES[path.name]),
        "per_month": figures.usd(path.usd_per_month.value),
        "per_month_range": _ranged(path.usd_per_month),
        "per_million": figures.usd(million.value) if million else figures.MISSING,
        "cheapest": path is compared.paths[0] and len(compared.paths) > 1,
    }


def _payback(paid: Payback, units: str) -> PaybackRow:
    npv = paid.npv_usd
    return {
        "name": _("instead of renting") if paid.instead_of == "rent" else _("instead of the API"),
        "simple": _months(paid.simple),
        "discounted": _months(paid.discounted),
        "with_resale": _months(paid.with_resale),
        "npv": figures.usd(npv.value),
        "npv_range": _("{low} to {high}").format(low=figures.usd(npv.low), high=figures.usd(npv.high)),
        "words": " ".join(reason_words(reason, units) for reason in paid.reasons),
    }


def _months(found: Months) -> str:
    return _("never") if found.value is None else months_words(found.value)


def _verdict(owned: Owned, units: str) -> Iterable[str]:
    """Which way is cheapest, then whether owning pays; the rest stands at its row."""
    compared = owned.comparison
    if compared and len(compared.paths) > 1:
        name = compared.paths[0].name
        yield {
            "rent": _("Renting is the cheapest way to these tokens."),
            "own": _("Owning is the cheapest way to these tokens."),
            "api": _("The API is the cheapest way to these tokens."),
        }[name]
    if owned.ownership and owned.ownership.paybacks:
        yield reason_words(owned.ownership.paybacks[0].reasons[0], units)


def _words(answer: Answer, reasons: Iterable[Reason]) -> list[str]:
    """Each said once."""
    return list(dict.fromkeys(reason_words(reason, answer.units) for reason in reasons))


# --- where the prices are from ----------------------------------------------------------------------------------------


def _prices(answer: Answer, today: date) -> Iterable[str]:
    """Each price that counts, with who asks it and how old it is."""
    priced, snapshot = answer.resolved.priced, answer.snapshot
    providers = snapshot.prices.providers
    if priced.rented and (offer := priced.rented.offer):
        billing = f", {BILLINGS[offer.billing]}" if offer.billing else ""
        yield _("Rent: {usd} an hour for {size} at {provider}, {market}{billing}, {age}.").format(
            usd=figures.usd(offer.usd_per_hour),
            size=offer.instance,
            provider=providers[offer.provider].name,
            market=MARKET_NAMES[offer.market],
            billing=billing,
            age=age_words(offer.as_of, today),
        )
    if priced.bought and (row := priced.bought.row):
        yield _("Purchase: {usd}, {condition}, {age} ({source}).").format(
            usd=figures.usd(row.usd),
            condition=CONDITIONS[row.condition],
            age=age_words(row.as_of, today),
            source=row.source,
        )
    if tariff := priced.electricity:
        yield _("Electricity: {usd} per kWh, {name}, {customer}, {age}.").format(
            usd=figures.usd(tariff.usd_per_kwh),
            name=tariff.name,
            customer=CUSTOMERS[tariff.customer],
            age=age_words(tariff.as_of, today),
        )
    if api := priced.api:
        yield _("API: {read} in, {written} out per 1M tokens at {provider}, {age}.").format(
            read=figures.usd(api.usd_per_million_input_tokens),
            written=figures.usd(api.usd_per_million_output_tokens),
            provider=providers[api.provider].name,
            age=age_words(api.as_of, today),
        )
