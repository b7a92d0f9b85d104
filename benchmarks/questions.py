"""The questions that the benchmarks ask, and how a browser asks for them while a slider moves."""

from __future__ import annotations

import re
from collections.abc import Callable

QUESTIONS = {
    "one GPU": {"model": "llama-3.1-8b-instruct"},
    "two cards": {"model": "llama-3.3-70b-instruct", "gpu": "rtx-3090", "n": "2"},
    "32 GPUs": {"model": "kimi-k3.1-pro", "gpu": "h100-sxm", "n": "32"},
    "does not fit": {"model": "deepseek-r1", "gpu": "h100-sxm", "n": "8"},
}

# A thumb's steps are a hundredth of an octave; 1,009 contexts and 97 numbers of users come round slowly.
SLIDERS: dict[str, Callable[[int], int]] = {
    "context": lambda number: int(4096 * 2 ** ((number % 1009) / 201)),
    "users": lambda number: 1 + number % 97,
}
NAMES = {"context": "ctx", "users": "users"}

_CHOICES = re.compile(r'data-choices="(\w+)"')
_KEYS = re.compile(r'<\w+ id="([\w-]+)" data-key="(\w+)"')


class Page:
    """What a browser remembers of its answers: the keys of its choices and of its blocks."""

    def __init__(self, html: str) -> None:
        found = _CHOICES.search(html)
        self.choices = found[1] if found else ""
        self.blocks: dict[str, str] = {}
        self.learn(html)

    def learn(self, html: str) -> None:
        """Take over the blocks of an answer."""
        self.blocks.update(_KEYS.findall(html))

    @property
    def headers(self) -> dict[str, str]:
        """As the page's scripts send them."""
        return {
            "HX-Request": "true",
            "Stowage-Choices": self.choices,
            "Stowage-Shown": " ".join(self.blocks.values()),
            "Accept-Encoding": "gzip",
        }
