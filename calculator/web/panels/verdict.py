"""The head of the answer: chip, the question in one line, the sentence, and at most two sentences of ground."""

from __future__ import annotations

from calculator.estimation.terms import Memory
from calculator.web import figures
from calculator.web.answer import Answer, permalink
from calculator.web.panels.dock import of_usable
from calculator.web.panels.evidence import evidence_href
from calculator.web.panels.links import link_to
from calculator.web.panels.names import engine_words, format_words, gpus_used, hardware_words, settled
from calculator.web.panels.per_snapshot import unmoved
from calculator.web.panels.shapes import Sentence, VerdictPanel
from calculator.web.panels.spans import HOLE, filled, joined, link, plain, sentence
from calculator.web.panels.speed_words import short_speed
from calculator.web.panels.would_fit import changes
from calculator.web.wording.choices import limit_words
from calculator.web.wording.reasons import is_remark, reason_words
from calculator.web.wording.speech import gettext as _
from calculator.web.wording.speech import ngettext
from calculator.web.wording.text import engine_name
from calculator.web.wording.verdicts import NAMES, verdict_sentence

DECISIVE = ("weights_alone_too_large", "occupied_over_process")
"""Reasons that say more than the figures of memory do; the second sentence gives them."""


ON_HOST = ("experts_on_host", "layers_on_host", "layers_and_output_on_host")
"""Reasons that say what stays in system RAM."""


def verdict_panel(answer: Answer) -> VerdictPanel:
    """The card's head."""
    estimate, units = answer.estimate, answer.units
    words = verdict_sentence(estimate, units)
    memory = estimate.memory
    spoken = f"{words} {of_usable(memory, units)}." if memory else words
    if speed := short_speed(answer):
        spoken += f" {speed}."
    return {
        "code": estimate.verdict,
        "chip": str(NAMES[estimate.verdict]),
        "question": question_words(answer),
        "sentence": words,
        "ground": _ground(answer, memory),
        "spoken": spoken,
        "permalink": link_to(answer),
        "evidence": evidence_href(answer),
    }


def question_words(answer: Answer) -> str:
    """`Kimi K3.1 Pro · native (MXFP4) · 8,192 tokens · 1 request · 32 × H100 SXM · vLLM 0.33`."""
    configuration = answer.configuration
    tokens, users = configuration.workload.context_tokens, configuration.workload.users

    def model() -> str:
        native = configuration.model.native_format
        return f"{configuration.model.name} · {format_words(configuration.weights_format, native)}"

    def machine() -> str:
        return f"{hardware_words(configuration, answer.snapshot, answer.scenario.gpu)} · {engine_words(configuration)}"

    pieces = (
        unmoved(answer, "model_words", model),
        ngettext("{count} token", "{count} tokens", tokens).format(count=figures.whole(tokens)),
        ngettext("{count} request", "{count} requests", users).format(count=figures.whole(users)),
        unmoved(answer, "machine_words", machine),
    )
    return " · ".join(pieces)


def _ground(answer: Answer, memory: Memory | None) -> Sentence:
    estimate, units = answer.estimate, answer.units
    if memory is None or estimate.verdict == "unsupported":
        others = [reason for reason in answer.reasons if not is_remark(reason)][1:2]
        return joined(*(sentence(reason_words(reason, units)) for reason in others), _ways_out(answer))
    moved = [reason_words(reason, units) for reason in answer.reasons if reason.code in ON_HOST]
    if moved:
        kept = sentence(" ".join([*moved, _ram_words(answer)]))
        return (
            kept
            if estimate.verdict == "does_not_fit"
            else joined(sentence(_need_words(answer, memory)), kept)
        )
    decisive = [reason for reason in answer.reasons if reason.code in DECISIVE]
    if decisive:
        words = reason_words(decisive[0], units)
        if decisive[0].code == "weights_alone_too_large":
            return sentence(words)
        return joined(sentence(_need_words(answer, memory)), sentence(words))
    return joined(sentence(_need_words(answer, memory)), sentence(_more_words(answer, memory)))


