"""What the arithmetic says to each part that a log may print: one reader for each observed name. PURE.

Parts that hang on the weights' format or on the cache type are gaps where the catalogue does not know it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

from calculator.accuracy.asked import Asked, in_part
from calculator.accuracy.printed import tolerance_of
from calculator.accuracy.servers import IN_POOL, admitted, block_bytes, least_pool_gap, pool, printed_tokens
from calculator.estimation.memory import PART_OF
from calculator.estimation.terms import Basis, Term
from calculator.estimation.uncertainty import total
from catalog.records import Observation

EVERY_ROW = "b8900"
"""A llama.cpp build that reserves output rows for the whole micro-batch."""

DRIVER_TOTALS = frozenset({"exllama"})
"""Engine families whose totals were read off the driver, the context of the process included."""

ONE_ROW_A_SLOT = "b10809"
"""A llama.cpp build whose server reserves one output row for each slot."""


@dataclass(frozen=True, slots=True)
class Figure:
    """The calculated figure of an observed part, under the part's name in the record; tolerance: steps that rounding to
    blocks leaves open."""

    part: str
    value: float
    low: float
    high: float
    basis: Basis
    tolerance: float = 0.0
    why: str = ""


@dataclass(frozen=True, slots=True)
class Gap:
    """Why a part has no calculated figure."""

    reason: str


Reader = Callable[[Asked, Observation], Figure | Gap]


@dataclass(frozen=True, slots=True)
class PartRule:
    """How one observed part is calculated. needs: parameters that the catalogue must know."""

    read: Reader
    needs: tuple[str, ...] = ()

    def figure(self, asked: Asked, seen: Observation) -> Figure | Gap:
        for name in self.needs:
            if name in asked.unknown:
                return Gap(
                    _GAPS[name]
                    if asked.measurement.weights_format or name != "quant"
                    else "format_not_stated"
                )
        return self.read(asked, seen)


_GAPS = {"quant": "format_not_in_catalogue", "kv": "cache_type_not_in_catalogue"}


def _of(part: str, terms: Sequence[Term], why: str = "") -> Figure:
    """The sum of terms; exact when each of them is."""
    interval = total(terms)
    bases: set[Basis] = {term.basis for term in terms}
    basis: Basis = next((b for b in ("calibrated", "rule", "published") if b in bases), "exact")
    return Figure(part, interval.value, interval.low, interval.high, basis, why=why)


def _on_host(seen: Observation) -> bool:
    return bool(seen.device and seen.device.startswith("host"))


# --- weights ----------------------------------------------------------------------------------------------------------

LOADED = ("weights", "vision_encoder", "head_copy", "rotary_table")


def _weights(asked: Asked, seen: Observation) -> Figure:
    sum_, layout = asked.sum, asked.sum.layout
    basis: Basis = "published" if layout.basis == "published" else "rule"
    if seen.device is None:
        value = float(layout.file_bytes)
    elif _on_host(seen):
        value = float(sum_.host_weights(asked.tokens, asked.users))
    else:
        return _of("weights", _loaded(asked.on(seen.device)))
    return Figure("weights", value, value * (1 - layout.spread), value * (1 + layout.spread), basis)


def _loaded(terms: Sequence[Term]) -> list[Term]:
    return [t for t in terms if t.code in LOADED or t.code.startswith("weights_") or t.code == "mtp_weights"]


# --- cache ------------------------------------------------------------------------------------------------------------


def _cache(*parts: str) -> Reader:
    """Cache parts of the whole model, or of the GPU that the log names; of a server the pool that its tokens fill."""

    def read(asked: Asked, seen: Observation) -> Figure | Gap:
        name = parts[0] if len(parts) == 1 else "kv_cache"
        if (filled := _filled_pool(asked, seen)) is not None:
            return filled
        if "ctx" not in asked.measurement.scenario and set(parts) != {"recurrent_state"}:
            return Gap("context_not_stated")
        if seen.device is None:
            return _of(name, in_part(asked.whole(), *parts))
        if _on_host(seen):
            return Gap("cache_on_host")
        return _of(name, in_part(asked.on(seen.device), *parts))

    return read


def _filled_pool(asked: Asked, seen: Observation) -> Figure | None:
    """A pool whose tokens the log prints: they times the bytes of one."""
    tokens = _seen(asked, "kv_tokens")
    if seen.device != "per_gpu" or tokens is None:
        return None
    per_token = asked.bytes_per_token()
    value = tokens * per_token
    return Figure("kv_cache", value, value, value, "exact", block_bytes(asked))


def _observed(asked: Asked, part: str, device: str | None = None) -> Observation | None:
    return next((o for o in asked.measurement.observed if o.part == part and o.device == device), None)


def _seen(asked: Asked, part: str, device: str | None = None) -> float | None:
    found = _observed(asked, part, device)
    return found.amount if found else None


def _by_code(part: str, *codes: str) -> Reader:
    def read(asked: Asked, seen: Observation) -> Figure | Gap:
        terms = asked.whole() if seen.device is None else asked.on(seen.device)
        return _of(part, [term for term in terms if term.code in codes])

    return read


def _state_share(which: str) -> Reader:
    """The matrix state or the convolution's tail of all requests."""

    def read(asked: Asked, seen: Observation) -> Figure | Gap:
        terms = in_part(asked.whole() if seen.device is None else asked.on(seen.device), "recurrent_state")
        slots = _seen(asked, "state_slots") or _slots(asked)
        value = 0.0
        for term in terms:
            if "state_elements" not in term.factors:
                continue
            f = {name: float(v) for name, v in term.factors.items() if isinstance(v, int | float)}
            state, tail = f["state_elements"] * f["state_width"], f["conv_elements"] * f["conv_width"]
            share = (state if which == "state" else tail) / (state + tail)
            value += share * f["layers"] * f["bytes_per_layer"] * slots * f["copies"]
        return Figure("recurrent_state", value, value, value, "exact")

    return read


