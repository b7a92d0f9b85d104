"""What stands at a name in the lists of models and hardware: the verdict for the present question, in a few words."""

from __future__ import annotations

from calculator.web.wording.speech import gettext_lazy as _
from calculator.web.wording.speech import ngettext_lazy

COUNT_FITS = ngettext_lazy("{count} fits", "{count} fit", "number")
COUNT_TIGHT = ngettext_lazy("{count} is tight", "{count} are tight", "number")
FITS = _("fits")
FITS_IN = _("fits in {format}")
TIGHT = _("tight")
TIGHT_IN = _("tight in {format}")
OFFLOAD = _("needs offload")
TO_SPARE = _("{size} to spare")
SHORT = _("short of {size}")
NOT_SUPPORTED = _("not supported")

FITS_THIS_MODEL = _("Fits this model")
RUNS_ON_THIS = _("Runs on this hardware")
TOKENS = ngettext_lazy("{count} token", "{count} tokens", "number")
REQUESTS = ngettext_lazy("{count} request", "{count} requests", "number")
QUESTION = _("for {question}")
