"""Training: lessons from clinicians' ratings, supervised and preference training of a local model on them, and the
trained model as an ordinary judge."""

from medjury.tuning.training._completions import Completion, completions, upsampled
from medjury.tuning.training._data import Lessons, Method, make_lessons, read_lessons
from medjury.tuning.training._preferences import Preference, Preferences, preferences
from medjury.tuning.training._questions import Question, plain_judge, questions
from medjury.tuning.training._rejected import REJECTED_RULES, Rejection, rejected_grades
from medjury.tuning.training._sides import Sides, split_sides

__all__ = [
    "REJECTED_RULES",
    "Completion",
    "Lessons",
    "Method",
    "Preference",
    "Preferences",
    "Question",
    "Rejection",
    "Sides",
    "completions",
    "make_lessons",
    "plain_judge",
    "preferences",
    "questions",
    "read_lessons",
    "rejected_grades",
    "split_sides",
    "upsampled",
]
