"""In which counts devices are really used."""

from django.db import models

from catalog.models.row import CatalogRow


class CountLadder(CatalogRow):
    """The steps of a count for a kind, a form or a list of devices; ids are asked before forms, forms before kinds."""

    entries = "ladders"
    REQUIRED = {
        "id": "slug",
        "counts": "counts",
        "usual": "usual",
        "max_in_one_machine": "max_in_one_machine",
        "tensor_parallel_counts": "tensor_parallel_counts",
        "layer_split_counts": "layer_split_counts",
        "rule": "rule",
        "applies_to": "applies_to",
    }
    OPTIONAL = {"domain": "domain", "nodes_beyond": "nodes_beyond"}

    retirable = False  # each accelerator needs one

    name = None  # type: ignore[assignment]
    sources = None
    note = None  # type: ignore[assignment]
    counts = models.JSONField(help_text="A list of whole numbers.")
    usual = models.JSONField(help_text="Those that people mostly use.")
    max_in_one_machine = models.PositiveIntegerField()
    tensor_parallel_counts = models.JSONField()
    layer_split_counts = models.JSONField()
    domain = models.PositiveIntegerField(
        null=True, blank=True, help_text="Devices that reach each other at full speed."
    )
    rule = models.TextField(help_text="The rule in words.")
    nodes_beyond = models.TextField(blank=True, help_text="How it goes on above one machine, in words.")
    applies_to = models.JSONField(help_text="{ids: […]}, {forms: […]} or {kinds: […]}.")

    class Meta(CatalogRow.Meta):
        verbose_name = "count ladder"

    def __str__(self) -> str:
        return self.slug
