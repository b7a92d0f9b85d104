"""What tests of the admin's pages share: people, addresses, forms as a browser sends them, words of a page."""

import html
import re

from django.contrib.auth.models import Group
from django.core.files.uploadedfile import SimpleUploadedFile
from django.forms import CheckboxInput
from django.test import Client
from django.urls import reverse

from catalog.models import Accelerator, LanguageModel


def person(django_user_model, role):
    """A member of the staff in one group, logged in."""
    user = django_user_model.objects.create_user(f"the-{role}", password="password", is_staff=True)
    user.groups.add(Group.objects.get(name=role))
    client = Client()
    client.force_login(user)
    client.user = user
    return client


def url(table, page, *args):
    return reverse(f"admin:catalog_{table._meta.model_name}_{page}", args=args)


def text_of(response):
    return re.sub(r"\s+", " ", html.unescape(re.sub(r"<[^>]+>", " ", response.content.decode()))).strip()


def messages(response):
    return [str(message) for message in response.context["messages"]]


def values_of(form):
    """What a browser would send back for a form that nobody touched."""
    values = {}
    for bound in form:
        if isinstance(bound.field.widget, CheckboxInput):
            value = "on" if bound.value() else None
        else:
            value = bound.field.widget.format_value(bound.value())
        if isinstance(value, list):
            value = value[0] if value else None
        if value is not None:
            values[bound.html_name] = value
    return values


def form_of(client, row):
    page = client.get(url(type(row), "change", row.pk))
    data = values_of(page.context["adminform"].form)
    for inline in page.context["inline_admin_formsets"]:
        data |= values_of(inline.formset.management_form)
        for part in inline.formset.forms:
            data |= values_of(part)
    return data


def change(client, row, **changes):
    """Open the row's page, change some fields, save."""
    data = {**form_of(client, row), **changes}
    return client.post(url(type(row), "change", row.pk), data, follow=True)


def errors_of(response):
    if response.redirect_chain:
        return {}
    return {name: list(errors) for name, errors in response.context["adminform"].form.errors.items()}


def act(client, action, *rows):
    data = {"action": action, "_selected_action": [row.pk for row in rows]}
    return client.post(url(type(rows[0]), "changelist"), data, follow=True)


def listed(client, table, **filters):
    return {row.slug for row in client.get(url(table, "changelist"), filters).context["cl"].queryset}


def upload(client, table, text, name="table.csv"):
    """The preview of a file."""
    data = text if isinstance(text, bytes) else text.encode()
    return client.post(url(table, "import"), {"file": SimpleUploadedFile(name, data)})


def confirm(client, table, preview, **fields):
    """Import what was previewed."""
    told = preview.context["confirm"].initial["previewed"]
    return client.post(url(table, "import"), {"previewed": told, **fields}, follow=True)


def card(slug="rtx-4090"):
    return Accelerator.objects.get(slug=slug)


def llama():
    return LanguageModel.objects.get(slug="llama-3.1-8b-instruct")


def own_card(**columns):
    own = Accelerator.from_entry({**card().to_entry(), "id": "own-card", "name": "Own card"})
    for column, value in columns.items():
        setattr(own, column, value)
    own.save()
    return own