def _slots(asked: Asked) -> int:
    return asked.configuration.knobs.max_sequences or asked.users


# --- buffers ----------------------------------------------------------------------------------------------------------


def _compute(asked: Asked, seen: Observation) -> Figure | Gap:
    if "ctx" not in asked.measurement.scenario:
        return Gap("context_not_stated")
    if _on_host(seen):
        value = float(
            asked.sum.rules.host_bytes(asked.configuration, asked.tokens, asked.users) - _outputs(asked)
        )
        spread = asked.configuration.constants.get("compute_dense")
        if spread is None:
            return Gap("part_not_computed")
        return Figure("host_buffer", value, value * spread.low, value * spread.high, "calibrated")
    return _of("compute_buffer", in_part(asked.on(seen.device), "activations"))


def _compute_at(version: str) -> Reader:
    return lambda asked, seen: _compute(asked.at_version(version), seen)


def _outputs(asked: Asked) -> int:
    """Output rows in host memory: logits in FP32 for each slot [B] (formulas §4.5)."""
    return 4 * asked.configuration.model.architecture.vocabulary_size * _slots(asked)


def _output_buffer(asked: Asked, _: Observation) -> Figure:
    value = float(_outputs(asked))
    return Figure("output_buffer", value, value, value, "exact")


def _named(part: str, *parts: str) -> Reader:
    return lambda asked, seen: _of(part, in_part([*asked.on(seen.device), *asked.beyond()], *parts))


def _beside_cache(asked: Asked, seen: Observation) -> Figure:
    """vLLM's “non KV cache memory”: weights, activation peak and non-torch."""
    terms = [t for t in asked.on(seen.device) if t.code == "non_torch"]
    terms += in_part(asked.on(seen.device), "activations") + _loaded(asked.on(seen.device))
    return _of("beside_cache", terms)


def _total(asked: Asked, seen: Observation) -> Figure | Gap:
    """What the run takes: all of it where the driver counted, without the context of the process where the engine did."""
    if "ctx" not in asked.measurement.scenario:
        return Gap("context_not_stated")
    beside = (
        () if asked.configuration.engine.family in DRIVER_TOTALS else ("context_process", "planner_reserve")
    )
    terms = asked.whole() if seen.device is None else asked.on(seen.device)
    found = _of("total", [t for t in terms if t.code not in beside])
    if seen.device is None and asked.sum.rules.embedding_on_host(asked.configuration):
        more = asked.sum.layout.embedding_bytes
        found = replace(found, value=found.value + more, low=found.low + more, high=found.high + more)
    return found


