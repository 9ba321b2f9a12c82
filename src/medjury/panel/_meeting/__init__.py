"""What raters do together: settle their differences, write references as a panel, and answer further questions."""

from __future__ import annotations

from medjury.panel._meeting._pages import NAVIGATION, routes

__all__ = ["NAVIGATION", "routes"]
