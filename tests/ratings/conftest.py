"""Every test that asks for `store` runs on SQLite and on PostgreSQL."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.postgres import postgres_server, postgres_store, postgres_url  # noqa: F401 - fixtures
from tests.studies.conftest import server, write_study  # noqa: F401 - fixtures

from medjury.store.ratings import Store, open_store


@pytest.fixture(params=["sqlite", "postgresql"])
def store_address(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """The address of a store that does not exist yet, unless the test asks for `store`, which is opened there."""
    if request.param == "sqlite":
        return str(tmp_path / "ratings.sqlite")
    return str(
        request.getfixturevalue("postgres_store" if "store" in request.fixturenames else "postgres_url")
    )


@pytest.fixture
def store(store_address: str) -> Iterator[Store]:
    with open_store(store_address, wait_seconds=5) as store:
        yield store
