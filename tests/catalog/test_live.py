"""The snapshot in memory: no query while warm, new within a second after a write, whatever else goes wrong."""

import gc
import logging
import os
import threading
import time
import weakref

import pytest
from django.db import DatabaseError

from catalog import live
from catalog.importers.files import read_entries, snapshot_from_files
from catalog.models import Accelerator, CatalogVersion, CountLadder, Engine, LanguageModel


@pytest.fixture(autouse=True)
def new_process(monkeypatch):
    """Each test starts without a snapshot and ends without a thread. Freezing would hide garbage from later tests."""
    monkeypatch.setattr(gc, "freeze", lambda: None)
    monkeypatch.setattr(live, "CHECK_EVERY_S", 0.01)
    live.forget()
    yield
    live.forget()


def edit(slug="rtx-4090", **changes):
    card = Accelerator.objects.get(slug=slug)
    for name, value in changes.items():
        setattr(card, name, value)
    card.save()


def wait_for(condition, seconds=5.0):
    end = time.monotonic() + seconds
    while not condition() and time.monotonic() < end:
        time.sleep(0.01)
    return condition()


@pytest.mark.django_db
def test_a_warm_process_asks_the_database_nothing(django_assert_num_queries):
    first = live.current()
    with django_assert_num_queries(0):
        assert live.current() is first


@pytest.mark.django_db
def test_a_cold_process_reads_every_table_once(django_assert_num_queries):
    # The version before and after, eighteen tables, the files and checkpoints of models.
    with django_assert_num_queries(22):
        live.current()


@pytest.mark.django_db
def test_the_database_gives_the_same_catalogue_as_the_files():
    ours, shipped = live.current(), snapshot_from_files()
    for kind in ("models", "accelerators", "systems", "formats", "engines", "ladders"):
        assert list(getattr(ours, kind)) == list(getattr(shipped, kind))
    assert ours.constants == shipped.constants
    assert [item.id for item in ours.measurements] == [item.id for item in shipped.measurements]
    assert live.read_entries() == read_entries()
    assert (ours.version, ours.updated) == (str(CatalogVersion.current().version), shipped.updated)


@pytest.mark.django_db
def test_an_edit_appears_after_a_refresh_and_not_before():
    before = live.current()
    edit(tdp_w=300)
    assert live.current() is before
    after = live.refresh()
    assert (before.accelerators["rtx-4090"].tdp_w, after.accelerators["rtx-4090"].tdp_w) == (450, 300)
    assert live.current() is after


@pytest.mark.django_db
def test_a_refresh_without_a_write_keeps_the_snapshot(django_assert_num_queries):
    before = live.current()
    with django_assert_num_queries(1):
        assert live.refresh() is before


@pytest.mark.django_db
def test_an_old_snapshot_is_freed_without_the_collector():
    old = weakref.ref(live.current())
    gc.disable()
    try:
        edit(tdp_w=300)
        live.refresh()
        assert old() is None
    finally:
        gc.enable()


@pytest.mark.django_db
def test_what_a_retired_row_carries_goes_with_it():
    relative = LanguageModel.objects.exclude(computed_as=None).values("slug", "computed_as_id").get()
    Accelerator.objects.filter(slug="h100-sxm").update(retired=True)
    LanguageModel.objects.filter(slug=relative["computed_as_id"]).update(retired=True)
    Engine.objects.filter(slug="llama.cpp").update(retired=True)
    snapshot = live.current()
    assert "h100-sxm" not in snapshot.accelerators
    assert "hgx-h100-8" not in snapshot.systems
    assert "hgx-h200-8" in snapshot.systems
    assert snapshot.models[relative["slug"]].computed_as is None
    assert {"llama.cpp", "ollama", "lm-studio"} & set(snapshot.engines) == set()
    assert "vllm" in snapshot.engines


@pytest.mark.django_db
def test_a_write_while_the_tables_are_read_makes_it_read_them_again(monkeypatch):
    read_entries_once, reads = live.read_entries, []

    def read_while_somebody_writes():
        entries = read_entries_once()
        reads.append(1)
        if len(reads) == 1:
            edit(tdp_w=300)
        return entries

    monkeypatch.setattr(live, "read_entries", read_while_somebody_writes)
    snapshot = live.current()
    assert len(reads) == 2
    assert snapshot.accelerators["rtx-4090"].tdp_w == 300
    assert snapshot.version == str(CatalogVersion.current().version)


