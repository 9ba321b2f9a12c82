"""Tuning: better judges from clinicians' labels, and nothing that tuning has seen counts in a later validation.
A prompt, a choice of examples or a trained model is an artefact that an auditor can read; `training` makes lessons
from ratings and trains local models on them."""

from medjury.tuning.training import Lessons, make_lessons, read_lessons

__all__ = ["Lessons", "make_lessons", "read_lessons"]
