"""Who rents accelerators out or answers for tokens, at what price, and by which names price lists call devices."""

from __future__ import annotations

from typing import Any

from django.db import models

from catalog.importers.schema_fields import Kind
from catalog.importers.schema_prices import Billing
from catalog.models.accelerators import Accelerator
from catalog.models.language_models import LanguageModel
from catalog.models.price_row import Refreshed, choices_of, money, page
from catalog.models.row import CatalogRow, Entry, not_negative, positive
from catalog.models.unusual import Usual, unusual
from catalog.prices import Market

USUAL = (Usual("usd_per_hour", "accelerator_id", 4.0, "USD/h", per="gpus", each="accelerator"),)
"""An editor confirms an hourly price outside: spot is often a third of the others."""


class Provider(CatalogRow):
    """A cloud, a marketplace or a hosted API."""

    entries = "providers"
    REQUIRED = {"id": "slug", "name": "name"}
    OPTIONAL = {name: name for name in ("url", "gpuhunt_name", "litellm_name", "note")}

    sources = None
    url = page("page of prices")
    gpuhunt_name = models.CharField(
        "name in gpuhunt",
        max_length=60,
        blank=True,
        help_text="Whose offers refresh_offers takes as this one's.",
    )
    litellm_name = models.CharField(
        "name in litellm", max_length=60, blank=True, help_text="Whose API prices refresh_offers takes."
    )

    class Meta(CatalogRow.Meta):
        verbose_name = "provider"

    @property
    def unverified(self) -> list[Entry]:
        return []


class Offer(Refreshed):
    """One size of a cloud at one price; a refresh moves the old price to `earlier`."""

    entries = "offers"
    REQUIRED = {
        "id": "slug",
        "provider": "provider_id",
        "instance": "size",
        "accelerator": "accelerator_id",
        "gpus": "gpus",
        "usd_per_hour": "usd_per_hour",
        "market": "market",
        "region": "region",
        **Refreshed.PROVENANCE,
    }
    OPTIONAL = {
        **{
            name: name
            for name in (
                "commitment_months",
                "billing",
                "billing_kind",
                "vcpus",
                "ram_gb",
                "link",
                "cluster",
                "currency_uncertain",
                "earlier",
            )
        },
        **Refreshed.PROVENANCE_OPTIONAL,
    }

    name = None  # type: ignore[assignment]
    provider = models.ForeignKey(Provider, models.PROTECT, to_field="slug", related_name="offers")
    size = models.CharField(max_length=200, help_text="The provider's name of it.")
    accelerator = models.ForeignKey(Accelerator, models.PROTECT, to_field="slug", related_name="offers")
    gpus = models.PositiveIntegerField("accelerators", help_text="In the whole size.")
    usd_per_hour = money("price [USD per hour]", help_text="Of the whole size, before tax.")
    market = models.CharField(
        max_length=20,
        choices=choices_of(Market),
        help_text="spot: may be taken back; marketplace: hosts set the price; secure and community: the provider's own "
        "and third-party data centres.",
    )
    region = models.CharField(  # noqa: DJ001 - null as in the files
        max_length=80, null=True, blank=True, help_text="Empty: one price for all, or not said."
    )
    commitment_months = models.PositiveIntegerField(
        "commitment [months]", null=True, blank=True, help_text="Of a reserved offer."
    )
    billing = models.CharField(max_length=20, blank=True, choices=choices_of(Billing))
    billing_kind = models.CharField(
        "kind of the billing's source", max_length=20, blank=True, choices=choices_of(Kind)
    )
    vcpus = models.PositiveIntegerField("virtual CPUs", null=True, blank=True)
    ram_gb = models.FloatField("memory of the host [GB]", null=True, blank=True)
    link = models.CharField("link between its GPUs", max_length=80, blank=True)
    cluster = models.CharField("network between machines", max_length=80, blank=True)
    currency_uncertain = models.BooleanField(
        default=False, help_text="The source does not name the currency."
    )
    earlier = models.JSONField(
        "earlier prices",
        default=list,
        blank=True,
        help_text="The newest first: [{usd_per_hour, as_of, source}].",
    )

    class Meta(Refreshed.Meta):
        verbose_name = "cloud offer"
        constraints = [
            positive("usd_per_hour", "offer"),
            positive("gpus", "offer"),
            positive("ram_gb", "offer"),
        ]

    def __str__(self) -> str:
        return f"{self.provider_id}: {self.size} ({self.market})"

    def doubts(self) -> Any:
        yield from unusual(self, USUAL)


