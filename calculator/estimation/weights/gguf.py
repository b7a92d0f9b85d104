"""Which GGML type each tensor of a GGUF file takes, and its bytes (formulas §2.2).

The rules are those of llama.cpp's quantizer (ggml-org/llama.cpp:src/llama-quant.cpp) for its stock file types; recipes of
publishers (`UD-*`, `_L`, QAT) deviate and are offered only where a size is published.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from calculator.estimation.weights.ggml import BLOCKS, tensor_bytes, type_for_columns
from calculator.estimation.weights.layout import LayerShare, WeightLayout, share_of
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


@dataclass(frozen=True, slots=True)
class Place:
    """Where a tensor stands: what the quantizer looks at besides its name.

    index, count: running index among the tensors of its category and how many there are (or layer and layers).
    gqa: query heads per KV head of layer 0. eight: exactly 8 experts. wide: llama's 70B class (80 layers, GQA).
    """

    index: int
    count: int
    gqa: int
    experts: int
    wide: bool
    imatrix: bool

    @property
    def eight(self) -> bool:
        return self.experts == 8

    @property
    def more(self) -> bool:
        """The layers that get more bits: the first and last eighth, and every third between."""
        eighth = self.count // 8
        return self.index < eighth or self.index >= 7 * self.count // 8 or (self.index - eighth) % 3 == 2

    @property
    def first_eighth(self) -> bool:
        return self.index < self.count // 8


Pick = Callable[[Place], str]


def _fixed(ggml_type: str) -> Pick:
    return lambda _: ggml_type


def _grouped(yes: str, no: str) -> Pick:
    return lambda place: yes if place.gqa >= 4 else no


@dataclass(frozen=True, slots=True)
class Recipe:
    """A file type: its default and what deviates from it, by category."""

    default: str
    out: str = "Q6_K"
    embedding: str | None = None
    picks: dict[str, Pick] = field(default_factory=dict)
    eight_output: str | None = "Q5_K"


def _eighth(yes: str, no: str) -> Pick:
    return lambda place: yes if place.first_eighth else no


def _low(default: str, embedding: str, value: str, output: str, down: str, out: str = "Q5_K") -> Recipe:
    """The IQ1/IQ2 group: value projections in 4 bits where they are few, down projections better in the first layers."""
    return Recipe(
        default,
        out,
        embedding,
        {
            "V": lambda p: "Q4_K" if p.gqa >= 4 or p.experts >= 4 else value,
            "K": lambda p: "Q4_K" if p.eight else default,
            "O": _fixed(output),
            "DOWN": _eighth(down, default),
        },
    )


RECIPES: dict[str, Recipe] = {
    "q8_0": Recipe("Q8_0", "Q8_0", eight_output=None),
    "q6_k": Recipe("Q6_K", eight_output=None),
    "q5_k_m": Recipe(
        "Q5_K",
        picks={c: lambda p: "Q6_K" if p.more else "Q5_K" for c in ("V", "DOWN")},
        eight_output=None,
    ),
    "q5_k_s": Recipe("Q5_K", eight_output=None),
    "q4_k_m": Recipe("Q4_K", picks={c: lambda p: "Q6_K" if p.more else "Q4_K" for c in ("V", "DOWN")}),
    "q4_k_s": Recipe(
        "Q4_K", picks={"V": lambda p: "Q5_K" if p.index < 4 else "Q4_K", "DOWN": _eighth("Q5_K", "Q4_K")}
    ),
    "q3_k_l": Recipe(
        "Q3_K", picks={"V": _fixed("Q5_K"), "O": _fixed("Q5_K"), "DOWN": _fixed("Q5_K")}, eight_output="Q3_K"
    ),
    "q3_k_m": Recipe(
        "Q3_K",
        picks={
            "V": lambda p: "Q5_K" if p.index < 2 else "Q4_K",
            "O": _fixed("Q4_K"),
            "DOWN": lambda p: "Q5_K" if p.index < p.count // 16 else "Q4_K",
        },
    ),
    "q3_k_s": Recipe("Q3_K"),
    "q2_k": Recipe(
        "Q2_K", picks={"V": _grouped("Q4_K", "Q3_K"), "O": _fixed("Q3_K"), "DOWN": _fixed("Q3_K")}
    ),
    "q2_k_s": Recipe(
        "Q2_K", picks={"V": _grouped("Q4_K", "Q2_K"), "DOWN": _eighth("Q4_K", "Q2_K")}, eight_output=None
    ),
    "q5_1": Recipe("Q5_1", eight_output=None),
    "q4_1": Recipe("Q4_1", eight_output=None),
    "q5_0": Recipe(
        "Q5_0",
        picks={"DOWN": lambda p: "Q5_1" if p.imatrix and p.first_eighth else "Q5_0"},
        eight_output=None,
    ),
    "q4_0": Recipe(
        "Q4_0",
        picks={"DOWN": lambda p: "Q4_1" if p.imatrix and p.first_eighth else "Q4_0"},
        eight_output=None,
    ),
    **{
        name: Recipe(
            default,
            picks={
                "V": _grouped("Q5_K", default),
                "DOWN": lambda p, default=default: "Q5_K" if not p.imatrix and p.first_eighth else default,  # type: ignore[misc]
            },
        )
        for name, default in (("iq4_xs", "IQ4_XS"), ("iq4_nl", "IQ4_NL"))
    },
    "iq3_m": Recipe(
        "IQ3_S",
        picks={
            "V": _fixed("Q4_K"),
            "O": _fixed("Q4_K"),
            "DOWN": lambda p: "Q4_K" if p.first_eighth or (p.eight and p.more) else "IQ3_S",
        },
    ),
    "iq3_s": Recipe("IQ3_S", picks={"V": _grouped("Q4_K", "IQ3_S")}),
    "iq3_xs": Recipe(
        "IQ3_S",
        picks={
            "V": _grouped("Q4_K", "IQ3_S"),
            "K": _fixed("IQ3_XXS"),
            "Q": _fixed("IQ3_XXS"),
            **{
                c: lambda p: "IQ3_XXS" if p.count // 8 <= p.index < 7 * p.count // 8 else "IQ3_S"
                for c in ("GATE", "UP")
            },
        },
    ),
    "iq3_xxs": Recipe(
        "IQ3_XXS",
        "Q5_K",
        "IQ3_S",
        {
            "V": lambda p: "Q4_K" if p.gqa >= 4 else ("IQ3_XXS" if p.imatrix else "IQ3_S"),
            "K": _fixed("IQ2_S"),
            "Q": _fixed("IQ2_S"),
            "O": _fixed("IQ3_S"),
            "DOWN": lambda p: "IQ3_XXS" if p.imatrix else ("Q4_K" if p.first_eighth else "Q3_K"),
        },
    ),
    "iq2_m": _low("IQ2_S", "IQ3_S", "IQ3_S", "IQ3_S", "IQ3_S"),
    "iq2_s": _low("IQ2_XS", "IQ3_S", "IQ3_S", "IQ3_S", "IQ3_S"),
    "iq2_xs": _low("IQ2_XS", "Q2_K", "Q2_K", "IQ2_XS", "Q2_K"),
    "iq2_xxs": _low("IQ2_XXS", "Q2_K", "Q2_K", "IQ2_XXS", "Q2_K"),
    "iq1_m": _low("IQ1_M", "Q2_K", "Q2_K", "IQ2_XXS", "Q2_K"),
    "iq1_s": _low("IQ1_S", "Q2_K", "Q2_K", "IQ2_XXS", "Q2_K"),
    **{
        name: Recipe(default, "Q6_K", "Q4_K", eight_output=None)
        for name, default in (("tq1_0", "TQ1_0"), ("tq2_0", "TQ2_0"), ("q2_0", "Q2_0"))
    },
    "mxfp4_moe": Recipe("Q8_0", "Q8_0", "Q8_0", eight_output=None),
    "nvfp4-gguf": Recipe("NVFP4", "Q8_0", "Q8_0", eight_output=None),
    "bf16": Recipe("BF16", "BF16", "BF16", eight_output=None),
    "f16": Recipe("F16", "F16", "F16", eight_output=None),
}


def nearest_recipe(weights_format: str) -> str:
    """The stock file type that a publisher's own recipe deviates from: it divides a published size among the tensors."""
    plain = weights_format.removeprefix("ud-")
    candidates = (
        plain,
        plain.replace("_xl", "_m"),
        plain.replace("_l", "_m"),
        plain.split("_xl")[0],
        plain.split("_l")[0],
    )
    special = {"q8_k_xl": "q8_0", "q1_0": "tq1_0"}
    return special.get(plain) or next((name for name in candidates if name in RECIPES), "bf16")


