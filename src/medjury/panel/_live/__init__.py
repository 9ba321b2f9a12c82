"""What the coordinator sees while raters rate: coverage, agreement, drift, time and cost. Raters never see it."""

from __future__ import annotations

from medjury.panel._live._pages import NAVIGATION, routes

__all__ = ["NAVIGATION", "routes"]
