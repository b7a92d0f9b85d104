"""Messages of the pages, looked up once for each language.

Within `speaking` each message is looked up once in the life of the process. Outside, Django's own functions answer.
"""

from __future__ import annotations

import operator
from functools import lru_cache
from typing import Any

from django.utils import translation

from config.language import language, speaking, texts

__all__ = ["gettext", "gettext_lazy", "language", "ngettext", "ngettext_lazy", "speaking"]


def gettext(message: str) -> str:
    """The message in the present language."""
    found = texts()
    return translation.gettext(message) if found is None else found[message]


def ngettext(one: str, many: str, number: int) -> str:
    """The form of the message that the number needs."""
    found = texts()
    if found is None:
        return translation.ngettext(one, many, number)
    return _form(found.language, one, many, number)


@lru_cache(maxsize=2048)
def _form(_language: str | None, one: str, many: str, number: int) -> str:
    return translation.ngettext(one, many, number)


class Message:
    """A message that is looked up when it is written."""

    __slots__ = ("text",)

    def __init__(self, text: str) -> None:
        self.text = text

    def __str__(self) -> str:
        return gettext(self.text)

    def chosen(self, _factors: Any) -> str:
        """The text for these factors."""
        return gettext(self.text)

    def format(self, *given: Any, **factors: Any) -> str:
        return gettext(self.text).format(*given, **factors)


class PluralMessage:
    """The same with a plural; `number` is the factor that is counted."""

    __slots__ = ("many", "number", "one")

    def __init__(self, one: str, many: str, number: str) -> None:
        self.one, self.many, self.number = one, many, number

    def chosen(self, factors: Any) -> str:
        """The text for these factors."""
        return ngettext(self.one, self.many, int(factors[self.number] or 0))

    def format(self, **factors: Any) -> str:
        return ngettext(self.one, self.many, operator.index(factors[self.number])).format(**factors)


gettext_lazy = Message
ngettext_lazy = PluralMessage
