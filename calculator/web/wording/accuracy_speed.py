"""The words of the record of speed: figures, classes of devices, back ends, numbers of users, its headline."""

from __future__ import annotations

from collections.abc import Mapping

from calculator.web.wording.speech import gettext_lazy as _
from calculator.web.wording.speech import ngettext_lazy
from calculator.web.wording.text import Template

FIGURES: Mapping[str, Template] = {
    "decode": _("Decode, one user"),
    "decode_many": _("Decode, each of many users"),
    "throughput": _("Throughput of all users"),
    "prefill": _("Prefill"),
    "ttft": _("Time to first token"),
}
"""Compared figures, in the order of the table."""

NOTES: Mapping[str, Template] = {
    "decode": _("tokens of the answer per second"),
    "decode_many": _("what one of them sees"),
    "throughput": _("answers of all, prompt phases included"),
    "prefill": _("tokens of the prompt per second"),
    "ttft": _("waiting for other prompts included"),
}

DEVICES: Mapping[str, Template] = {
    "nvidia-datacenter": _("NVIDIA, data centre"),
    "nvidia-workstation": _("NVIDIA RTX PRO"),
    "nvidia-consumer": _("NVIDIA GeForce"),
    "nvidia-apu": _("NVIDIA GB10"),
    "nvidia-edge": _("NVIDIA Jetson"),
    "amd-datacenter": _("AMD Instinct"),
    "amd-workstation": _("AMD Radeon PRO"),
    "amd-consumer": _("AMD Radeon"),
    "amd-apu": _("AMD Ryzen AI"),
    "intel-workstation": _("Intel Arc Pro"),
    "intel-consumer": _("Intel Arc"),
    "apple": _("Apple silicon"),
    "cpu": _("Processors alone"),
}
"""Classes of devices in the order of the table."""

BACKENDS: Mapping[str, Template] = {
    "cuda": _("CUDA"),
    "rocm": _("ROCm"),
    "vulkan": _("Vulkan"),
    "metal": _("Metal"),
    "sycl": _("SYCL"),
    "cpu": _("CPU"),
}

ARCHITECTURES: Mapping[str, Template] = {
    "dense": _("Dense"),
    "moe": _("Mixture of experts"),
}

USERS: Mapping[str, Template] = {
    "1": _("One"),
    "2-7": _("2–7"),
    "8-31": _("8–31"),
    "32-127": _("32–127"),
    "128+": _("128 and more"),
}
"""Requests at the same time."""

TRAITS: Mapping[str, Mapping[str, Template]] = {
    "device": DEVICES,
    "backend": BACKENDS,
    "architecture": ARCHITECTURES,
    "users": USERS,
}
"""Names of the values of each trait that runs are grouped by."""

LABELS: Mapping[str, Template] = {
    "device": _("Devices"),
    "backend": _("Back end"),
    "architecture": _("Model"),
    "users": _("Users"),
}

TITLES: Mapping[str, Template] = {
    "device": _("By class of device"),
    "backend": _("By back end"),
    "architecture": _("By kind of model"),
    "users": _("By number of users"),
}

HEADLINE: Template = ngettext_lazy(
    "How sure is it? On {runs} run never used for fitting, the speed of one user: off by {median}.",
    "How sure is it? On {runs} runs never used for fitting, the speed of one user: off by {median} in the middle case, "
    "by {p90} or more in the worst tenth.",
    "count",
)
NO_HEADLINE = _("How sure is it? No measured speed is in the catalogue yet, so nobody can tell.")
SUBJECT = ngettext_lazy(
    "This is the error of the tokens per second that one user sees, from {slowest} to {fastest}, on {engines} engine.",
    "This is the error of the tokens per second that one user sees, from {slowest} to {fastest}, on {engines} engines.",
    "count",
)
OTHERS = _("In the middle case, {figures}.")
OTHER: Mapping[str, Template] = {
    "decode_many": _("what each of many users sees is off by {median}"),
    "prefill": _("the speed of prompts by {median}"),
    "ttft": _("the time to the first token by {median}"),
}
"""The errors of other figures, parts of one sentence."""
RANGES = _(
    "The 90% ranges held {held} of {judged} observed figures, **{share}** (one standard error of so few figures); the "
    "others count in every error here."
)
LEFT_OUT_IN_TURN = _(
    "For a model that no constant was fitted on, expect more: with each model of the other share left out of the fit in "
    "turn, the speed of one user is off by **{median}** in the middle case and by {p90} or more in the worst tenth."
)
NONE_LEFT_OUT = _("No run was left out.")
SOME_LEFT_OUT = ngettext_lazy(
    "**{left}** of {cases} runs is left out; the reason is given.",
    "**{left}** of {cases} runs are left out, each with its reason.",
    "count",
)
SHOWN_RUNS = ngettext_lazy("{number} run", "{number} runs", "count")
LEFT_OUT_HERE = ngettext_lazy("{left} run left out", "{left} runs left out", "count")
NO_RUN_LEFT_OUT = _("No run of this choice was left out.")
RUNS_LEFT_OUT = ngettext_lazy(
    "{runs} run of this choice is not compared.", "{runs} runs of this choice are not compared.", "count"
)
FLATTERS = _("The constants were fitted on these runs: their errors flatter.")
NOTHING = _("No run shows this yet: {what}.")
NOTHING_AT_ALL = _("The catalogue holds no measured speed yet.")
EVERY_FIGURE = _("Tokens per second that one user sees, one mark for each run")

USERS_FACT = ngettext_lazy("{number} user", "{number} users", "count")
LENGTHS_FACT = _("{prompt} + {output} tokens")
DEPTH_FACT = _("after {depth} tokens")


def trait_name(trait: str, value: str) -> str:
    """The name of a value of a trait; a value without one as it is."""
    names = TRAITS[trait]
    return str(names[value]) if value in names else value.replace("-", " ").capitalize()
