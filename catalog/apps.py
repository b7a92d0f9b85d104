from django.apps import AppConfig
from django.db.models.signals import post_migrate


class CatalogConfig(AppConfig):
    name = "catalog"
    label = "catalog"
    verbose_name = "Catalogue"
    default_auto_field = "django.db.models.BigAutoField"

    def ready(self) -> None:
        from catalog.roles import make_groups  # noqa: PLC0415 - models are there only now

        post_migrate.connect(make_groups, sender=self)
