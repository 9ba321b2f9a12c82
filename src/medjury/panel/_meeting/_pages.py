"""The pages of this part, and where they stand at the head of every page."""

from __future__ import annotations

from fastapi import APIRouter

from medjury.panel._access import Role
from medjury.panel._look import NavigationLink
from medjury.panel._meeting import _coordinator_pages, _decision_pages, _overview, _together_pages
from medjury.panel._meeting._questions import _pages as _question_pages
from medjury.panel._meeting._reference import _pages as _reference_pages
from medjury.panel._meeting._reference import _panel_pages, _scoring_pages
from medjury.panel._panel import Panel

NAVIGATION = (
    NavigationLink("/together", "Together", frozenset({Role.RATER}), order=40),
    NavigationLink("/decisions", "Decisions", frozenset({Role.ADJUDICATOR}), order=10),
    NavigationLink("/meetings", "Meetings", frozenset({Role.COORDINATOR}), order=42),
    NavigationLink("/panels", "Panels", frozenset({Role.COORDINATOR}), order=45),
)
_PAGES = (
    _coordinator_pages,
    _overview,
    _together_pages,
    _decision_pages,
    _panel_pages,
    _reference_pages,
    _scoring_pages,
    _question_pages,
)


def routes(panel: Panel) -> APIRouter:
    router = APIRouter(include_in_schema=False)
    for pages in _PAGES:
        pages.add_routes(router, panel)
    return router
