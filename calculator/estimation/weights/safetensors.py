"""Bytes of checkpoints in safetensors and MLX formats by rule (formulas §2.3).

Quantized are the linear layers; embedding, head, router, norms and convolutions stay in 16 bits unless the format says
otherwise.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from fractions import Fraction

from calculator.estimation.numbers import ceil_div
from calculator.estimation.weights.layout import LayerShare, WeightLayout, share_of
from catalog.architecture import Architecture, Tensor
from catalog.architecture.model import TEXT_PARTS
from catalog.architecture.parts import vector

TensorBytes = Callable[[Tensor], int]
"""Bytes of a tensor with all its copies [B]."""

QUANTIZED = frozenset({"linear", "expert"})


def _bits(numerator: int, denominator: int = 8) -> TensorBytes:
    return lambda tensor: ceil_div(tensor.parameters * numerator, denominator)


_sixteen = _bits(16)


def _quantized_only(quantized: TensorBytes) -> TensorBytes:
    return lambda tensor: quantized(tensor) if tensor.family in QUANTIZED else _sixteen(tensor)


def _experts_only(quantized: TensorBytes, rest: TensorBytes = _sixteen) -> TensorBytes:
    return lambda tensor: quantized(tensor) if tensor.family == "expert" else rest(tensor)


def _fp8_channel(tensor: Tensor) -> int:
    """One byte a weight and an FP32 scale per output channel."""
    return tensor.parameters + 4 * tensor.rows * tensor.copies


def _fp8_block(tensor: Tensor) -> int:
    """One byte a weight and an FP32 scale per block of 128 × 128 (DeepSeek)."""
    blocks = int(ceil_div(tensor.rows, 128) * ceil_div(tensor.columns, 128))
    return tensor.parameters + 4 * blocks * tensor.copies


def _grouped(bits: int, group: int, bytes_per_group: float, bytes_per_input: int = 0) -> TensorBytes:
    """n bits a weight, some bytes per group, some per input feature."""

    def size(tensor: Tensor) -> int:
        count = tensor.parameters
        return (
            int(count * bits // 8 + count // group * bytes_per_group)
            + bytes_per_input * tensor.columns * tensor.copies
        )

    return size


def _nf4_double(tensor: Tensor) -> int:
    """NF4 with its block scales quantized once more: 1 B per 64 weights, FP32 per 256 blocks."""
    count = tensor.parameters
    return count // 2 + count // 64 + 4 * int(ceil_div(ceil_div(count, 64), 256))


def _mlx(bits: int, group: int = 64) -> TensorBytes:
    """n bits and an FP16 scale and bias per group; every matrix is quantized, embedding and head too."""

    def size(tensor: Tensor) -> int:
        if tensor.columns == 1 or tensor.family == "convolution":
            return _sixteen(tensor)
        return int(tensor.parameters * bits // 8 + 4 * ceil_div(tensor.parameters, group))

    return size


def _mlx_blocks(bits: int, group: int) -> TensorBytes:
    """MLX's block formats: n bits and a byte per group; every matrix, embedding and head too."""
    blocks = _grouped(bits, group, 1)

    def size(tensor: Tensor) -> int:
        if tensor.columns == 1 or tensor.family == "convolution":
            return _sixteen(tensor)
        return blocks(tensor)

    return size


def _exl(bits: Fraction, *, transforms: bool) -> TensorBytes:
    """EXL2 and EXL3: K bits a weight on average, the head in 6 bits, the embedding in 16. transforms: EXL3 keeps two FP16
    vectors per matrix, as long as its inputs and its outputs (turboderp-org/exllamav3:modules/quant/exl3.py)."""

    def size(tensor: Tensor) -> int:
        if tensor.family == "head":
            return int(ceil_div(tensor.parameters * EXL_HEAD_BITS, 8))
        if tensor.family not in QUANTIZED:
            return _sixteen(tensor)
        vectors = 2 * (tensor.rows + tensor.columns) * tensor.copies if transforms else 0
        return int(tensor.parameters * bits / 8) + vectors

    return size


