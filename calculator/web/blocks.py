"""Blocks of the answer: rendered once while nothing in them changes, and left out where the browser shows them already.

A block is one element with an id. Its key is a digest of its HTML, so two blocks with one key are the same block, whoever
rendered them. A live update names the keys that stand on the page; what is among them is answered by an empty element of
the same id, marked `data-same`, which the page leaves alone (static/js/blocks.js).
"""

from __future__ import annotations

import re
import zlib
from collections.abc import Set as AbstractSet
from functools import lru_cache
from typing import Any

from django.template.loader import get_template
from markupsafe import Markup

HEADER = "Stowage-Shown"
OPEN_HEADER = "Stowage-Open"
"""Ids of what the visitor has unfolded. What is folded is not sent in a live update, but for its place (`data-folded`):
unfolding it asks for the answer again."""

MOST_KEPT = 2048
"""Rendered blocks that are remembered; the one that was shown longest ago goes first."""

LONGEST_HEADER = 4096
"""Characters of the header that are read."""

_OPENING = re.compile(r"\s*<([a-z]+) id=\"([\w-]+)\"")


class _This:
    """A panel as a key: the very object, which presenters hand over again while nothing in it changes."""

    __slots__ = ("panel",)

    def __init__(self, panel: object) -> None:
        self.panel = panel

    def __hash__(self) -> int:
        return id(self.panel)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, _This) and other.panel is self.panel


@lru_cache(maxsize=MOST_KEPT)
def _rendered(template: str, panel: _This) -> tuple[str, Markup, Markup]:
    """The key of a block, the block with its key, and the empty element that stands for it."""
    html = get_template(template).render({"panel": panel.panel}).strip()
    opening = _OPENING.match(html)
    assert opening, f"{template} must begin with an element whose first attribute is its id"
    tag, name = opening.groups()
    key = f"{zlib.crc32(html.encode()):08x}{len(html):x}"
    keyed = f'{html[: opening.end()]} data-key="{key}"{html[opening.end() :]}'
    same = f'<{tag} id="{name}" data-key="{key}" data-same></{tag}>'
    return key, Markup(keyed), Markup(same)  # noqa: S704 - a template's own output


class Blocks:
    """The blocks of one response."""

    def __init__(self, shown: AbstractSet[str] = frozenset()) -> None:
        self.shown = shown

    def put(self, template: str, panel: Any) -> Markup:
        """The block of a panel, or what stands for it where the page shows it already."""
        key, block, same = _rendered(template, _This(panel))
        return same if key in self.shown else block

    def out_of_band(self, template: str, panel: Any) -> Markup:
        """Several elements that go to their places outside the answer, the first with the key of all."""
        key, block, _same = _rendered(template, _This(panel))
        return Markup() if key in self.shown else block


def named(header: str) -> frozenset[str]:
    """The keys or ids that a request names."""
    return frozenset(header[:LONGEST_HEADER].split())
