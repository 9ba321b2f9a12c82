"""The pages of this part, and where they stand at the head of every page."""

from __future__ import annotations

from fastapi import APIRouter

from medjury.panel._access import _account, _join, _people_page, _sign_in, _trail_page
from medjury.panel._access._people import Role
from medjury.panel._look import NavigationLink
from medjury.panel._panel import Panel

NAVIGATION = (
    NavigationLink("/people", "People", frozenset({Role.COORDINATOR}), order=80),
    NavigationLink("/trail", "Audit trail", frozenset({Role.COORDINATOR}), order=90),
)


def routes(panel: Panel) -> APIRouter:
    router = APIRouter(include_in_schema=False)
    for pages in (_sign_in, _join, _account, _people_page, _trail_page):
        pages.add_routes(router, panel)
    return router
