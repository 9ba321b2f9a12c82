"""What is rated by whom: rounds and their items, the form that an instrument becomes, and who has which case."""

from __future__ import annotations

from medjury.panel._design._assignments import Assignment, assignment_of, members, next_code, places
from medjury.panel._design._form import (
    CANNOT_JUDGE,
    LONGEST,
    NOT_APPLICABLE,
    Question,
    Read,
    Said,
    compare_with_key,
    form_of_instrument,
    outcome_from_row,
    outcome_row,
    read_form,
    said_in,
)
from medjury.panel._design._membership import deal, has_joined, join, leave
from medjury.panel._design._rounds import Round, round_as_set_up, round_by_id, round_named, rounds, set_state
from medjury.panel._design._setting_up import item_count, set_up, waiting_drafts
from medjury.panel._design._shown import Passage

__all__ = [
    "CANNOT_JUDGE",
    "LONGEST",
    "NOT_APPLICABLE",
    "Assignment",
    "Passage",
    "Question",
    "Read",
    "Round",
    "Said",
    "assignment_of",
    "compare_with_key",
    "deal",
    "form_of_instrument",
    "has_joined",
    "item_count",
    "join",
    "leave",
    "members",
    "next_code",
    "outcome_from_row",
    "outcome_row",
    "places",
    "read_form",
    "round_as_set_up",
    "round_by_id",
    "round_named",
    "rounds",
    "said_in",
    "set_state",
    "set_up",
    "waiting_drafts",
]
