"""Who may do what: editors prepare, publishers show. Both are groups that `migrate` keeps up to date.

For other rights, make a group of your own: what is changed in these two lasts until the next migration.
"""

from __future__ import annotations

from typing import Any

from django.apps import apps as all_apps
from django.contrib.auth.management import create_permissions
from django.db import models

EDITOR, PUBLISHER = "editor", "publisher"
EDITS = ("view", "add", "change")
PUBLISHES = (*EDITS, "delete", "publish")


def may_publish(user: Any, table: type[models.Model]) -> bool:
    """Whether a user shows rows of a table, and what is saved of them at once."""
    return bool(user.has_perm(f"{table._meta.app_label}.publish_{table._meta.model_name}"))  # noqa: SLF001


def make_groups(app_config: Any, using: str = "default", **kwargs: Any) -> None:
    """Give both groups the rights on every table of the catalogue, those added later too."""
    apps = kwargs.get("apps", all_apps)
    try:
        apps.get_model("auth", "Group")
    except LookupError:  # a migration that stopped before the tables of groups
        return
    from django.contrib.auth.models import Group, Permission  # noqa: PLC0415 - models are there only now

    create_permissions(app_config, using=using, apps=apps, verbosity=0)
    tables = [table for table in all_apps.get_app_config(app_config.label).get_models() if _edited(table)]
    for name, verbs in ((EDITOR, EDITS), (PUBLISHER, PUBLISHES)):
        wanted = [f"{verb}_{table._meta.model_name}" for table in tables for verb in verbs]  # noqa: SLF001
        wanted += ["view_catalogversion", "view_refreshrun"]
        group, _ = Group.objects.using(using).get_or_create(name=name)
        found = Permission.objects.using(using).filter(
            content_type__app_label=app_config.label, codename__in=wanted
        )
        group.permissions.set(found)


def _edited(table: type[models.Model]) -> bool:
    """Rows with a status, and their parts; not their history and not the version."""
    return any(field.name == "status" for field in table._meta.fields) and not hasattr(  # noqa: SLF001
        table, "history_object"
    )
