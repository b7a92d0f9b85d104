"""One change away: up to four neighbours of a question that works, each a link (ux: answer, part 4)."""

from __future__ import annotations

from collections.abc import Iterator

from calculator.estimation.terms import Estimate
from calculator.planner.one_change import Neighbour, one_change_away
from calculator.planner.question import WORKS
from calculator.web import figures
from calculator.web.answer import Answer, permalink
from calculator.web.panels.dock import of_usable
from calculator.web.panels.links import query_of
from calculator.web.panels.names import format_words, hardware_words, host_words
from calculator.web.panels.shapes import OneChange, OneChangePanel
from calculator.web.planning import settling_for
from calculator.web.wording.one_change import (
    PURCHASE,
    RATE,
    RATE_EACH,
    RATE_OF_EACH,
    RENT,
    SHORT,
    SHORT_EACH,
    TITLES,
)
from calculator.web.wording.prices import CONDITIONS, of_date
from calculator.web.wording.reasons import reason_words
from calculator.web.wording.verdicts import NAMES


def one_change_panel(answer: Answer, *, later: bool = False) -> OneChangePanel | None:
    """The links below the card when the answer is yes; None where nothing lies near, or the answer is no.

    later: only their place, with the question that brings them.
    """
    if answer.estimate.verdict not in WORKS:
        return None
    if later:
        return {"changes": [], "later": f"?{query_of(answer)}"}
    settling = settling_for(answer.scenario, answer.snapshot)
    found = one_change_away(answer.resolved, answer.estimate, answer.snapshot, settling)
    return {"changes": [_change(each, answer) for each in found], "later": ""} if found else None


def _change(found: Neighbour, answer: Answer) -> OneChange:
    code = found.estimate.verdict
    return {
        "code": code,
        "verdict": str(NAMES[code]),
        "title": _title(found, answer),
        "detail": " · ".join(_details(found, answer)),
        "href": permalink(found.scenario),
    }


def _title(found: Neighbour, answer: Answer) -> str:
    scenario, c = found.scenario, found.estimate.configuration
    named = host_words(scenario.gpu, int(scenario.n), answer.snapshot)
    if named and scenario.n == 1 and scenario.gpu == answer.scenario.gpu:
        named = f"1 × {named}"  # one in place of several of the same: the number is the change
    return TITLES[found.code].format(
        hardware=named or hardware_words(c, answer.snapshot, scenario.gpu),
        tokens=figures.tokens(scenario.ctx, down=True),
        users=figures.whole(scenario.users),
        count=scenario.users,
        format=format_words(c.weights_format, c.model.native_format),
    )


def _details(found: Neighbour, answer: Answer) -> Iterator[str]:
    """What is needed of what may be taken, how fast, for how much less; or what is missing."""
    estimate, units = found.estimate, answer.units
    if estimate.verdict not in WORKS:
        yield _missing(estimate, units)
        return
    if estimate.memory:
        yield of_usable(estimate.memory, units)
    if speed := _speed(found):
        yield speed
    if money := _money(found):
        yield money


def _missing(estimate: Estimate, units: str) -> str:
    memory = estimate.memory
    if memory is None or memory.headroom_bytes >= 0:
        return reason_words(estimate.reasons[0], units) if estimate.reasons else ""
    words = SHORT_EACH if estimate.configuration.count > 1 else SHORT
    return words.format(size=figures.size(-memory.headroom_bytes, units))


def _speed(found: Neighbour) -> str:
    speed = found.estimate.speed
    if speed is None:
        return ""
    each = figures.rate(speed.decode_tokens_per_s_per_user.value)
    if found.scenario.users == 1:
        return RATE.format(rate=each)
    served = speed.served_output_tokens_per_s  # prompts of the others included, as in the rate of each
    return (
        RATE_EACH.format(rate=each, total=figures.rate(served.value))
        if served
        else RATE_OF_EACH.format(rate=each)
    )


def _money(found: Neighbour) -> str:
    price = found.price
    if price is None or found.saved_share is None:
        return ""
    words = RENT if price.source == "rent" else PURCHASE
    return words.format(
        usd=figures.usd(price.usd),
        condition=CONDITIONS.get(price.condition, ""),
        date=of_date(price.as_of),
        share=figures.percent(round(found.saved_share, 2)),
    )
