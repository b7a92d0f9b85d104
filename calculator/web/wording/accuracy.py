"""The words of the record of accuracy: names of figures, kinds of attention, reasons."""

from __future__ import annotations

from collections.abc import Mapping

from calculator.web.wording import accuracy_speed as speed
from calculator.web.wording.speech import gettext_lazy as _
from calculator.web.wording.speech import ngettext_lazy
from calculator.web.wording.text import Template

FIGURES: Mapping[str, Template] = {
    "parts": _("Sum per GPU"),
    "total": _("Total of the run"),
    "weights": _("Weights"),
    "kv_cache": _("KV cache"),
    "recurrent_state": _("Recurrent state"),
    "activations": _("Activations"),
    "compute_buffer": _("Compute buffer"),
    "output_buffer": _("Output buffer"),
    "graphs": _("CUDA graphs"),
    "communication": _("Communication"),
    "beside_cache": _("All beside the cache"),
    "pool": _("Room for the cache"),
    "capacity": _("Tokens that fit"),
    "host_buffer": _("Buffer in system RAM"),
}
"""Compared figures, in the order of the table: what a GPU holds in all first."""

NOTES: Mapping[str, Template] = {
    "parts": _("the parts that a log prints for one GPU, added up"),
    "total": _("as the engine counts it"),
    "communication": _("what the driver and libraries take besides"),
    "beside_cache": _("weights, activations and libraries, as the log adds them"),
    "pool": _("what the server leaves for the cache"),
    "capacity": _("in the cache, where the log gives no size"),
    "output_buffer": _("logits of a batch"),
}

EXACT_NOTE = _("published, or from the configuration")
RANGED_NOTE = _("by rule or fitted")

ATTENTION: Mapping[str, Template] = {
    "gqa": _("Grouped (GQA, MHA)"),
    "sliding_window": _("Sliding window"),
    "mla": _("MLA"),
    "hybrid": _("Hybrid, with a state"),
    "compressed": _("Compressed"),
    "unknown": _("Not stated"),
}
"""Kinds of attention as the logs are filed, in the order of the table."""

KINDS: Mapping[str, Template] = {
    "memory": _("Memory"),
    "speed": _("Speed"),
}
"""The records that there are."""

FIGURES_OF: Mapping[str, Mapping[str, Template]] = {"memory": FIGURES, "speed": speed.FIGURES}
"""Compared figures of each record, in the order of its table."""

SHARES: Mapping[str, Template] = {
    "check": _("Never used for fitting"),
    "fit": _("Used for fitting"),
}

UNITS_NAMED: Mapping[str, Template] = {
    "tokens": _("tokens"),
    "requests": _("requests"),
    "count": _("blocks"),
    "tokens/s": _("tokens/s"),
    "s": _("ms"),
}
"""Units of figures that are no sizes; times stand in milliseconds."""

WHYS: Mapping[str, Template] = {}
"""Known reasons for a difference, by the code of the comparison."""

LEFT_OUT: Mapping[str, Template] = {
    "not_comparable": _("The source does not say enough to calculate the figure."),
    "model_not_in_catalogue": _("The catalogue has no model of this architecture."),
    "not_computed": _("The arithmetic has no rule for this format or device."),
    "format_not_in_catalogue": _("The weights format is not in the catalogue."),
    "format_not_stated": _("The source does not state the weights format."),
    "context_not_stated": _("The source does not state the context."),
    "cache_type_not_in_catalogue": _("The cache type is not in the catalogue."),
    "cache_on_host": _("The cache lies in system RAM."),
    "part_not_computed": _("No part of the arithmetic answers to this figure."),
    "printed_zero_or_less": _("The log prints zero or less."),
    "share_not_stated": _(
        "The log states neither the pool nor the share of memory that the server may take."
    ),
    "print_means_something_else": _("This version prints another figure under that name."),
    "no_part_to_compare": _("None of the figures printed can be calculated."),
    "engine_not_in_catalogue": _("The engine is not in the catalogue."),
    "device_not_in_catalogue": _("The device is not in the catalogue."),
    "not_askable": _("The set-up is none that can be asked here."),
    "bytes_unknown": _("No rule says how many bytes the weights take in this format."),
}
"""Why a log, or a figure of it, is not compared, by code; a case file's own words stand as they are."""

