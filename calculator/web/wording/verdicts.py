"""The sentence of the verdict: five of them, and no others."""

from __future__ import annotations

from collections.abc import Mapping

from calculator.estimation.offload import expert_layers
from calculator.estimation.terms import Estimate, Memory
from calculator.web.wording.reasons import is_remark, reason_words
from calculator.web.wording.speech import gettext_lazy as _
from calculator.web.wording.text import Factor, Template, say

NAMES: Mapping[str, Template] = {
    "fits": _("Fits"),
    "tight": _("Tight"),
    "offload": _("Needs offload"),
    "does_not_fit": _("Does not fit"),
    "unsupported": _("Not supported"),
}

FITS: Mapping[str, Template] = {
    "every": _("Fits, with {room:size} to spare on every GPU."),
    "fuller": _("Fits, with {room:size} to spare on the fuller GPU."),
    "fullest": _("Fits, with {room:size} to spare on the fullest GPU."),
    "single": _("Fits, with {room:size} to spare on this GPU."),
    "card": _("Fits, with {room:size} to spare on the {card}."),
    "mac": _("Fits, with {room:size} to spare in this Mac."),
    "machine": _("Fits, with {room:size} to spare in this machine."),
}
SHORT: Mapping[str, Template] = {
    "every": _("Does not fit: each GPU is short of {missing:size}."),
    "fuller": _("Does not fit: the fuller GPU is short of {missing:size}."),
    "fullest": _("Does not fit: the fullest GPU is short of {missing:size}."),
    "single": _("Does not fit: this GPU is short of {missing:size}."),
    "card": _("Does not fit: the {card} is short of {missing:size}."),
    "mac": _("Does not fit: this Mac is short of {missing:size}."),
    "machine": _("Does not fit: this machine is short of {missing:size}."),
}
TIGHT = _("Should fit: {room:size} to spare, but our range reaches {over:size} over.")
TIGHT_REACHES_MARGIN = _(
    "Should fit: {room:size} to spare, but our range reaches into the {margin:bytes} that {engine:engine} keeps free."
)
TIGHT_MARGIN = _(
    "Should fit: {room:size} to spare, less than the {margin:bytes} that {engine:engine} keeps free."
)
OFFLOAD = _("Fits with {layers} of {total} layers in system RAM.")
OFFLOAD_EXPERTS = _("Fits with the experts of {layers} of {total} layers in system RAM.")
OFFLOAD_ALL = _("Fits with all {total} layers in system RAM.")
OFFLOAD_EXPERTS_ALL = _("Fits with the experts of all {total} layers in system RAM.")
HOST_SHORT = _("Does not fit: system RAM is short of {missing:size}.")
UNSUPPORTED = _("This combination is not supported.")


def place_of(estimate: Estimate) -> str:
    """Where the room is left or missing: on every GPU, on the fuller one of two, in this Mac."""
    device, memory = estimate.configuration.accelerator, estimate.memory
    if estimate.configuration.count == 1 or (memory and sum(load.gpus for load in memory.gpus) == 1):
        if device.kind == "apple":
            return "mac"
        return "machine" if device.unified else "single"
    if memory is None or len(memory.gpus) < 2:
        return "every"
    if estimate.configuration.cards:
        return "card"
    return "fuller" if sum(load.gpus for load in memory.gpus) == 2 else "fullest"


def verdict_sentence(estimate: Estimate, units: str) -> str:
    """The one sentence that answers the question."""
    memory = estimate.memory
    if estimate.verdict == "unsupported" or memory is None:
        refusals = [reason for reason in estimate.reasons if not is_remark(reason)]
        return reason_words(refusals[0], units) if refusals else str(UNSUPPORTED)
    if estimate.verdict == "fits":
        return say(
            FITS[place_of(estimate)], {"room": memory.headroom_bytes, "card": _card(estimate, memory)}, units
        )
    if estimate.verdict == "tight":
        return _tight(estimate, memory, units)
    plan = estimate.configuration.plan
    if estimate.verdict == "does_not_fit" and memory.headroom_bytes >= 0:
        short = next(r for r in estimate.reasons if r.code == "host_memory_short")
        return say(HOST_SHORT, {"missing": short.factors["missing_bytes"]}, units)
    if estimate.verdict == "does_not_fit":
        missing: dict[str, Factor] = {"missing": -memory.headroom_bytes, "card": _card(estimate, memory)}
        return say(SHORT[place_of(estimate)], missing, units)
    layers = estimate.configuration.model.architecture.layer_count
    if plan.host_expert_layers:
        total = expert_layers(estimate.configuration)
        factors = {"layers": min(plan.host_expert_layers, total), "total": total}
        return say(OFFLOAD_EXPERTS_ALL if factors["layers"] == total else OFFLOAD_EXPERTS, factors, units)
    if plan.host_layers == layers:
        return say(OFFLOAD_ALL, {"total": layers}, units)
    return say(OFFLOAD, {"layers": plan.host_layers, "total": layers}, units)


def _card(estimate: Estimate, memory: Memory) -> str:
    """The name of the unequal card with the least room."""
    cards = estimate.configuration.cards
    return cards[memory.fullest].name.removeprefix("GeForce ") if memory.fullest < len(cards) else ""


def _tight(estimate: Estimate, memory: Memory, units: str) -> str:
    over = memory.needed.high - memory.limit.usable.value
    if over > 0:
        return say(TIGHT, {"room": memory.headroom_bytes, "over": over}, units)
    factors: dict[str, Factor] = {
        "room": memory.headroom_bytes,
        "margin": memory.limit.margin_bytes,
        "engine": estimate.configuration.engine.id,
    }
    reaches = memory.headroom_bytes >= memory.limit.margin_bytes
    return say(TIGHT_REACHES_MARGIN if reaches else TIGHT_MARGIN, factors, units)
