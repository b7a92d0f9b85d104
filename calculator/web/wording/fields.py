"""The name of every parameter and one line that says what it is: for the controls and for the API's documentation."""

from __future__ import annotations

from collections.abc import Mapping

from calculator.web.wording.speech import gettext_lazy as _
from calculator.web.wording.text import Template

FIELDS: Mapping[str, tuple[Template, Template]] = {
    "model": (_("Model"), _("id of a model")),
    "gpu": (_("Hardware"), _("id of an accelerator or a system, or a list such as rtx-3090:2,rtx-3060-12:1")),
    "n": (_("Count"), _("how many of what `gpu` names: accelerators, or whole systems")),
    "engine": (_("Engine"), _("inference engine; auto chooses by device and model")),
    "engine_version": (_("Engine version"), _("version of the engine")),
    "backend": (_("Backend"), _("what the engine computes with")),
    "quant": (_("Weights format"), _("id of a weights format; without it the engine decides")),
    "kv": (_("KV cache type"), _("type of the cached keys and values; f16 means bf16")),
    "ctx": (_("Context"), _("tokens held per request, prompt and answer together")),
    "prompt": (_("Prompt"), _("tokens of the prompt")),
    "output": (_("Answer"), _("tokens of the answer")),
    "users": (_("Users at once"), _("requests served at the same time")),
    "ttft": (_("First token within"), _("latency target for the first token")),
    "tpot": (_("Each token within"), _("latency target for each further token")),
    "prefix": (_("Shared prefix"), _("tokens of the prompt that all requests share")),
    "split": (_("Split"), _("how the model is laid over several GPUs")),
    "tp": (_("Tensor parallel"), _("GPUs that share each layer")),
    "pp": (_("Pipeline stages"), _("stages of consecutive layers")),
    "ep": (_("Expert parallel"), _("GPUs over which the experts are spread")),
    "adp": (_("Attention data parallel"), _("copies of the attention")),
    "dcp": (_("Decode context parallel"), _("GPUs over which the cache is spread")),
    "dp": (_("Replicas"), _("whole copies of the model")),
    "link": (_("Link"), _("connection between GPUs or nodes")),
    "offload": (_("Kept in system RAM"), _("what may stay in system RAM")),
    "ngl": (_("Layers on the GPU"), _("layers that the GPU holds")),
    "ncmoe": (_("Layers with experts in RAM"), _("layers whose experts stay in system RAM")),
    "ram": (_("System RAM"), _("memory of the machine")),
    "ram_bw": (_("RAM bandwidth"), _("bandwidth of that memory")),
    "disk_bw": (_("Disk bandwidth"), _("bandwidth of the disk")),
    "util": (_("Memory share"), _("share of the GPU's memory that the engine may take")),
    "seqs": (
        _("Most sequences"),
        _("requests the server prepares for; engine takes the engine's own default"),
    ),
    "batched": (_("Most batched tokens"), _("most tokens of one forward pass")),
    "ubatch": (_("Micro-batch"), _("tokens of one physical batch")),
    "fa": (_("Flash attention"), _("1 or 0")),
    "eager": (_("Without CUDA graphs"), _("1 or 0")),
    "maxlen": (_("Longest request"), _("longest request of the server; without it the context")),
    "os": (_("Operating system"), _("system around the engine")),
    "display": (_("Drives a screen"), _("1 when the card also drives a screen")),
    "wired": (_("Wired limit"), _("memory limit set on a Mac")),
    "vgm": (_("Graphics memory"), _("memory that the BIOS gives to the APU")),
    "vision": (_("Images"), _("1 when images are used and the encoder is loaded")),
    "mtp": (_("Drafted tokens"), _("tokens drafted per step")),
    "accept": (_("Acceptance"), _("share of drafted tokens that are accepted")),
    "draft": (_("Draft model"), _("id of the draft model")),
    "hours": (_("Hours a day"), _("hours that the machine runs each day")),
    "days": (_("Days a month"), _("days that the machine runs each month")),
    "duty": (_("Busy"), _("share of that time in which it works")),
    "region": (_("Region"), _("electricity region")),
    "kwh": (_("Electricity"), _("own price of electricity")),
    "pue": (_("PUE"), _("power of the site per power of the machine")),
    "price": (_("Price"), _("purchase price of the whole machine")),
    "server_share": (_("Server share"), _("rest of the machine per price of its GPUs")),
    "colo": (_("Colocation"), _("rent of the place")),
    "maintenance": (_("Maintenance"), _("yearly upkeep per price")),
    "years": (_("Horizon"), _("years that are counted")),
    "resale": (_("Resale"), _("value at the end per price")),
    "rate": (_("Discount rate"), _("yearly discount")),
    "rent_trend": (_("Rent trend"), _("yearly change of rents")),
    "source": (_("Source"), _("rent or own")),
    "provider": (_("Provider"), _("id of a cloud provider")),
    "market": (_("Market"), _("kind of offer")),
    "rent": (_("Own rent"), _("own rent of the whole machine")),
    "api_in": (_("API, input"), _("own price of an API, input")),
    "api_out": (_("API, output"), _("own price of an API, output")),
    "method": (_("Method"), _("how the model is fine-tuned")),
    "rank": (_("Rank"), _("rank of the adapters")),
    "targets": (_("Targets"), _("layers that get adapters")),
    "seq": (_("Sequence"), _("tokens of a training sequence")),
    "batch": (_("Batch"), _("sequences per step and GPU")),
    "accum": (_("Accumulation"), _("steps per update")),
    "optimizer": (_("Optimizer"), _("id of the optimizer")),
    "checkpointing": (_("Checkpointing"), _("on or off")),
    "packing": (_("Packing"), _("on or off")),
    "ce": (_("Cross-entropy"), _("plain or chunked")),
    "shard": (_("Sharding"), _("how states are spread over GPUs")),
    "train_offload": (_("Training offload"), _("what stays in system RAM while training")),
    "pref": (_("Preference method"), _("none, dpo or grpo")),
    "tokens": (_("Training tokens"), _("tokens of the data set")),
    "epochs": (_("Epochs"), _("passes over the data")),
    "units": (_("Units"), _("gib or gb")),
    "lang": (_("Language"), _("language of the sentences")),
    "show": (_("Section"), _("section to load at once")),
}

ADVANCED_GROUPS: Mapping[str, Template] = {
    "engine": _("Engine memory"),
    "plan": _("Parallel plan"),
    "offload": _("Offload"),
    "platform": _("Operating system"),
    "lengths": _("Prompt and answer"),
    "speculative": _("Speculative decoding"),
}


def label_of(name: str) -> str:
    """The name of a parameter's control."""
    return str(FIELDS[name][0]) if name in FIELDS else name


def help_of(name: str) -> str:
    """One line that says what the parameter is."""
    return str(FIELDS[name][1]) if name in FIELDS else ""
