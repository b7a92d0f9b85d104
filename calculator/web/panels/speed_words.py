"""The speed in the fewest words, for dock, section bar, live region and description."""

from __future__ import annotations

from calculator.web import figures
from calculator.web.answer import Answer

TOKENS_PER_S = "tok/s"


def short_speed(answer: Answer) -> str:
    """`52 tok/s` for one user, nothing where there is no speed."""
    speed = answer.estimate.speed
    if speed is None:
        return ""
    return f"{figures.rate(speed.decode_tokens_per_s_per_user.value)}{figures.NO_BREAK}{TOKENS_PER_S}"