HEADLINE: Template = ngettext_lazy(
    "How sure is it? On {logs} log never used for fitting: off by {median}.",
    "How sure is it? On {logs} logs never used for fitting: off by {median} in the middle case, "
    "by {p90} or more in the worst tenth.",
    "count",
)
NO_HEADLINE = _("How sure is it? No measured log is in the catalogue yet, so nobody can tell.")
HEADLINE_SUBJECT = _(
    "This is the error of the memory that one GPU holds, as logs print it: "
    "from {smallest} to {largest}, on {engines} engines."
)
EXACT_SENTENCE = _(
    "Caches, states and output buffers follow from a model’s configuration and are not fitted: **{share}** of {count} such "
    "figures agree with the log to its last printed digit."
)
RANGES_SENTENCE = _(
    "Everything else is a rule, or fitted to other logs: its 90% ranges held {held} of {judged} observed figures, "
    "**{share}** (one standard error of so few figures)."
)
TOO_FEW = _("That is fewer than they promise.")
TOO_MANY = _("That is more than they promise: they could be narrower.")
NONE_LEFT_OUT = _("No log was left out.")
SOME_LEFT_OUT = ngettext_lazy(
    "**{left}** of {cases} logs is left out; the reason is given.",
    "**{left}** of {cases} logs are left out, each with its reason.",
    "count",
)

SHOWN = _("{figures} from {logs}")
SHOWN_FIGURES = ngettext_lazy("{number} figure", "{number} figures", "count")
SHOWN_LOGS = ngettext_lazy("{number} log", "{number} logs", "count")
LEFT_OUT_HERE = ngettext_lazy("{left} log left out", "{left} logs left out", "count")
FLATTERS = _("The constants were fitted on these logs: their errors flatter.")

MISREAD: Mapping[str, Template] = {
    "kind": _("No record is called “{given}”: that of memory is shown."),
    "device": _("No class of devices is called “{given}”: all are shown."),
    "backend": _("No back end is called “{given}”: all are shown."),
    "architecture": _("No kind of model is called “{given}”: all are shown."),
    "users": _("No range of users is called “{given}”: all are shown."),
    "engine": _("No engine is called “{given}”: all are shown."),
    "part": _("No figure is called “{given}”: all are shown."),
    "attention": _("No kind of attention is called “{given}”: all are shown."),
    "share": _("No share is called “{given}”: the logs never used for fitting are shown."),
}

NO_DATA = _("No data: {names}.")
NOTHING = _("No log shows this yet: {what}.")
NOTHING_AT_ALL = _("The catalogue holds no measured log yet.")
NEWEST = _("Computed at a newer version than the newest log: {engines}.")
NEWER = _("{engine} {version} ({newest})")


def figure_name(part: str) -> str:
    """The name of a compared figure."""
    name = FIGURES.get(part) or speed.FIGURES.get(part)
    return str(name) if name else part.replace("_", " ").capitalize()


def attention_name(kind: str) -> str:
    """The name of a kind of attention."""
    return str(ATTENTION[kind]) if kind in ATTENTION else kind.replace("_", " ").capitalize()


def reason_sentence(reason: str) -> str:
    """Why a log is left out: the code's sentence, or the case file's own words as a sentence."""
    if reason in LEFT_OUT:
        return str(LEFT_OUT[reason])
    text = reason.strip().rstrip(".")
    return f"{text[:1].upper()}{text[1:]}." if text else str(LEFT_OUT["not_comparable"])


def why_words(why: str) -> str:
    """A known reason for a difference; nothing for a code without words."""
    return str(WHYS[why]) if why in WHYS else ""
