"""Ratings on their way: into the study and its run, out as files for other programs, in from files.

Programs may ask for them too. What was given in the panel is never changed by any of it.
"""

from __future__ import annotations

from medjury.panel._exchange._collecting import (
    Collected,
    RaterProgress,
    RoundState,
    collect,
    ratings_frame,
    round_state,
)
from medjury.panel._exchange._files import (
    FORMATS,
    bring_in,
    include_ratings,
    save_question_replies,
    save_ratings,
    save_references,
    take_in_ratings,
)
from medjury.panel._exchange._including import Included, include
from medjury.panel._exchange._pages import NAVIGATION, routes

__all__ = [
    "FORMATS",
    "NAVIGATION",
    "Collected",
    "Included",
    "RaterProgress",
    "RoundState",
    "bring_in",
    "collect",
    "include",
    "include_ratings",
    "ratings_frame",
    "round_state",
    "routes",
    "save_question_replies",
    "save_ratings",
    "save_references",
    "take_in_ratings",
]
