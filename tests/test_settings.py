"""A wrong setting stops the start with a sentence that helps, and every setting is documented."""

import re
import runpy
from pathlib import Path

import pytest
from django.core.exceptions import ImproperlyConfigured

from config import env

ROOT = Path(__file__).parent.parent
STRONG = "0123456789-abcdefghijklmnopqrstuvwxyz-ABCDEFGHIJKLMNOPQRSTUVWXYZ"


def load_settings(monkeypatch, **environ):
    """Read config/settings.py as a fresh process would, with exactly these variables."""
    for name in documented_variables() - {"HOST", "PORT"}:
        monkeypatch.delenv(name, raising=False)
    for name, value in environ.items():
        monkeypatch.setenv(name, value)
    return runpy.run_path(str(ROOT / "config/settings.py"))


def documented_variables():
    table = (ROOT / "README.md").read_text().split("## Settings")[1].split("\n## ")[0]
    return {
        name
        for row in re.findall(r"^\| (`.*?) \|", table, re.MULTILINE)
        for name in re.findall(r"`([A-Z_]+)`", row)
    }


def read_variables():
    """Find each variable that our code, the Makefile and the scripts read."""
    names = set()
    for folder in ("config", "catalog", "calculator"):
        for file in (ROOT / folder).rglob("*.py"):
            text = file.read_text()
            names |= set(re.findall(r"\benv_(?:text|bool|int|list|choice|secret)\(\s*\"([A-Z_]+)\"", text))
            names |= set(re.findall(r"\bos\.environ(?:\.get\(|\[)\s*\"([A-Z_]+)\"", text))
            names |= {f"{name}_FILE" for name in re.findall(r"\benv_secret\(\s*\"([A-Z_]+)\"", text)}
    names |= set(re.findall(r"environ\.get\(\"([A-Z_]+)\"", (ROOT / "tests/browser/conftest.py").read_text()))
    return names


def test_readme_lists_exactly_the_variables_that_are_read():
    assert documented_variables() == read_variables()


def test_missing_secret_key_stops_the_start(monkeypatch, tmp_path):
    empty = tmp_path / "empty"
    empty.touch()
    with pytest.raises(ImproperlyConfigured, match="SECRET_KEY is missing"):
        load_settings(monkeypatch, SECRET_KEY_FILE=str(empty))


@pytest.mark.parametrize("weak", ["short", "a" * 60, f"django-insecure-{STRONG}"])
def test_weak_secret_key_stops_the_start(monkeypatch, weak):
    with pytest.raises(ImproperlyConfigured, match="SECRET_KEY is too easy to guess"):
        load_settings(monkeypatch, SECRET_KEY=weak)


def test_secret_key_is_read_from_a_mounted_file(monkeypatch, tmp_path):
    file = tmp_path / "key"
    file.write_text(f"{STRONG}\n")
    assert load_settings(monkeypatch, SECRET_KEY_FILE=str(file))["SECRET_KEY"] == STRONG


def test_secret_key_file_that_is_not_there_is_named(monkeypatch):
    with pytest.raises(ImproperlyConfigured, match="SECRET_KEY_FILE names /nowhere/key"):
        load_settings(monkeypatch, SECRET_KEY_FILE="/nowhere/key")


def test_debug_is_off_and_https_settings_are_off_by_default(monkeypatch):
    settings = load_settings(monkeypatch, SECRET_KEY=STRONG)
    names = [
        "DEBUG",
        "SECURE_SSL_REDIRECT",
        "SESSION_COOKIE_SECURE",
        "CSRF_COOKIE_SECURE",
        "SECURE_HSTS_SECONDS",
    ]
    assert [settings[name] for name in names] == [False, False, False, False, 0]


def test_https_is_one_switch(monkeypatch):
    settings = load_settings(monkeypatch, SECRET_KEY=STRONG, STOWAGE_HTTPS="1")
    names = ["SECURE_SSL_REDIRECT", "SESSION_COOKIE_SECURE", "CSRF_COOKIE_SECURE", "SECURE_HSTS_SECONDS"]
    assert [settings[name] for name in names] == [True, True, True, 3600]


def test_debug_needs_no_key(monkeypatch):
    assert load_settings(monkeypatch, STOWAGE_DEBUG="1")["DEBUG"] is True


def test_another_database_gets_no_sqlite_options(monkeypatch):
    settings = load_settings(monkeypatch, SECRET_KEY=STRONG, DATABASE_URL="postgres://u:p@db.example/stowage")
    assert settings["DATABASES"]["default"]["ENGINE"] == "django.db.backends.postgresql"
    assert "OPTIONS" not in settings["DATABASES"]["default"]


@pytest.mark.parametrize(
    ("read", "given", "sentence"),
    [
        (lambda: env.env_bool("X", default=False), "maybe", "X is 'maybe': write 1 or 0."),
        (lambda: env.env_int("X", 60), "an hour", "X is 'an hour': write a whole number, such as 60."),
        (
            lambda: env.env_choice("X", "INFO", ("INFO", "DEBUG")),
            "loud",
            "X is 'LOUD': write one of INFO, DEBUG.",
        ),
    ],
)
def test_wrong_value_is_answered_by_what_to_write(monkeypatch, read, given, sentence):
    monkeypatch.setenv("X", given)
    with pytest.raises(ImproperlyConfigured) as error:
        read()
    assert str(error.value) == sentence


@pytest.mark.parametrize(
    ("given", "value"), [("1", True), ("Yes", True), ("0", False), ("", False), (" off ", False)]
)
def test_switches_take_the_usual_words(monkeypatch, given, value):
    monkeypatch.setenv("X", given)
    assert env.env_bool("X", default=True) is value


def test_lists_are_split_at_commas(monkeypatch):
    monkeypatch.setenv("X", "a.example, b.example,")
    assert env.env_list("X", []) == ["a.example", "b.example"]
