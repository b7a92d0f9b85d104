"""Links of one question at other places of its sliders, or in other units, without writing the rest anew."""

from __future__ import annotations

from dataclasses import dataclass
from urllib.parse import urlencode

from calculator.scenario import DEFAULTS, VERSION, Scenario, text_of
from calculator.web.answer import Answer
from calculator.web.panels.per_snapshot import SLIDERS, unmoved


@dataclass(frozen=True, slots=True)
class Links:
    """The query of a question, cut where context and users stand."""

    before: str
    between: str
    after: str
    after_in: dict[str, str]

    def query(self, ctx: int, users: int, units: str = "") -> str:
        """As Scenario.query() writes it; units: others than the question's."""
        context = "" if ctx == DEFAULTS["ctx"] else f"ctx={ctx}&"
        requests = "" if users == DEFAULTS["users"] else f"users={users}&"
        after = self.after_in[units] if units else self.after
        return f"{self.before}{context}{self.between}{requests}{after}"


def _links(scenario: Scenario) -> Links:
    names = list(DEFAULTS)
    first, second = (names.index(name) for name in SLIDERS)
    return Links(
        _pairs(scenario, names[:first]),
        _pairs(scenario, names[first + 1 : second]),
        _after(scenario, names[second + 1 :]),
        {units: _after(scenario.replace(units=units), names[second + 1 :]) for units in ("gib", "gb")},
    )


def _after(scenario: Scenario, names: list[str]) -> str:
    return f"{_pairs(scenario, names)}v={VERSION}"


def _pairs(scenario: Scenario, names: list[str]) -> str:
    """The values that differ, each with an `&` behind."""
    values = [(name, getattr(scenario, name)) for name in names]
    changed = [(name, text_of(value)) for name, value in values if value != DEFAULTS[name]]
    return "".join(f"{urlencode([pair], safe=':,.')}&" for pair in changed)


def query_of(answer: Answer, *, ctx: int | None = None, units: str = "") -> str:
    """The query of this question, or with another context or in other units."""
    scenario = answer.scenario
    links = unmoved(answer, "links", lambda: _links(scenario))
    return links.query(scenario.ctx if ctx is None else ctx, scenario.users, units)


def link_to(answer: Answer, *, ctx: int | None = None, units: str = "") -> str:
    """The same as an address on this site."""
    return f"/?{query_of(answer, ctx=ctx, units=units)}"
