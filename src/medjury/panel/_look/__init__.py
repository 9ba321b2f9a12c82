"""One look for all pages: the templates' environment, the frame of a page, style and scripts."""

from __future__ import annotations

from medjury.panel._look._look import Look, NavigationLink, error_page, look_of, page, routes

__all__ = ["Look", "NavigationLink", "error_page", "look_of", "page", "routes"]
