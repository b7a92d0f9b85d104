"""Errors, shares and observed figures as text."""

from __future__ import annotations

import re
from functools import lru_cache
from urllib.parse import quote

from calculator.accuracy.report import Comparison
from calculator.scenario import parse
from calculator.web import figures
from calculator.web.answer import permalink
from calculator.web.panels.accuracy.shapes import SourceLink
from calculator.web.wording import accuracy_speed as speed
from calculator.web.wording.accuracy import UNITS_NAMED
from calculator.web.wording.speech import gettext as _
from calculator.web.wording.text import engine_name
from catalog.records import Measurement
from catalog.snapshot import Snapshot

_WHOLE_FROM = 1.0  # errors of 100 % and more stand without decimals
_LONGEST_NOTE = 160
_LONGEST_REST = 64
_NUMBERED = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+)#(?P<number>\d+)(?P<rest>.*)", re.DOTALL)
_FILE = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+):(?P<path>[^()]+?)(?P<rest> \(.*)?", re.DOTALL)
_ADDRESS = re.compile(r"(?P<address>https?://\S+)(?P<rest>.*)", re.DOTALL)
_REPO = re.compile(r"(?P<repo>[\w.-]+/[\w.-]+)(?P<rest> \(.*)?", re.DOTALL)


def size_of_error(share: float) -> str:
    """An error without its sign: 1.2%, 120%."""
    return f"{figures.number(100 * share, 0 if round(share, 4) >= _WHOLE_FROM else 1)}%"


def signed(share: float) -> str:
    """An error with its sign: +0.4%, −10.3%; 0.0% for what rounds to nothing."""
    text = size_of_error(abs(share))
    if not text.strip("0.%"):
        return text
    return f"+{text}" if share > 0 else f"{figures.MINUS}{text}"


def whole_percent(share: float) -> str:
    """A share of few cases: 91%. Only all of them are 100%, only none are 0%."""
    rounded = round(100 * share)
    if rounded == 100 and share < 1:
        rounded = 99
    if rounded == 0 and share > 0:
        rounded = 1
    return f"{figures.whole(rounded)}%"


def coverage_words(share: float, error: float) -> str:
    """A share with its sampling error in points of per cent, at least 1: 91% ± 4. It stays in one line."""
    points = figures.whole(max(1, round(100 * error)))
    return f"{whole_percent(share)}{figures.NO_BREAK}±{figures.NO_BREAK}{points}"


def amount(value: float, unit: str, units: str) -> str:
    """A figure of a log: 58.3 for bytes in GiB or GB, 12,480 for tokens, 350 for 0.35 s."""
    if unit == "bytes":
        return figures.bare_size(value, units)
    if unit == "s":
        value *= MS_PER_S
    return figures.whole(value) if value >= _LEAST_WHOLE else figures.number(value)


_LEAST_WHOLE = 1000
MS_PER_S = 1000


def unit_words(unit: str, units: str) -> str:
    """What the figure counts."""
    if unit == "bytes":
        return figures.unit_name(units)
    return str(UNITS_NAMED[unit]) if unit in UNITS_NAMED else unit


def range_words(item: Comparison, units: str) -> str:
    """The 90 % range of a calculated figure."""
    if item.exact or item.low == item.high:
        return _("exact")
    if item.unit == "bytes":
        return figures.size_range(item.low, item.high, units)
    return f"{amount(item.low, item.unit, units)}{figures.EN_DASH}{amount(item.high, item.unit, units)}"


def model_name(log: Measurement, snapshot: Snapshot) -> str:
    """The catalogue's name of the model, or the source's."""
    model = snapshot.models.get(log.model_id or "")
    return model.name if model else log.model or _("model not named")


def engine_words(log: Measurement) -> str:
    """Engine and version as the source writes it, without saying the engine twice."""
    name, version = engine_name(log.engine), log.engine_version.strip()
    return version if name.lower() in version.lower() else f"{name} {version}".strip()


def case_name(log: Measurement, snapshot: Snapshot) -> str:
    """`Gemma 3 27B · vLLM 0.8.4`."""
    return f"{model_name(log, snapshot)} · {engine_words(log)}"


def case_facts(log: Measurement) -> str:
    """`A100 80 GB · bf16 · 2025-06`, as far as the source says; of a speed with users and lengths."""
    facts = (log.device, log.weights_format, *_conditions(log), log.date or "")
    return " · ".join(text for text in facts if text)


def _conditions(log: Measurement) -> tuple[str, ...]:
    """`8 users`, `512 + 128 tokens`, `after 4,096 tokens`."""
    given = log.conditions
    if given is None:
        return ()
    users, lengths, depth = given.users or 0, "", ""
    if given.prompt_tokens and given.output_tokens:
        lengths = speed.LENGTHS_FACT.format(
            prompt=figures.whole(given.prompt_tokens), output=figures.whole(given.output_tokens)
        )
    if given.depth_tokens and given.depth_tokens != given.prompt_tokens:
        depth = speed.DEPTH_FACT.format(depth=figures.whole(given.depth_tokens))
    named = speed.USERS_FACT.format(count=users, number=figures.whole(users)) if users else ""
    return named, lengths, depth


def short(text: str) -> str:
    """A note cut at a word when it is long."""
    bare = text.strip()
    if len(bare) <= _LONGEST_NOTE:
        return bare
    return f"{bare[:_LONGEST_NOTE].rsplit(' ', 1)[0].rstrip(',;:')} …"


def source_link(source: str) -> SourceLink:
    """Where a log stands. `owner/repo#12` and `owner/repo:path` are places on GitHub; other words stay words."""
    text = source.strip()
    if found := _ADDRESS.fullmatch(text):
        address = found["address"]
        return {
            "text": re.sub(r"^https?://(www\.)?", "", address),
            "href": address,
            "rest": _rest(found["rest"]),
        }
    if found := _NUMBERED.fullmatch(text):
        repo, number = found["repo"], found["number"]
        href = f"https://github.com/{repo}/issues/{number}"  # which leads on to pull requests and discussions
        return {"text": f"{repo}#{number}", "href": href, "rest": _rest(found["rest"])}
    if found := _FILE.fullmatch(text):
        repo, path = found["repo"], found["path"].strip()
        href = f"https://github.com/{repo}/blob/HEAD/{quote(path)}"
        return {"text": repo, "href": href, "rest": _middle_cut(f"{path}{found['rest'] or ''}")}
    if found := _REPO.fullmatch(text):
        return {
            "text": found["repo"],
            "href": f"https://github.com/{found['repo']}",
            "rest": _rest(found["rest"]),
        }
    return {"text": text, "href": "", "rest": ""}


def _rest(text: str | None) -> str:
    bare = (text or "").strip()
    if bare.startswith("(") and bare.endswith(")") and bare.count("(") == 1:
        bare = bare[1:-1]
    return _middle_cut(bare)


def _middle_cut(text: str) -> str:
    """A long path without its middle: what tells two of them apart stands at the end."""
    if len(text) <= _LONGEST_REST:
        return text
    return f"{text[: _LONGEST_REST // 4].rstrip()}…{text[-3 * _LONGEST_REST // 4 :].lstrip()}"


@lru_cache(maxsize=4096)
def _question(pairs: tuple[tuple[str, str], ...], units: str) -> str:
    scenario, _problems = parse(pairs)
    return permalink(scenario.replace(units=units))


def asked_href(log: Measurement, units: str) -> str:
    """The calculator with the log's question; nothing where it is none that can be asked."""
    return _question(tuple(sorted(log.scenario.items())), units) if log.scenario else ""
