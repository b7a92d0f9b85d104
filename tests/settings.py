"""The site's settings, made quick and repeatable for tests: whatever this shell's environment says, they are the same."""

import os

for name in [name for name in os.environ if name.startswith("STOWAGE_")]:
    del os.environ[name]
os.environ["SECRET_KEY"] = "a-key-for-tests-only-0123456789-abcdefghijklmnopqrstuvwxyz"
# Playwright's loop runs in the tests' thread, and Django takes that for asynchronous code.
os.environ["DJANGO_ALLOW_ASYNC_UNSAFE"] = "true"

from config.settings import *  # noqa: E402, F403 - the key above is read there
from config.settings import DATABASES, STORAGES  # noqa: E402

# The live server finds files by their own name; a hashed name would be a 404.
STORAGES["staticfiles"] = {"BACKEND": "django.contrib.staticfiles.storage.StaticFilesStorage"}
PASSWORD_HASHERS = ["django.contrib.auth.hashers.MD5PasswordHasher"]
ALLOWED_HOSTS = ["testserver", "localhost", "127.0.0.1"]
# Pages under test come from memory; no test reads or writes the database of `make run`.
if DATABASES["default"]["ENGINE"] == "django.db.backends.sqlite3":
    DATABASES["default"]["TEST"] = {"NAME": None}
