"""Which GGML type each tensor of a GGUF file takes, and its bytes (formulas §2.2).

The rules are those of llama.cpp's quantizer (ggml-org/llama.cpp:src/llama-quant.cpp) for its stock file types; recipes of
publishers (`UD-*`, `_L`, QAT) deviate and are offered only where a size is published.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from calculator.estimation.weights.ggml import BLOCKS, tensor_bytes, type_for_columns
from calculator.estimation.weights.layout import LayerShare, WeightLayout, share_of
from calculator.estimation.weights.recipes import RECIPES, Place, Recipe, made_with_imatrix
from catalog.architecture import Architecture, Tensor
from catalog.architecture.kinds import Parallel
from catalog.records import normal_class

METADATA_BYTES_PER_TOKEN = 61
"""Tokenizer and header per vocabulary entry [B]: 7 840 928 B for 128 256 tokens (formulas §2.1)."""

ALIGNMENT_BYTES = 32

_TRANSPOSED = "attn_k_b"
"""The MLA key up-projection is stored per head with the columns along the head, not along the latent."""

_CATEGORIES = {
    "attn_v": "V",
    "linear_attn_qkv": "V",
    "attn_k": "K",
    "attn_q": "Q",
    "attn_output": "O",
    "ffn_up": "UP",
    "ffn_gate": "GATE",
    "ffn_down": "DOWN",
    "ffn_up_exps": "UP",
    "ffn_gate_exps": "GATE",
    "ffn_down_exps": "DOWN",
    "ffn_up_shexp": "UP",
    "ffn_gate_shexp": "GATE",
    "ffn_down_shexp": "DOWN",
}
_KEPT_16_BIT = frozenset({"indexer_q_proj", "indexer_k_proj"})
_KEPT_32_BIT = frozenset({"vector", "router", "convolution"})
_LOW_BITS = frozenset({"IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ2_M"})
"""The IQ1/IQ2 group: its own branch of the quantizer."""


def _layer_zero_gqa(architecture: Architecture, *, split_latent: bool) -> int:
    """⌊h ÷ g⌋ of layer 0 as the file says it: 0 for a recurrent layer with per-layer head counts; for MLA h where it is
    stored as MQA (k_b and v_b apart), 1 in the older form."""
    first = architecture.blocks[architecture.sequence[0]].mixer
    if first.KIND == "mla":
        return int(first.heads) if split_latent else 1  # type: ignore[union-attr]
    if isinstance(first, Parallel):
        first = next((part for part in first.parts if part.KIND == "gqa"), first)
    if first.KIND == "gated_deltanet":
        first = next((b.mixer for b in architecture.blocks if b.mixer.KIND == "gqa"), first)
    if first.KIND == "gqa":
        return int(first.heads // first.kv_heads)  # type: ignore[union-attr]
    return 0


_WIDE = {
    "llamaforcausallm": 80,
    "qwen2forcausallm": 80,
    "decilmforcausallm": 80,
    "olmoforcausallm": 80,
    "jais2forcausallm": 68,
}


@dataclass
class _Quantizer:
    """Walks the tensors of a file in order and keeps the running indices that the quantizer keeps."""

    recipe: Recipe
    name: str
    architecture: Architecture
    imatrix: bool
    wide: bool
    split_latent: bool

    def __post_init__(self) -> None:
        self.layers = self.architecture.layer_count
        self.gqa = _layer_zero_gqa(self.architecture, split_latent=self.split_latent)
        self.wide = self.wide and self.gqa > 1
        self.low_bits = self.name.upper() in _LOW_BITS
        self.seen = {"V": 0, "DOWN": 0, "UP": 0, "GATE": 0}
        per_block = [sum(self._category(t) == "V" for t in ts) for ts in self.architecture.block_tensors]
        self.value_tensors = sum(per_block[index] for index in self.architecture.sequence)

    def _category(self, tensor: Tensor) -> str:
        if not self.split_latent and tensor.role == "attn_v_b":
            return "V"
        return _CATEGORIES.get(tensor.role, "")

    def _place(self, category: str, layer: int) -> Place:
        if category == "V":
            index, count = self.seen["V"], self.value_tensors
        else:
            by_layer = self.architecture.experts > 1 and not self.low_bits
            index, count = (layer if by_layer else self.seen.get(category, 0)), self.layers
        if category in self.seen:
            self.seen[category] += 1
        return Place(index, count, self.gqa, self.architecture.experts, self.wide, self.imatrix)

    def type_of(self, tensor: Tensor, layer: int) -> str:
        """The GGML type of one tensor of a layer, before the fall-back for odd columns."""
        if tensor.family in _KEPT_32_BIT:
            return "F32"
        if tensor.role in _KEPT_16_BIT:
            return "F16"
        category = self._category(tensor)
        place = self._place(category, layer)
        if self.name == "mxfp4_moe":
            return "MXFP4" if tensor.family == "expert" else "Q8_0"
        pick = self.recipe.picks.get(category)
        chosen = pick(place) if pick else self.recipe.default
        if place.eight:
            if category == "O" and self.recipe.eight_output:
                chosen = self.recipe.eight_output
            if category in ("V", "K") and not self.low_bits and self.name not in ("bf16", "f16"):
                chosen = "Q8_0"
        if category == "V" and self.wide and not self.low_bits and chosen in ("Q3_K", "Q4_K"):
            chosen = "Q5_K"
        return chosen

    def stored_bytes(self, tensor: Tensor, chosen: str) -> int:
        """Bytes of a tensor of a type with all its copies, aligned as in the file [B]."""
        rows, columns = tensor.rows, tensor.columns
        if self.split_latent and tensor.role == _TRANSPOSED:
            rows, columns = columns, rows
        if tensor.columns == 1:
            return -(-tensor.parameters * 4 // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
        stored = type_for_columns(chosen, columns)
        size = tensor_bytes(stored, rows * tensor.copies, columns)
        return -(-size // ALIGNMENT_BYTES) * ALIGNMENT_BYTES

    def _goes_by_place(self, tensor: Tensor) -> bool:
        """Whether the type of a tensor may depend on the layer that it stands in."""
        return bool(self._category(tensor)) and not (
            tensor.family in _KEPT_32_BIT or tensor.role in _KEPT_16_BIT
        )

    def layer_shares(self) -> tuple[LayerShare, ...]:
        """The bytes of every layer, first to last; once, because the running indices go on. Layers of one kind whose
        tensors get the same types are the same."""
        blocks = [_file_order(ts, split_latent=self.split_latent) for ts in self.architecture.block_tensors]
        varying = [[tensor for tensor in tensors if self._goes_by_place(tensor)] for tensors in blocks]
        known: dict[tuple[int, tuple[str, ...]], LayerShare] = {}
        layers = []
        for layer, block in enumerate(self.architecture.sequence):
            types = tuple(self.type_of(tensor, layer) for tensor in varying[block])
            share = known.get((block, types))
            if share is None:
                share = known[block, types] = self._share(blocks[block], iter(types))
            layers.append(share)
        return tuple(layers)

    def _share(self, tensors: list[Tensor], types: Iterator[str]) -> LayerShare:
        """The bytes of one layer; types: of its tensors that go by their place, in order."""
        share = LayerShare()
        for tensor in tensors:
            chosen = next(types) if self._goes_by_place(tensor) else self.type_of(tensor, 0)
            share = share + share_of(tensor, self.stored_bytes(tensor, chosen))
        return share


def gguf_layout(
    architecture: Architecture,
    weights_format: str,
    class_name: str = "",
    *,
    imatrix: bool | None = None,
    split_latent: bool = True,
) -> WeightLayout:
    """Bytes of every part of a stock GGUF file of the language model (formulas §2.2).

    imatrix: None takes what publishers do. split_latent: current converters store MLA's up-projections apart (k_b, v_b);
    False gives the older form with one kv_b. Raises KeyError for a file type without a rule.
    """
    recipe = RECIPES[weights_format]
    made = made_with_imatrix(weights_format) if imatrix is None else imatrix
    wide = _WIDE.get(normal_class(class_name)) == architecture.layer_count
    quantizer = _Quantizer(recipe, weights_format, architecture, made, wide, split_latent)
    tied = not architecture.head
    out_type = _output_type(recipe, architecture.hidden_size)
    table_type = out_type if tied else (recipe.embedding or recipe.default)
    embedding = _table_bytes(table_type, architecture.embedding.rows, architecture.hidden_size)
    head = 0 if tied else _table_bytes(out_type, architecture.vocabulary_size, architecture.hidden_size)
    if architecture.head_bias and head:
        head += 4 * architecture.vocabulary_size
    final = 4 * architecture.final_norm.parameters if architecture.final_norm else 0
    final += 4 * architecture.rope_factors
    final += _extra_bytes(architecture, "text", recipe.default)
    lookup = _extra_bytes(architecture, "text-lookup", recipe.embedding or recipe.default)
    mtp = _extra_bytes(architecture, "mtp", recipe.default)
    return WeightLayout(
        layers=quantizer.layer_shares(),
        embedding_bytes=embedding,
        head_bytes=head,
        final_bytes=final,
        lookup_bytes=lookup,
        mtp_bytes=mtp,
        metadata_bytes=METADATA_BYTES_PER_TOKEN * architecture.vocabulary_size,
        text_parameters=architecture.text_parameters,
    )


def _file_order(tensors: tuple[Tensor, ...], *, split_latent: bool) -> list[Tensor]:
    """The tensors as the file has them: without the split, key and value up-projection are one matrix."""
    if split_latent:
        return list(tensors)
    out: list[Tensor] = []
    for tensor in tensors:
        if tensor.role == "attn_k_b":
            continue
        if tensor.role == "attn_v_b":
            keys = next(t for t in tensors if t.role == "attn_k_b")
            out.append(Tensor("attn_v_b", tensor.rows + keys.rows, tensor.columns, copies=tensor.copies))
        else:
            out.append(tensor)
    return out


def _output_type(recipe: Recipe, columns: int) -> str:
    """The type of the output matrix: 8 bits where the file's default type does not divide its columns."""
    return "Q8_0" if columns % BLOCKS[recipe.default][0] else recipe.out


def _table_bytes(ggml_type: str, rows: int, columns: int) -> int:
    return tensor_bytes(type_for_columns(ggml_type, columns), rows, columns)


def _extra_bytes(architecture: Architecture, part: str, ggml_type: str) -> int:
    """Text weights outside the blocks: per-layer embeddings at the table's bits, the rest at the default's [B]."""
    return sum(
        tensor_bytes(ggml_type, 1, extra.parameters) for extra in architecture.extras if extra.part == part
    )
