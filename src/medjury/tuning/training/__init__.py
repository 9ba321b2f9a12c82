"""Training: lessons from clinicians' ratings, supervised and preference training of a local model on them, and the
trained model as an ordinary judge."""

from medjury.tuning.training._lessons import Lessons, make_lessons, read_lessons
from medjury.tuning.training._model import export_gguf
from medjury.tuning.training._questions import Rejection
from medjury.tuning.training._serve import load_trained, serving
from medjury.tuning.training._settings import TrainSettings, presets_content, presets_text
from medjury.tuning.training._train import search, train

__all__ = [
    "Lessons",
    "Rejection",
    "TrainSettings",
    "export_gguf",
    "load_trained",
    "make_lessons",
    "presets_content",
    "presets_text",
    "read_lessons",
    "search",
    "serving",
    "train",
]