@pytest.mark.django_db
def test_an_empty_database_gives_an_empty_catalogue():
    for table in reversed(live.TABLES):
        table.objects.all().delete()
    assert dict(live.current().models) == {}


@pytest.mark.django_db
def test_commands_and_tests_have_no_thread():
    live.current()
    live.refresh()
    assert [thread.name for thread in threading.enumerate() if thread.name == "catalogue watcher"] == []


# What the watcher does is tested by calling one look of it: its own thread would not see this test's transaction.


@pytest.mark.django_db
def test_a_look_swaps_in_a_newer_catalogue_once():
    live.current()
    assert live._look() is False
    edit(tdp_w=300)
    assert live._look() is True
    assert live.current().accelerators["rtx-4090"].tdp_w == 300
    assert live._look() is False


@pytest.mark.django_db
def test_a_database_that_does_not_answer_is_logged_once_and_changes_nothing(monkeypatch, caplog):
    before = live.current()

    def no_answer():
        raise DatabaseError

    with monkeypatch.context() as patch:
        patch.setattr(CatalogVersion, "current", no_answer)
        patch.setattr(live.connection, "close", lambda: None)
        assert [live._look(), live._look()] == [False, False]
    assert live.current() is before
    errors = [record.message for record in caplog.records if record.levelno == logging.ERROR]
    assert errors == ["The catalogue cannot be read; this process keeps the one it has."]
    edit(tdp_w=300)
    assert live._look() is True


@pytest.mark.django_db
def test_a_catalogue_that_cannot_be_put_together_is_not_tried_again_until_it_changes(monkeypatch, caplog):
    before = live.current()
    monkeypatch.setattr(live.connection, "close", lambda: None)
    CountLadder.objects.filter(slug="consumer").update(applies_to={"kinds": []})
    assert [live._look(), live._look()] == [False, False]
    assert live.current() is before
    assert len([record for record in caplog.records if record.levelno == logging.ERROR]) == 1
    CountLadder.objects.filter(slug="consumer").update(applies_to={"kinds": ["consumer"]})
    assert live._look() is True
    assert live.current() is not before


class Looks:
    """Counts the watcher's looks instead of asking a database."""

    def __init__(self):
        self.count = 0

    def __call__(self):
        self.count += 1
        return True


@pytest.fixture
def looks(monkeypatch):
    looks = Looks()
    monkeypatch.setattr(live, "_look", looks)
    return looks


@pytest.mark.django_db
def test_a_server_has_one_daemon_thread_that_looks_again_and_again(looks):
    live.warm()
    live.current()
    thread = live._state.watcher
    assert (thread.daemon, thread.name) == (True, "catalogue watcher")
    live.current()
    assert live._state.watcher is thread
    assert wait_for(lambda: looks.count >= 2)
    live.forget()
    assert not thread.is_alive()


@pytest.mark.django_db
def test_a_server_starts_before_its_database_and_takes_the_catalogue_when_it_is_there(monkeypatch, caplog):
    def no_answer():
        raise DatabaseError

    with monkeypatch.context() as patch:
        patch.setattr(CatalogVersion, "current", no_answer)
        live.warm()
    assert [record.message for record in caplog.records] == ["The catalogue cannot be read yet."]
    assert live._state.snapshot is None
    assert live._look() is True
    assert live._state.snapshot.version == str(CatalogVersion.current().version)


@pytest.mark.django_db
def test_a_new_catalogue_is_put_out_of_the_collector_s_sight(looks, monkeypatch):
    frozen = []
    monkeypatch.setattr(gc, "freeze", lambda: frozen.append(1))
    live.warm()
    live.current()
    assert wait_for(lambda: frozen)


@pytest.mark.django_db
@pytest.mark.filterwarnings("ignore:.*fork:DeprecationWarning")  # the child only looks and exits
def test_a_forked_child_keeps_the_snapshot_and_starts_a_thread_of_its_own(looks):
    live.warm()
    snapshot = live.current()
    thread = live._state.watcher
    reading, writing = os.pipe()
    child = os.fork()
    if child == 0:
        before = live._state.watcher
        same = live.current() is snapshot
        own = live._state.watcher
        good = before is None and same and own is not None and own is not thread and own.is_alive()
        os.write(writing, b"good" if good else b"bad")
        os._exit(0)
    os.waitpid(child, 0)
    assert os.read(reading, 4) == b"good"
    os.close(reading)
    os.close(writing)
