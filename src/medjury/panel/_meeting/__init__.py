"""What raters do together: settle their differences, write references as a panel, and answer further questions."""

from __future__ import annotations

from medjury.panel._meeting._items import MeetingItem, meeting_items
from medjury.panel._meeting._labels import ReconciledLabel, reconciled_labels
from medjury.panel._meeting._opening import Meeting, close_meeting, meeting_of, open_meeting
from medjury.panel._meeting._pages import NAVIGATION, routes

__all__ = [
    "NAVIGATION",
    "Meeting",
    "MeetingItem",
    "ReconciledLabel",
    "close_meeting",
    "meeting_items",
    "meeting_of",
    "open_meeting",
    "reconciled_labels",
    "routes",
]
