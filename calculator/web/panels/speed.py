"""The section Speed: decode, prefill, first token, whole answer, energy, with what sets each of them."""

from __future__ import annotations

from collections.abc import Mapping
from collections.abc import Set as AbstractSet
from functools import partial

from calculator.estimation.terms import Interval, Reason, Speculation, Speed
from calculator.estimation.throughput import grounds_of
from calculator.web import figures
from calculator.web.answer import Answer
from calculator.web.charts import figure_json
from calculator.web.panels.evidence import speed_evidence_href
from calculator.web.panels.latency import most_users_of
from calculator.web.panels.links import query_of
from calculator.web.panels.names import settled
from calculator.web.panels.per_snapshot import unless_changed
from calculator.web.panels.problems import field_problem
from calculator.web.panels.shapes import Sentence
from calculator.web.panels.spans import link, plain, sentence
from calculator.web.panels.speculation import drafts_possible, speculation_for
from calculator.web.panels.speed_chart import curve_panel, curve_tabs
from calculator.web.panels.speed_measured import measured_rows
from calculator.web.panels.speed_shapes import SpeedPanel, SpeedRow, SpeedSide, SpeedTable, TargetField
from calculator.web.panels.speed_words import TOKENS_PER_S, short_speed
from calculator.web.wording.feel import FEEL
from calculator.web.wording.fields import label_of
from calculator.web.wording.reasons import reason_words
from calculator.web.wording.speech import gettext as _
from calculator.web.wording.speech import ngettext
from calculator.web.wording.speed import bound_words, ground_words

TARGETS = ("ttft", "tpot")
EXPLAINED = ("decode", "prefill", "first_token", "request", "energy")
"""Figures with a multiplication to show."""

COMPARED = {"decode": "decode", "served": "throughput", "prefill": "prefill", "first_token": "ttft"}
"""Figures by the one of the record of accuracy that shows how right they are."""

USUAL_DRAFTS = 1
"""Drafted tokens that the link proposes: one layer of prediction drafts one token."""


def speed_panel(answer: Answer, unfolded: AbstractSet[str] | None = None) -> SpeedPanel:
    """The section. unfolded: ids of what is open on the page of a live update, which leaves out the other explanations,
    the curve and measured results; None: all of it."""
    speed, whole = answer.estimate.speed, unfolded is None
    return {
        "reason": "" if speed else _no_speed(answer),
        "short": short_speed(answer),
        "table": _table(answer, speed, unfolded) if speed else None,
        "remarks": _remarks(answer, speed) if speed else [],
        "within": _within(answer) if speed else "",
        "targets": [_target(answer, name) for name in TARGETS] if whole else [],
        "side": _side(answer) if whole and speed else None,
        "figure": figure_json("speed") if whole else "",
        "href": f"?{query_of(answer)}",
    }


def _no_speed(answer: Answer) -> str:
    """Why there is none: the missing figure of the device, or that it does not run."""
    gaps = answer.estimate.speed_reasons
    if gaps:
        return " ".join(reason_words(reason, answer.units) for reason in gaps)
    if answer.estimate.verdict == "unsupported":
        return reason_words(answer.reasons[0], answer.units)
    return _("What does not fit does not run: there is no speed to show.")


def _table(answer: Answer, speed: Speed, unfolded: AbstractSet[str] | None) -> SpeedTable:
    told = frozenset(name for name in EXPLAINED if unfolded is None or f"why-{name}" in unfolded)
    energy, speculation = answer.estimate.energy, speculation_for(answer)
    workload = settled(answer).workload
    key = (speed, energy, speculation, workload.users, workload.prompt_tokens, workload.output_tokens)
    return unless_changed(answer, ("speed", told), key, partial(_made, answer, speed, speculation, told))


