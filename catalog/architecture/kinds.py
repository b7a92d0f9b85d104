"""Every kind of mixer and MLP by its name in the catalogue, and the way to and from JSON."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from catalog.architecture.csa import Csa
from catalog.architecture.gqa import Gqa
from catalog.architecture.linear_attention import GatedDeltaNet, Kda, Lightning
from catalog.architecture.mla import Mla
from catalog.architecture.mlp import DenseMlp, MoeMlp, NoMlp
from catalog.architecture.parts import (
    ArchitectureError,
    AttentionWork,
    CacheEntry,
    StateEntry,
    Tensor,
    build,
    dump,
)
from catalog.architecture.state_space import Mamba1, Mamba2, ShortConv


@dataclass(frozen=True, slots=True)
class NoMixer:
    """A layer that only has an MLP."""

    KIND: ClassVar[str] = "none"

    def tensors(self, hidden_size: int) -> tuple[Tensor, ...]:
        return ()

    def caches(self) -> tuple[CacheEntry, ...]:
        return ()

    def attention(self) -> tuple[AttentionWork, ...]:
        return ()

    def states(self) -> tuple[StateEntry, ...]:
        return ()


@dataclass(frozen=True, slots=True)
class Parallel:
    """Several mixers side by side in one layer (Falcon H1)."""

    KIND: ClassVar[str] = "parallel"

    parts: tuple[Mixer, ...]

    def tensors(self, hidden_size: int) -> tuple[Tensor, ...]:
        return tuple(tensor for part in self.parts for tensor in part.tensors(hidden_size))

    def caches(self) -> tuple[CacheEntry, ...]:
        return tuple(entry for part in self.parts for entry in part.caches())

    def attention(self) -> tuple[AttentionWork, ...]:
        return tuple(work for part in self.parts for work in part.attention())

    def states(self) -> tuple[StateEntry, ...]:
        return tuple(entry for part in self.parts for entry in part.states())


Mixer = Gqa | Mla | Csa | GatedDeltaNet | Kda | Lightning | Mamba2 | Mamba1 | ShortConv | NoMixer | Parallel
Mlp = DenseMlp | MoeMlp | NoMlp

MIXERS: dict[str, type[Any]] = {
    cls.KIND: cls
    for cls in (Gqa, Mla, Csa, GatedDeltaNet, Kda, Lightning, Mamba2, Mamba1, ShortConv, NoMixer, Parallel)
}
MLPS: dict[str, type[Any]] = {cls.KIND: cls for cls in (DenseMlp, MoeMlp, NoMlp)}


def _class_of(data: dict[str, Any], kinds: dict[str, type[Any]], what: str) -> type[Any]:
    kind = data.get("kind")
    if kind not in kinds:
        raise ArchitectureError(f"{what} kind {kind!r} is not known; known kinds are {', '.join(kinds)}.")
    return kinds[str(kind)]


def mixer_from_json(data: dict[str, Any], hidden_size: int) -> Mixer:
    """A mixer from its catalogue entry; raises `ArchitectureError` with a sentence."""
    cls = _class_of(data, MIXERS, "Mixer")
    if cls is Parallel:
        return Parallel(tuple(mixer_from_json(part, hidden_size) for part in data["parts"]))
    if cls is ShortConv:
        data = {**data, "width": hidden_size}
    if data.get("short_conv"):
        data = {**data, "short_conv": {**data["short_conv"], "width": hidden_size}}
    return build(cls, data, f"Mixer {cls.KIND}")  # type: ignore[no-any-return]


def mixer_to_json(mixer: Mixer) -> dict[str, Any]:
    """The catalogue entry of a mixer."""
    if isinstance(mixer, Parallel):
        return {"kind": mixer.KIND, "parts": [mixer_to_json(part) for part in mixer.parts]}
    out = dump(mixer, mixer.KIND)
    if isinstance(mixer, ShortConv):
        out.pop("width", None)
    if out.get("short_conv"):
        out["short_conv"] = {key: value for key, value in out["short_conv"].items() if key != "width"}
    return out


def mlp_from_json(data: dict[str, Any]) -> Mlp:
    """An MLP from its catalogue entry; raises `ArchitectureError` with a sentence."""
    cls = _class_of(data, MLPS, "MLP")
    return build(cls, data, f"MLP {cls.KIND}")  # type: ignore[no-any-return]


def mlp_to_json(mlp: Mlp) -> dict[str, Any]:
    """The catalogue entry of an MLP."""
    return dump(mlp, mlp.KIND)
