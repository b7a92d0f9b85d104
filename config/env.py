"""Typed readers of environment variables. A wrong value stops the start with a sentence that says what to write."""

import os
from pathlib import Path

from django.core.exceptions import ImproperlyConfigured

YES = {"1", "true", "yes", "on"}
NO = {"0", "false", "no", "off", ""}

# Django's own check security.W009 asks for the same.
SECRET_MIN_LENGTH = 50
SECRET_MIN_DIFFERENT_CHARACTERS = 5


def env_text(name: str, default: str) -> str:
    return os.environ.get(name, "").strip() or default


def env_bool(name: str, *, default: bool) -> bool:
    text = os.environ.get(name)
    if text is None:
        return default
    word = text.strip().lower()
    if word in YES:
        return True
    if word in NO:
        return False
    raise ImproperlyConfigured(f"{name} is {text!r}: write 1 or 0.")


def env_int(name: str, default: int) -> int:
    text = os.environ.get(name, "").strip()
    if not text:
        return default
    try:
        return int(text)
    except ValueError as error:
        raise ImproperlyConfigured(f"{name} is {text!r}: write a whole number, such as {default}.") from error


def env_list(name: str, default: list[str]) -> list[str]:
    words = [word.strip() for word in os.environ.get(name, "").split(",")]
    return [word for word in words if word] or default


def env_choice(name: str, default: str, choices: tuple[str, ...]) -> str:
    word = env_text(name, default).upper()
    if word not in choices:
        raise ImproperlyConfigured(f"{name} is {word!r}: write one of {', '.join(choices)}.")
    return word


def env_secret(name: str, default_file: Path) -> str:
    """Read the secret from the variable, else from the file that `<name>_FILE` names, else from `default_file`."""
    if secret := os.environ.get(name, "").strip():
        return secret
    file_name = os.environ.get(f"{name}_FILE", "").strip()
    file = Path(file_name) if file_name else default_file
    if file.is_file():
        return file.read_text().strip()
    if file_name:
        raise ImproperlyConfigured(f"{name}_FILE names {file_name}, and there is no such file.")
    return ""


def check_secret(name: str, secret: str) -> None:
    advice = (
        "Set it to 50 or more random characters, or run `make var/secret_key`, which writes some to a file."
    )
    if not secret:
        raise ImproperlyConfigured(f"{name} is missing. {advice}")
    too_simple = len(secret) < SECRET_MIN_LENGTH or len(set(secret)) < SECRET_MIN_DIFFERENT_CHARACTERS
    if too_simple or secret.startswith("django-insecure-"):
        raise ImproperlyConfigured(f"{name} is too easy to guess. {advice}")