def _ways_out(answer: Answer) -> Sentence:
    """Links to what works instead of what is refused."""
    links: Sentence = []
    for found in changes(answer):
        links += [plain(" · "), link(found.name, permalink(found.scenario))]
    if not links:
        return sentence(_("No single change of this question works."))
    return filled(_("What works: {links}.").format(links=HOLE), links[1:])


def _need_words(answer: Answer, memory: Memory) -> str:
    configuration, units, gpus = answer.configuration, answer.units, gpus_used(answer)
    factors = {
        "needed": figures.size(memory.needed.value, units),
        "usable": figures.size(memory.limit.usable.value, units),
        "engine": engine_name(configuration.engine.id),
        "total": figures.size(memory.total_bytes, units),
        "count": figures.whole(gpus),
    }
    over = memory.needed.value > memory.limit.usable.value
    if gpus == 1:
        if over:
            return _("**{needed}** are needed; {usable} are usable.").format(**factors)
        if configuration.count > 1:
            return _("{engine} takes one GPU, which needs **{needed}** of {usable}.").format(**factors)
        return _("It needs **{needed}** of the {usable} that {engine} may take.").format(**factors)
    if over:
        return _(
            "**{needed}** are needed on a GPU; {usable} are usable. The {count} GPUs together would hold **{total}**."
        ).format(**factors)
    if len(memory.gpus) == 1:
        return _(
            "Each GPU needs **{needed}** of the {usable} that {engine} may take; the {count} GPUs together hold **{total}**."
        ).format(**factors)
    if configuration.cards:
        return _(
            "The card with the least room needs **{needed}** of the {usable} that {engine} may take; "
            "the {count} GPUs together hold **{total}**."
        ).format(**factors)
    return _(
        "The fullest GPU needs **{needed}** of the {usable} that {engine} may take; "
        "the {count} GPUs together hold **{total}**."
    ).format(**factors)


def _ram_words(answer: Answer) -> str:
    """What the part in system RAM is compared with; that it is an assumption when nobody named the machine's memory."""
    configuration, memory = settled(answer), answer.estimate.memory
    ram = configuration.offload.ram_bytes
    if memory is None or not memory.host_bytes or ram is None:
        return ""
    given = figures.size(ram, answer.units)
    if any(choice.code == "ram_default" for choice in configuration.choices):
        return _("The machine is taken to have {ram} ({gb} GB): set its own under Advanced.").format(
            ram=given, gb=figures.whole(ram // 10**9)
        )
    return _("The machine has {ram}.").format(ram=given)


def _more_words(answer: Answer, memory: Memory) -> str:
    """The second sentence: what the server does with the rest, what would fit, or where the limit comes from."""
    units, capacity = answer.units, answer.estimate.capacity
    if answer.estimate.verdict == "does_not_fit":
        if capacity and capacity.max_context_tokens:
            tokens = figures.whole(capacity.max_context_tokens)
            return _("A context of {tokens} tokens would fit.").format(tokens=tokens)
        return "" if any(changes(answer)) else _("No single change of this question fits.")
    if memory.occupied_bytes > memory.needed.value:
        occupied = figures.size(memory.occupied_bytes, units)
        outside = memory.occupied_bytes - memory.limit.usable.value
        if outside > 0:
            return _(
                "The server will occupy {occupied} at start: all of that, with the rest as cache, "
                "and {outside} for the process itself, which do not count against its share."
            ).format(occupied=occupied, outside=figures.size(outside, units))
        if outside < 0:
            return _(
                "The server will occupy {occupied} at start: what this needs, and its share of the rest as cache. "
                "{free} stay free."
            ).format(occupied=occupied, free=figures.size(-outside, units))
        return _("The server will occupy {occupied} at start and use the rest as cache.").format(
            occupied=occupied
        )
    if answer.configuration.accelerator.unified:
        return _("The limit: {rule}.").format(
            rule=limit_words(memory.limit, answer.configuration.engine.id, units)
        )
    return ""
