"""The web application, put together from its parts. Each part offers a router; none knows another's pages."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

from medjury.panel._database import PanelDatabase

if TYPE_CHECKING:
    from fastapi import FastAPI


@dataclass(frozen=True)
class Panel:
    """What every page needs: the database, and the clock (a test may turn it)."""

    database: PanelDatabase
    now: Callable[[], datetime] = lambda: datetime.now(UTC)


def make_app(panel: Panel) -> FastAPI:
    """The application; `/healthz` answers 200 once it is up and its database answers."""
    from fastapi import FastAPI
    from fastapi.responses import PlainTextResponse

    app = FastAPI(title="Medjury panel", docs_url=None, redoc_url=None)
    app.state.panel = panel

    @app.get("/healthz", response_class=PlainTextResponse)
    def healthz() -> str:
        with panel.database.reading() as connection:
            connection.exec_driver_sql("SELECT 1")
        return "ok"

    return app
