from collections.abc import Iterable, Mapping

from django.apps import AppConfig

from catalog import scenario_check


class CalculatorConfig(AppConfig):
    name = "calculator"
    label = "calculator"
    verbose_name = "Calculator"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        scenario_check.register(_question_remarks)


def _question_remarks(query: Mapping[str, str]) -> Iterable[scenario_check.Remark]:
    """Most commands never ask this, so the pages' words are imported when one does."""
    from calculator.web.measured_questions import question_remarks  # noqa: PLC0415

    return question_remarks(query)
