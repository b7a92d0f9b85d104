"""The stock file types of GGUF: which GGML type each category of tensor takes (formulas §2.2).

The rules are those of llama.cpp's quantizer (ggml-org/llama.cpp:src/llama-quant.cpp). PURE.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field


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
