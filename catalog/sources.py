"""Where a source can be opened: the address of what an entry writes as owner/repository:path. PURE."""

from __future__ import annotations

import re
from urllib.parse import quote

_HUB = "https://github.com"
_PAGE = re.compile(r"https?://[^\s)]+")
_REPOSITORY = r"(?P<repo>[\w.-]+/[\w.-]+)"
_THREAD = re.compile(_REPOSITORY + r"#(?P<number>\d+)(?=$|[\s,;)])")
_FILE = re.compile(_REPOSITORY + r":(?P<path>[^()]+?)(?: \(.*)?$")
_PLAIN = re.compile(_REPOSITORY + "$")


def source_url(source: str) -> str | None:
    """The address of a source that begins with a page, a thread, a file or a repository; None when it names none.

    >>> source_url("ollama/ollama#8447")
    'https://github.com/ollama/ollama/issues/8447'
    """
    if page := _PAGE.match(source):
        return page.group(0)
    if thread := _THREAD.match(source):
        return f"{_HUB}/{thread['repo']}/issues/{thread['number']}"
    if file := _FILE.match(source):
        return f"{_HUB}/{file['repo']}/blob/HEAD/{quote(file['path'])}"
    if plain := _PLAIN.match(source):
        return f"{_HUB}/{plain['repo']}"
    return None
