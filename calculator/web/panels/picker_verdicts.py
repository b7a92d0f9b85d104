"""Verdicts beside the names of the pickers: every device for the present model, every model on the present hardware."""

from __future__ import annotations

from typing import Any

from calculator.estimation import estimate
from calculator.planner.formats import nominal_bits
from calculator.planner.models import ModelRow, runs_on
from calculator.planner.question import WORKS
from calculator.planner.settling import Laid
from calculator.resolve import resolve, workload_of
from calculator.web import figures
from calculator.web.answer import Answer
from calculator.web.own_hardware import Machine, machines_of
from calculator.web.panels.names import format_words, hardware_words
from calculator.web.planning import settling_for, shelf_for
from calculator.web.wording import pickers as words
from catalog.records import WeightsFormat

NEAR = 0.25
"""A near miss is short of at most so much of what may be taken [1]."""

Verdict = tuple[str, str, int]
"""Code, words, and where it stands in the list: 0 fits, 1 works, 2 near miss, 3 no."""

FIT, WORKING, NEAR_MISS, NO = range(4)


def hardware_verdicts(answer: Answer, yours: str = "") -> dict[str, Any]:
    """How many of each device and system hold the present question; and it on each of the visitor's own machines."""
    settling, work = settling_for(answer.scenario, answer.snapshot), workload_of(answer.scenario)
    found: dict[str, Verdict] = {}
    for host in settling.fleet.hosts:
        fits, tight = settling.smallest(host, work)
        found[host.id] = _of_count(fits or tight or settling.closest(host, work), answer.units)
    own = {machine.gpu: _on(machine, answer) for machine in machines_of(yours, answer.snapshot)}
    return _verdicts(
        found, own, str(words.FITS_THIS_MODEL), _question(answer.configuration.model.name, answer)
    )


def model_verdicts(answer: Answer) -> dict[str, Any]:
    """Every model on the present hardware: whether the engine's usual format fits, else which smaller one does."""
    shelf = shelf_for(answer.scenario, answer.snapshot)
    usual = {model.usual.model.id: model.usual.weights_format for model in shelf.models}
    rows = runs_on(answer.scenario, answer.snapshot, shelf=shelf)
    found = {row.model.id: _of_model(row, usual[row.model.id], answer.units) for row in rows}
    hardware = hardware_words(answer.configuration, answer.snapshot, answer.scenario.gpu)
    return _verdicts(found, {}, str(words.RUNS_ON_THIS), _question(hardware, answer))


def _question(named: str, answer: Answer) -> str:
    """What the verdicts are for: `for Llama 3.3 70B Instruct, 8,192 tokens, 1 request`."""
    work = answer.configuration.workload
    tokens, users = work.context_tokens, work.users
    pieces = (
        named,
        words.TOKENS.format(count=figures.whole(tokens), number=tokens),
        words.REQUESTS.format(count=figures.whole(users), number=users),
    )
    return words.QUESTION.format(question=", ".join(pieces))


def _verdicts(
    found: dict[str, Verdict], own: dict[str, Verdict], label: str, question: str
) -> dict[str, Any]:
    """Ids by the number of their words, which many share."""
    numbers: dict[Verdict, int] = {}
    of = {name: numbers.setdefault(verdict, len(numbers)) for name, verdict in found.items()}
    return {
        "label": label,
        "question": question,
        "words": list(numbers),
        "of": of,
        "yours": own,
    }


def _of_count(laid: Laid, units: str) -> Verdict:
    count = {"count": figures.whole(laid.units), "number": laid.units}
    if laid.verdict == "fits":
        return "fits", words.COUNT_FITS.format(**count), FIT
    if laid.verdict in WORKS:
        return laid.verdict, words.COUNT_TIGHT.format(**count), WORKING
    usable = laid.limit.usable.value if laid.limit else 0.0
    return _no(laid.verdict, laid.short_bytes, usable, units)


def _of_model(row: ModelRow, usual: WeightsFormat, units: str) -> Verdict:
    """A format with more bits than the usual one says that the usual one fits as well."""
    as_usual = row.usual or nominal_bits(row.model, row.weights_format) >= nominal_bits(row.model, usual)
    named = format_words(row.weights_format, row.model.native_format).partition(" (")[0]
    if row.verdict == "fits":
        return (
            ("fits", str(words.FITS), FIT)
            if as_usual
            else ("fits", words.FITS_IN.format(format=named), WORKING)
        )
    if row.verdict in WORKS:
        return row.verdict, str(words.TIGHT) if as_usual else words.TIGHT_IN.format(format=named), WORKING
    short = -row.headroom_bytes if row.headroom_bytes is not None else None
    return _no(row.verdict, short, row.limit.usable.value if row.limit else 0.0, units)


def _no(code: str, short_bytes: float | None, usable_bytes: float, units: str) -> Verdict:
    if code == "unsupported" or short_bytes is None or short_bytes <= 0:
        return "unsupported", str(words.NOT_SUPPORTED), NO
    place = NEAR_MISS if short_bytes <= NEAR * usable_bytes else NO
    return "does_not_fit", words.SHORT.format(size=figures.size(short_bytes, units)), place


def _on(machine: Machine, answer: Answer) -> Verdict:
    """The present question on one of the visitor's machines."""
    configuration = resolve(machine.asked(answer.scenario), answer.snapshot).configuration
    found = estimate(configuration, capacity=False, speed=False)
    code, memory = found.verdict, found.memory
    if memory is None or code == "unsupported":
        return "unsupported", str(words.NOT_SUPPORTED), NO
    if code == "offload":
        return code, str(words.OFFLOAD), WORKING
    if code in WORKS:
        return code, words.TO_SPARE.format(size=figures.size(memory.headroom_bytes, answer.units)), FIT
    return _no(code, -memory.headroom_bytes, memory.limit.usable.value, answer.units)
