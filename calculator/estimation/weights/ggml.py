"""Block sizes of GGML tensor types (formulas §2.1; ggml-org/llama.cpp:gguf-py/gguf/constants.py)."""

from __future__ import annotations

BLOCKS: dict[str, tuple[int, int]] = {
    "F32": (1, 4),
    "F16": (1, 2),
    "BF16": (1, 2),
    "Q8_0": (32, 34),
    "Q8_1": (32, 36),
    "Q5_1": (32, 24),
    "Q5_0": (32, 22),
    "Q4_1": (32, 20),
    "Q4_0": (32, 18),
    "Q6_K": (256, 210),
    "Q5_K": (256, 176),
    "Q4_K": (256, 144),
    "Q3_K": (256, 110),
    "Q2_K": (256, 84),
    "Q8_K": (256, 292),
    "IQ1_S": (256, 50),
    "IQ1_M": (256, 56),
    "IQ2_XXS": (256, 66),
    "IQ2_XS": (256, 74),
    "IQ2_S": (256, 82),
    "IQ3_XXS": (256, 98),
    "IQ3_S": (256, 110),
    "IQ4_NL": (32, 18),
    "IQ4_XS": (256, 136),
    "TQ1_0": (256, 54),
    "TQ2_0": (256, 66),
    "MXFP4": (32, 17),
    "NVFP4": (64, 36),
    "Q1_0": (128, 18),
    "Q2_0": (64, 18),
}
"""Weights per block and bytes per block of each type."""

_FALL_BACK = {
    **dict.fromkeys(("IQ1_S", "IQ1_M", "IQ2_XXS", "IQ2_XS", "IQ2_S", "IQ3_XXS", "IQ3_S", "IQ4_XS"), "IQ4_NL"),
    **dict.fromkeys(("Q2_K", "Q3_K", "TQ1_0", "TQ2_0", "Q2_0"), "Q4_0"),
    "Q4_K": "Q5_0",
    "Q5_K": "Q5_1",
    "Q6_K": "Q8_0",
}


def type_for_columns(ggml_type: str, columns: int) -> str:
    """The type that is stored when a row of `columns` weights is not divisible by the block (formulas §2.2)."""
    if columns % BLOCKS[ggml_type][0] == 0:
        return ggml_type
    fallen = _FALL_BACK.get(ggml_type, "F16")
    return fallen if columns % BLOCKS[fallen][0] == 0 else "F16"


def tensor_bytes(ggml_type: str, rows: int, columns: int) -> int:
    """Bytes of a matrix: rows × (columns ÷ weights per block) × bytes per block [B]. Columns are the input features."""
    per_block, size = BLOCKS[ggml_type]
    return rows * (columns // per_block) * size