EXL_HEAD_BITS = 6
"""Bits of the head that the converters take by default."""

EXL_BITS = ("2.0", "2.5", "3.0", "3.5", "4.0", "4.5", "5.0", "6.0", "8.0")

RULES: dict[str, TensorBytes] = {
    "f32": _bits(32),
    "bf16": _sixteen,
    "f16": _sixteen,
    "fp8": _quantized_only(_fp8_channel),
    "fp8-block": _quantized_only(_fp8_block),
    "mxfp8": _quantized_only(_grouped(8, 32, 1)),
    "int8": _quantized_only(_fp8_channel),
    "bnb-int8": _quantized_only(_fp8_channel),
    "w8a16": _quantized_only(_grouped(8, 128, 2)),
    "awq-int8": _quantized_only(_grouped(8, 128, 2)),
    "gptq-int8": _quantized_only(_grouped(8, 128, 2, 4)),
    "awq-int4": _quantized_only(_grouped(4, 128, 2.5)),
    "autoround-int4": _quantized_only(_grouped(4, 128, 2.5)),
    "gptq-int4": _quantized_only(_grouped(4, 128, 2.5, 4)),
    "w4a16": _quantized_only(_grouped(4, 128, 2)),
    "int4": _quantized_only(_grouped(4, 64, 2)),
    "w4a8": _quantized_only(_grouped(4, 32, 2)),
    "nf4": _quantized_only(_nf4_double),
    "mxfp4": _experts_only(_grouped(4, 32, 1)),
    "nvfp4": _quantized_only(_grouped(4, 16, 1)),
    **{f"mlx-{bits}bit": _mlx(bits) for bits in (2, 3, 4, 5, 6, 8)},
    "mlx-mxfp4": _mlx_blocks(4, 32),
    "mlx-nvfp4": _mlx_blocks(4, 16),
    "mlx-mxfp8": _mlx_blocks(8, 32),
    "mlx-mxfp4-q8": _experts_only(_grouped(4, 32, 1), _mlx(8)),
    **{f"exl3-{bits}bpw": _exl(Fraction(bits), transforms=True) for bits in EXL_BITS},
    **{f"exl2-{bits}bpw": _exl(Fraction(bits), transforms=False) for bits in EXL_BITS if bits != "2.0"},
    "mlx-bf16": _sixteen,
    "mlx-fp16": _sixteen,
}
"""Bytes of one tensor in each format that has a rule."""

DENSE_RULES: dict[str, TensorBytes] = {
    "mxfp4": _quantized_only(_grouped(4, 32, 1)),
    "mlx-mxfp4-q8": _mlx_blocks(4, 32),
}
"""Formats that quantize experts where a model has them, and every linear layer of a model without."""

NF4_SINGLE = _quantized_only(_grouped(4, 64, 4))
"""NF4 whose block scales stay in FP32: what trainers load without double quantization."""

KEEPS_HEAD = ("exl2-", "exl3-")
"""Formats whose converters store the head as a matrix of its own, also where it is tied to the embedding."""

NATIVE_RULES: dict[str, TensorBytes] = {
    "bf16": _sixteen,
    "fp16": _sixteen,
    "fp32": _bits(32),
    "fp8": _quantized_only(_fp8_block),
    "mxfp8": _quantized_only(_grouped(8, 32, 1)),
    "mxfp4-experts": _experts_only(_grouped(4, 32, 1)),
    "int4-experts": _experts_only(_grouped(4, 32, 2)),
}
"""What a lab's own checkpoint stores, by the model's native format (routed experts only where it says experts)."""

SPREADS = {"bf16": 0.001, "f16": 0.001, "f32": 0.001, "native": 0.001, "mlx-bf16": 0.001, "mlx-fp16": 0.001}
"""Half-width of the 90 % interval by rule: 16-bit and native recipes are known (formulas §10)."""

RULE_SPREAD = 0.10
"""FP8, NVFP4, GPTQ and other quantized checkpoints by rule: they often keep more in 16 bits than the name says."""

