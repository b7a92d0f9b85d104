"""Why a verdict is what it is: a sentence for every reason code of the arithmetic."""

from __future__ import annotations

from collections.abc import Mapping

from calculator.estimation.terms import Reason
from calculator.web.wording.economics import ECONOMICS
from calculator.web.wording.speech import gettext_lazy as _
from calculator.web.wording.speech import ngettext_lazy
from calculator.web.wording.text import Template, say_code

REFUSALS: Mapping[str, Template] = {
    "heads_not_divisible": _("{engine:engine} cannot split {heads} heads over {tp} GPUs."),
    "kv_heads_not_divisible": _("{engine:engine} cannot split {kv_heads} KV heads over {tp} GPUs."),
    "width_not_divisible": _(
        "{engine:engine} cannot split a width of {width} over {tp} GPUs: each share must be a multiple of {block}."
    ),
    "state_heads_not_divisible": _(
        "{engine:engine} cannot split {heads} heads of the recurrent state over {tp} GPUs."
    ),
    "too_many_gpus_layer_split": _(
        "{engine:engine} spreads layers over at most {limit} GPUs; {gpus} are asked for."
    ),
    "too_many_gpus_tensor_split": _(
        "{engine:engine} splits tensors over at most {limit} GPUs; {gpus} are asked for."
    ),
    "tensor_split_unsupported": _("{engine:engine} cannot split the tensors of {class_name}."),
    "tensor_split_cache_type": _(
        "{engine:engine} splits tensors with a 16-bit cache only, not with {cache_type}."
    ),
    "more_stages_than_layers": _("{engine:engine} cannot cut {layers} layers into {pp} stages."),
    "no_pipeline": _("{engine:engine} has no pipeline stages for {class_name}."),
    "plan_does_not_multiply": ngettext_lazy(
        "Tensor {tp} × pipeline {pp} does not make {gpus} GPU.",
        "Tensor {tp} × pipeline {pp} does not make {gpus} GPUs.",
        "gpus",
    ),
    "too_many_requests": _("{engine:engine} serves at most {limit} requests at once; {users} are asked for."),
    "engine_not_on_device": _("{engine:engine} does not run on {device}."),
    "backend_not_on_device": _("{engine:engine} has no {backend:backend} backend for {device}."),
    "format_not_in_engine": _("{engine:engine} does not load {format:format}."),
    "format_needs_capability": _(
        "{engine:engine} needs compute capability {needs} for {format:format}; {device} has {has}."
    ),
    "format_not_on_device": _("{engine:engine} does not load {format:format} on {device}."),
    "format_not_for_model": _("{format:format} does not exist for {model}."),
    "cache_type_not_in_engine": _("{engine:engine} has no {cache_type} cache."),
    "cache_type_not_for_model": _("{engine:engine} cannot keep the cache of this model as {cache_type}."),
    "cache_row_not_divisible": _(
        "A cache row of {row} values does not divide into {cache_type} blocks of {block}."
    ),
    "cache_needs_flash_attention": _("A {cache_type} cache needs flash attention, which is switched off."),
    "no_tensor_split": _("{engine:engine} does not split tensors, only layers."),
    "one_request_only": _("{engine:engine} serves {model} one request at a time."),
    "quantized_cache_one_request": _(
        "{engine:engine} serves one request at a time with a {cache_type} cache."
    ),
    "gpus_not_divisible_by_nodes": _("{engine:engine} cannot divide {gpus} GPUs over {nodes} nodes."),
    "attention_groups_not_divisible": _(
        "{engine:engine} cannot divide {tp} GPUs into {adp} attention groups."
    ),
    "needs_experts": _("{engine:engine} keeps experts in system RAM, and {model} has none."),
    "one_machine_only": _(
        "{engine:engine} runs in one machine, without pipeline stages; {gpus} GPUs are asked for."
    ),
    "offload_not_in_engine": _("{engine:engine} keeps no {kind} in system RAM."),
    "no_experts": _("{model} has no experts that could stay in system RAM."),
    "no_expert_parallel": _("{engine:engine} does not spread experts over GPUs."),
    "tensor_or_layer_split": _(
        "{engine:engine} splits tensors or layers, not both: {tp} × {pp} is no mode of it."
    ),
    "no_attention_groups": _("{engine:engine} has no attention data parallelism."),
    "expert_groups_not_divisible": _(
        "{engine:engine} cannot spread experts {ep} ways over {tp} GPUs of a stage."
    ),
    "no_context_parallel": _("{engine:engine} does not divide a request’s cache over GPUs."),
    "context_groups_not_divisible": _("{engine:engine} cannot divide the cache of {tp} GPUs {dcp} ways."),
    "class_refused": _("{engine:engine} refuses models of class {class_name}."),
    "not_computed_yet": _("Not computed yet: {what:what}."),
    "native_unknown": _("The native format of {model} is not known."),
    "published_size_only": _(
        "{format:format} has no rule for its size, and no published file of {model} is known."
    ),
    "memory_unknown": _("The memory of {device} is not known."),
}
"""What an engine, a format or a device cannot do, or what is not known: said in place of a verdict by memory."""

