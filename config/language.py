"""The present language, found once for a page: Django finds it anew for every message, and a page asks for many."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from functools import lru_cache

from django.utils import translation


class Texts(dict[str, str]):
    """Messages of one language that were asked for. The messages are those of the source, so there are only so many."""

    def __init__(self, language: str | None) -> None:
        super().__init__()
        self.language = language

    def __missing__(self, message: str) -> str:
        self[message] = text = translation.gettext(message)
        return text


_texts_of = lru_cache(maxsize=32)(Texts)
_speaking: ContextVar[Texts | None] = ContextVar("speaking", default=None)

texts = _speaking.get
"""The messages of the language that `speaking` has found, None outside of it."""


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
    found = texts()
    return translation.get_language() if found is None else found.language
