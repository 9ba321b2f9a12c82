"""The web application, put together from its parts.

A part is a folder beside this file whose front door offers `routes(panel)`. It may offer `NAVIGATION` too, and have
`templates/`, `static/` and `_tables.py`. None knows another's pages.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from medjury.panel._panel import Panel
from medjury.panel._parts import parts
from medjury.version import __version__

if TYPE_CHECKING:
    from fastapi import FastAPI


def make_app(panel: Panel) -> FastAPI:
    """The application; `/healthz` answers 200 once it is up and its database answers."""
    from fastapi import APIRouter, Depends, FastAPI
    from fastapi.responses import PlainTextResponse

    from medjury.panel._access import guard
    from medjury.panel._declared import Everybody, declared_routes
    from medjury.panel._look import NavigationLink, look_of

    app = FastAPI(title="Medjury panel", version=__version__, docs_url=None, redoc_url=None, openapi_url=None)
    app.state.panel = panel
    own = APIRouter()

    @own.get("/healthz", response_class=PlainTextResponse, dependencies=[Depends(Everybody())])
    def healthz() -> str:
        with panel.database.reading() as connection:
            connection.exec_driver_sql("SELECT 1")
        return "ok"

    found = parts()
    routers = [own, *(part.routes(panel) for part in found if hasattr(part, "routes"))]
    links: list[NavigationLink] = [link for part in found for link in getattr(part, "NAVIGATION", ())]
    app.state.look = look_of(found, sorted(links, key=lambda link: link.order))
    app.state.declared_routes = [route for router in routers for route in declared_routes(router)]
    # Addresses are tried in turn, and raters save more often than anyone else. Routes are taken over as they are:
    # `include_router` would read every one of them a second time.
    for router in reversed(routers):
        app.router.routes.extend(router.routes)
    guard(app, panel)
    return app
