"""How a test asks for a page: the query of a link in, the answer and its panels out."""

from urllib.parse import parse_qsl

from hypothesis import HealthCheck, settings

from calculator.web.answer import Answer, answer
from calculator.web.panels.page import calculator_page
from calculator.web.panels.shapes import CalculatorPage
from calculator.web.panels.spans import text_of_spans
from catalog.snapshot import Snapshot

NO_BREAK = "\u00a0"

SEARCH = settings(
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
"""How hypothesis searches here: the same examples each time, however slow the machine; the client keeps no state."""


def asked(query: str, snapshot: Snapshot) -> Answer:
    return answer(parse_qsl(query, keep_blank_values=True), snapshot)


def page_of(query: str, snapshot: Snapshot, **options: object) -> CalculatorPage:
    return calculator_page(asked(query, snapshot), canonical="https://stowage.example/", **options)


def words(sentence: list) -> str:
    """A sentence's words with plain spaces, so that a test reads as the page does."""
    return plain(text_of_spans(sentence))


def plain(text: str) -> str:
    return text.replace(NO_BREAK, " ")
