"""Further questions that follow a grade: a preference asked only after "concordant", in either order, blind."""

from __future__ import annotations

from medjury.panel._meeting._questions._asking import Asked, asked_of, questions_for
from medjury.panel._meeting._questions._rows import (
    OrderCounts,
    QuestionReply,
    order_counts,
    question_replies,
    write_question_replies,
)

__all__ = [
    "Asked",
    "OrderCounts",
    "QuestionReply",
    "asked_of",
    "order_counts",
    "question_replies",
    "questions_for",
    "write_question_replies",
]
