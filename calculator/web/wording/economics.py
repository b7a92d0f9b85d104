"""Money in words: why there is a cost or none, when a machine pays for itself, and how each figure came
about."""

from __future__ import annotations

from collections.abc import Mapping

from calculator.estimation.economics.results import Explained
from calculator.web.wording.speech import gettext_lazy as _
from calculator.web.wording.speech import ngettext_lazy
from calculator.web.wording.text import Template, say_code

NO_FIGURE: Mapping[str, Template] = {
    "money_not_a_number": _("No number is given for: {field:money_input}."),
    "money_out_of_bounds": _(
        "{given:plain} is no usable value for: {field:money_input}. It may be from {low:plain} to {high:plain}."
    ),
    "money_no_hours": _("The machine is never on: no token is served, so none has a cost."),
    "money_no_duty": _(
        "The machine is on {hours:plain} h a day and never busy: no token is served, so none has a cost."
    ),
    "cost_needs_speed": _("The speed of {model} is not known here, so a token has no cost."),
    "cost_needs_power": _("No power figure of {device} is known, so what owning costs is not known either."),
    "no_rent_price": _("No rent is known for {device}."),
    "no_purchase_price": _("No purchase price is known for {device}."),
    "priced_for_other_device": _(
        "A price of {device} is left out: speed and power are those of {wanted}, and a price must be of the same machine."
    ),
    "nothing_to_compare": _(
        "Neither a rent nor an API price is known: there is nothing to hold buying against."
    ),
}
"""Why there is no figure."""

NOT_RUNNING = _("What does not fit does not run: it has no cost.")

REMARKS: Mapping[str, Template] = {
    "idle_power_assumed": _(
        "No idle power of {device} is known: {share:percent} of the power under load is taken, {low:percent} to {high:percent}."
    ),
    "rented_whole_machines": ngettext_lazy(
        "It is rented as {machines} whole machine of {each} GPUs, for {gpus} that are used.",
        "It is rented as {machines} whole machines of {each} GPUs, for {gpus} that are used.",
        "machines",
    ),
    "rented_one_by_one": _(
        "The offer is of one GPU, counted {gpus} times: whether so many come in one machine is to be asked there."
    ),
    "rented_machines_joined": _(
        "It needs {machines} of these machines in one network: whether they are joined so is to be asked there."
    ),
    "bought_cards_alone": _(
        "The price is of {device} alone: what the rest of the machine costs is not counted."
    ),
    "no_tariff": _("No price of electricity is known for “{region}”: it is counted as nothing."),
    "bought_whole_machines": ngettext_lazy(
        "It is bought as {machines} whole machine of {each} GPUs, for {gpus} that are used; the others idle.",
        "It is bought as {machines} whole machines of {each} GPUs, for {gpus} that are used; the others idle.",
        "machines",
    ),
}
"""What a reader should know beside a cost."""

PAYBACK: Mapping[str, Template] = {
    "pays_instead_of_rent": _(
        "At {hours:plain} h a day the machine has paid for itself after {months:months}, instead of renting it."
    ),
    "pays_instead_of_api": _(
        "At {hours:plain} h a day the machine has paid for itself after {months:months}, instead of the API."
    ),
    "pays_at_once": _("The machine pays for itself from the first day."),
    "pays_then_rent_is_cheaper": _("If it is kept for {years:years}, renting is cheaper all the same."),
    "pays_then_api_is_cheaper": _("If it is kept for {years:years}, the API is cheaper all the same."),
    "rent_pays_from_hours": _(
        "At {hours:plain} h a day the machine does not pay for itself in {years:years}; from {from_hours:plain} h it does, "
        "instead of renting it."
    ),
    "api_pays_from_hours": _(
        "At {hours:plain} h a day the machine does not pay for itself in {years:years}; from {from_hours:plain} h it does, "
        "instead of the API."
    ),
    "rent_cheaper_all_day": _(
        "The machine does not pay for itself in {years:years}, not even at 24 h a day: renting is cheaper."
    ),
    "api_cheaper_all_day": _(
        "The machine does not pay for itself in {years:years}, not even at 24 h a day: the API is cheaper."
    ),
    "pays_after_horizon": _("It would after {months:months}."),
    "running_above_rent": _(
        "Owning costs {running_usd:usd} a month beside the purchase, as much as the rent of {avoided_usd:usd} or more."
    ),
    "running_above_api": _(
        "Owning costs {running_usd:usd} a month beside the purchase, as much as the API’s {avoided_usd:usd} or more."
    ),
    "interest_above_saving": _(
        "The interest on the purchase, {owed_usd:usd} a month, takes all of the {saving_usd:usd} that are saved."
    ),
}
"""Whether and when owning pays, and what stands in the way."""

