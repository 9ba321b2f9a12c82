"""The rater's own pages, and what raters said: every version is kept."""

from __future__ import annotations

from medjury.panel._rating._pages import NAVIGATION, routes
from medjury.panel._rating._stored_answers import Collected, latest_answers

__all__ = ["NAVIGATION", "Collected", "latest_answers", "routes"]
