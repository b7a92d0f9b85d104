"""What all tables of prices share: the day of the figure, where it was read, and what a refresh wrote."""

from __future__ import annotations

from typing import Any, ClassVar, get_args

from django.core.exceptions import ValidationError
from django.core.validators import RegexValidator, URLValidator
from django.db import models

from catalog.importers.schema_fields import Kind
from catalog.models.row import FROM_MEMORY, CatalogRow, Entry, digest

period_rule = RegexValidator(
    r"^20\d\d(-(H[12]|Q[1-4]|(0[1-9]|1[0-2])(-(0[1-9]|[12]\d|3[01]))?))?$",
    "Write a day as 2026-11-30, a month as 2026-11, a quarter as 2026-Q4, a half-year as 2026-H2, a year as 2026.",
)


def choices_of(words: Any) -> list[tuple[str, str]]:
    """The words of a Literal as choices of a column."""
    return [(word, word.replace("_", " ")) for word in get_args(words)]


def page(name: str) -> models.CharField[Any, Any]:
    """A column for the address of a page, null where there is none."""
    is_page = URLValidator(
        ["http", "https"], message="Write the address of a page: https://example.org/prices."
    )
    return models.CharField(name, max_length=500, null=True, blank=True, validators=[is_page])


class Priced(CatalogRow):
    """A price with its own day and source. One price, one source."""

    PROVENANCE: ClassVar[dict[str, str]] = {"as_of": "dated", "source": "source", "kind": "source_kind"}
    PROVENANCE_OPTIONAL: ClassVar[dict[str, str]] = {"url": "url", "note": "note"}

    sources = None
    dated = models.CharField(  # noqa: DJ001 - null as in the files
        "date of the price",
        max_length=10,
        null=True,
        blank=True,
        validators=[period_rule],
        help_text="Day, month, quarter or year of the figure. Empty: the source has no date, so it counts as old.",
    )
    source = models.TextField(help_text="owner/repository:path, package==version, or a page's name.")
    source_kind = models.CharField("kind of source", max_length=20, choices=choices_of(Kind))
    url = page("page to look it up")

    class Meta(CatalogRow.Meta):
        abstract = True

    @property
    def unverified(self) -> list[Entry]:
        if self.source_kind != FROM_MEMORY:
            return []
        return [{"what": "price", "where": self.source, "kind": FROM_MEMORY}]


class Refreshed(Priced):
    """A price that refresh_offers keeps up to date as long as nobody edits it here.

    refreshed_digest: what the last refresh wrote; a row that says something else was edited, and is left alone.
    """

    refreshed_digest = models.CharField(max_length=80, blank=True, editable=False)

    class Meta(Priced.Meta):
        abstract = True

    @property
    def written_by_refresh(self) -> bool:
        """Nobody changed the row since a refresh wrote it."""
        return bool(self.refreshed_digest) and digest(self.to_entry()) == self.refreshed_digest

    @property
    def edited_here(self) -> bool:
        """It says what a person wrote, so no refresh may overwrite it; so is one that is retired or not shown yet."""
        return self.retired or self.waits or (not self.written_by_refresh and self.differs_from_shipped())

    def note_edit(self) -> None:
        super().note_edit()
        if self.written_by_refresh:
            self.edited_at = None  # a program wrote it, no person


def known_device(slug: str) -> None:
    """Refuse a device that is neither an accelerator nor a system."""
    from catalog.models.accelerators import Accelerator  # noqa: PLC0415 - systems import accelerators
    from catalog.models.systems import System  # noqa: PLC0415

    if not any(table.objects.filter(slug=slug).exists() for table in (Accelerator, System)):
        raise ValidationError(f"No accelerator and no system has the id {slug}.")


def money(name: str, **options: Any) -> models.DecimalField[Any, Any]:
    """A column of US dollars before tax, exact to the millionth."""
    return models.DecimalField(name, max_digits=16, decimal_places=6, **options)


def rate_columns() -> dict[str, str]:
    """Keys and columns of a price that was published in another currency."""
    return {name: name for name in ("currency", "usd_per_unit", "rate_as_of", "rate_kind")}


class Exchange(models.Model):
    """The other currency of a price, and the rate with its day."""

    currency = models.CharField(
        max_length=3, blank=True, help_text="EUR, GBP …; empty: the source has dollars."
    )
    usd_per_unit = models.FloatField("rate [USD per unit]", null=True, blank=True)
    rate_as_of = models.CharField("date of the rate", max_length=10, blank=True, validators=[period_rule])
    rate_kind = models.CharField(
        "kind of the rate",
        max_length=20,
        blank=True,
        choices=choices_of(Kind),
        help_text="documentation: the source names it; derived: it prints both prices; from memory.",
    )

    class Meta:
        abstract = True
