"""What a language model is made of: ordered blocks of sequence mixers and MLPs, each a list of tensors.

One file per kind of mixer or MLP. Each kind says which tensors it has, what it caches per token and which state it
keeps per request; parameter sums, bytes by format, shares under tensor parallelism are folds over the tensors.
PURE: no Django, no database, no files, no clock.
"""

from catalog.architecture.kinds import Mixer, Mlp, mixer_from_json, mixer_to_json, mlp_from_json, mlp_to_json
from catalog.architecture.model import Architecture, Block, Extra
from catalog.architecture.parts import ArchitectureError, AttentionWork, CacheEntry, StateEntry, Tensor

__all__ = [
    "Architecture",
    "ArchitectureError",
    "AttentionWork",
    "Block",
    "CacheEntry",
    "Extra",
    "Mixer",
    "Mlp",
    "StateEntry",
    "Tensor",
    "mixer_from_json",
    "mixer_to_json",
    "mlp_from_json",
    "mlp_to_json",
]
