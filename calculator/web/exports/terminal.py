"""The answer as text for a terminal: the same words as on the page."""

from __future__ import annotations

from collections.abc import Iterator

from calculator.web.answer import Answer
from calculator.web.panels.key_figures import figures_panel
from calculator.web.panels.memory import memory_panel
from calculator.web.panels.problems import problem_sentence
from calculator.web.panels.shapes import MemoryPanel
from calculator.web.panels.spans import text_of_spans
from calculator.web.panels.speed import speed_panel
from calculator.web.panels.speed_shapes import SpeedPanel
from calculator.web.panels.verdict import verdict_panel
from calculator.web.panels.would_fit import would_fit_panel
from calculator.web.wording.speech import gettext as _


def lines(answer: Answer) -> Iterator[str]:
    """The question, the sentence, the figures, the breakdown."""
    verdict = verdict_panel(answer)
    yield verdict["question"]
    yield ""
    yield verdict["sentence"]
    if verdict["ground"]:
        yield text_of_spans(verdict["ground"])
    for problem in answer.problems:
        yield f"! {problem.field}: {text_of_spans(problem_sentence(problem, answer))}"
    yield ""
    shown = figures_panel(answer)
    width = max((len(figure["label"]) for figure in shown), default=0)
    for figure in shown:
        value = f"{figure['value']} {figure['unit']}".strip()
        yield f"{figure['label']:<{width}}  {value:>14}  {figure['detail']}".rstrip()
    if answer.estimate.memory:
        yield ""
        yield from _breakdown(memory_panel(answer, answer.estimate.memory))
        yield from _speed(speed_panel(answer))
    panel = would_fit_panel(answer)
    if panel:
        yield ""
        yield _("What would fit")
        yield from (f"  {row['name']} · {row['needs']} · {row['note']}" for row in panel["rows"])
    yield ""
    yield answer.permalink()


def _speed(panel: SpeedPanel) -> Iterator[str]:
    """The figures of speed with what sets them, or why there are none."""
    yield ""
    if panel["table"] is None:
        yield panel["reason"]
        return
    rows = panel["table"]["rows"]
    names = [f"{row['name']}, {row['note']}" if row["note"] else row["name"] for row in rows]
    width = max(len(name) for name in names)
    yield f"{_('Speed'):<{width}}  {_('Estimate'):>14}  {'90%':>14}  {_('What sets it')}"
    for name, row in zip(names, rows, strict=True):
        value = f"{row['value']} {row['unit']}".strip()
        yield f"{name:<{width}}  {value:>14}  {row['range']:>14}  {row['sets']}".rstrip()
    yield ""
    yield from (f"{row['name']}: {row['why']}" for row in rows if row["why"])
    if panel["within"]:
        yield panel["within"]


def _breakdown(panel: MemoryPanel) -> Iterator[str]:
    rows = [*panel["rows"], panel["needed"]]
    width = max(len(row["name"]) for row in rows)
    yield f"{_('Part'):<{width}}  {panel['per_gpu_head']:>16}  {'90%':>14}  {panel['total_head']:>10}".rstrip()
    for row in rows:
        yield f"{row['name']:<{width}}  {row['per_gpu']:>16}  {row['range']:>14}  {row['total']:>10}".rstrip()
    yield ""
    for row in panel["rows"]:
        yield f"{row['name']}: {text_of_spans(row['why'])}"
    for remark in panel["remarks"]:
        yield text_of_spans(remark)
