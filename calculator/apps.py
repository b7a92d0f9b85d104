from django.apps import AppConfig


class CalculatorConfig(AppConfig):
    name = "calculator"
    label = "calculator"
    verbose_name = "Calculator"
    default_auto_field = "django.db.models.BigAutoField"
