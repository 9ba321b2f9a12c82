"""A panel with a clock that a test turns, in a real SQLite file, or in PostgreSQL as well."""

from __future__ import annotations

from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest
from fastapi import FastAPI
from tests.postgres import postgres_panel, postgres_server, postgres_url  # noqa: F401

from medjury.panel._database import PanelDatabase, open_panel_database
from medjury.panel._serve import Panel, make_app


class Clock:
    """What the panel takes for the present."""

    def __init__(self) -> None:
        self.moment = datetime(2026, 3, 2, 9, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.moment

    def turn(self, **by: float) -> None:
        self.moment += timedelta(**by)


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def database(tmp_path: Path) -> Iterator[PanelDatabase]:
    opened = open_panel_database(tmp_path / "panel.sqlite")
    yield opened
    opened.close()


@pytest.fixture
def panel(database: PanelDatabase, clock: Clock) -> Panel:
    return Panel(database, now=clock)


@pytest.fixture
def app(panel: Panel) -> FastAPI:
    return make_app(panel)


@pytest.fixture(params=["sqlite", "postgresql"])
def either_database(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[PanelDatabase]:
    """The same test in both databases."""
    sqlite = request.param == "sqlite"
    opened = open_panel_database(
        tmp_path / "either.sqlite" if sqlite else request.getfixturevalue("postgres_panel")
    )
    yield opened
    opened.close()
