"""The row of key figures: what is needed, what stays free, how far it goes."""

from __future__ import annotations

from calculator.estimation.terms import Memory, Speed
from calculator.web import figures
from calculator.web.answer import Answer
from calculator.web.panels.cost_figure import cost_figure
from calculator.web.panels.names import cards_of, gpus_used, settled
from calculator.web.panels.shapes import Figure, FiguresPanel
from calculator.web.panels.would_fit import fits_from, largest_format
from calculator.web.wording.reasons import reason_words
from calculator.web.wording.speech import gettext as _
from calculator.web.wording.speech import ngettext
from calculator.web.wording.speed import BOUND_SHORT


def figures_panel(answer: Answer) -> FiguresPanel:
    """Four to six figures; none where memory cannot be computed."""
    memory = answer.estimate.memory
    if memory is None:
        return []
    if answer.estimate.verdict in ("fits", "tight", "offload"):
        shown = [
            _needed(answer, memory),
            _headroom(answer, memory),
            _system_ram(answer, memory),
            _most_users(answer) if answer.configuration.workload.users > 1 else _longest(answer),
            *_speed(answer, memory),
        ]
    elif answer.estimate.verdict == "unsupported":
        shown = [
            _needed(answer, memory),
            _missing(answer, memory) if memory.headroom_bytes < 0 else _headroom(answer, memory),
        ]
    else:
        shown = [
            _needed(answer, memory),
            _missing(answer, memory) if memory.headroom_bytes < 0 else _headroom(answer, memory),
            _system_ram(answer, memory),
            _longest(answer),
            _fits_from(answer),
            _largest_format(answer),
        ]
    return [figure for figure in shown if figure is not None]


def _figure(label: str, value: str, unit: str = "", detail: str = "", title: str = "") -> Figure:
    return {"label": label, "value": value, "unit": unit, "detail": detail, "title": title}


def _with_other_unit(first: str, size_bytes: float, units: str) -> str:
    """A range or remark, then the same size in the other unit."""
    other = figures.size(size_bytes, figures.other_units(units))
    return f"{first} · {other}" if first else other


def _range_words(low: float, value: float, high: float, units: str) -> str:
    if low == value == high:
        return _("exact")
    return figures.size_range(low, high, units)


def _needed(answer: Answer, memory: Memory) -> Figure:
    units, needed = answer.units, memory.needed
    usable = figures.bare_size(memory.limit.usable.value, units)
    label = _("Needed, of {usable} usable")
    if settled(answer).cards:
        label = _("Fullest GPU, of {usable} usable")
    elif gpus_used(answer) > 1:
        label = _("Per GPU, of {usable} usable")
    return _figure(
        label.format(usable=usable),
        figures.bare_size(needed.value, units),
        figures.unit_name(units),
        _with_other_unit(_range_words(needed.low, needed.value, needed.high, units), needed.value, units),
        _("{count} bytes").format(count=figures.whole(needed.value)),
    )


def _headroom(answer: Answer, memory: Memory) -> Figure:
    units, usable, needed = answer.units, memory.limit.usable, memory.needed
    label = _("Headroom per GPU") if gpus_used(answer) > 1 else _("Headroom")
    if memory.occupied_bytes > needed.value:
        detail = _("the server takes it for cache")
    else:
        detail = _range_words(
            usable.value - needed.high, memory.headroom_bytes, usable.value - needed.low, units
        )
    return _figure(label, figures.bare_size(memory.headroom_bytes, units), figures.unit_name(units), detail)


def _system_ram(answer: Answer, memory: Memory) -> Figure | None:
    """What offload keeps beside the GPUs; against the machine's RAM when somebody named it."""
    configuration, units = settled(answer), answer.units
    if not (configuration.plan.layers_on_host or configuration.plan.host_expert_layers):
        return None
    ram = configuration.offload.ram_bytes
    label = _("System RAM needed")
    if ram is not None:
        label = _("System RAM, of {ram}").format(ram=figures.bare_size(ram, units))
    other = figures.size(memory.host_bytes, figures.other_units(units))
    title = _("{count} bytes").format(count=figures.whole(memory.host_bytes))
    return _figure(label, figures.bare_size(memory.host_bytes, units), figures.unit_name(units), other, title)


def _missing(answer: Answer, memory: Memory) -> Figure:
    units, missing, count = answer.units, -memory.headroom_bytes, gpus_used(answer)
    low, high = memory.needed.low - memory.limit.usable.value, memory.needed.high - memory.limit.usable.value
    detail = _range_words(low, missing, high, units)
    if count > 1 and len(memory.gpus) == 1:
        total = figures.size(missing * count, units)
        detail = _("{total} over {count} GPUs").format(total=total, count=figures.whole(count))
    label = _("Missing per GPU") if count > 1 else _("Missing")
    return _figure(label, figures.bare_size(missing, units), figures.unit_name(units), detail)


