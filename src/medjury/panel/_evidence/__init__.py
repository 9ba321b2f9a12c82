"""The evidence browser: every case with its source, its answer and all votes; read only, served or as one file."""

from __future__ import annotations

from medjury.panel._evidence._pages import NAVIGATION, routes

__all__ = ["NAVIGATION", "routes"]
