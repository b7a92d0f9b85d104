"""The calculator with drafts: for the staff member who asked, for nobody else, and kept by no cache."""

import pytest
from django.contrib.auth.models import Group
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from calculator.web.preview import COOKIE
from catalog import live
from catalog.models import Accelerator, LanguageModel

pytestmark = pytest.mark.django_db

BANNER = "Preview with drafts, only you see this."
QUESTION = "/?model=llama-3.1-8b-instruct&gpu=own-card&ctx=8192"


@pytest.fixture(autouse=True)
def fresh():
    live.forget()
    yield
    live.forget()


@pytest.fixture
def editor(django_user_model):
    user = django_user_model.objects.create_user("the-editor", is_staff=True)
    user.groups.add(Group.objects.get(name="editor"))
    client = Client()
    client.force_login(user)
    client.user = user
    return client


@pytest.fixture
def own_card():
    entry = Accelerator.objects.get(slug="rtx-4090").to_entry()
    own = Accelerator.from_entry({**entry, "id": "own-card", "name": "Own card"})
    own.status = "draft"
    own.save()
    live.refresh()
    return own


def words(response):
    return response.content.decode().replace("\xa0", " ")


def test_the_effect_of_a_draft_is_seen_by_the_one_who_asked_and_by_nobody_else(editor, own_card):
    opened = editor.get("/preview/?gpu=own-card", follow=True)
    assert opened.redirect_chain == [("/?gpu=own-card", 302)]
    assert BANNER in words(opened)
    assert "Own card" in words(opened)
    assert opened.headers["Cache-Control"] == "private, no-store"
    assert "Cookie" in opened.headers["Vary"]
    others = Client().get(QUESTION)
    assert BANNER not in words(others)
    assert "Own card" not in words(others)
    assert "own-card" not in live.current().accelerators


def test_a_live_update_and_the_csv_belong_to_the_preview_too(editor, own_card):
    editor.get("/preview/?gpu=own-card")
    fragment = editor.get(QUESTION, headers={"HX-Request": "true"})
    assert BANNER in words(fragment)
    assert fragment.headers["Cache-Control"] == "private, no-store"
    table = editor.get(f"/memory.csv{QUESTION[1:]}")
    assert (table.status_code, table.headers["Cache-Control"]) == (200, "private, no-store")
    assert "ETag" not in table.headers
    public = Client().get(f"/memory.csv{QUESTION[1:]}")
    assert public.status_code == 404


def test_a_change_that_waits_is_seen_beside_the_published_answer(editor):
    Accelerator.objects.filter(slug="rtx-4090").update(proposed={"bandwidth_gb_s": 999.0})
    seen = words(editor.get("/preview/?gpu=rtx-4090", follow=True))
    assert "999 GB/s" in seen
    left = editor.get("/preview/leave/?gpu=rtx-4090&ctx=8192", follow=True)
    assert left.redirect_chain == [("/?gpu=rtx-4090&ctx=8192", 302)]
    assert BANNER not in words(left)
    assert "1,008 GB/s" in words(left)
    assert "999 GB/s" not in words(left)


def test_a_draft_that_changes_is_seen_with_its_change(editor, own_card):
    editor.get("/preview/?gpu=own-card")
    own_card.name = "Own card, renamed"
    own_card.save()
    assert "Own card, renamed" in words(editor.get(QUESTION))


@pytest.mark.parametrize("table", [Accelerator, LanguageModel])
def test_the_page_of_a_row_has_the_link(editor, table):
    row = table.objects.get(slug={Accelerator: "rtx-4090", LanguageModel: "llama-3.1-8b-instruct"}[table])
    parameter = {Accelerator: "gpu", LanguageModel: "model"}[table]
    page = words(editor.get(f"/admin/catalog/{table._meta.model_name}/{row.pk}/change/"))
    assert f'href="/preview/?{parameter}={row.slug}">See the effect</a>' in page


def test_who_is_no_staff_is_sent_to_log_in_and_gets_no_cookie(client, django_user_model):
    client.force_login(django_user_model.objects.create_user("visitor"))
    refused = client.get("/preview/?gpu=own-card")
    assert (refused.status_code, refused.url[:13]) == (302, "/admin/login/")
    assert COOKIE not in client.cookies


def test_a_cookie_holds_only_for_its_owner_while_logged_in_as_staff(editor, own_card, admin_client):
    editor.get("/preview/?gpu=own-card")
    cookie = editor.cookies[COOKIE]
    for name, value in (("value of another", cookie.value), ("forged", "1:1abc:sig"), ("no signature", "1")):
        admin_client.cookies[COOKIE] = value
        assert BANNER not in words(admin_client.get(QUESTION)), name
    assert (cookie["httponly"], cookie["samesite"], cookie["max-age"]) == (True, "Lax", 3600)
    editor.user.is_staff = False
    editor.user.save()
    assert BANNER not in words(editor.get(QUESTION))
    editor.user.is_staff = True
    editor.user.save()
    assert BANNER in words(editor.get(QUESTION))
    editor.logout()
    editor.cookies[COOKIE] = cookie.value
    assert BANNER not in words(editor.get(QUESTION))


def test_without_a_preview_no_query_is_asked_also_when_drafts_exist(editor, own_card):
    live.current()
    with CaptureQueriesContext(connection) as queries:
        editor.get(QUESTION)
    assert len(queries) == 0


def test_a_draft_that_breaks_the_catalogue_is_said_and_the_published_answer_stays(editor, own_card, caplog):
    editor.get("/preview/?gpu=own-card")
    Accelerator.objects.filter(pk=own_card.pk).update(proposed={"dense_tflops": "fast"})
    assert BANNER not in words(editor.get(QUESTION))
    assert "The catalogue with drafts cannot be put together." in caplog.text
    said = editor.get("/preview/?gpu=own-card", follow=True)
    assert said.redirect_chain == [("/admin/", 302)]
    assert "The catalogue with drafts cannot be put together (" in words(said)


def test_only_parameters_of_a_question_are_passed_on(editor):
    answer = editor.get("/preview/?gpu=rtx-4090&next=//evil.example&x=1")
    assert answer.url == "/?gpu=rtx-4090"
    assert editor.post("/preview/").status_code == 405
