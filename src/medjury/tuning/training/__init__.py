"""Training: lessons from clinicians' ratings, supervised and preference training of a local model on them, and the
trained model as an ordinary judge."""

from medjury.tuning.training._data import (
    Completion,
    Lessons,
    Method,
    Sides,
    completions,
    make_lessons,
    read_lessons,
    split_sides,
    upsampled,
)
from medjury.tuning.training._gguf import export_gguf
from medjury.tuning.training._preferences import Preference, Preferences, preferences
from medjury.tuning.training._questions import Question, plain_judge, questions
from medjury.tuning.training._record import Trained, read_trained
from medjury.tuning.training._rejected import REJECTED_RULES, Rejection, rejected_grades
from medjury.tuning.training._search import Searched, search
from medjury.tuning.training._serve import answer, load_trained, serving
from medjury.tuning.training._settings import (
    ASKING_PRESETS,
    TRAIN_PRESETS,
    AskingPreset,
    TrainSettings,
    presets_content,
    presets_text,
    read_settings,
    train_preset,
)
from medjury.tuning.training._train import train

__all__ = [
    "ASKING_PRESETS",
    "REJECTED_RULES",
    "TRAIN_PRESETS",
    "AskingPreset",
    "Completion",
    "Lessons",
    "Method",
    "Preference",
    "Preferences",
    "Question",
    "Rejection",
    "Searched",
    "Sides",
    "TrainSettings",
    "Trained",
    "answer",
    "completions",
    "export_gguf",
    "load_trained",
    "make_lessons",
    "plain_judge",
    "preferences",
    "presets_content",
    "presets_text",
    "questions",
    "read_lessons",
    "read_settings",
    "read_trained",
    "rejected_grades",
    "search",
    "serving",
    "split_sides",
    "train",
    "train_preset",
    "upsampled",
]
