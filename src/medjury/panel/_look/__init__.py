"""One look for all pages: the templates' environment, the frame of a page, style and scripts."""

from __future__ import annotations

from medjury.panel._look._files import routes
from medjury.panel._look._look import Look, NavigationLink, look_of
from medjury.panel._look._page import error_page, page

__all__ = ["Look", "NavigationLink", "error_page", "look_of", "page", "routes"]