class ApiPrice(Refreshed):
    """What a provider asks for a million tokens of a model."""

    entries = "api_prices"
    REQUIRED = {
        "id": "slug",
        "provider": "provider_id",
        "model": "language_model_id",
        "api_id": "api_id",
        "usd_per_million_input_tokens": "usd_per_million_input_tokens",
        "usd_per_million_cached_input_tokens": "usd_per_million_cached_input_tokens",
        "usd_per_million_output_tokens": "usd_per_million_output_tokens",
        "context_tokens": "context_tokens",
        **Refreshed.PROVENANCE,
    }
    OPTIONAL = {"earlier": "earlier", **Refreshed.PROVENANCE_OPTIONAL}

    name = None  # type: ignore[assignment]
    provider = models.ForeignKey(Provider, models.PROTECT, to_field="slug", related_name="api_prices")
    language_model = models.ForeignKey(
        LanguageModel, models.PROTECT, to_field="slug", related_name="api_prices", verbose_name="model"
    )
    api_id = models.CharField("name at the provider", max_length=200)
    usd_per_million_input_tokens = money("input [USD per million tokens]")
    usd_per_million_cached_input_tokens = money(
        "cached input [USD per million tokens]", null=True, blank=True, help_text="Empty: not said."
    )
    usd_per_million_output_tokens = money("output [USD per million tokens]")
    context_tokens = models.PositiveIntegerField(
        "longest context [tokens]", null=True, blank=True, help_text="That the provider serves."
    )
    earlier = models.JSONField(
        "earlier prices",
        default=list,
        blank=True,
        help_text="The newest first: [{usd_per_million_input_tokens, usd_per_million_output_tokens, as_of, source}].",
    )

    class Meta(Refreshed.Meta):
        verbose_name = "API price"
        constraints = [
            not_negative("usd_per_million_input_tokens", "apiprice"),
            not_negative("usd_per_million_cached_input_tokens", "apiprice"),
            not_negative("usd_per_million_output_tokens", "apiprice"),
        ]

    def __str__(self) -> str:
        return f"{self.provider_id}: {self.api_id}"


class DeviceName(CatalogRow):
    """A name by which price lists call a device. Memory and a word in the instance's name tell namesakes apart."""

    entries = "device_names"
    REQUIRED = {"id": "slug", "name": "name", "memory_gb": "memory_gb", "accelerator": "accelerator_id"}
    OPTIONAL = {"instance_word": "instance_word", "note": "note"}

    sources = None
    name = models.CharField(
        "name in price lists", max_length=80, help_text="As the list writes it, whatever the case: RTX4090."
    )
    memory_gb = models.FloatField("memory [GB]", null=True, blank=True, help_text="Empty: whatever it says.")
    instance_word = models.CharField(
        "word in the instance's name",
        max_length=80,
        blank=True,
        help_text="Only for sizes whose name contains it, whatever the case: PCIe. Empty: for all others.",
    )
    accelerator = models.ForeignKey(
        Accelerator, models.PROTECT, to_field="slug", related_name="names_in_price_lists"
    )

    class Meta(CatalogRow.Meta):
        verbose_name = "device name in price lists"
        verbose_name_plural = "device names in price lists"
        constraints = [positive("memory_gb", "devicename")]

    @property
    def unverified(self) -> list[Entry]:
        return []
