"""What the tests of pages share: the shipped catalogue without a database."""

import pytest

from catalog.importers.files import snapshot_from_files
from catalog.snapshot import Snapshot


@pytest.fixture(scope="session")
def snapshot() -> Snapshot:
    """The catalogue as shipped; tests do not change it."""
    return snapshot_from_files()
