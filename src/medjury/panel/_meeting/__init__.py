"""What raters do together: settle their differences, write references as a panel, and answer further questions."""

from __future__ import annotations

from medjury.panel._meeting._items import reconciled_labels
from medjury.panel._meeting._pages import NAVIGATION, routes
from medjury.panel._meeting._questions import order_counts, question_replies, write_question_replies
from medjury.panel._meeting._reference_files import panel_scores, set_up_references, write_references

__all__ = [
    "NAVIGATION",
    "order_counts",
    "panel_scores",
    "question_replies",
    "reconciled_labels",
    "routes",
    "set_up_references",
    "write_question_replies",
    "write_references",
]
