"""What the tests of pages share: the shipped catalogue without a database."""

import pytest
from hypothesis import HealthCheck, settings

from catalog.importers.files import snapshot_from_files
from catalog.snapshot import Snapshot

settings.register_profile(
    "pages",
    deadline=None,
    derandomize=True,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
settings.load_profile("pages")


@pytest.fixture(scope="session")
def snapshot() -> Snapshot:
    """The catalogue as shipped; tests do not change it."""
    return snapshot_from_files()
