"""Ratings on their way: into the study and its run, out as files for other programs, in from files.

Programs may ask for them too. What was given in the panel is never changed by any of it.
"""

from __future__ import annotations

from medjury.panel._exchange._pages import NAVIGATION, routes

__all__ = ["NAVIGATION", "routes"]
