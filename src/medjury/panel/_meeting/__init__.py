"""What raters do together: settle their differences, write references as a panel, and answer further questions."""

from __future__ import annotations

from medjury.panel._meeting._differences import Meeting, close_meeting, meeting_of, open_meeting
from medjury.panel._meeting._items import MeetingItem, ReconciledLabel, meeting_items, reconciled_labels
from medjury.panel._meeting._pages import NAVIGATION, routes
from medjury.panel._meeting._questions import (
    OrderCounts,
    QuestionReply,
    order_counts,
    question_replies,
    write_question_replies,
)
from medjury.panel._meeting._reference import make_panel
from medjury.panel._meeting._reference_files import (
    PanelReference,
    PanelScore,
    panel_references,
    panel_scores,
    set_up_references,
    write_references,
)

__all__ = [
    "NAVIGATION",
    "Meeting",
    "MeetingItem",
    "OrderCounts",
    "PanelReference",
    "PanelScore",
    "QuestionReply",
    "ReconciledLabel",
    "close_meeting",
    "make_panel",
    "meeting_items",
    "meeting_of",
    "open_meeting",
    "order_counts",
    "panel_references",
    "panel_scores",
    "question_replies",
    "reconciled_labels",
    "routes",
    "set_up_references",
    "write_question_replies",
    "write_references",
]
