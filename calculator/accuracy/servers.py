"""What a server's log says of its pool: bytes, tokens and requests, as the engine's version counts them. PURE."""

from __future__ import annotations

from calculator.accuracy.asked import Asked
from calculator.estimation.memory import PART_OF
from calculator.estimation.terms import Interval
from calculator.estimation.uncertainty import total

IN_POOL = frozenset({"kv_cache", "index_cache", "recurrent_state"})


def pool(asked: Asked) -> Interval | None:
    """The bytes of one GPU that are left for the cache; None where the share of memory is not stated."""
    limit = asked.sum.limit
    if limit is None or "util" not in asked.measurement.scenario:
        return None
    beside = total(term for term in asked.on("per_gpu") if PART_OF[term.code] not in IN_POOL)
    above, below = beside.high - beside.value, beside.value - beside.low
    value = limit.usable.value - beside.value
    return Interval(
        value,
        value - (above**2 + (limit.usable.value - limit.usable.low) ** 2) ** 0.5,
        value + (below**2 + (limit.usable.high - limit.usable.value) ** 2) ** 0.5,
    )


def least_pool_gap(asked: Asked) -> float:
    """How much smaller the least pool of a pipeline is than the first worker's, which the log prints: the workers have as
    many blocks as the fullest of them [B]."""
    if not asked.logged_by_first:
        return 0.0
    beside = [sum(t.value for t in terms if PART_OF[t.code] not in IN_POOL) for terms in asked.stages]
    return float(max(beside) - beside[0])


def printed_tokens(asked: Asked, pool_bytes: float) -> tuple[float, float] | None:
    """(tokens that the engine prints for a pool of so many bytes on each GPU, their step)."""
    stage = asked.sum.stages[asked.fullest]
    rules, request = asked.sum.rules, request_bytes(asked)
    tokens, step = rules.printed_tokens(asked.configuration, stage, pool_bytes, request)
    return (tokens, step) if tokens else None


def admitted(asked: Asked, pool_bytes: float) -> tuple[float, float] | None:
    """(requests of the longest context that the pool admits, their step)."""
    each = request_bytes(asked)
    return (pool_bytes / each, block_bytes(asked) / each) if each else None


def block_bytes(asked: Asked) -> float:
    """One block of all layers that share it: a pool holds whole ones [B]."""
    stage = asked.sum.stages[asked.fullest]
    return asked.sum.rules.pool_block_bytes(asked.configuration, stage)


def request_bytes(asked: Asked) -> float:
    """What one request of the whole context takes of the pool on the fullest GPU [B]."""
    return sum(term.value for term in asked.on("per_gpu") if PART_OF[term.code] in IN_POOL) / asked.users
