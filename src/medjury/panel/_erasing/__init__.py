"""Erasing: everything that the panel holds of a patient goes, down to the bytes of its file."""

from __future__ import annotations

from medjury.panel._erasing._erasing import (
    Choice,
    ErasedFromPanel,
    choice_of,
    erase,
    erase_from_panel,
    would_go,
)
from medjury.panel._erasing._pages import routes

__all__ = ["Choice", "ErasedFromPanel", "choice_of", "erase", "erase_from_panel", "routes", "would_go"]