# --- pools ------------------------------------------------------------------------------------------------------------


def _pool(asked: Asked, _: Observation) -> Figure | Gap:
    found = pool(asked)
    if found is None:
        return Gap("share_not_stated")
    return Figure("pool", found.value, found.low, found.high, "calibrated")


def _tokens(asked: Asked, _: Observation) -> Figure | Gap:
    return _capacity(asked, printed_tokens)


def _concurrency(asked: Asked, _: Observation) -> Figure | Gap:
    return _capacity(asked, admitted)


def _capacity(asked: Asked, count: Callable[[Asked, float], tuple[float, float] | None]) -> Figure | Gap:
    """Tokens or requests in the pool that the log prints, else in the calculated one."""
    logged = _observed(asked, "available_kv", "per_gpu") or _observed(asked, "kv_cache", "per_gpu")
    if logged is not None:
        found = count(asked, logged.amount - least_pool_gap(asked))
        if found is None:
            return Gap("print_means_something_else")
        value, step = found
        figure = _given_pool(asked, value, step + value * tolerance_of(logged) / logged.amount)
        if gap := least_pool_gap(asked):
            half = value * gap / logged.amount
            figure = replace(figure, low=value - half, high=value + half, basis="calibrated", part="capacity")
        return figure
    calculated = pool(asked)
    if calculated is None:
        return Gap("share_not_stated")
    ends = [count(asked, max(0.0, size)) for size in (calculated.value, calculated.low, calculated.high)]
    if ends[0] is None or ends[1] is None or ends[2] is None:
        return Gap("print_means_something_else")
    return Figure("capacity", ends[0][0], ends[1][0], ends[2][0], "calibrated", ends[0][1])


def _given_pool(asked: Asked, value: float, tolerance: float) -> Figure:
    """A count for a pool whose size is known: exact, or with the range of what a request takes."""
    cached = [t for t in asked.on("per_gpu") if PART_OF[t.code] in IN_POOL]
    need = total(cached)
    if need.exact or not need.low:
        return Figure("kv_cache", value, value, value, "exact", tolerance)
    return Figure(
        "kv_cache", value, value * need.value / need.high, value * need.value / need.low, "rule", tolerance
    )


PARTS: Mapping[str, PartRule] = {
    "weights": PartRule(_weights, ("quant",)),
    "kv_cache": PartRule(_cache("kv_cache", "index_cache"), ("kv",)),
    "planned_kv": PartRule(_cache("kv_cache", "index_cache"), ("kv",)),
    "kv_cache_and_state": PartRule(_cache("kv_cache", "index_cache", "recurrent_state"), ("kv",)),
    "kv_cache_full_layers": PartRule(_by_code("kv_cache", "kv_gqa"), ("kv",)),
    "kv_cache_window_layers": PartRule(_by_code("kv_cache", "kv_window"), ("kv",)),
    "recurrent_state": PartRule(_cache("recurrent_state")),
    "recurrent_state_ssm": PartRule(_state_share("state")),
    "recurrent_state_conv": PartRule(_state_share("tail")),
    "compute_buffer": PartRule(_compute),
    "compute_buffer_logits_reserved_for_all_tokens": PartRule(_compute_at(EVERY_ROW)),
    "compute_buffer_one_output_per_slot": PartRule(_compute_at(ONE_ROW_A_SLOT)),
    "output_buffer": PartRule(_output_buffer),
    "activation_peak": PartRule(_named("activations", "activations")),
    "non_torch": PartRule(_by_code("communication", "non_torch")),
    "cuda_graphs": PartRule(_named("graphs", "graphs")),
    "non_kv_total": PartRule(_beside_cache, ("quant",)),
    "available_kv": PartRule(_pool, ("quant",)),
    "kv_tokens": PartRule(_tokens, ("kv",)),
    "max_concurrency": PartRule(_concurrency, ("kv",)),
    "total": PartRule(_total, ("quant", "kv")),
    "peak": PartRule(_total, ("quant", "kv")),
}
"""A reader for each observed part, by its name in the case files."""
