"""What is one change away from a question that works, in a title and a line."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from calculator.web.wording.speech import gettext_lazy as _
from calculator.web.wording.speech import ngettext_lazy

TITLES: Mapping[str, Any] = {
    "fewer": _("{hardware} instead"),
    "more": _("{hardware} instead"),
    "cheaper": _("{hardware} instead"),
    "smaller": _("{hardware} instead"),
    "fails": _("{hardware} instead"),
    "context": _("{tokens} context"),
    "users": ngettext_lazy("{users} user", "{users} users", "count"),
    "format": _("{format} weights"),
}
"""By the kind of change (planner/one_change.py)."""

SHORT = _("short of {size}")
SHORT_EACH = _("short of {size} on each GPU")
RATE = _("{rate} tok/s")
RATE_EACH = _("{rate} tok/s each, {total} in all")
RATE_OF_EACH = _("{rate} tok/s each")
RENT = _("{usd} an hour {date}, {share} less")
PURCHASE = _("{usd} {condition} {date}, {share} less")
