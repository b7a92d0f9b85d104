"""Who makes models."""

from django.db import models

from catalog.models.row import CatalogRow


class Lab(CatalogRow):
    """A maker of models, with the country of its seat."""

    entries = "labs"
    REQUIRED = {"id": "slug", "name": "name", "country": "country"}
    OPTIONAL = {"name_zh": "name_zh"}

    retirable = False  # without models it does not appear

    sources = None  # a name needs none
    note = None  # type: ignore[assignment]
    country = models.CharField(max_length=60, help_text="Country of the maker's seat.")
    name_zh = models.CharField(
        "name in Chinese", max_length=200, blank=True, help_text="Empty: Chinese readers use the Latin name."
    )

    class Meta(CatalogRow.Meta):
        verbose_name = "lab"
