"""Most users that keep to the latency targets of the question."""

from __future__ import annotations

from calculator.estimation.throughput import most_users_within
from calculator.web.answer import Answer

MOST_USERS = 65_536


def most_users_of(answer: Answer) -> int | None:
    """Most users at once with TTFT and TPOT within the targets and inside the memory; None without targets or speed.

    0: not even one user keeps to them. Looked for once for an answer.
    """
    scenario, estimate = answer.scenario, answer.estimate
    if (scenario.ttft is None and scenario.tpot is None) or estimate.speed is None:
        return None
    if estimate.speed.ttft_ms is None:
        return None
    if "most_users_within" not in answer.found:
        capacity = estimate.capacity
        most = max(1, capacity.max_users) if capacity else MOST_USERS
        answer.found["most_users_within"] = most_users_within(
            estimate.configuration, ttft_ms=scenario.ttft, tpot_ms=scenario.tpot, most=most
        )
    found: int = answer.found["most_users_within"]
    return found
