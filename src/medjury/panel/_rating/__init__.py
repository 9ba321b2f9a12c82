"""The rater's own pages, and what raters said: every version is kept."""

from __future__ import annotations

from medjury.panel._rating._case_page import Piece, differences
from medjury.panel._rating._course import Step, course
from medjury.panel._rating._marks import marks_text
from medjury.panel._rating._pages import NAVIGATION, Profile, profile_of, routes
from medjury.panel._rating._saving import Entry, NotSaved, Saved, add_version
from medjury.panel._rating._stored_answers import (
    Progress,
    RatedAnswer,
    Version,
    history,
    latest_answers,
    let_pass,
    progress,
)

__all__ = [
    "NAVIGATION",
    "Entry",
    "NotSaved",
    "Piece",
    "Profile",
    "Progress",
    "RatedAnswer",
    "Saved",
    "Step",
    "Version",
    "add_version",
    "course",
    "differences",
    "history",
    "latest_answers",
    "let_pass",
    "marks_text",
    "profile_of",
    "progress",
    "routes",
]
