"""Erasing: everything that the panel holds of a patient goes, down to the bytes of its file."""

from __future__ import annotations

from medjury.panel._erasing._pages import (
    Choice,
    ErasedFromPanel,
    choice_of,
    erase,
    erase_from_panel,
    routes,
    would_go,
)

__all__ = ["Choice", "ErasedFromPanel", "choice_of", "erase", "erase_from_panel", "routes", "would_go"]
