"""How a term of the sum came about: the multiplication in words and numbers, for every code of the arithmetic."""

from __future__ import annotations

from collections.abc import Mapping

from calculator.estimation.terms import Term
from calculator.web.wording.cache_terms import CACHE_TERMS, cache_words
from calculator.web.wording.speech import gettext_lazy as _
from calculator.web.wording.speech import ngettext_lazy
from calculator.web.wording.text import Template, say, say_code

TERMS: Mapping[str, Template] = {
    "weights_unmeasured": _(
        "No load of this architecture was measured on this engine: up to {share:percent} more is allowed for."
    ),
    "rotary_table": _(
        "Rotary angles for every position: 2 B × {positions} positions × {width} = {value:bytes}, on each GPU."
    ),
    # activations and buffers
    "activation_sampler": _(
        "The sampler holds logits: {per_logit:plain} B × {requests} requests × {vocabulary} tokens of vocabulary "
        "+ 2 B × {batched} batched tokens × {hidden} + {fixed_bytes:bytes} = {value:bytes}."
    ),
    "activation_layers": _(
        "The widest layer: 2 B × {batched} batched tokens × (3 × {width} ÷ {ranks} + 4.25 × {hidden}) = {value:bytes}."
    ),
    "activation_layers_one": _(
        "The widest layer: 2 B × {batched} batched tokens × (3 × {width} + 4.25 × {hidden}) = {value:bytes}."
    ),
    "activation_moe": _("Routing of experts: {value:bytes}."),
    "activation_residuals": _(
        "Kept outputs of blocks: 2 B × {batched} batched tokens × {hidden} × {kept} blocks = {value:bytes}."
    ),
    "compute_llamacpp": _(
        "Compute buffer for a micro-batch of {micro_batch} tokens over {cells} cells: {value:bytes}, "
        "from the width {width}, the hidden size {hidden} and {vocabulary} tokens of vocabulary."
    ),
    "host_copies": _(
        "What a GPU is handed of the largest layer in system RAM: {bytes:bytes}, uncertain by a factor of 3."
    ),
    "split_buffers": _(
        "Three more copies of the inputs and one hidden state: "
        "12 B × {micro_batch} × ({hidden} + {cells}) + 4 B × {micro_batch} × {hidden} = {value:bytes}."
    ),
    "request_table": _("Table of requests: 4 B × {requests} requests × {tokens} tokens = {value:bytes}."),
    "logits": _("Logits: 4 B × {requests} requests × {vocabulary} tokens of vocabulary = {value:bytes}."),
    "free_left": _(
        "The cache takes {share:percent} of what is free after loading, so {cache_bytes:size} of cache leave "
        "{value:bytes} unused."
    ),
    "prefill_chunk": _("A prompt is read in chunks of {chunk} tokens: {value:bytes}."),
    "workspace": _("Working memory beside weights and cache: {value:bytes}."),
    "awq_prompt": _("AWQ keeps {kib:plain} KiB for each of {tokens} tokens: {value:bytes}."),
    "chunk_reserve": _("Kept free on each GPU for chunks of the prompt: {value:bytes}."),
    "cache_beyond": _("The cache takes about {percent:percent} more than its tokens: {value:bytes}."),
    "head_copy": _(
        "The head shares its table with the embedding and is stored once more beside FP8 weights: "
        "2 B × {vocabulary} × {hidden} = {value:bytes}."
    ),
    "pool_window_share": _(
        "The window layers’ pool holds {ratio:plain} tokens for each token of the other layers’ pool, "
        "whatever the window: {value:bytes} more."
    ),
    "pool_cache_share": _(
        "The states’ pool is {ratio:plain} times the cache’s pool, so the cache’s pool grows with it: "
        "{value:bytes} more."
    ),
    "pool_state_share": _(
        "The states’ pool is {ratio:plain} times the cache’s pool and grows with it: {value:bytes} more."
    ),
    # runtime
    "nccl": _("Buffers for the exchange between {ranks} GPUs: {value:bytes}."),
    "planner_reserve": _(
        "The planner keeps {reserve_bytes:bytes} of each device free; beyond the process’s own context "
        "that is {value:bytes}."
    ),
    "projector_room": _("The planner keeps room beside a projector: {value:bytes}."),
    "graphs_capture": _(
        "CUDA graphs up to batch size {size}: {size} × {mib_per_size:plain} MiB = {value:bytes}."
    ),
    "non_torch": ngettext_lazy(
        "What the driver and libraries take while the model loads: {value:bytes}.",
        "What the driver and the exchange between {ranks} GPUs take while the model loads: {value:bytes}.",
        "ranks",
    ),
    "context_process": _("The process’s own context and libraries ({backend:backend}): {value:bytes}."),
    # speculation
    "mtp_weights": ngettext_lazy(
        "The model’s own multi-token prediction, loaded to draft tokens: {weights:parameters} weights = {value:exact}.",
        "The model’s own multi-token prediction, loaded to draft tokens: {weights:parameters} weights "
        "over {ranks} GPUs = {value:exact} on each.",
        "ranks",
    ),
    # images
    "vision_encoder": _("Encoder and projector: {weights:parameters} weights in 16 bits = {value:exact}."),
    "vision_graph": _("The encoder’s own buffers: {value:bytes}."),
}
"""Codes whose explanation is one sentence; those of the cache are built by cache_terms.py."""

_LAYERS = _("Layers {first} to {last}: {layers_bytes:exact}.")
_LAYERS_SHARED = _(
    "Layers {first} to {last}: {layers_bytes:exact} on each of {ranks} GPUs, "
    "of which {replicated_bytes:exact} are the same on all."
)
_EMBEDDING = _("Input embedding: {embedding_bytes:exact}.")
_EMBEDDING_ON_HOST = _("The input embedding stays in system RAM.")
_HEAD = _("Output head and last norm: {head_bytes:exact}.")
_NO_LAYERS = _("No layer stands on this GPU.")
_BITS = _("On average {bits_per_weight:plain} bits per weight.")

CODES = frozenset(TERMS) | CACHE_TERMS | {"weights"}

CASES = ngettext_lazy("Measured on {cases} case.", "Measured on {cases} cases.", "cases")

_FALLBACK = _("{value:bytes}.")


def term_words(term: Term, units: str) -> str:
    """The explanation of one term."""
    if term.code == "weights":
        return _weight_words(term, units)
    if term.code in CACHE_TERMS:
        return cache_words(term, units)
    factors = {**term.factors, "value": term.value}
    code = f"{term.code}_one" if f"{term.code}_one" in TERMS and factors.get("ranks") == 1 else term.code
    words = say_code(TERMS, code, factors, units, "")
    if not words:
        words = say_code({term.code: _FALLBACK}, term.code, factors, units, "")
    if term.basis == "calibrated" and term.factors.get("cases"):
        words += " " + say_code({"cases": CASES}, "cases", term.factors, units, "")
    return words


def _weight_words(term: Term, units: str) -> str:
    """What of the model one GPU holds: its layers, the tables at either end, the width that results."""
    factors = term.factors
    pieces = [
        _NO_LAYERS if not factors["layers"] else _LAYERS_SHARED if int(factors["ranks"]) > 1 else _LAYERS
    ]
    if factors["embedding_bytes"]:
        pieces.append(_EMBEDDING)
    elif factors["first"] == 1:
        pieces.append(_EMBEDDING_ON_HOST)
    if factors["head_bytes"]:
        pieces.append(_HEAD)
    pieces.append(_BITS)
    return " ".join(say(piece, factors, units) for piece in pieces)
