"""What all tests of the panel share."""

from __future__ import annotations

from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from anyio.from_thread import start_blocking_portal
from argon2 import PasswordHasher
from fastapi import APIRouter
from starlette.testclient import TestClient, _TestClientTransport
from tests.panel import in_one_call, routes_once
from tests.panel.rounds import Clock
from tests.postgres import postgres_panel, postgres_server, postgres_url  # noqa: F401

from medjury.foundation.files import create_private
from medjury.panel import _database
from medjury.panel._access import _passwords
from medjury.panel._database import PanelDatabase, open_panel_database


@pytest.fixture(autouse=True, scope="session")
def _passwords_are_quickly_hashed() -> Iterator[None]:
    """Real argon2 with the least work: dozens of people join in these tests."""
    with pytest.MonkeyPatch.context() as patch:
        quick = cache(lambda: PasswordHasher(time_cost=1, memory_cost=64, parallelism=1))
        patch.setattr(_passwords, "_hasher", quick)
        yield


@pytest.fixture(autouse=True, scope="session")
def _a_new_file_has_its_tables(tmp_path_factory: pytest.TempPathFactory) -> Iterator[None]:
    """A panel in a new file begins with the bytes of one that was opened before; `test_database.py` begins with
    none."""
    model = tmp_path_factory.mktemp("panel") / "model.sqlite"
    open_panel_database(model).close()
    tables = model.read_bytes()

    def create(path: Path) -> None:
        create_private(path)
        path.write_bytes(tables)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(_database, "create_private", create)
        yield


@pytest.fixture(autouse=True, scope="session")
def _requests_share_an_event_loop() -> Iterator[None]:
    """As on a server: left to itself, a test client starts an event loop and its threads for every request, and
    goes there nine times."""
    with start_blocking_portal() as portal, pytest.MonkeyPatch.context() as patch:
        patch.setattr(TestClient, "portal", portal)
        patch.setattr(_TestClientTransport, "handle_request", in_one_call.answer)
        yield


@pytest.fixture(autouse=True, scope="session")
def _routes_are_read_once() -> Iterator[None]:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(APIRouter, "add_api_route", routes_once.add)
        yield


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture(params=["sqlite", "postgresql"])
def either_place(request: pytest.FixtureRequest, tmp_path: Path) -> str:
    """Where a panel is kept: the same test in both databases."""
    sqlite = request.param == "sqlite"
    return str(tmp_path / "either.sqlite") if sqlite else request.getfixturevalue("postgres_panel")


@pytest.fixture
def either_database(either_place: str) -> Iterator[PanelDatabase]:
    opened = open_panel_database(either_place)
    yield opened
    opened.close()