TURNS: Mapping[str, Template] = {
    "own_beats_api_from": _("From {tokens:many} tokens a month, owning costs less than the API."),
    "own_beats_api_always": _("Owning costs less than the API at any number of tokens."),
    "api_beats_own_busy": _(
        "The API costs less than owning, even if the machine were busy in all its hours "
        "({busy_tokens:many} tokens a month)."
    ),
    "rent_beats_api_from": _("From {tokens:many} tokens a month, renting costs less than the API."),
    "rent_beats_api_always": _("Renting busy hours alone costs less than the API at any number of tokens."),
    "api_beats_rent_busy": _(
        "The API costs less than renting, even if the machine were busy in all its hours "
        "({busy_tokens:many} tokens a month)."
    ),
}
"""Where the order of rent, own and API turns."""

ECONOMICS: Mapping[str, Template] = {**NO_FIGURE, **REMARKS, **PAYBACK, **TURNS}

EXPLAINED: Mapping[str, Template] = {
    "usd_per_request": _(
        "{usd_per_hour:usd} an hour ÷ 3,600 s ÷ ({requests_per_s} requests/s × {utilisation:percent} busy) "
        "= {value:usd} per request, the prompt inside."
    ),
    "usd_per_million_input": _(
        "{usd_per_request:usd} per request × {share:percent} of the device time for the prompt ÷ {tokens} tokens "
        "= {value:usd} per million."
    ),
    "usd_per_million_output": _(
        "{usd_per_request:usd} per request × {rest:percent} of the device time for the answer ÷ {tokens} tokens "
        "= {value:usd} per million."
    ),
    "usd_per_million_blended": _(
        "{usd_per_request:usd} per request ÷ {tokens} tokens, in and out = {value:usd} per million."
    ),
    "usd_per_million_all_on_output": _(
        "{usd_per_request:usd} per request ÷ {tokens} tokens of the answer alone = {value:usd} per million: "
        "only to compare with pages that quote it."
    ),
    "usd_per_million_cached": _(
        "{tokens} tokens of each prompt are in the prefix cache: they take no device time and cost {value:usd}."
    ),
    "own_usd_per_hour": _(
        "{usd_per_month:usd} a month, purchase and running costs, ÷ {hours} h = {value:usd} an hour."
    ),
    "capital_usd": _(
        "{machines_usd:usd} for the machines + {share:percent} for server and tax + {networking_usd:usd} for the network "
        "= {value:usd}."
    ),
    "capital_usd_of_machines": _("{value:usd} for the machines, with nothing beside them."),
    "electricity_usd_per_month": _(
        "{watts} W on average × {hours} h × PUE {pue:plain} = {kwh} kWh, × {usd_per_kwh:usd} = {value:usd} a month."
    ),
    "running_usd_per_month": _(
        "Electricity {electricity:usd} + colocation and administration {colocation_and_admin:usd} "
        "+ maintenance {maintenance:usd} = {value:usd} a month."
    ),
    "annuity_usd_per_month": _(
        "{capital_usd:usd} over {months:months} at {rate:percent} a year, less what the machine still brings "
        "= {value:usd} a month."
    ),
    "rent_usd_per_month": _("{usd_per_hour:usd} an hour × {hours} paid hours = {value:usd} a month."),
    "simple_months": _("{capital_usd:usd} ÷ {saving_usd:usd} saved a month = {value:months}."),
}
"""How a figure of money came about: the multiplication in words and numbers."""

PATH_NAMES: Mapping[str, Template] = {"rent": _("Rent"), "own": _("Own"), "api": _("API")}

BAR_NAMES: Mapping[str, Template] = {
    "purchase_price": _("Purchase price"),
    "rent_price": _("Rent per hour"),
    "api_price": _("API price"),
    "utilisation": _("Busy share"),
    "throughput": _("Tokens per second"),
    "electricity": _("Price of electricity"),
    "resale": _("Resale value"),
    "hours": _("Hours a day"),
}
"""The bars of the tornado."""

LINE_NAMES: Mapping[str, Template] = {
    "rent": _("Renting"),
    "own": _("Owning"),
    "own_after_resale": _("Owning, less what it still brings"),
    "api": _("API"),
}
"""The lines of cumulative cost."""

FALLBACK = _("From the prices and hours given.")


def explained_words(row: Explained, units: str = "gib") -> str:
    """How one figure came about."""
    return say_code(EXPLAINED, row.code, {**row.factors, "value": row.value}, units, FALLBACK)
