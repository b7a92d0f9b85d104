"""What an editor of a measurement is told about its question: the check that the catalogue's admin asks for."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from calculator.resolve import resolve
from calculator.scenario import DEFAULTS, Problem, parse, text_of, unknown_names
from calculator.web.wording.problems import near_ids, shown_text
from catalog import live
from catalog.scenario_check import Remark
from catalog.snapshot import Snapshot

SENTENCES: Mapping[str, str] = {
    "not_a_number": "{field}: “{given}” is not a number.",
    "not_whole": "{field}: “{given}” is not a whole number.",
    "out_of_range": "{field}: “{given}” lies outside of {low} to {high}.",
    "not_a_switch": "{field}: “{given}” is neither on nor off.",
    "not_a_choice": "{field}: “{given}” is none of {allowed}.",
    "unknown_id": "{field}: nothing here is called “{given}”.",
    "unknown_id_left_out": "{field}: nothing here is called “{given}”.",
    "unknown_ids_left_out": "{field}: {number} further names in the list are unknown.",
    "not_a_count": "{field}: “{given}” does not say how many cards.",
    "count_replaced": "{field}: “{given}” is no whole number of cards from 1 on.",
    "too_many_cards": "{field}: a list holds at most {most} cards.",
    "unknown_parameter": "No parameter is called “{given}”.",
    "unknown_version": "{field}: only links of version 1 are known, not “{given}”.",
    "version_unreadable": "{field}: “{given}” is no version.",
    "os_not_on_device": "{field}: {device} does not run “{given}”.",
    "maxlen_below_context": "{field}: the longest request cannot be below the context of {ctx} tokens.",
    "sequences_below_users": "{field}: the server must take all {users} users.",
    "lengths_above_context": "{field}: prompt and answer together are longer than the context of {context} tokens.",
    "prefix_above_prompt": "{field}: the shared prefix must be a part of the prompt of {prompt} tokens.",
    "no_fast_link": "{field}: {device} has no fast link to its neighbours.",
    "not_computed_yet": "{field}: “{given}” is not computed yet.",
}
"""A sentence for each problem of a question, by its code. Admin pages are in English."""

SILENT = frozenset({"context_above_maximum", "link_above_slot", "link_unused"})
"""Problems that a run may have: people do run a model beyond its longest context, and a link that nothing goes over."""

GAPS = frozenset({"quant", "kv"})
"""Parameters whose value may be one that the calculator does not have: a fork's weights format, a mixed cache."""


def question_remarks(query: Mapping[str, str]) -> Iterator[Remark]:
    """Everything about a question that cannot be taken as it is written; nothing while the catalogue has no devices or
    models, or cannot be put together, which `check_catalog` says by itself."""
    snapshot = _snapshot()
    if snapshot is None:
        return
    scenario, unreadable = parse(query)
    problems = (*unknown_names(query), *unreadable, *resolve(scenario, snapshot).problems)
    for problem in problems:
        if problem.code not in SILENT:
            gap = problem.field in GAPS or problem.code == "not_computed_yet"
            yield Remark(problem.field, _sentence(problem), gap)


def _snapshot() -> Snapshot | None:
    try:
        snapshot = live.refresh()
    except (LookupError, ValueError, TypeError):  # what building from a half-edited catalogue raises
        return None
    usable = (
        DEFAULTS["model"] in snapshot.models and snapshot.hosts(str(DEFAULTS["gpu"])) and snapshot.engines
    )
    return snapshot if usable else None


def _sentence(problem: Problem) -> str:
    factors = {name: text_of(value) for name, value in problem.factors}
    words = SENTENCES[problem.code].format(
        **{**factors, "field": problem.field, "given": shown_text(problem.given)}
    )
    near = near_ids(problem)
    return f"{words} Near names: {', '.join(near)}." if near else words
