"""Ratings on their way: into the study and its run, out as files for other programs, in from files.

Programs may ask for them too. What was given in the panel is never changed by any of it.
"""

from __future__ import annotations

from medjury.panel._exchange._api import RaterProgress, RoundState, round_state
from medjury.panel._exchange._collecting import Collected, collect, ratings_frame
from medjury.panel._exchange._including import Included, include
from medjury.panel._exchange._pages import FORMATS, NAVIGATION, bring_in, routes

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
    "ratings_frame",
    "round_state",
    "routes",
]
