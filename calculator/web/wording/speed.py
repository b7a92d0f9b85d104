"""Words of speed: the names of its figures, what bounds a step, and the multiplication behind each figure."""

from __future__ import annotations

from collections.abc import Iterable, Mapping

from calculator.estimation.terms import BoundBy, Reason
from calculator.web.wording.speech import gettext_lazy as _
from calculator.web.wording.speech import ngettext_lazy
from calculator.web.wording.text import Template, say, say_code

BOUND_BY: Mapping[BoundBy, Template] = {
    "weights": _("reading the weights, {share:share} of a step"),
    "cache": _("reading the cache, {share:share} of a step"),
    "compute": _("multiplications, {share:share} of a step"),
    "interconnect": _("messages between GPUs, {share:share} of a step"),
    "host memory": _("system RAM, {share:share} of a step"),
    "overhead": _("fixed costs of the layers, {share:share} of a step"),
}
"""What a decode step spends most of its time on, as a phrase."""

BOUND_SHORT: Mapping[BoundBy, Template] = {
    "weights": _("bandwidth-bound"),
    "cache": _("bound by the cache"),
    "compute": _("compute-bound"),
    "interconnect": _("bound by the links"),
    "host memory": _("bound by system RAM"),
    "overhead": _("bound by fixed costs"),
}
"""The same in a key figure."""

GROUNDS: Mapping[str, Template] = {
    "step_weights": ngettext_lazy(
        "Weights: {bytes:bytes} read at {share:percent} of {bandwidth:bandwidth} take {ms:time}.",
        "Weights: {bytes:bytes} read on each of {ranks} GPUs at {share:percent} of {bandwidth:bandwidth} take "
        "{ms:time}.",
        "ranks",
    ),
    "step_cache": _("Cache and attention: {bytes:bytes} of the request take {ms:time}."),
    "step_cache_many": _("Cache and attention: {bytes:bytes} of {requests:rate} requests take {ms:time}."),
    "step_compute": _("Multiplications: {ms:time}."),
    "step_links": _("Messages between GPUs: {ms:time}."),
    "step_host": _("System RAM: {bytes:bytes} read at {bandwidth:bandwidth} take {ms:time}."),
    "step_host_asked": _(
        "System RAM: {bytes:bytes} read at {bandwidth:bandwidth} of the bandwidth given take {ms:time}."
    ),
    "step_overhead": ngettext_lazy(
        "Fixed costs of {layers} layer and of the step: {ms:time}.",
        "Fixed costs of {layers} layers and of the step: {ms:time}.",
        "layers",
    ),
    "step_one_user": _("A step takes {step_ms:time}: {rate:rate} tokens per second."),
    "step_many_users": _(
        "A step takes {step_ms:time} while {decoding:rate} of {users} users decode; with the prompts of the others, "
        "{share:share} of the time, a user waits {tpot_ms:time} for a token: {rate:rate} tokens per second."
    ),
    "speed_range_measured": ngettext_lazy(
        "The range is the spread of {cases} measured result of this kind.",
        "The range is the spread of {cases} measured results of this kind.",
        "cases",
    ),
    "speed_range_prior": _(
        "No result of this kind was measured on {engine:engine}: the range is that of its relatives."
    ),
    "speed_range_host": _("What system RAM really reaches widens it."),
    "speed_range_links": _("Slow links between GPUs, known to a factor of two, widen it."),
    "prompt_operations": ngettext_lazy(
        "{tokens} tokens are {flops:flops}. Alone on an idle machine they take {ms:time}: "
        "{share:percent} of {peak:flops}/s ({rate:format}).",
        "{tokens} tokens are {flops:flops}. Alone on an idle machine they take {ms:time}: "
        "{share:percent} of {peak:flops}/s ({rate:format}) of {gpus} GPUs.",
        "gpus",
    ),
    "prompt_host_weights": ngettext_lazy(
        "{bytes:bytes} of weights come from system RAM once, at {bandwidth:bandwidth}.",
        "{bytes:bytes} of weights come from system RAM {chunks} times, at {bandwidth:bandwidth}.",
        "chunks",
    ),
    "first_token_alone": _("Reading a prompt of {tokens} tokens takes {ms:time} on an idle machine."),
    "first_token_prefix": _(
        "{prefix} further tokens are shared by all requests and are in the cache already."
    ),
    "first_token_wait": _("With {users} users at once, {ms:time} of waiting for other prompts come on top."),
    "answer_time": _("{ttft_ms:time} to the first token, then {more} × {tpot_ms:time}: {request_ms:time}."),
    "power_measured": ngettext_lazy(
        "Measured under load: {each:rate} W.",
        "Measured under load: {gpus} × {each:rate} W.",
        "gpus",
    ),
    "power_of_limit": ngettext_lazy(
        "Under this load the device takes {each:rate} W of its limit of {limit:rate} W.",
        "Under this load each of {gpus} devices takes {each:rate} W of its limit of {limit:rate} W.",
        "gpus",
    ),
    "power_host": _("The rest of the machine takes {share:share} more."),
    "energy_per_token": _(
        "{watts:rate} W ÷ {rate:rate} tokens per second of all users = {joules:rate} J per generated token."
    ),
}
"""The sentences of *why*, by the codes of calculator/estimation/throughput/grounds.py."""

_FALLBACK = _("Nothing is known about this part.")


def bound_words(bound_by: BoundBy, share: float, units: str) -> str:
    """`reading the weights, 64% of a step`."""
    return say(BOUND_BY[bound_by], {"share": share}, units)


def ground_words(grounds: Iterable[Reason], units: str) -> str:
    """The explanation of one figure, a sentence for each of its codes."""
    return " ".join(say_code(GROUNDS, each.code, each.factors, units, _FALLBACK) for each in grounds)