def _made(
    answer: Answer, speed: Speed, speculation: Speculation | None, told: AbstractSet[str]
) -> SpeedTable:
    """The rows; told: those with their explanation."""
    estimate, units = answer.estimate, answer.units
    grounds = grounds_of(estimate.configuration, speed, estimate.energy)
    rows = [
        _decode(answer, speed),
        _all_users(answer, speed),
        _drafts(speculation),
        *(_prompt_rows(answer, speed, grounds) if speed.ttft_ms else [_no_prompt(answer)]),
        _energy(answer),
    ]
    many = answer.configuration.workload.users > 1
    for row in rows:
        if row and row["id"] in told:
            row["why"] = ground_words(grounds.get(row["id"], ()), units)
        if row and row["range"] and (figure := COMPARED.get(row["id"])):
            row["evidence"] = speed_evidence_href(
                answer, "decode_many" if many and figure == "decode" else figure
            )
    ttft, rate = speed.ttft_ms, speed.decode_tokens_per_s_per_user
    return {
        "rows": [row for row in rows if row],
        "ttft_s": _three(ttft.high / 1e3, ttft.value / 1e3, ttft.low / 1e3) if ttft else "",
        "rate": _three(rate.low, rate.value, rate.high) if ttft else "",
    }


def _three(*values: float) -> str:
    return " ".join(f"{value:.4g}" for value in values)


def _row(
    identity: str, name: str, note: str, value: Interval, unit: str, sets: str, *, in_time: bool = False
) -> SpeedRow:
    """A figure with its range; in_time: the interval is of milliseconds, whatever `unit` says."""
    if in_time:
        shown, unit = figures.duration_parts(value.value)
        text = figures.rate(shown)
        ends = figures.duration_range(value.low, value.high, value.value)
    else:
        text, ends = figures.rate(value.value), figures.rate_range(value.low, value.high)
    return {
        "id": identity,
        "name": name,
        "note": note,
        "value": text,
        "unit": unit,
        "range": ends,
        "evidence": "",
        "sets": sets,
        "explained": identity in EXPLAINED,
        "why": "",
    }


def _without(identity: str, name: str, sets: str) -> SpeedRow:
    """A figure that is not known, and why."""
    return {
        "id": identity,
        "name": name,
        "note": "",
        "value": figures.MISSING,
        "unit": "",
        "range": "",
        "evidence": "",
        "sets": sets,
        "explained": False,
        "why": "",
    }


def _decode(answer: Answer, speed: Speed) -> SpeedRow:
    users = answer.configuration.workload.users
    note = _("one user") if users == 1 else _("each of {users} users").format(users=figures.whole(users))
    whole = sum(speed.step_ms.values())
    sets = bound_words(speed.bound_by, speed.step_ms[speed.bound_by] / whole, answer.units)
    return _row("decode", _("Decode"), note, speed.decode_tokens_per_s_per_user, TOKENS_PER_S, sets)


def _all_users(answer: Answer, speed: Speed) -> SpeedRow | None:
    """The output of all users, where there are several."""
    served, users = speed.served_output_tokens_per_s, answer.configuration.workload.users
    if users == 1 or served is None:
        return None
    sets = _("prompts of the others take {share} of the time").format(
        share=figures.percent(round(speed.prompt_share, 2))
    )
    note = _("output of {users} users").format(users=figures.whole(users))
    return _row("served", _("All users"), note, served, TOKENS_PER_S, sets)


def _drafts(speculation: Speculation | None) -> SpeedRow | None:
    """What drafts may gain: beside the figures, never in them."""
    if speculation is None:
        return None
    note = ngettext("{count} drafted token", "{count} drafted tokens", speculation.drafted_tokens).format(
        count=figures.whole(speculation.drafted_tokens)
    )
    gain = speculation.gain
    sets = _("measured gains of {low} to {high} times").format(
        low=figures.number(gain.low, 2), high=figures.number(gain.high, 2)
    )
    return _row(
        "drafts", _("With drafts"), note, speculation.decode_tokens_per_s_per_user, TOKENS_PER_S, sets
    )


