"""Names of the parts of memory: as the bar sums them, and as the table and the API list them."""

from __future__ import annotations

from collections.abc import Mapping

from calculator.web.wording.speech import gettext_lazy as _
from calculator.web.wording.text import Template

BAR_NAMES: Mapping[str, Template] = {
    "weights": _("Weights"),
    "kv": _("KV cache"),
    "state": _("Recurrent state"),
    "activations": _("Activations"),
    "runtime": _("Runtime"),
    "vision": _("Vision encoder"),
    "draft": _("Draft"),
}

PART_NAMES: Mapping[str, Template] = {
    "weights": _("Weights"),
    "kv_cache": _("KV cache"),
    "index_cache": _("Index keys"),
    "recurrent_state": _("Recurrent state"),
    "activations": _("Activations"),
    "graphs": _("CUDA graphs"),
    "communication": _("Communication"),
    "context": _("Context and libraries"),
    "vision": _("Vision encoder"),
    "draft": _("Draft"),
}

BASES: Mapping[str, Template] = {
    "exact": _("exact"),
    "published": _("published size"),
    "rule": _("rule"),
    "calibrated": _("measured on logs"),
    "market": _("market"),
}
"""Where a figure comes from, in one or two words."""
