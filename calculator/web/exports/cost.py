"""`cost` of an estimate as JSON."""

from __future__ import annotations

from typing import Any

from calculator.estimation.estimate import RUNS
from calculator.web.answer import Answer
from calculator.web.exports.tco import cost_json
from calculator.web.wording.reasons import reason_words


def cost_of_answer(answer: Answer) -> dict[str, Any] | None:
    """`cost` of an estimate; None where it does not run or a price is missing."""
    if answer.estimate.verdict not in RUNS or answer.costed.cost is None:
        return None
    return {**cost_json(answer.costed.cost), "remarks": cost_remarks(answer)}


def cost_remarks(answer: Answer) -> list[str]:
    """What is missing for a cost, or should be known beside one; nothing where it does not run."""
    if answer.estimate.verdict not in RUNS:
        return []
    said = (*answer.costed.reasons, *answer.resolved.priced.remarks)
    return [reason_words(reason, answer.units) for reason in said]