_SHORT_FROM = 1_000_000  # longer figures would push their unit to a line of its own; the title has all digits


def _longest(answer: Answer) -> Figure | None:
    capacity, users = answer.estimate.capacity, answer.configuration.workload.users
    if capacity is None:
        return None
    label = _("Longest context")
    fits, tight = capacity.max_context_fits_tokens, capacity.max_context_tokens
    requests = ngettext("{count} request", "{count} requests", users).format(count=figures.whole(users))
    tokens = fits or tight
    if not tokens:
        alone = any(reason.code == "weights_alone_too_large" for reason in answer.estimate.reasons)
        return _figure(label, _("none"), "", _("the weights alone are too large") if alone else requests)
    if tokens == answer.configuration.model.max_context_tokens:
        detail = _("the model’s maximum")
    elif fits and tight > fits:
        detail = _("tight to {tokens}").format(tokens=figures.whole(tight))
    else:
        detail = "" if fits else _("tight")
    detail = f"{detail} · {requests}" if detail else requests
    title = _("{count} tokens").format(count=figures.whole(tokens))
    short = figures.tokens(tokens, down=True) if tokens >= _SHORT_FROM else figures.whole(tokens)
    return _figure(label, short, _("tokens"), detail, title)


def _most_users(answer: Answer) -> Figure | None:
    capacity = answer.estimate.capacity
    if capacity is None:
        return None
    fits, tight = capacity.max_users_fits, capacity.max_users
    tokens = figures.whole(answer.configuration.workload.context_tokens)
    detail = _("of {tokens} tokens").format(tokens=tokens)
    if tight > fits:
        detail = _("tight to {users} · of {tokens} tokens").format(users=figures.whole(tight), tokens=tokens)
    if not fits and tight:
        return _figure(_("Most users"), figures.whole(tight), "", detail)
    return _figure(_("Most users"), figures.whole(fits), "", detail)


def _speed(answer: Answer, memory: Memory) -> list[Figure | None]:
    """Decode, first token and cost, each with its range and the condition that matters; where nothing is generated, what else
    there is of memory."""
    estimate, speed = answer.estimate, answer.estimate.speed
    if answer.configuration.model.task != "generate":
        return [_all_gpus(answer, memory)]
    label = _("Decode per user")
    if speed is None:
        gap = " ".join(reason_words(reason, answer.units) for reason in estimate.speed_reasons)
        return [_figure(label, figures.MISSING, "", gap)]
    rate, bound = speed.decode_tokens_per_s_per_user, str(BOUND_SHORT[speed.bound_by])
    decode = _figure(
        label,
        figures.rate(rate.value),
        "tok/s",
        f"{figures.rate_range(rate.low, rate.high)} · {bound}",
    )
    return [decode, _first_token(answer, speed), cost_figure(answer)]


def _first_token(answer: Answer, speed: Speed) -> Figure:
    prompt = figures.whole(settled(answer).workload.prompt_tokens)
    label = _("First token, prompt of {tokens}").format(tokens=prompt)
    ttft, prefill = speed.ttft_ms, speed.prefill_tokens_per_s
    if ttft is None or prefill is None:
        return _figure(label, figures.MISSING, "", _("no compute rate is known"))
    value, unit = figures.duration_parts(ttft.value)
    ends = figures.duration_range(ttft.low, ttft.high, ttft.value)
    condition = _("prefill {rate} tok/s").format(rate=figures.rate(prefill.value))
    return _figure(label, figures.rate(value), unit, f"{ends} · {condition}")


def _all_gpus(answer: Answer, memory: Memory) -> Figure | None:
    units, count = answer.units, gpus_used(answer)
    if count < 2:
        return None
    return _figure(
        _("All {count} GPUs").format(count=figures.whole(count)),
        figures.bare_size(memory.total_bytes, units),
        figures.unit_name(units),
        figures.size(memory.total_bytes, figures.other_units(units)),
    )


def _fits_from(answer: Answer) -> Figure | None:
    if cards_of(answer.scenario.gpu, answer.snapshot):
        return None
    found = fits_from(answer)
    label = _("This GPU fits from")
    if found is None:
        return _figure(label, figures.MISSING, "", _("no count that was tried"))
    count, machines = found
    return _figure(label, figures.whole(count), "", machines)


def _largest_format(answer: Answer) -> Figure | None:
    found = largest_format(answer)
    label = _("Largest format here")
    if found is None:
        return _figure(label, _("none"), "", _("no format is small enough"))
    return _figure(label, found.name, "", found.note)
