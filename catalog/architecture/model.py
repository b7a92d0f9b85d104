"""A language model as an ordered list of blocks, and the folds over its tensors (formulas §2.0)."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from typing import Any, Literal, cast, get_args

from catalog.architecture.kinds import Mixer, Mlp, mixer_from_json, mixer_to_json, mlp_from_json, mlp_to_json
from catalog.architecture.mlp import MoeMlp
from catalog.architecture.parts import ArchitectureError, Tensor, vector

Part = Literal["text", "text-lookup", "mtp", "vision", "audio", "vision+audio", "other"]
"""Where weights outside the blocks belong: `text` is multiplied for every token, `text-lookup` is a table read by row,
`mtp` is loaded only for speculation, `vision` and `audio` only when images or sound are used."""

TEXT_PARTS: frozenset[str] = frozenset({"text", "text-lookup"})
ORDER_ASSUMED = "assumed evenly"


@dataclass(frozen=True, slots=True)
class Extra:
    """Weights outside the blocks, embedding, head and final norm."""

    name: str
    parameters: int
    part: Part
    remainder: bool = False
    derived: bool = False
    note: str = ""

    def __post_init__(self) -> None:
        if self.part not in get_args(Part):
            raise ArchitectureError(
                f"Extra {self.name!r}: part is {self.part!r}; it may be {', '.join(get_args(Part))}."
            )


@dataclass(frozen=True, eq=False)
class Block:
    """One layer: a mixer, an MLP, its norms."""

    name: str
    mixer: Mixer
    mlp: Mlp
    norm_vectors: int = 2
    extra_parameters: int = 0
    mixer_name: str = ""
    mlp_name: str = ""

    def tensors(self, hidden_size: int) -> tuple[Tensor, ...]:
        """All weights of the layer."""
        own = list(self.mixer.tensors(hidden_size)) + list(self.mlp.tensors(hidden_size))
        if self.norm_vectors:
            own.append(vector("norm", self.norm_vectors * hidden_size))
        if self.extra_parameters:
            own.append(vector("layer_extra", self.extra_parameters))
        return tuple(own)


@dataclass(frozen=True, eq=False)
class Architecture:
    """The shape of one model. Compared by identity: it is built once per catalogue version and used as a cache key.

    order: run-length list of (index into blocks, count), first layer first. kept_residual_block: layers per kept block
    output (attention residuals of Kimi K3), None without. rope_factors: entries of the frequency table that GGUF
    converters add for Llama 3.1's scaled RoPE; it is no weight of the checkpoint.
    """

    hidden_size: int
    vocabulary_size: int
    blocks: tuple[Block, ...]
    order: tuple[tuple[int, int], ...]
    tied_embeddings: bool = False
    embedding_rows: int | None = None
    head_bias: bool = False
    output_head: bool = True
    final_norm_vectors: int = 1
    extras: tuple[Extra, ...] = ()
    order_basis: str = "one kind of layer"
    kept_residual_block: int | None = None
    hyper_connections: int | None = None
    attention_residual: dict[str, Any] | None = field(default=None)
    rope_factors: int = 0

    @cached_property
    def sequence(self) -> tuple[int, ...]:
        """Index of the block of every layer, first to last."""
        return tuple(index for index, count in self.order for _ in range(count))

    @property
    def layer_count(self) -> int:
        """Layers L [1]."""
        return len(self.sequence)

    @property
    def order_assumed(self) -> bool:
        """Nobody published where the layers stand; they are interleaved evenly."""
        return self.order_basis == ORDER_ASSUMED

    @cached_property
    def block_tensors(self) -> tuple[tuple[Tensor, ...], ...]:
        """The tensors of each block, by its index."""
        return tuple(block.tensors(self.hidden_size) for block in self.blocks)

    @cached_property
    def embedding(self) -> Tensor:
        """The input embedding: rows are tokens, columns the width."""
        rows = self.embedding_rows or self.vocabulary_size
        return Tensor("embedding", rows, self.hidden_size, family="embedding")

    @cached_property
    def head(self) -> tuple[Tensor, ...]:
        """The output head and its bias; empty when it shares the embedding's weights or does not exist."""
        if self.tied_embeddings or not self.output_head:
            return ()
        out = [Tensor("head", self.vocabulary_size, self.hidden_size, family="head")]
        if self.head_bias:
            out.append(vector("head_bias", self.vocabulary_size, sharded=True))
        return tuple(out)

    @cached_property
    def final_norm(self) -> Tensor | None:
        """The norm before the head."""
        if not self.final_norm_vectors:
            return None
        return vector("final_norm", self.final_norm_vectors * self.hidden_size)

    def text_tensors(self) -> Iterator[tuple[int, Tensor]]:
        """Every tensor of the language model with the number of layers that have it, block by block."""
        counts = [0] * len(self.blocks)
        for index in self.sequence:
            counts[index] += 1
        for count, tensors in zip(counts, self.block_tensors, strict=True):
            for tensor in tensors:
                yield count, tensor
        yield 1, self.embedding
        for tensor in self.head:
            yield 1, tensor
        if self.final_norm:
            yield 1, self.final_norm

    @cached_property
    def text_parameters(self) -> int:
        """Weights of the language model alone: what an engine loads for text without speculation [1]."""
        extras = sum(extra.parameters for extra in self.extras if extra.part in TEXT_PARTS)
        return sum(count * tensor.parameters for count, tensor in self.text_tensors()) + extras

    @cached_property
    def parameters(self) -> int:
        """Weights of the whole checkpoint [1]."""
        return self.text_parameters + sum(
            extra.parameters for extra in self.extras if extra.part not in TEXT_PARTS
        )

    @cached_property
    def active_parameters(self) -> int:
        """Weights that one decoded text token multiplies: chosen and shared experts, router, norms, head; without the
        input embedding, lookup tables, encoders and MTP [1]."""
        counted = sum(
            count * t.active_parameters for count, t in self.text_tensors() if t.family != "embedding"
        )
        if self.tied_embeddings and self.output_head:
            counted += self.vocabulary_size * self.hidden_size
        return counted + sum(extra.parameters for extra in self.extras if extra.part == "text")

    @cached_property
    def routed_expert_parameters(self) -> int:
        """Weights of all routed experts [1]."""
        return sum(
            count * tensor.parameters for count, tensor in self.text_tensors() if tensor.family == "expert"
        )

    @cached_property
    def experts(self) -> int:
        """Routed experts of the first MoE block, 0 for a dense model [1]."""
        return next((block.mlp.experts for block in self.blocks if isinstance(block.mlp, MoeMlp)), 0)

    @cached_property
    def expert_width(self) -> int:
        """Intermediate width of a routed expert of the first MoE block, 0 for a dense model [elements]."""
        return next((b.mlp.expert_intermediate for b in self.blocks if isinstance(b.mlp, MoeMlp)), 0)

    @property
    def is_moe(self) -> bool:
        return self.experts > 0

    @cached_property
    def kinds(self) -> frozenset[str]:
        """The mixer kinds that occur."""
        return frozenset(block.mixer.KIND for block in self.blocks)

    def extra_parameters(self, part: str) -> int:
        """Weights of the extras whose part contains the word, for instance `vision` [1]."""
        return sum(extra.parameters for extra in self.extras if part in extra.part)

    @classmethod
    def from_json(cls, data: dict[str, Any]) -> Architecture:
        """Read the `architecture` object of a catalogue entry; raises `ArchitectureError` with a sentence."""
        known = {
            "hidden_size", "vocabulary_size", "embedding_rows", "tied_embeddings", "head_bias", "output_head",
            "final_norm_vectors", "mixers", "mlps", "blocks", "order", "order_basis", "extras",
            "attention_residual", "hyper_connections", "rope_factors",
        }  # fmt: skip
        if unknown := sorted(set(data) - known):
            raise ArchitectureError(f"Architecture has no field {', '.join(unknown)}.")
        for name in ("hidden_size", "vocabulary_size", "mixers", "mlps", "blocks", "order"):
            if not data.get(name):
                raise ArchitectureError(f"Architecture needs {name}.")
        hidden = int(data["hidden_size"])
        mixers = {name: mixer_from_json(entry, hidden) for name, entry in data["mixers"].items()}
        mlps = {name: mlp_from_json(entry) for name, entry in data["mlps"].items()}
        blocks, names = [], list(data["blocks"])
        for name, entry in data["blocks"].items():
            if entry["mixer"] not in mixers or entry["mlp"] not in mlps:
                raise ArchitectureError(
                    f"Block {name!r} uses {entry['mixer']} and {entry['mlp']}; one is not described."
                )
            blocks.append(
                Block(
                    name,
                    mixers[entry["mixer"]],
                    mlps[entry["mlp"]],
                    entry.get("norm_vectors", 2),
                    entry.get("extra_parameters", 0),
                    entry["mixer"],
                    entry["mlp"],
                )
            )
        order = []
        for name, count in data["order"]:
            if name not in names:
                raise ArchitectureError(f"The order names the block {name!r}, which is not described.")
            if not isinstance(count, int) or count < 1:
                raise ArchitectureError(f"The order says {count} layers of {name!r}; it must be 1 or more.")
            order.append((names.index(name), count))
        residual = data.get("attention_residual")
        return cls(
            hidden_size=hidden,
            vocabulary_size=int(data["vocabulary_size"]),
            blocks=tuple(blocks),
            order=tuple(order),
            tied_embeddings=bool(data.get("tied_embeddings", False)),
            embedding_rows=data.get("embedding_rows"),
            head_bias=bool(data.get("head_bias", False)),
            output_head=bool(data.get("output_head", True)),
            final_norm_vectors=int(data.get("final_norm_vectors", 1)),
            extras=tuple(Extra(**entry) for entry in data.get("extras", [])),
            order_basis=data.get("order_basis", "one kind of layer"),
            kept_residual_block=residual["block_size"] if residual else None,
            hyper_connections=data.get("hyper_connections"),
            attention_residual=residual,
            rope_factors=int(data.get("rope_factors", 0)),
        )

    def to_json(self) -> dict[str, Any]:
        """The catalogue entry that `from_json` reads back, defaults left out."""
        out: dict[str, Any] = {"hidden_size": self.hidden_size, "vocabulary_size": self.vocabulary_size}
        optional = {
            "embedding_rows": (self.embedding_rows, None),
            "tied_embeddings": (self.tied_embeddings, False),
            "head_bias": (self.head_bias, False),
            "output_head": (self.output_head, True),
            "final_norm_vectors": (self.final_norm_vectors, 1),
        }
        out |= {name: value for name, (value, default) in optional.items() if value != default}
        out["mixers"] = {block.mixer_name: mixer_to_json(block.mixer) for block in self.blocks}
        out["mlps"] = {block.mlp_name: mlp_to_json(block.mlp) for block in self.blocks}
        out["blocks"] = {}
        for block in self.blocks:
            entry: dict[str, Any] = {"mixer": block.mixer_name, "mlp": block.mlp_name}
            if block.norm_vectors != 2:
                entry["norm_vectors"] = block.norm_vectors
            if block.extra_parameters:
                entry["extra_parameters"] = block.extra_parameters
            out["blocks"][block.name] = entry
        out["order"] = [[self.blocks[index].name, count] for index, count in self.order]
        if len(self.blocks) > 1:
            out["order_basis"] = self.order_basis
        if self.extras:
            out["extras"] = [_extra_to_json(extra) for extra in self.extras]
        if self.attention_residual:
            out["attention_residual"] = self.attention_residual
        if self.hyper_connections:
            out["hyper_connections"] = self.hyper_connections
        if self.rope_factors:
            out["rope_factors"] = self.rope_factors
        return out


def _extra_to_json(extra: Extra) -> dict[str, Any]:
    entry: dict[str, Any] = {
        "name": extra.name,
        "parameters": extra.parameters,
        "part": cast(str, extra.part),
    }
    entry |= {flag: True for flag in ("remainder", "derived") if getattr(extra, flag)}
    if extra.note:
        entry["note"] = extra.note
    return entry
