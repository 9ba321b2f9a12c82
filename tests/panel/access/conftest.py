"""A panel with a clock that a test turns, in a real SQLite file."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest
from fastapi import FastAPI
from tests.panel.rounds import Clock

from medjury.panel._database import PanelDatabase, open_panel_database
from medjury.panel._serve import Panel, make_app


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