GROUNDS: Mapping[str, Template] = {
    "weights_alone_too_large": _(
        "The weights alone need {weights_bytes:size}; {limit_bytes:size} are usable. "
        "A shorter context will not help."
    ),
    "short_of": ngettext_lazy(
        "{missing_bytes:size} are missing.",
        "{missing_bytes:size} are missing on each of {gpus} GPUs.",
        "gpus",
    ),
    "short_of_fullest": _("{missing_bytes:size} are missing on the fullest GPU."),
    "short_of_card": _("{missing_bytes:size} are missing on the card with the least room."),
    "host_memory_short": _(
        "The part in system RAM needs {host_bytes:size}; the machine has {ram_bytes:size}, "
        "{missing_bytes:size} are missing."
    ),
    "experts_on_host": _(
        "The experts of {layers} of {all} layers stay in system RAM, which needs {host_bytes:size}."
    ),
    "layers_on_host": _("{layers} of {all} layers stay in system RAM, which needs {host_bytes:size}."),
    "layers_and_output_on_host": _(
        "{layers} of {all} layers and the output stay in system RAM, which needs {host_bytes:size}."
    ),
    "count_fits": ngettext_lazy(
        "{gpus} fits with {engine:engine}.", "{gpus} fit with {engine:engine}.", "gpus"
    ),
    "no_count_fits": _("No count up to {largest} fits with {engine:engine}."),
    "more_devices_than_engine_joins": _(
        "The weights alone need {least} of {device}; {engine:engine} joins at most {largest} here."
    ),
    "fits_with_room": _("{headroom_bytes:size} stay free."),
    "high_end_over": _("The high end of the range is {over_bytes:size} over."),
    "inside_fit_margin": _(
        "At the high end of the range, less than the {margin_bytes:bytes} that the engine keeps free by default stays free."
    ),
    "occupied_over_process": _(
        "The server would occupy {occupied_bytes:size} of {total_bytes:size} in all: "
        "let it take at most {largest_share:percent}."
    ),
}
"""What follows from the figures of memory."""

REMARKS: Mapping[str, Template] = {
    "no_generation": _("{model} makes embeddings, no text: no cache is counted."),
    "class_not_listed": _(
        "{engine:engine} {version} does not list {class_name}: computed as for {relative}, without a command."
    ),
    "class_not_listed_alone": _(
        "{engine:engine} {version} does not list {class_name}: its memory is computed all the same, without a command."
    ),
    "order_assumed": _("Nobody published the order of the layers: they are taken as evenly mixed."),
    "version_outside_measured": _(
        "Overheads were measured on {engine:engine} {low} to {high}: for {version} their ranges are 1.5 times as wide."
    ),
    "version_outside_measured_until": _(
        "Overheads were measured on {engine:engine} up to {high}: for {version} their ranges are 1.5 times as wide."
    ),
    "architecture_not_measured": _(
        "No load of {class_name} on {engine:engine} was measured: the range reaches {share:percent} of the weights higher."
    ),
    "needs_plugin": _("On this device {engine:engine} needs {plugin} beside it."),
    "context_above_maximum": _("The context of {ctx} tokens is above the model’s maximum of {maximum}."),
}
"""What a reader should know about the figures whatever the verdict."""

SPEED_GAPS: Mapping[str, Template] = {
    "speed_no_generation": _("{model} makes embeddings, no text: there is no speed of generating."),
    "speed_bandwidth_unknown": _("No memory bandwidth of {device} is known: its speed cannot be estimated."),
    "speed_compute_unknown": _(
        "No compute rate of {device} is known: the time of a prompt cannot be estimated."
    ),
    "power_unknown": _("No power figure of {device} is known."),
}
"""Which figure of a device is missing for its speed or its power."""

REASONS: Mapping[str, Template] = {**REFUSALS, **GROUNDS, **REMARKS, **SPEED_GAPS, **ECONOMICS}

_FALLBACK = _("The engine does not support this combination.")


def reason_words(reason: Reason, units: str) -> str:
    """The sentence of one reason."""
    return say_code(REASONS, reason.code, reason.factors, units, _FALLBACK)


def is_remark(reason: Reason) -> bool:
    """True for a remark on the figures, false for what decides the verdict."""
    return reason.code in REMARKS