def _prompt_rows(answer: Answer, speed: Speed, grounds: Mapping[str, tuple[Reason, ...]]) -> list[SpeedRow]:
    """Prefill, first token, whole answer."""
    assert speed.prefill_tokens_per_s
    assert speed.ttft_ms
    assert speed.request_s
    workload = settled(answer).workload
    work = grounds["prefill"][0].factors
    prefill = _("{flops} at {share} of {peak}/s").format(
        flops=figures.operations(float(work["flops"])),
        share=figures.percent(round(float(work["share"]), 3)),
        peak=figures.operations(float(work["peak"])),
    )
    wait = next((g for g in grounds["first_token"] if g.code == "first_token_wait"), None)
    first = _("reading the prompt")
    if wait:
        first = _("the prompt, and {wait} of waiting").format(
            wait=figures.duration(float(wait.factors["ms"]))
        )
    more, each = workload.output_tokens - 1, figures.duration(speed.tpot_ms.value)
    answer_ms = Interval(
        *(1e3 * end for end in (speed.request_s.value, speed.request_s.low, speed.request_s.high))
    )
    of_prompt = _("prompt of {tokens}").format(tokens=figures.whole(workload.prompt_tokens))
    of_answer = ngettext("{count} token", "{count} tokens", workload.output_tokens).format(
        count=figures.whole(workload.output_tokens)
    )
    after = _("first token + {more} × {each}").format(more=figures.whole(more), each=each)
    return [
        _row("prefill", _("Prefill"), _("one prompt"), speed.prefill_tokens_per_s, TOKENS_PER_S, prefill),
        _row("first_token", _("First token"), of_prompt, speed.ttft_ms, "", first, in_time=True),
        _row("request", _("Whole answer"), of_answer, answer_ms, "", after, in_time=True),
    ]


def _no_prompt(answer: Answer) -> SpeedRow:
    gap = next((r for r in answer.estimate.speed_reasons if r.code == "speed_compute_unknown"), None)
    return _without("first_token", _("First token"), reason_words(gap, answer.units) if gap else "")


def _energy(answer: Answer) -> SpeedRow | None:
    energy, units = answer.estimate.energy, answer.units
    if energy is None:
        gap = next((r for r in answer.estimate.speed_reasons if r.code == "power_unknown"), None)
        return _without("energy", _("Energy"), reason_words(gap, units)) if gap else None
    watts = _("{watts} W while it works").format(watts=figures.rate(energy.watts))
    return _row("energy", _("Energy"), _("generated token"), energy.joules_per_output_token, "J", watts)


# --- around the table -------------------------------------------------------------------------------------------------


def _remarks(answer: Answer, speed: Speed) -> list[Sentence]:
    """What the ranges rest on, and the way to drafts."""
    if speed.cases:
        text = ngettext(
            "The ranges are the spread of {count} measured result of this kind.",
            "The ranges are the spread of {count} measured results of this kind.",
            speed.cases,
        ).format(count=figures.whole(speed.cases))
    else:
        text = _("No result of this kind was measured: the ranges are wide.")
    out = [sentence(text)]
    if drafts_possible(answer.configuration) and not answer.scenario.mtp:
        href = f"{answer.permalink(mtp=USUAL_DRAFTS)}#speed"
        out.append(
            [plain(_("The model can draft its own tokens:")), plain(" "), link(_("with drafts"), href)]
        )
    return out


def _within(answer: Answer) -> str:
    """How many users keep to the targets."""
    most = most_users_of(answer)
    if most is None:
        return ""
    if not most:
        return _("Not even one user keeps to these targets.")
    return ngettext(
        "{count} user keeps to these targets.", "{count} users at once keep to these targets.", most
    ).format(count=figures.whole(most))


def _target(answer: Answer, name: str) -> TargetField:
    value = getattr(answer.scenario, name)
    return {
        "id": name,
        "label": label_of(name),
        "value": figures.plain(value) if value is not None else "",
        "problem": field_problem(answer, name),
    }


def _side(answer: Answer) -> SpeedSide:
    measured = measured_rows(answer)
    return {
        "tabs": curve_tabs(answer),
        "curve": curve_panel(answer, measured),
        "measured": [found.row for found in measured],
        "feel": str(FEEL),
    }
