"""What all tests share: a database that holds the shipped catalogue, loaded once."""

from pathlib import Path

import pytest
from django.core.management import call_command

BROWSER_TESTS = Path(__file__).parent / "browser"


@pytest.fixture(scope="session")
def django_db_setup(django_db_setup, django_db_blocker):
    """Load the catalogue into the empty test database. Each test's own changes are rolled back, so it stays."""
    with django_db_blocker.unblock():
        call_command("load_catalog", verbosity=0)


def pytest_collection_modifyitems(items):
    for item in items:
        if item.path.is_relative_to(BROWSER_TESTS):
            item.add_marker(pytest.mark.browser)
