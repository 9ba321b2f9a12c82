"""What is rated by whom: rounds and their items, the form that an instrument becomes, and who has which case."""

from __future__ import annotations

from medjury.panel._design._assignment import Assignment, Place, assignment_of, next_code, places
from medjury.panel._design._form import CANNOT_JUDGE, NOT_APPLICABLE, Choice, Question, form_of_instrument
from medjury.panel._design._membership import Left, deal, has_joined, join, leave
from medjury.panel._design._practice import Compared, compare_with_key, share_right
from medjury.panel._design._reading import (
    LONGEST,
    Problem,
    Read,
    Said,
    outcome_from_row,
    outcome_row,
    read_form,
    said_in,
)
from medjury.panel._design._rounds import Round, round_as_set_up, round_by_id, round_named, rounds, set_state
from medjury.panel._design._setting_up import SetUp, item_count, set_up
from medjury.panel._design._shown import Passage, ShownNote
from medjury.panel._design._work import Work, members

__all__ = [
    "CANNOT_JUDGE",
    "LONGEST",
    "NOT_APPLICABLE",
    "Assignment",
    "Choice",
    "Compared",
    "Left",
    "Passage",
    "Place",
    "Problem",
    "Question",
    "Read",
    "Round",
    "Said",
    "SetUp",
    "ShownNote",
    "Work",
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
    "share_right",
]
