"""What a file can answer today, and what is missing for the rest."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass


@dataclass(frozen=True, slots=True)
class Facts:
    """What is in a file, as far as questions depend on it."""

    family: str
    readable: bool = False
    clinicians: int = 0
    judges: int = 0
    systems: int = 0
    repeats: int = 0
    shared: int = 0  # items that two raters or more have rated
    answers: int = 0  # cases with an answer to judge

    @property
    def raters(self) -> int:
        return self.clinicians + self.judges


@dataclass(frozen=True, slots=True)
class Question:
    """A question, the command that answers it, and what the file lacks ("" where it lacks nothing)."""

    question: str
    command: str
    lacks: Callable[[Facts], str]


def _agreement(facts: Facts) -> str:
    if facts.raters < 2:
        return "scores of a second rater"
    return "" if facts.shared else "items that two raters have rated"


def _trust(facts: Facts) -> str:
    if not facts.judges:
        return "judges' scores of the same items (or `rater_kind: judge` in the mapping, where these are a judge's)"
    return "" if facts.clinicians else "clinicians' scores of the same items"


_OF_RATINGS = (
    Question("How well do the raters agree?", "medjury agreement", _agreement),
    Question("May the judges be trusted?", "medjury validate HUMANS JUDGES", _trust),
    Question("Which system is better?", "medjury rank", lambda facts: "" if facts.systems > 1 else
             "scores of a second system, in a column that names it"),
    Question("Does a rater give the same score twice?", "medjury audit", lambda facts: "" if facts.repeats else
             "repeated scores, in a column that numbers them (`repeat`)"),
    Question("What is the mean quality by few labels and many judge scores?", "medjury estimate", _trust),
)  # fmt: skip
_OF_CASES = (
    Question("How good are these answers, by a jury of models?", "medjury run", lambda facts: "" if facts.answers
             else "answers to judge (`candidate`); `medjury draft` writes some"),
    Question("May that jury be trusted?", "medjury report", lambda facts: "clinicians' ratings of these cases"),
)  # fmt: skip
_OF_TRANSCRIPTS = (
    Question("Which clinically loaded things did recognition change?", "medjury transcripts GOLD RECOGNISED",
             lambda facts: "the other transcript of the same call (what was said, or what was recognised)"),
)  # fmt: skip
_OF_RUNS = (
    Question("May this jury be trusted, and for what?", "medjury report", lambda facts: ""),
    Question("Is the folder as it was written?", "medjury verify", lambda facts: ""),
)  # fmt: skip
_QUESTIONS = {"ratings": _OF_RATINGS, "store": _OF_RATINGS, "cases": _OF_CASES, "transcript": _OF_TRANSCRIPTS,
              "run": _OF_RUNS}  # fmt: skip


def asked(facts: Facts) -> list[tuple[Question, str]]:
    """Every question that such a file may answer, each with what is missing for it."""
    questions = _QUESTIONS.get(facts.family, ())
    if not facts.readable:
        return [(each, "a mapping by which the file can be read") for each in questions]
    return [(each, each.lacks(facts)) for each in questions]
