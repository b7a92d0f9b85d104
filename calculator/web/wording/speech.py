"""Messages of the pages, looked up once for each language.

Django finds the present language anew for every message. A page asks for many: `speaking` finds it once, and each
message is looked up once in the life of the process. Outside `speaking`, Django's own functions answer.
"""

from __future__ import annotations

import operator
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache
from typing import Any

from django.utils import translation


class _Texts(dict[str, str]):
    """Messages of one language that were asked for. The messages are those of the source, so there are only so many."""

    def __init__(self, language: str | None) -> None:
        super().__init__()
        self.language = language

    def __missing__(self, message: str) -> str:
        self[message] = text = translation.gettext(message)
        return text


_texts_of = lru_cache(maxsize=32)(_Texts)
_speaking: ContextVar[_Texts | None] = ContextVar("speaking", default=None)


@contextmanager
def speaking() -> Iterator[None]:
    """Within it the present language is taken as it is now."""
    token = _speaking.set(_texts_of(translation.get_language()))
    try:
        yield
    finally:
        _speaking.reset(token)


def language() -> str | None:
    """The present language."""
    texts = _speaking.get()
    return translation.get_language() if texts is None else texts.language


def gettext(message: str) -> str:
    """The message in the present language."""
    texts = _speaking.get()
    return translation.gettext(message) if texts is None else texts[message]


def ngettext(one: str, many: str, number: int) -> str:
    """The form of the message that the number needs."""
    texts = _speaking.get()
    if texts is None:
        return translation.ngettext(one, many, number)
    return _form(texts.language, one, many, number)


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
