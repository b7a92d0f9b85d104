"""Sentences as lists of spans: plain, bold, linked.

A template marks bold text with two asterisks on either side; a place where a link goes is held by a control character,
so that nothing a visitor types can become one.
"""

from __future__ import annotations

from collections.abc import Iterable

from calculator.web.panels.shapes import Sentence, Span

BOLD = "**"
HOLE = "\x1a"
"""Stands in a text where spans are put in."""


def plain(text: str) -> Span:
    return {"text": text, "strong": False, "href": ""}


def strong(text: str) -> Span:
    return {"text": text, "strong": True, "href": ""}


def link(text: str, href: str) -> Span:
    return {"text": text, "strong": False, "href": href}


def sentence(text: str) -> Sentence:
    """A text whose bold pieces stand between double asterisks."""
    pieces = text.split(BOLD)
    return [
        {"text": piece, "strong": bool(index % 2), "href": ""} for index, piece in enumerate(pieces) if piece
    ]


def filled(text: str, spans: Iterable[Span]) -> Sentence:
    """A text with spans put into its hole; without a hole they are left out."""
    before, hole, after = text.partition(HOLE)
    middle = list(spans) if hole else []
    return [*sentence(before), *middle, *sentence(after)]


def joined(*sentences: Sentence) -> Sentence:
    """Several sentences in a row, a space between them."""
    out: Sentence = []
    for spans in sentences:
        if out and spans:
            out.append(plain(" "))
        out += spans
    return out


def text_of_spans(spans: Sentence) -> str:
    """The words alone, for titles, the API and the terminal."""
    return "".join(span["text"] for span in spans)