MLX_SPREAD = 0.01
"""Recipes that are known: MLX quantizes every matrix, EXL converters keep to their average bits."""

LAB_SPREAD = 0.06
"""Recipes of a publisher that nobody wrote down (formulas §10)."""


def spread_of(weights_format: str) -> float:
    """Half-width of the 90 % interval of a rule, as a share of the bytes (formulas §10)."""
    if weights_format in SPREADS:
        return SPREADS[weights_format]
    return MLX_SPREAD if weights_format.startswith(("mlx-", "exl2-", "exl3-")) else RULE_SPREAD


EXPERT_RULES: dict[str, TensorBytes] = {"nvfp4": _experts_only(_grouped(4, 16, 1))}
"""Of models with experts, what publishers quantize: the experts, not attention and states (measured loads of Nemotron 3
Super and Qwen3.8-2.4T; published sizes lie between this and all linear layers)."""


def rule_for(weights_format: str, architecture: Architecture) -> TensorBytes | None:
    """The rule of a format for this model, None without one."""
    if weights_format in (special := EXPERT_RULES if architecture.is_moe else DENSE_RULES):
        return special[weights_format]
    return RULES.get(weights_format)


def _fp8_rest(tensor: Tensor) -> int:
    """FP8 blocks for linear layers, one byte for lookup tables, 16 bits for the rest (DeepSeek V4)."""
    if tensor.family == "lookup":
        return tensor.parameters
    return _fp8_block(tensor) if tensor.family in QUANTIZED else _sixteen(tensor)


def native_rule(native_format: str, native_rest: str | None = None) -> TensorBytes | None:
    """The rule of a lab's own checkpoint; None when the native format is not known.

    native_rest: `fp8` where the linear layers beside 4-bit experts are FP8 instead of 16 bits.
    """
    if native_format == "mxfp4-experts" and native_rest == "fp8":
        return _experts_only(_grouped(4, 32, 1), _fp8_rest)
    return NATIVE_RULES.get(native_format)


def safetensors_layout(
    architecture: Architecture,
    rule: TensorBytes,
    *,
    spread: float,
    encoder_bytes_per_weight: int = 2,
    source: str = "",
    keeps_head: bool = False,
) -> WeightLayout:
    """Bytes of every part of a checkpoint by a rule; encoders in 16 bits, MTP at the average of the language model.

    keeps_head: a head that is tied to the embedding is stored once more.
    """

    def share(tensor: Tensor) -> LayerShare:
        return share_of(tensor, rule(tensor))

    per_block = []
    for tensors in architecture.block_tensors:
        total = LayerShare()
        for tensor in tensors:
            total = total + share(tensor)
        per_block.append(total)
    table = architecture.embedding
    head = architecture.head
    if keeps_head and architecture.tied_embeddings and architecture.output_head:
        head = (Tensor("head", architecture.vocabulary_size, architecture.hidden_size, family="head"),)
    final = rule(architecture.final_norm) if architecture.final_norm else 0
    extras = {part: sum(e.parameters for e in architecture.extras if e.part == part) for part in TEXT_PARTS}
    lookup = rule(Tensor("lookup", extras["text-lookup"], family="lookup"))
    vision = sum(architecture.extra_parameters(part) for part in ("vision", "audio"))
    both = architecture.extra_parameters("vision+audio")
    other = architecture.extra_parameters("other")
    layout = WeightLayout(
        layers=tuple(per_block[index] for index in architecture.sequence),
        embedding_bytes=rule(table),
        head_bytes=sum(rule(tensor) for tensor in head),
        final_bytes=final + _sixteen(vector("text", extras["text"])),
        lookup_bytes=lookup,
        vision_bytes=(vision - both + other) * encoder_bytes_per_weight,
        text_parameters=architecture.text_parameters,
        spread=spread,
        source=source,
    )
    mtp = architecture.extra_parameters("mtp") * layout.text_bytes // max(1, layout.text_parameters)
    return replace(layout, mtp_bytes=mtp)
