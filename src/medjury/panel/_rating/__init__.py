"""The rater's own pages, and what raters said: every version is kept."""

from __future__ import annotations

from medjury.panel._rating._pages import NAVIGATION, routes

__all__ = ["NAVIGATION", "routes"]
