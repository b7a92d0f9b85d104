"""What devices cost to buy, electricity, colocation, and the figures that a calculation of cost starts from."""

from __future__ import annotations

from typing import Any

from django.db import models

from catalog.importers.schema_prices import Condition, Customer, Topic
from catalog.models.price_row import Exchange, Priced, choices_of, known_device, money, rate_columns
from catalog.models.row import positive
from catalog.models.unusual import Usual, unusual

USUAL = (Usual("usd", "device", 3.0, "USD"),)
USUAL_KWH = (Usual("usd_per_kwh", "customer", 2.0, "USD/kWh"),)
"""An editor confirms a price outside."""


class PurchasePrice(Exchange, Priced):
    """One price of a device that was read somewhere; a newer one is a further row."""

    entries = "purchase_prices"
    REQUIRED = {
        "id": "slug",
        "device": "device",
        "condition": "condition",
        "usd": "usd",
        **Priced.PROVENANCE,
    }
    OPTIONAL = {
        "low_usd": "low_usd",
        "high_usd": "high_usd",
        "basis": "basis",
        "local_amount": "local_amount",
        **rate_columns(),
        **Priced.PROVENANCE_OPTIONAL,
    }

    name = None  # type: ignore[assignment]
    device = models.CharField(
        max_length=120, validators=[known_device], help_text="Id of an accelerator or of a system."
    )
    condition = models.CharField(
        max_length=10,
        choices=choices_of(Condition),
        help_text="mixed: listings of new and used ones; server: a whole machine or rack as a maker sells it.",
    )
    usd = money("price [USD]", help_text="The figure, or the middle of its range.")
    low_usd = money("from [USD]", null=True, blank=True)
    high_usd = money("to [USD]", null=True, blank=True)
    basis = models.CharField(
        "how the figure came about", max_length=200, blank=True, help_text="mean of 3 cheapest listings …"
    )
    local_amount = money("price in its own currency", null=True, blank=True)

    class Meta(Priced.Meta):
        verbose_name = "purchase price"
        constraints = [positive("usd", "purchaseprice")]

    def __str__(self) -> str:
        return f"{self.device}: {self.condition}, of {self.dated or 'an unknown day'}"

    def doubts(self) -> Any:
        yield from unusual(self, USUAL)


class ElectricityPrice(Exchange, Priced):
    """A kilowatt hour for one sort of customer in one region."""

    entries = "electricity"
    REQUIRED = {
        "id": "slug",
        "region": "region",
        "name": "name",
        "country": "country",
        "customer": "customer",
        "usd_per_kwh": "usd_per_kwh",
        **Priced.PROVENANCE,
    }
    OPTIONAL = {
        "name_zh": "name_zh",
        "local_per_kwh": "local_per_kwh",
        **rate_columns(),
        **Priced.PROVENANCE_OPTIONAL,
    }

    region = models.SlugField(max_length=80, help_text="us, us-tx, de: what links name as region.")
    name_zh = models.CharField("name in Chinese", max_length=200, blank=True)
    country = models.CharField(  # noqa: DJ001 - null as in the files
        max_length=2, null=True, blank=True, help_text="Two letters; empty: a continent."
    )
    customer = models.CharField(max_length=12, choices=choices_of(Customer))
    usd_per_kwh = money("price [USD per kWh]")
    local_per_kwh = money("price in its own currency [per kWh]", null=True, blank=True)

    class Meta(Priced.Meta):
        verbose_name = "electricity price"
        constraints = [positive("usd_per_kwh", "electricityprice")]

    def __str__(self) -> str:
        return f"{self.name}: {self.customer}"

    def doubts(self) -> Any:
        yield from unusual(self, USUAL_KWH)


class Colocation(Priced):
    """A kilowatt of rack power in somebody's data centre."""

    entries = "colocation"
    REQUIRED = {
        "id": "slug",
        "name": "name",
        "usd_per_kw_month": "usd_per_kw_month",
        **Priced.PROVENANCE,
    }
    OPTIONAL = {
        "low_usd_per_kw_month": "low_usd_per_kw_month",
        "high_usd_per_kw_month": "high_usd_per_kw_month",
        **Priced.PROVENANCE_OPTIONAL,
    }

    usd_per_kw_month = money(
        "price [USD per kW and month]", help_text="The figure, or the middle of its range."
    )
    low_usd_per_kw_month = money("from [USD per kW and month]", null=True, blank=True)
    high_usd_per_kw_month = money("to [USD per kW and month]", null=True, blank=True)

    class Meta(Priced.Meta):
        verbose_name = "colocation price"
        constraints = [positive("usd_per_kw_month", "colocation")]


class Assumption(Priced):
    """A figure that a calculation of cost starts from, such as PUE or what a server is worth after three years."""

    entries = "assumptions"
    REQUIRED = {
        "id": "slug",
        "topic": "topic",
        "name": "name",
        "value": "value",
        "unit": "unit",
        **Priced.PROVENANCE,
    }
    OPTIONAL = {
        "low": "low",
        "high": "high",
        "applies_to": "applies_to",
        "accelerator": "accelerator_slug",
        **Priced.PROVENANCE_OPTIONAL,
    }

    topic = models.CharField(max_length=20, choices=choices_of(Topic))
    value = models.FloatField(help_text="The figure, or the middle of its range.")
    low = models.FloatField(null=True, blank=True)
    high = models.FloatField(null=True, blank=True)
    unit = models.CharField(max_length=40, help_text="fraction, usd, years, w …")
    applies_to = models.CharField(max_length=200, blank=True)
    accelerator_slug = models.CharField(  # noqa: DJ001 - null as in the files
        "accelerator",
        max_length=120,
        null=True,
        blank=True,
        validators=[known_device],
        help_text="Id of the one it is about; empty: not about one.",
    )

    class Meta(Priced.Meta):
        verbose_name = "cost assumption"
