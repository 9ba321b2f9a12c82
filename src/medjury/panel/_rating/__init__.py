"""The rater's own pages, and what raters said: every version is kept."""

from __future__ import annotations

from medjury.panel._rating._answers import (
    Progress,
    RatedAnswer,
    Version,
    history,
    latest_answers,
    progress,
)
from medjury.panel._rating._case_page import Piece, differences
from medjury.panel._rating._course import Step, course
from medjury.panel._rating._pages import NAVIGATION, routes
from medjury.panel._rating._profile import Profile, profile_of
from medjury.panel._rating._saving import Closed, Entry, Saved, Stale, TooMuch, save
from medjury.panel._rating._training import let_pass

__all__ = [
    "NAVIGATION",
    "Closed",
    "Entry",
    "Piece",
    "Profile",
    "Progress",
    "RatedAnswer",
    "Saved",
    "Stale",
    "Step",
    "TooMuch",
    "Version",
    "course",
    "differences",
    "history",
    "latest_answers",
    "let_pass",
    "profile_of",
    "progress",
    "routes",
    "save",
]
