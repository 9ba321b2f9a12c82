"""Reads what stands in a rater's form against the instrument. Nothing is guessed; nothing off the scale passes."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from medjury.instruments import (
    Instrument,
    NotApplicable,
    Outcome,
    Reason,
    Score,
    Unscored,
    apply_skips,
    read_grade,
)
from medjury.intake.cases import clean_text
from medjury.panel._design._form import CANNOT_JUDGE, NOT_APPLICABLE, Question

GRADE, WHY, COMMENT = "grade.", "why.", "comment"
LONGEST = 10_000  # letters of one justification or comment

Said = dict[str, dict[str, str]]  # dimension -> {"grade": ..., "why": ...}


@dataclass(frozen=True)
class Problem:
    """What a rater has to put right before the answer can be taken."""

    dimension: str
    message: str


@dataclass(frozen=True)
class Read:
    """What was said, what it means, and what is missing. With a problem there are no outcomes to store."""

    said: Said
    comment: str
    outcomes: Mapping[str, Outcome]
    problems: tuple[Problem, ...]


def said_in(form: Mapping[str, str], questions: Sequence[Question]) -> tuple[Said, str]:
    """What stands in the form, unjudged: this is what a draft keeps. What the form does not offer is dropped."""
    said: Said = {}
    for question in questions:
        value = form.get(GRADE + question.name, "")
        grade = value if value in {choice.value for choice in question.choices} else ""
        said[question.name] = {"grade": grade, "why": _text(form.get(WHY + question.name, ""))}
    return said, _text(form.get(COMMENT, ""))


def read_form(form: Mapping[str, str], instrument: Instrument, questions: Sequence[Question]) -> Read:
    """The answer that a form holds, with everything that stands in its way."""
    said, comment = said_in(form, questions)
    outcomes: dict[str, Outcome] = {}
    problems: list[Problem] = []
    for question in questions:
        given, why = form.get(GRADE + question.name, ""), said[question.name]["why"]
        outcomes[question.name] = _outcome(instrument, question, given, why)
    skipped = apply_skips(instrument, outcomes)
    for question in questions:
        before, after = outcomes[question.name], skipped[question.name]
        if isinstance(after, NotApplicable) and question.skip is not None:  # the rule leaves it out
            skipped[question.name] = NotApplicable()
            continue
        problem = _problem(question, before, after, said[question.name]["why"])
        if problem:
            problems.append(Problem(question.name, problem))
    for name, words in (*((n, each["why"]) for n, each in said.items()), ("", comment)):
        if len(words) > LONGEST:
            problems.append(Problem(name, f"The text may have {LONGEST:,} letters; it has {len(words):,}."))
    return Read(said, comment, {} if problems else skipped, tuple(problems))


def _outcome(instrument: Instrument, question: Question, given: str, why: str) -> Outcome:
    dimension = instrument.dimension(question.name)
    if given == "":
        return Unscored(Reason.MISSING, "")
    if given not in {choice.value for choice in question.choices}:
        return Unscored(Reason.OUT_OF_RANGE, "")
    if given == CANNOT_JUDGE:
        return Unscored(Reason.CANNOT_JUDGE, why)
    if given == NOT_APPLICABLE:
        return read_grade(dimension, None, why)
    return read_grade(dimension, given, why)


def _problem(question: Question, before: Outcome, after: Outcome, why: str) -> str:
    if isinstance(after, Unscored):
        if after.reason is Reason.CANNOT_JUDGE:
            return "" if why else "Say why you can't judge this."
        if isinstance(before, NotApplicable):
            return "Choose a grade: this question applies here."
        if after.reason is Reason.MISSING and not after.message:
            return "Choose a grade."
        return "That is no grade of this question. Choose one of those shown."
    if question.justification == "required" and not why:
        return "Give your reason in a few words."
    return ""


def _text(value: str) -> str:
    return clean_text(value).strip()


def outcome_row(outcome: Outcome) -> dict[str, object]:
    """An outcome as the database keeps it."""
    if isinstance(outcome, Score):
        return {"score": outcome.value, "explanation": outcome.explanation}
    if isinstance(outcome, NotApplicable):
        return {"not_applicable": True, "explanation": outcome.explanation}
    return {"reason": outcome.reason.value, "explanation": outcome.message}


def outcome_from_row(row: Mapping[str, object]) -> Outcome:
    """And back."""
    explanation = str(row.get("explanation", ""))
    if "score" in row:
        return Score(float(str(row["score"])), explanation)
    if "reason" in row:
        return Unscored(Reason(str(row["reason"])), explanation)
    return NotApplicable(explanation)