_MORE_IMPORTANCE = frozenset({"q2_k_s"})


def made_with_imatrix(weights_format: str) -> bool:
    """Whether publishers make this file type with an importance matrix: the types below 4 bits need one."""
    return weights_format.startswith(("iq1", "iq2", "iq3")) or weights_format in _MORE_IMPORTANCE


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

    def bytes_of(self, tensor: Tensor, layer: int) -> int:
        """Bytes of a tensor with all its copies, aligned as in the file [B]."""
        rows, columns = tensor.rows, tensor.columns
        if self.split_latent and tensor.role == _TRANSPOSED:
            rows, columns = columns, rows
        chosen = self.type_of(tensor, layer)
        if tensor.columns == 1:
            return -(-tensor.parameters * 4 // ALIGNMENT_BYTES) * ALIGNMENT_BYTES
        stored = type_for_columns(chosen, columns)
        size = tensor_bytes(stored, rows * tensor.copies, columns)
        return -(-size // ALIGNMENT_BYTES) * ALIGNMENT_BYTES

    def layer_shares(self) -> tuple[LayerShare, ...]:
        """The bytes of every layer, first to last; once, because the running indices go on."""
        layers = []
        for layer, block in enumerate(self.architecture.sequence):
            share = LayerShare()
            for tensor in _file_order(self.architecture.block_tensors[block], split_latent=self.split_latent):
                share = share + share_of(tensor, self.bytes_of(tensor, layer))
            layers.append(share)
        return tuple(layers)


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
