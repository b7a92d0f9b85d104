"""What the arithmetic of money answers: figures with ranges, their explanations as codes, and reasons where
there is no figure. Every number in them is finite. PURE."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Literal

from calculator.estimation.economics.inputs import Source
from calculator.estimation.terms import Basis, Factor, Interval, Reason

PathName = Literal["rent", "own", "api"]
PATHS: tuple[PathName, ...] = ("rent", "own", "api")


@dataclass(frozen=True, slots=True)
class Explained:
    """How a figure came about: a code for its wording, the figure, and the factors of its formula."""

    code: str
    value: float
    basis: Basis
    factors: Mapping[str, Factor]


@dataclass(frozen=True, slots=True)
class EnergyUse:
    """Energy of the machines under this use, the building's share (PUE) inside.

    average_watts: while they are on, without PUE. usd_per_month: local power. joules_per_output_token: while
    busy; kwh_per_million_output and what follows from it: over the month, idle hours inside, None when no
    token is served.
    """

    average_watts: Interval
    kwh_per_month: Interval
    usd_per_month: Interval
    grams_co2_per_month: Interval | None
    joules_per_output_token: Interval | None
    kwh_per_million_output: Interval | None
    usd_per_million_output: Interval | None
    grams_co2_per_million_output: Interval | None


@dataclass(frozen=True, slots=True)
class Cost:
    """Cost per million tokens of one configuration at a price per hour [USD].

    usd_per_hour: of all machines, for one paid hour. utilisation: busy share of the paid hours. cached: input
    found in the prefix cache takes no device time. all_on_output: everything over the generated tokens, to
    compare with pages that quote it. tokens_per_month: in and out, cached ones too.
    """

    source: Source
    usd_per_hour: Interval
    usd_per_month: Interval
    utilisation: float
    input_share: float
    usd_per_request: Interval
    usd_per_million_input: Interval
    usd_per_million_cached: float
    usd_per_million_output: Interval
    usd_per_million_blended: Interval
    usd_per_million_all_on_output: Interval
    requests_per_month: float
    tokens_per_month: float
    energy: EnergyUse | None
    explained: tuple[Explained, ...]


@dataclass(frozen=True, slots=True)
class Costed:
    """A cost, or why there is none; remarks stand in `reasons` beside a cost."""

    cost: Cost | None
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Months:
    """When the machine has paid for itself, in months: None means never within fifty years. high None: it may
    never."""

    value: float | None
    low: float | None
    high: float | None


@dataclass(frozen=True, slots=True)
class Payback:
    """Owning instead of renting or of paying an API, over the horizon.

    simple, discounted: months until what is saved has paid the capital, without and with interest.
    with_resale: the same with interest when the machine is sold then. npv_usd: at the end of the horizon,
    resale inside. from_hours_per_day: hours a day from which the horizon's NPV is not negative, None when 24
    are not enough.
    """

    instead_of: PathName
    avoided_usd_per_month: float
    saving_usd_per_month: Interval
    simple: Months
    discounted: Months
    with_resale: Months
    npv_usd: Interval
    from_hours_per_day: float | None
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Bar:
    """One input of the tornado moved by `share` down and up, everything else as it is.

    months: with resale, None for never. npv_usd, usd_per_million: at both ends; None where the figure does
    not exist.
    """

    name: str
    share: float
    months: tuple[float | None, float | None]
    npv_usd: tuple[float, float] | None
    usd_per_million: tuple[float, float] | None


@dataclass(frozen=True, slots=True)
class Tornado:
    """What matters most: the inputs by how far they move the NPV, the widest first; without one, the cost per
    token."""

    instead_of: PathName | None
    months: float | None
    npv_usd: float | None
    usd_per_million: float | None
    bars: tuple[Bar, ...]


@dataclass(frozen=True, slots=True)
class Line:
    """Money spent until the end of each month, from month 0 [USD], with its range."""

    name: Literal["rent", "own", "own_after_resale", "api"]
    usd: tuple[float, ...]
    low_usd: tuple[float, ...]
    high_usd: tuple[float, ...]


@dataclass(frozen=True, slots=True)
class Cumulative:
    """Cumulative cost over the months of the horizon, without interest: what leaves the account."""

    months: tuple[float, ...]
    lines: tuple[Line, ...]


@dataclass(frozen=True, slots=True)
class Path:
    """One way to the same tokens per month. usd_per_month: averaged over the horizon with interest, capital
    and resale inside. usd_per_million: over all tokens; None when none are served."""

    name: PathName
    usd_per_month: Interval
    usd_per_million: Interval | None


@dataclass(frozen=True, slots=True)
class Comparison:
    """Rent, own and API for the same tokens per month, the cheapest first; and where the order turns.

    own_beats_api_from_tokens, rent_beats_api_from_tokens: tokens a month at the same hours a day, the machine
    busier; None when not even a machine that is busy in all its hours does. busy_tokens_per_month: what it
    serves then.
    """

    tokens_per_month: float
    busy_tokens_per_month: float
    paths: tuple[Path, ...]
    own_beats_api_from_tokens: float | None
    rent_beats_api_from_tokens: float | None
    reasons: tuple[Reason, ...]


@dataclass(frozen=True, slots=True)
class Ownership:
    """What owning costs and when it pays.

    capital_usd: paid on the first day. running_usd_per_month and its parts: beside the capital.
    annuity_usd_per_month: the capital with interest over the horizon, resale taken off;
    financed_usd_per_month: the whole capital. break_even_utilisation: share of the hours for which renting
    costs as much as owning; above 1 renting is cheaper even all the time.
    """

    capital_usd: Interval
    running_usd_per_month: Interval
    running_parts: Mapping[str, float]
    resale_usd: float
    annuity_usd_per_month: float
    financed_usd_per_month: float
    straight_line_usd_per_month: float
    break_even_utilisation: float | None
    energy: EnergyUse
    paybacks: tuple[Payback, ...]
    tornado: Tornado
    cumulative: Cumulative
    explained: tuple[Explained, ...]


@dataclass(frozen=True, slots=True)
class Owned:
    """Ownership, or why there is none, and the comparison of the ways that have a price."""

    ownership: Ownership | None
    comparison: Comparison | None
    reasons: tuple[Reason, ...]
