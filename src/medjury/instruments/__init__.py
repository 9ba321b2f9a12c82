"""Instruments: what is graded, on which scale, in which words; and how an answer is read against it."""

from medjury.instruments._instrument import (
    Composite,
    Dimension,
    Example,
    Input,
    Instrument,
    Reversed,
    SkipRule,
)
from medjury.instruments._outcome import TRANSIENT, NotApplicable, Outcome, Reason, Score, Unscored

__all__ = [
    "TRANSIENT",
    "Composite",
    "Dimension",
    "Example",
    "Input",
    "Instrument",
    "NotApplicable",
    "Outcome",
    "Reason",
    "Reversed",
    "Score",
    "SkipRule",
    "Unscored",
]
