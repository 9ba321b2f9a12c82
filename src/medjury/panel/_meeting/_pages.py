"""The pages of this part, and where they stand at the head of every page."""

from __future__ import annotations

from fastapi import APIRouter

from medjury.panel._access import Role
from medjury.panel._look import NavigationLink
from medjury.panel._meeting import _coordinator_pages, _decision_pages, _together_pages
from medjury.panel._panel import Panel

NAVIGATION = (
    NavigationLink("/together", "Together", frozenset({Role.RATER}), order=40),
    NavigationLink("/decisions", "Decisions", frozenset({Role.ADJUDICATOR}), order=10),
    NavigationLink("/meetings", "Meetings", frozenset({Role.COORDINATOR}), order=50),
)


def routes(panel: Panel) -> APIRouter:
    router = APIRouter(include_in_schema=False)
    for pages in (_coordinator_pages, _together_pages, _decision_pages):
        pages.add_routes(router, panel)
    return router
