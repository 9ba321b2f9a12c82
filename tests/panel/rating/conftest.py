"""A panel with one round of three cases by two systems, and a clock that is turned by hand."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from fastapi import FastAPI
from tests.panel.raters import Rater, rater
from tests.panel.rounds import Clock, set_up_panel

from medjury.panel._serve import Panel, make_app


@pytest.fixture
def make_panel(tmp_path: Path, clock: Clock) -> Callable[..., FastAPI]:
    def make(**study: Any) -> FastAPI:
        database, _ = set_up_panel(tmp_path, **study)
        return make_app(Panel(database, now=clock))

    return make


@pytest.fixture
def one(make_panel: Callable[..., FastAPI]) -> Rater:
    """A rater of three cases by two systems."""
    return rater(make_panel())
