"""Erasing: everything that the panel holds of a patient goes, down to the bytes of its file."""

from __future__ import annotations

from medjury.panel._erasing._pages import routes

__all__ = ["routes"]
