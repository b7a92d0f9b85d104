"""The record of every refresh of prices: when, whose, from where, and what came of it."""

from django.db import models
from django.utils import timezone


class RefreshRun(models.Model):
    """One provider in one run of refresh_offers. Nothing reads it but people and the page of data health."""

    class What(models.TextChoices):
        OFFERS = "offers", "cloud offers"
        API_PRICES = "api_prices", "API prices"

    at = models.DateTimeField(default=timezone.now, db_index=True)
    what = models.CharField(max_length=12, choices=What)
    provider = models.CharField(max_length=120, help_text="Id of the provider.")
    source = models.CharField(max_length=300, help_text="Library and version, or the name of the file.")
    dated = models.CharField("date of the prices", max_length=10)
    added = models.PositiveIntegerField(default=0, help_text="Rows that are new.")
    changed = models.PositiveIntegerField(default=0, help_text="Rows whose price moved; the old one is kept.")
    confirmed = models.PositiveIntegerField(default=0, help_text="Rows with the same price at a newer date.")
    kept = models.PositiveIntegerField(
        default=0, help_text="Rows that the list has otherwise, left alone as they were edited here."
    )
    unknown = models.JSONField(
        default=list, help_text="Names in the list that are none of our devices or models."
    )

    class Meta:
        ordering = ["-at", "-pk"]
        verbose_name = "refresh of prices"
        verbose_name_plural = "refreshes of prices"

    def __str__(self) -> str:
        return f"{self.provider}, {self.at:%Y-%m-%d %H:%M}"
