"""The pages of this part, and where they stand at the head of every page."""

from __future__ import annotations

from fastapi import APIRouter

from medjury.panel._access import _account, _people_page, _sign_in, _trail_page
from medjury.panel._access._joining import join as _join
from medjury.panel._access._open_id import pages as _open_id_pages
from medjury.panel._access._passkeys import pages as _passkey_pages
from medjury.panel._access._people import Role
from medjury.panel._access._programs import api_pages as _api_pages
from medjury.panel._look import NavigationLink
from medjury.panel._panel import Panel

_COORDINATOR = frozenset({Role.COORDINATOR})
_PAGES = (_sign_in, _join, _passkey_pages, _open_id_pages, _account, _people_page, _api_pages, _trail_page)
NAVIGATION = (
    NavigationLink("/people", "People", _COORDINATOR, order=30),
    NavigationLink("/api-keys", "API keys", _COORDINATOR, order=85),
    NavigationLink("/trail", "Audit trail", _COORDINATOR, order=90),
)


def routes(panel: Panel) -> APIRouter:
    router = APIRouter()
    for pages in _PAGES:
        pages.add_routes(router, panel)
    return router
