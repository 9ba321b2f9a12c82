"""What raters do together: settle their differences, write references as a panel, and answer further questions."""

from __future__ import annotations

from medjury.panel._meeting._items import MeetingItem, meeting_items
from medjury.panel._meeting._labels import ReconciledLabel, reconciled_labels
from medjury.panel._meeting._opening import Meeting, close_meeting, meeting_of, open_meeting
from medjury.panel._meeting._pages import NAVIGATION, routes
from medjury.panel._meeting._questions import (
    OrderCounts,
    QuestionReply,
    order_counts,
    question_replies,
    write_question_replies,
)
from medjury.panel._meeting._reference import (
    PanelReference,
    PanelScore,
    make_panel,
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
